// Time by module of every recording at hand: equal to that of a naive program where there is one, and never counted twice.
#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/session/captured_trace.h"
#include "core/analyze/modules/module_paths.h"
#include "core/analyze/modules/modules.h"
#include "core/analyze/modules/work_moments.h"
#include "core/load/load_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;
using nlohmann::json;

namespace {

struct Recorded {
  explicit Recorded(const std::filesystem::path& path, const std::string& capture = {}) {
    if (capture.empty()) {
      trace = load_once(path);
    } else {
      const auto loaded = load_captured_trace(path.string(), {}, capture);
      REQUIRE(loaded.ok());
      trace = *loaded;
    }
    lanes = std::make_unique<const LaneIndex>(*trace);
    links = std::make_unique<const LinkIndex>(*trace, *lanes);
    ops = gpu_ops(*trace, *links);
    use = module_use(*trace, ops, work_table(*trace, *lanes, *links, {}));
  }
  std::shared_ptr<const Trace> trace;
  std::unique_ptr<const LaneIndex> lanes;
  std::unique_ptr<const LinkIndex> links;
  std::vector<GpuOp> ops;
  ModuleUse use;
};

json use_json(const ModuleUse& use) {
  json modules = json::object();
  for (const ModuleRow& row : use.rows) {
    const ModuleTotals& t = row.totals;
    modules[row.name] = {{"calls", t.calls},
                         {"host_ns", t.host},
                         {"forward_gpu_ns", t.forward},
                         {"backward_gpu_ns", t.backward},
                         {"self_forward_gpu_ns", t.self_forward},
                         {"self_backward_gpu_ns", t.self_backward}};
  }
  return {{"modules", modules},
          {"outside", {{"forward", use.outside_forward}, {"backward", use.outside_backward}}},
          {"linked_gpu_ns", use.linked}};
}

template <class Rows>
Ns self_sum(const Rows& rows) {
  Ns sum = 0;
  for (const auto& row : rows) sum += row.totals.self_forward + row.totals.self_backward;
  return sum;
}

}  // namespace

TEST_CASE("the time of each module is that of the truth file to the nanosecond") {
  std::ifstream file(recordings_folder() / "truth_modules.json");
  const json truth = json::parse(file);
  CHECK(truth.size() == 4);
  std::size_t compared = 0;
  for (const auto& item : truth.items()) {
    const std::string& name = item.key();
    const json& expected = item.value();
    CAPTURE(std::string(name));
    const auto path = recording_or_none(name);
    if (path.empty()) {
      REQUIRE(!has_shared("the truth about modules of others' recordings"));
      continue;
    }
    const Recorded mine(path);
    CHECK(mine.use.kind == RegionKind::modules);
    const json found = use_json(mine.use);
    CHECK(found == expected);
    if (found != expected) MESSAGE(json::diff(expected, found).dump().substr(0, 1500));
    ++compared;
  }
  CHECK(compared >= 2);  // transformer_baseline and transformer_optimized are the project's own
}

