#pragma once
// At which clock a GPU ran, and at which its data sheet's peaks hold: products cannot reach those at a lower one.
#include <cstdint>
#include <optional>
#include <string>

#include "core/index/link_index.h"
#include "core/trace/trace.h"

namespace gapscope {

struct RealClock {
  std::int32_t device = 0;
  double mhz = 0;       // mean of the SMs' while its kernels ran, by the recorded counters
  double peak_mhz = 0;  // of the peaks
};
// Of the first GPU with counters in the recording; none where they do not show it, or where it is not known how much the tensor
// cores of this GPU do in a clock.
std::optional<RealClock> real_clock(const Trace& trace, const LinkIndex& links);
// "GPU 0 ran at 1,755 MHz while kernels ran; peaks are of 1,830 MHz: bf16 949 TFLOP/s at its clock". One line; empty where
// that is not known.
std::string clock_words(const Trace& trace, const LinkIndex& links);

}  // namespace gapscope
