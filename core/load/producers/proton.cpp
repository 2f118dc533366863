// Triton's Proton: kernels by stream, in later versions with the scopes of the host and arrows from these to the kernels.
#include "core/base/text.h"
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

using Holds = LaneRole::Holds;

// No other writer has microseconds as the unit to show.
bool wrote(const Clues& clues) {
  const bool shows_us = clues.header.find("displayTimeUnit") == "\"us\"";
  return clues.header.find("schemaVersion").empty() && clues.has_category("kernel") &&
         (shows_us || (clues.has_category("scope") && clues.has_category("flow")));
}

LaneRole role(const Clues&, const LaneClue& lane) {
  if (contains_ignore_case(lane.name, "stream")) return {Holds::device_work, -1, number_behind(lane.name, "stream")};
  return {};
}

Kind kind_of(const SliceClue& slice) {
  if (slice.category == "scope") return Kind::annotation;
  return is_gpu_work(slice.kind) ? kind_of_device_slice(slice.name) : slice.kind;
}

}  // namespace

extern const ProducerRow kProtonRow = {
    {"proton", "Triton Proton", false, "proton.start(..., data=\"trace\") before the kernels are launched",
     "proton.scope around the host's parts, in a newer Proton", "proton.scope(\"step\") around each iteration",
     "No kernel in this trace: call proton.start(..., data=\"trace\") before kernels are launched."},
    wrote,
    role,
    kind_of};

}  // namespace gapscope
