// Huawei's Ascend PyTorch Profiler and msprof: "Ascend Hardware" holds the streams of the NPU, "Communication" a lane for each
// group of HCCL, whose planes repeat it in parts, "CANN" the calls of the host. "Overlap Analysis" is made from the others.
#include "core/base/text.h"
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

using Holds = LaneRole::Holds;
constexpr std::int32_t kFirstGroup = 1'000'000;  // lanes of groups are no streams of the NPU

bool wrote(const Clues& clues) { return clues.has_process("Ascend Hardware") || clues.has_process("CANN"); }

LaneRole role(const Clues& clues, const LaneClue& lane) {
  const ProcessClue& process = clues.process(lane);
  const std::int32_t number = number_behind(process.name, "NPU");
  const std::int32_t device = number >= 0 ? number : clues.place_among(process.name, lane.process);
  if (process.name == "CANN") return {Holds::host};
  if (process.name.starts_with("Ascend Hardware") || process.name.starts_with("NPU"))
    return {Holds::device_work, device, number_behind(lane.name, "stream")};
  if (process.name.starts_with("Communication") || process.name.starts_with("HCCL")) {
    const std::int32_t group = number_behind(lane.name, "group");
    const bool is_group = contains_ignore_case(lane.name, "communication");  // "Group 1 Communication"; of one group no number
    return is_group ? LaneRole{Holds::device_work, device, kFirstGroup + (group >= 0 ? group : 0)} : LaneRole{Holds::derived};
  }
  if (process.labels == "NPU") return {Holds::derived};
  return {};
}

Kind kind_of(const SliceClue& slice) {
  const bool is_api = slice.holds == Holds::host && slice.kind == Kind::other;
  return is_api ? Kind::runtime : kind_by_role(slice);
}

}  // namespace

extern const ProducerRow kAscendRow = {{"ascend", "Ascend PyTorch Profiler", false,
                                        "activities=[ProfilerActivity.CPU, ProfilerActivity.NPU] of torch_npu.profiler",
                                        "ProfilerActivity.CPU of torch_npu.profiler", "prof.step() of torch_npu.profiler",
                                        "No NPU work in this trace: record with ProfilerActivity.NPU of torch_npu.profiler."},
                                       wrote,
                                       role,
                                       kind_of};

}  // namespace gapscope