TEST_CASE("self times and what is outside add up to all linked GPU work in every recording") {
  std::size_t with_modules = 0, with_annotations = 0, with_memory = 0;
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Recorded mine(path);
    const ModuleUse& use = mine.use;
    Ns linked = 0;
    for (const GpuOp& op : mine.ops) linked += op.linked() ? op.span.length() : 0;
    const Ns outside = use.outside_forward + use.outside_backward;
    CHECK(use.linked == linked);
    CHECK(self_sum(use.rows) + outside == linked);
    CHECK(self_sum(use.classes) + outside == linked);
    CHECK(self_sum(use.tree) + outside == linked);
    Ns roots = 0;
    for (const ModuleNode& node : use.tree) roots += node.parent == ModuleNode::kNoParent ? node.totals.gpu() : 0;
    CHECK(roots + outside == linked);
    std::int64_t asked = 0, at_peak = 0;
    for (const ModuleNode& node : use.tree)
      if (node.parent == ModuleNode::kNoParent) asked += node.totals.allocated, at_peak += node.totals.at_peak;
    CHECK(asked + use.memory.outside_bytes == use.memory.bytes);
    CHECK(at_peak + use.memory.outside_at_peak == use.memory.at_peak);
    with_memory += use.memory.bytes > 0 && use.kind == RegionKind::modules ? 1 : 0;
    const CallPaths paths = module_paths(*mine.trace, use);
    Ns own = 0;
    for (const Ns time : paths.own) own += time;
    CHECK(own == linked - outside);
    CHECK(paths.total[0] == linked - outside);
    CHECK((use.kind == RegionKind::modules) == missing_modules(use).empty());
    with_modules += use.kind == RegionKind::modules ? 1 : 0;
    with_annotations += use.kind == RegionKind::annotations ? 1 : 0;
  }
  CHECK(with_modules >= 2);
  CHECK(with_annotations >= 1);
  CHECK(with_memory >= 2);
}

namespace {

std::map<std::string, std::uint64_t> kernels_by_module(const ModuleUse& use) {
  std::map<std::string, std::uint64_t> found;
  for (const ModuleRow& row : use.rows) found[row.name] = row.totals.kernels;
  return found;
}

}  // namespace

TEST_CASE("a model eager and as a CUDA graph has the same kernels in each module") {
  const auto folder = recordings_folder() / "modules";
  const Recorded eager(folder / "cnn_eager.json.gz"), alone(folder / "cnn_replay.json.gz");
  const Recorded replay(folder / "cnn_replay.json.gz", (folder / "cnn_capture.json.gz").string());
  auto twice = kernels_by_module(eager.use);
  CHECK(twice.size() == 13);
  for (auto& [name, kernels] : twice) kernels *= 2;  // the graph was replayed twice
  CHECK(kernels_by_module(replay.use) == twice);
  CHECK(replay.use.graphs.pieces == replay.use.graphs.told);
  CHECK(replay.use.outside_forward == 0);
  CHECK(self_sum(replay.use.rows) == replay.use.linked);
  CHECK(alone.use.graphs.told == 0);
  CHECK(alone.use.outside_forward == alone.use.linked);
}

TEST_CASE("the work that is listed of a module is what it counts, forward and backward") {
  const Recorded mine(recordings_folder() / "modules/cnn_train.json.gz");
  REQUIRE(mine.use.rows.size() > 5);
  for (const ModuleRow& row : mine.use.rows) {
    CAPTURE(row.name);
    std::vector<SliceId> frames;
    for (std::size_t s = 0; s < mine.trace->slice_count(); ++s)
      if (mine.trace->name_id(SliceId(s)) == row.frame_name) frames.push_back(SliceId(s));
    std::uint64_t kernels = 0;
    Ns time = 0;
    for (const SliceId s : work_of_frames(*mine.trace, mine.ops, std::move(frames))) {
      kernels += mine.trace->kind(s) == Kind::kernel ? 1 : 0;
      time += mine.trace->duration(s);
    }
    CHECK(kernels == row.totals.kernels);
    CHECK(time == row.totals.gpu());
  }
}

TEST_CASE("a shared module is under each block, and what a checkpoint computes again counts once") {
  const Recorded mine(recordings_folder() / "modules/cnn_train.json.gz");
  const ModuleUse& use = mine.use;
  const auto shared = std::find_if(use.rows.begin(), use.rows.end(), [](const ModuleRow& r) { return r.name == "Conv2d_2"; });
  REQUIRE(shared != use.rows.end());
  CHECK(shared->parents.size() == 3);
  CHECK(shared->totals.calls == 9);
  Ns parts = 0;
  for (const ModuleNode& node : use.tree)
    if (use.rows[node.row].name == "Conv2d_2") parts += node.totals.gpu();
  CHECK(parts == shared->totals.gpu());
  CHECK(self_sum(use.rows) + use.outside_forward + use.outside_backward == use.linked);
}
