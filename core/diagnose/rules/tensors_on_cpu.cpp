#include <algorithm>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// An operator's own path through PyTorch takes tens of microseconds, so what usually takes longer computes.
constexpr Ns kLeastMedian = 200 * kNsPerUs;
constexpr double kLeastCpuShare = 0.05;  // of the window
constexpr std::size_t kLeastCalls = 3;   // fewer are a first use or a stop of the thread

// Outermost operators, by name, that make no call of CUDA: their tensors lie on the CPU.
std::unordered_map<std::uint32_t, std::vector<SliceId>> operators_without_calls(const Facts& facts) {
  std::unordered_map<std::uint32_t, std::vector<SliceId>> out;
  for (const SliceId s : facts.slices_with(kIsAten)) {
    if ((facts.below(s) & (kIsCall | kIsPython)) != 0 || (facts.above(s) & (kIsCompileFrame | kIsDataLoader)) != 0) continue;
    const SliceId outer = facts.ancestor(s, kIsAten);
    if (outer && (facts.below(outer) & (kIsCall | kIsPython)) == 0) continue;
    const SliceId range = facts.outermost(s, kIsAnnotation);
    if (range && facts.trace.name(range).starts_with("Optimizer.")) continue;  // optimizer_on_cpu
    out[facts.trace.name_id(s).value].push_back(s);
  }
  return out;
}

std::vector<Finding> check_tensors_on_cpu(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<bool> launches(facts.trace.lanes.size());
  for (const GpuOp& op : facts.ops)
    if (op.linked()) launches[facts.trace.lane_id(op.launch).index()] = true;
  std::vector<SliceId> places;
  Ns time = 0, most = 0;
  StringId leads;
  for (auto& [name, calls] : operators_without_calls(facts)) {
    std::erase_if(calls, [&](SliceId s) { return !launches[facts.trace.lane_id(s).index()]; });
    std::vector<Ns> lengths;
    Ns all = 0;
    for (const SliceId s : calls) {
      lengths.push_back(facts.trace.duration(s));
      add_saturating(all, lengths.back());
    }
    if (calls.size() < kLeastCalls || median_of(lengths) < kLeastMedian) continue;
    places.insert(places.end(), calls.begin(), calls.end());
    add_saturating(time, all);
    if (all > most || (all == most && name < leads.value)) most = all, leads = facts.trace.name_id(calls.front());
  }
  const double share = share_of(time, facts.window.length());
  if (places.empty() || share < kLeastCpuShare) return {};
  std::sort(places.begin(), places.end());
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary =
      fmt::format("{} on CPU tensors {} the thread that launches GPU work for {}, {} of the window. {} has the most, {}.",
                  counted(places.size(), "operator call"), places.size() == 1 ? "occupies" : "occupy", format_duration(time),
                  format_share(share), shown_name(facts.trace.strings[leads]), format_duration(most));
  finding.evidence = Evidence({{"n", places.size()},
                               {"total_us", as_us(time)},
                               {"share", share},
                               {"name", facts.trace.strings[leads]},
                               {"name_us", as_us(most)}});
  mark_slices(finding, facts.trace, places);
  return {std::move(finding)};
}

}  // namespace

extern const Rule tensors_on_cpu = {
    .id = "tensors_on_cpu",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "The loop computes on CPU tensors",
    .meaning =
        "These operators launch nothing, because their tensors are on the CPU. The thread launches no GPU work meanwhile, and "
        "the GPU becomes idle.",
    .remedy =
        "Move the inputs to the GPU first and compute there. If the CPU needs the result, copy the small result and not its "
        "inputs. Move work that needs no GPU and no result of this step to DataLoader workers.",
    .check = check_tensors_on_cpu,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 43, .explains = {"overhead_bound", "memcpy_heavy"}},
    .code = "x = x.to(\"cuda\")  # before the operators, not after them",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
