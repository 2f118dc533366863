#pragma once
// torch.optim's optimizers that have an implementation behind fused=True.
#include <string>
#include <string_view>

namespace gapscope {

class Facts;

constexpr std::string_view kOptimizerStep = "Optimizer.step#";

// "Adam" of "Optimizer.step#Adam.step"; empty of others.
std::string_view fusible_optimizer(std::string_view annotation);
// The line that makes the program's own optimizer a fused one, for fitted().
std::string fused_optimizer_line(const Facts& facts);

}  // namespace gapscope
