#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/code_place.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastReads = 8;        // as of values that are read one by one (item_in_loop)
constexpr std::size_t kLeastReadsOfStep = 4;  // fewer are results of the step
constexpr double kLeastReadShare = 0.05;      // of the window
constexpr Ns kComputes = 200 * kNsPerUs;      // an operator on CPU tensors: tensors_on_cpu has it

bool is_copy(std::string_view op) {
  constexpr std::array<std::string_view, 4> kCopies = {"aten::to", "aten::_to_copy", "aten::copy_", "aten::cpu"};
  return std::find(kCopies.begin(), kCopies.end(), op) != kCopies.end();
}

// Where copies to the CPU were launched, by lane and time; and how many came back.
struct Copies {
  std::vector<std::pair<LaneId, Ns>> to_host;
  std::size_t to_device = 0;

  bool any_in(LaneId lane, Span span) const {
    const auto at = std::lower_bound(to_host.begin(), to_host.end(), std::pair(lane, span.begin));
    return at != to_host.end() && at->first == lane && at->second < span.end;
  }
};

Copies copies_of(const Facts& facts) {
  Copies out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || op.gpu_class != GpuClass::copy) continue;
    const std::string_view name = facts.name(op);
    if (name.find("DtoH") != name.npos) out.to_host.emplace_back(facts.trace.lane_id(op.launch), op.launch_span.begin);
    if (name.find("HtoD") != name.npos) ++out.to_device;
  }
  std::sort(out.to_host.begin(), out.to_host.end());
  return out;
}

// The hook of a module around it: a function of the program that module.py calls and that is no forward().
SliceId hook_around(const Facts& facts, SliceId s) {
  SliceId at = facts.ancestor(s, kIsPython);
  while (at && !is_own_frame(facts.trace.name(at))) at = facts.ancestor(at, kIsPython);
  const SliceId caller = at ? facts.ancestor(at, kIsPython) : SliceId{};
  const bool is_hook = caller && facts.trace.name(caller).starts_with("torch/nn/modules/module.py(") &&
                       !facts.trace.name(at).ends_with("): forward");
  return is_hook ? at : SliceId{};
}

// From the copy to what the thread launches next; empty where the CPU computes with operators in between.
Span until_next_launch(const Facts& facts, const Operators& ops, std::size_t i) {
  Span out = facts.trace.span_of(ops[i]);
  for (std::size_t next = i + 1; next < ops.size(); ++next) {
    if ((facts.below(ops[next]) & kIsLaunch) != 0) return {out.begin, facts.trace.begin(ops[next])};
    if (facts.trace.duration(ops[next]) >= kComputes) return {};
  }
  return out;
}

// Whether the copy is at once added to a tensor of the CPU, as averages of weights that are there are.
bool updates_on_cpu(const Facts& facts, const Operators& ops, std::size_t i) {
  if (i + 1 >= ops.size() || (facts.below(ops[i + 1]) & kIsLaunch) != 0) return false;
  const std::string_view name = facts.trace.name(ops[i + 1]);
  return name == "aten::add_" || name == "aten::lerp_" || name == "aten::mul_";
}

std::vector<Finding> check_tensors_read_in_step(const Facts& facts) {
  if (facts.compiling() || facts.steps.empty()) return {};
  const Copies copies = copies_of(facts);
  if (copies.to_host.size() < kLeastReads || 2 * copies.to_device >= copies.to_host.size()) return {};  // else they live there
  std::vector<FindingSpan> places;
  std::vector<Span> spans;
  std::size_t of_hooks = 0, updates = 0;
  Ns copying = 0;
  for (const Operators& ops : operators_by_thread_and_step(facts))
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const SliceId s = ops[i];
      const LaneId lane = facts.trace.lane_id(s);
      if ((facts.below(s) & kIsSync) == 0 || !is_copy(facts.trace.name(s)) || !copies.any_in(lane, facts.trace.span_of(s)))
        continue;
      const SliceId hook = hook_around(facts, s);
      const Span span = hook ? facts.trace.span_of(hook) : until_next_launch(facts, ops, i);
      if (span.empty()) continue;
      of_hooks += hook ? 1 : 0;
      updates += updates_on_cpu(facts, ops, i) ? 1 : 0;
      add_saturating(copying, facts.trace.duration(s));
      places.push_back({lane, span, SliceId{}});
      spans.push_back(span);
    }
  if (places.size() < kLeastReads || places.size() < kLeastReadsOfStep * facts.step_count()) return {};
  Finding finding;
  finding.spared = span_set(std::move(spans));
  const Ns time = length(finding.spared);
  const double share = share_of(time, facts.window_length);
  if (share < kLeastReadShare) return {};
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary =
      fmt::format("{} to the CPU in {}, and the CPU waited for each. {} {}, {} of the window.",
                  sentence_start(counted(places.size(), "tensor")) + (places.size() == 1 ? " was copied" : " were copied"),
                  counted(facts.step_count(), "step"),
                  2 * of_hooks > places.size() ? "The hooks that do it take" : "Until the next launch the host takes",
                  format_duration(time), format_share(share));
  finding.evidence = Evidence({{"n", places.size()}, {"of_hooks", of_hooks}, {"total_us", as_us(time)}, {"share", share}});
  if (2 * updates > places.size()) {
    finding.summary += " The CPU adds each to another CPU tensor.";
    finding.advice = advice_of(
        "Update averages of the weights, and other tensors that these are added to, on the GPU. Copy them to the CPU when you "
        "save them.");
    finding.code = "average = copy.deepcopy(model)  # on the GPU, updated there";
  } else if (2 * of_hooks <= places.size() && copying < time / 2) {
    finding.summary += fmt::format(" The copies took {} of that.", format_duration(copying));
    const bool trains = facts.practices().trains;
    finding.advice = advice_of(
        trains ? "Copy in every hundredth step only, if this is for histograms or logs. Otherwise compute what you need on the "
                 "GPU (mean, norm, torch.histc), and copy the small results after the step."
               : "Compute on the GPU what the next launches depend on, such as forbidden tokens. Use comparisons, "
                 "torch.where() and scatter on all rows at once instead of lists. Copy after the step what you only look at.");
    finding.code = trains ? "if step % 100 == 0:  # before the call that reads them"
                          : "scores = torch.where(is_banned, -math.inf, scores)  # with tensors, on the GPU";
  }
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule tensors_read_in_step = {
    .id = "tensors_read_in_step",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators | kNeedsSteps,
    .title = "Tensors are copied to the CPU during the step",
    .meaning =
        "Each .cpu() or .numpy() waits until the GPU has computed the tensor. Meanwhile, and while the CPU works on the copy, "
        "nothing new is launched.",
    .remedy =
        "Compute what you need of these tensors on the GPU (mean, norm, histogram), and copy the small results after the step. "
        "Statistics are often needed in every hundredth step only.",
    .check = check_tensors_read_in_step,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 44, .explains = {"overhead_bound", "implicit_sync", "host_pause"}},
    .code = "stats.append(out.detach().float().mean())  # read them after the step",
    .gives = {Cure::gone},
};

}  // namespace gapscope
