#include "core/view/steps/steps_model.h"

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const StepsAnswer> answer(const Document& document, const StepsQuestion& question,
                                          const std::atomic<bool>* cancel) {
  if (cancel && *cancel) return nullptr;
  const Trace& trace = document.trace;
  return std::make_shared<const StepsAnswer>(StepsAnswer{
      question.annotation, make_steps(trace, document.session.ops(), question.annotation), annotation_names(trace)});
}

std::shared_ptr<const StepDifferencesAnswer> answer(const Document& document, const StepDifferenceQuestion& question,
                                                    const std::atomic<bool>* cancel) {
  const TraceSession* const facts = document.analysis();
  Result<StepDifferences> found =
      step_differences({document.session}, facts ? &facts->account() : nullptr, question.step, question.annotation, cancel);
  if (cancel && *cancel) return nullptr;
  auto out = std::make_shared<StepDifferencesAnswer>();
  if (found)
    out->found = std::move(*found);
  else
    out->absence = found.error().message;
  return out;
}

std::string difference_headline(const StepDifferences& found) {
  if (found.is_median()) return fmt::format("{} is the median step.", printable(found.step));
  const Ns delta = found.step_cpu - found.median_cpu;
  const std::string median =
      fmt::format("the median step, {} ({})", printable(found.median), format_duration(found.median_cpu));
  if (delta == 0) return fmt::format("{} is as long on the CPU as {}.", printable(found.step), median);
  return fmt::format("{} is {} {} on the CPU than {}.", printable(found.step), format_duration(std::abs(delta)),
                     delta > 0 ? "longer" : "shorter", median);
}

Step average_step(const std::vector<const Step*>& steps) {
  const auto n = static_cast<std::int64_t>(steps.size());
  const auto mean = [&](auto value) {
    Ns sum = 0;
    for (const Step* step : steps) add_saturating(sum, static_cast<Ns>(value(*step)));
    return sum / n;
  };
  Step out;
  out.name = fmt::format("average of {}", steps.size());
  out.span = {0, mean([](const Step& s) { return s.span.length(); })};
  out.cpu = {0, mean([](const Step& s) { return s.cpu.length(); })};
  out.gpu = {0, mean([](const Step& s) { return s.gpu.length(); })};
  out.gpu_ops = static_cast<std::uint32_t>(mean([](const Step& s) { return s.gpu_ops; }));
  out.kernels = static_cast<std::uint32_t>(mean([](const Step& s) { return s.kernels; }));
  out.launches = static_cast<std::uint32_t>(mean([](const Step& s) { return s.launches; }));
  for (std::size_t r = 0; r < kStepRoles; ++r) out.time[r] = mean([&](const Step& s) { return s.time[r]; });
  return out;
}

}  // namespace gapscope
