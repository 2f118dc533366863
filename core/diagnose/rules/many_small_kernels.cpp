#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/gpu/launches.h"
#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A launch costs the host about 5 to 9 us, so a kernel shorter than this cannot hide the next one. TraceLens' limit, too.
constexpr Ns kShort = 10 * kNsPerUs;
// Fewer are a small model, which is a matter of its size.
constexpr double kLeastEachStep = 80;
constexpr double kLeastShortShare = 0.75;
// A busy GPU is not limited by its launches, however small they are.
constexpr double kMostGpuUse = 0.50;

struct Kernels {
  std::vector<Ns> durations;
  std::vector<SliceId> short_ones;
  std::size_t in_steps = 0;  // launched inside a step; without steps all
  Ns call_time = 0;
  std::array<std::int64_t, 7> families{};
};

// Those of a graph were launched together: no launch is saved by fusing them.
Kernels kernels_of(const Facts& facts) {
  Kernels out;
  std::vector<bool> is_graph(facts.trace.strings.size());
  for (const StringId name : facts.names_matching(launches_graph)) is_graph[name.index()] = true;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const GpuOp& op = facts.ops[i];
    if (!op.linked() || !op.is_kernel() || is_graph[facts.trace.name_id(op.launch).index()]) continue;
    out.durations.push_back(op.span.length());
    out.in_steps += facts.steps.empty() || facts.gpu[i].step >= 0 ? 1 : 0;
    if (op.span.length() >= kShort) continue;
    out.short_ones.push_back(op.slice);
    add_saturating(out.call_time, op.launch_span.length());
    ++out.families[static_cast<std::size_t>(facts.gpu[i].family)];
  }
  return out;
}

EvidenceMap families_as_evidence(const Kernels& kernels) {
  EvidenceMap out;
  for (std::size_t i = 0; i < kernels.families.size(); ++i)
    if (kernels.families[i] > 0)
      out.emplace_back(std::string(rule_family_name(static_cast<RuleFamily>(i))), kernels.families[i]);
  return out;
}

std::vector<Finding> check_many_small_kernels(const Facts& facts) {
  if (facts.compiling() || !facts.gpu_util || *facts.gpu_util >= kMostGpuUse) return {};
  Kernels kernels = kernels_of(facts);
  const double each_step =
      static_cast<double>(kernels.in_steps) / static_cast<double>(std::max<std::size_t>(facts.step_count(), 1));
  if (each_step < kLeastEachStep) return {};
  const double short_share = static_cast<double>(kernels.short_ones.size()) / static_cast<double>(kernels.durations.size());
  if (short_share < kLeastShortShare) return {};
  const Ns median = median_of(kernels.durations);
  Finding finding;
  finding.severity = Severity::costly;
  IdleBefore before = idle_before(facts, kernels.short_ones);
  finding.cost = before.host_and_start;
  finding.summary = fmt::format(
      "{} {}, {} of them under {} (median {}). Before these, the GPU was idle for {} until the host launched them or they "
      "began. Their launch calls took {}.",
      format_average(each_step) + " kernels", facts.steps.empty() ? "in total" : "per step", format_share(short_share),
      format_duration(kShort), format_duration(median), format_duration(before.host_and_start),
      format_duration(kernels.call_time));
  finding.evidence = Evidence({{"kernels", kernels.durations.size()},
                               {"per_step", each_step},
                               {"short_share", short_share},
                               {"median_us", as_us(median)},
                               {"gpu_util", *facts.gpu_util},
                               {"launch_us", as_us(kernels.call_time)},
                               {"families", families_as_evidence(kernels)}});
  if (facts.practices().follows(Practice::recurrent_cells)) finding.code = "out, state = nn.LSTM(width, hidden)(sequence)";
  mark_slices(finding, facts.trace, kernels.short_ones);
  finding.covers = std::move(before.gaps);
  return {std::move(finding)};
}

}  // namespace

extern const Rule many_small_kernels = {
    .id = "many_small_kernels",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "Too many tiny kernels",
    .meaning =
        "Most kernels last less than 10 µs, about as long as one launch takes on the host. There are very many, and the GPU "
        "waits for each next one.",
    .remedy =
        "Use fewer and larger kernels: {whole_sequence}, {compile|torch.compile, which fuses them}, {compile_rest}, "
        "{fused_optimizer}, {cuda_graph|mode=\"reduce-overhead\", which replays them in one launch}, {larger_graphs}, "
        "{larger_batch}.",
    .check = check_many_small_kernels,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses | cause_set({IdleCause::starting}), .turn = 150},
    .other_remedy = "Fuse them, or replay the step as a CUDA graph{cuda_graph!}.",
    .code = kCompileModel,
    .gives = {Cure::graph},
};

}  // namespace gapscope
