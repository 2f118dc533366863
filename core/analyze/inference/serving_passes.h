#pragma once
// The passes of a serving engine as steps of a recording: in time order, by phase, with tokens a second.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/analyze/inference/serving_step.h"
#include "core/base/time.h"
#include "core/trace/trace.h"

namespace gapscope {

struct Steps;

struct ServingPass {
  SliceId slice;  // the annotation on a CPU thread
  ServingStep step;
};
// In time order; `phase` as ServingStep::phase() says, empty for all of them.
std::vector<ServingPass> serving_passes(const Trace& trace, std::string_view phase = {});
// "prefill", "decode" or "mixed".
bool is_phase_word(std::string_view word);

// All steps of one phase.
struct PhaseFigures {
  std::string_view phase;
  std::uint64_t steps = 0;
  std::int64_t requests = 0;  // of all steps together
  std::int64_t prefill_tokens = 0, decode_tokens = 0;
  bool knows_tokens = true;
  Ns time = 0;  // of the steps as bounded with their GPU work

  double tokens_per_second() const {
    return time > 0 ? 1e9 * static_cast<double>(prefill_tokens + decode_tokens) / static_cast<double>(time) : 0;
  }
};
// Of steps that are passes; most time first. Empty where none is.
std::vector<PhaseFigures> phase_figures(const Trace& trace, const Steps& steps);
// "12 steps, 32.0 requests each, 384 tokens in 229 ms: 1,676 tokens/s".
std::string phase_words(const PhaseFigures& figures);

}  // namespace gapscope
