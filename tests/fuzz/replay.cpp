// Any bytes that load: replayed without a change every operation, call and step keeps its time; with any change nothing lasts
// less than no time, and the replay is the same the second time.
#include <cstdlib>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/index/name_index.h"
#include "core/replay/changes.h"
#include "core/replay/replay.h"
#include "tests/support/piecewise_load.h"

namespace {

using namespace gapscope;

void check_unchanged(const ReplayModel& model) {
  const ReplayResult same = replay(model, {});
  if (same.before != same.after || same.run != model.run()) std::abort();
  for (std::size_t i = 0; i < model.ops().size(); ++i)
    if (same.ops[i] != model.ops()[i].span) std::abort();
  for (std::size_t i = 0; i < model.calls().size(); ++i)
    if (same.calls[i] != model.calls()[i].span) std::abort();
  for (const ReplayedStep& step : same.steps)
    if (step.before != step.after) std::abort();
}

void check_changed(const ReplayModel& model, const Change& change) {
  const ReplayResult once = replay(model, change), again = replay(model, change);
  if (once.ops != again.ops || once.calls != again.calls || once.after != again.after) std::abort();
  for (const std::vector<Span>* spans : {&once.ops, &once.calls})
    for (const Span span : *spans)
      if (span.end < span.begin) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto loaded = test::load_in_pieces({reinterpret_cast<const char*>(data), size}, 1, test::kOneBatch);
  if (!loaded.ok()) return 0;
  const Trace& trace = **loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const NameIndex names(trace);
  const auto model = ReplayModel::make(trace, names, gpu_ops(trace, links));
  check_unchanged(*model);
  Change half;
  scale_gpu(*model, 0.5, half);
  check_changed(*model, half);
  check_changed(*model, as_graph(*model));
  Change no_wait;
  no_wait.no_wait = no_wait.overlap_copies = true;
  no_wait.host = 0;
  check_changed(*model, no_wait);
  return 0;
}
