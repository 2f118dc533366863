#include "app/cli/info.h"

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/stages_text.h"
#include "core/load/load_timeline.h"

namespace gapscope {

namespace {

int stages(const std::string& path) {
  LoadTimeline timeline;
  const std::shared_ptr<const Trace> loaded = value_or_say_why(load_trace_on(timeline, path));
  if (!loaded) return kBadInput;
  {
    const Timed timed(&timeline, LoadTimeline::Stage::indexing);
    const Document doc(loaded);
  }
  return print(stages_text(timeline.stretches(), loaded->figures));
}

}  // namespace

int info(const InfoOptions& options) {
  if (options.stages) return stages(options.trace);
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Document doc(loaded);
  return print(options.json ? info_json(doc) : info_text(doc));
}

}  // namespace gapscope
