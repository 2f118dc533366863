#include "core/diagnose/conditions/fused_optimizer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/facts.h"

namespace gapscope {

std::string_view fusible_optimizer(std::string_view annotation) {
  constexpr std::array<std::string_view, 4> kNames = {"Adam", "AdamW", "SGD", "Adagrad"};
  if (!annotation.starts_with(kOptimizerStep)) return {};
  annotation.remove_prefix(kOptimizerStep.size());
  const auto name = std::find(kNames.begin(), kNames.end(), annotation.substr(0, annotation.find('.')));
  return name != kNames.end() ? *name : std::string_view();
}

std::string fused_optimizer_line(const Facts& facts) {
  std::string_view name = "AdamW";
  for (const SliceId s : cpu_slices_called(facts, kOptimizerStep, kIsAnnotation))
    if (const std::string_view own = fusible_optimizer(facts.trace.name(s)); !own.empty()) {
      name = own;
      break;
    }
  return fmt::format("{{fused_optimizer!}}optimizer = torch.optim.{}(model.parameters(), fused=True)", name);
}

}  // namespace gapscope
