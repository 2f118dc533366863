#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// At 5 us a launch this is a millisecond of host time each step.
constexpr double kLeastPerStep = 200;
// Without steps the number is that of the whole file, so more is asked for.
constexpr std::size_t kLeastWithoutSteps = 500;

struct Launches {
  std::size_t count = 0;
  Ns gpu = 0;
  std::vector<SliceId> owners;
};

// Kernel launches by the name of the operator that made them. A graph launch is one, however many kernels it starts.
std::map<StringId, Launches> launches_by_operator(const Facts& facts, std::size_t& all) {
  std::map<StringId, Launches> out;
  StringId last_name;
  Launches* last = nullptr;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const GpuOp& op = facts.ops[i];
    if (!op.linked() || !op.is_kernel() || facts.links.launched_by(op.launch).front() != op.slice) continue;
    ++all;
    const SliceId owner = facts.gpu[i].owner;
    if (!owner || (facts.own(owner) & kIsOp) == 0) continue;
    if (const StringId name = facts.trace.name_id(owner); last == nullptr || name != last_name)
      last = &out[name], last_name = name;
    ++last->count;
    add_saturating(last->gpu, op.span.length());
    if (last->owners.empty() || last->owners.back() != owner) last->owners.push_back(owner);
  }
  return out;
}

std::vector<Finding> check_many_calls(const Facts& facts) {
  if (facts.compiling()) return {};
  std::size_t all = 0;
  auto by_operator = launches_by_operator(facts, all);
  const auto most = std::max_element(by_operator.begin(), by_operator.end(),
                                     [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
  if (most == by_operator.end()) return {};
  Launches& found = most->second;
  const double per_step = static_cast<double>(found.count) / static_cast<double>(std::max<std::size_t>(1, facts.step_count()));
  if (facts.steps.empty() ? found.count < kLeastWithoutSteps : per_step < kLeastPerStep) return {};

  std::sort(found.owners.begin(), found.owners.end());
  found.owners.erase(std::unique(found.owners.begin(), found.owners.end()), found.owners.end());
  Ns cpu = 0;
  for (const SliceId s : found.owners) add_saturating(cpu, facts.trace.duration(s));
  const auto count = static_cast<Ns>(found.count);
  const std::string_view name = facts.trace.strings[most->first];
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = cpu;
  finding.summary = fmt::format("{} launched {}{}. Each takes {} on the GPU and {} on the CPU on average.", shown_name(name),
                                counted(found.count, "kernel"),
                                facts.steps.empty() ? "" : fmt::format(", {} per step", format_average(per_step)),
                                format_duration(found.gpu / count), format_duration(cpu / count));
  finding.evidence = Evidence({{"op", name},
                               {"launches", found.count},
                               {"per_step", per_step},
                               {"share_of_launches", static_cast<double>(found.count) / static_cast<double>(all)}});
  mark_slices(finding, facts.trace, found.owners);
  return {std::move(finding)};
}

}  // namespace

extern const Rule many_calls = {
    .id = "many_calls",
    .rule_class = RuleClass::problem_locator,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "One operator makes very many launches",
    .meaning = "Hundreds of cheap calls per step add up. Each one has the overhead of PyTorch and of a launch.",
    .remedy = "Launch less often: {compile}, {compile_rest}, {fused_optimizer}, {|batched or vectorized calls}.",
    .check = check_many_calls,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses, .turn = 170},
    .other_meaning = "Hundreds of cheap calls per step add up. Each one has the overhead of the program and of a launch.",
    .other_remedy = "Batch the calls, or replay them as a CUDA graph{cuda_graph!}.",
    .code = kCompileModel,
    .gives = {Cure::host},
};

}  // namespace gapscope
