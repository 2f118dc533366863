// Any other writer of Chrome's JSON: lanes that are named as those of a device are its work.
#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

using Holds = LaneRole::Holds;

constexpr std::array<std::string_view, 10> kDevices = {"/device:", "GPU", "NPU", "TPU",         "XPU",
                                                       "HPU",      "DCU", "MLU", "Accelerator", "Device"};

// "GPU 0", "/device:NPU:1", "MLU1": begins so, and a number or nothing follows.
std::int32_t device_of(std::string_view name, bool& is_device) {
  if (name == "CUDA functions") {  // torch.autograd.profiler, before Kineto
    is_device = true;
    return -1;
  }
  for (const std::string_view word : kDevices) {
    if (!contains_ignore_case(name.substr(0, word.size()), word)) continue;
    const std::string_view rest = name.substr(word.size());
    const std::size_t number = std::min(rest.find_first_not_of(" :#"), rest.size());  // "GPU Process" is Chrome's
    is_device = word == "/device:" ? !contains_ignore_case(rest, "cpu") : number == rest.size() || is_digit(rest[number]);
    if (!is_device) return -1;
    return word == "/device:" ? number_behind(rest, ":") : number_behind(name, word);
  }
  return -1;
}

bool is_stream(std::string_view name) {
  return contains_ignore_case(name, "stream ") || contains_ignore_case(name, "stream#") ||
         (contains_ignore_case(name, "stream") && number_behind(name, "stream") >= 0);
}
bool is_engine(std::string_view name) { return contains_ignore_case(name, "engine") || contains_ignore_case(name, "queue"); }

bool wrote(const Clues&) { return true; }

}  // namespace

LaneRole role_by_names(const Clues& clues, const LaneClue& lane) {
  const ProcessClue& process = clues.process(lane);
  bool is_device = false;
  std::int32_t device = device_of(process.name, is_device);
  if (!is_device) device = device_of(process.labels, is_device);
  if (is_stream(lane.name)) return {Holds::device_work, std::max(device, 0), number_behind(lane.name, "stream")};
  if (!is_device) return {};
  const auto is_work_lane = [&](const LaneClue& l) {
    return l.process == lane.process && (is_stream(l.name) || is_engine(l.name));
  };
  // Where some lanes are streams or engines the others repeat or describe them.
  if (!is_engine(lane.name) && std::any_of(clues.lanes.begin(), clues.lanes.end(), is_work_lane)) return {Holds::derived};
  return {Holds::device_work, std::max(device, 0)};
}

extern const ProducerRow kUnknownRow = {
    {"unknown", "an unknown profiler", false, "the profiler's option for device activity",
     "the profiler's option for host activity", "the profiler's annotation around each iteration",
     "No work of a device is known in this trace."},
    wrote,
    role_by_names};

}  // namespace gapscope
