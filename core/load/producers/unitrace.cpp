// Intel's unitrace (Profiling Tools Interfaces): processes "HOST<node>" and "DEVICE<node>[pci]", calls of Level Zero on the one
// and kernels on the engines of the other, joined by arrows.
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

using Holds = LaneRole::Holds;

constexpr std::string_view kDevice = "DEVICE<";  // without a number

bool wrote(const Clues& clues) { return clues.has_category("gpu_op") && clues.has_process(kDevice); }

LaneRole role(const Clues& clues, const LaneClue& lane) {
  if (!clues.process(lane).name.starts_with(kDevice)) return {Holds::host};
  return {Holds::device_work, clues.place_among(kDevice, lane.process)};
}

Kind kind_of(const SliceClue& slice) {
  if (slice.holds == Holds::host) return slice.category == "cpu_op" ? Kind::runtime : slice.kind;
  return kind_by_role(slice);
}

}  // namespace

extern const ProducerRow kUnitraceRow = {
    {"unitrace", "Intel unitrace", false, "unitrace --chrome-kernel-logging", "unitrace --chrome-call-logging",
     "an ITT task around each iteration, with unitrace --chrome-itt-logging",
     "No GPU work in this trace: record with unitrace --chrome-kernel-logging."},
    wrote,
    role,
    kind_of};

}  // namespace gapscope
