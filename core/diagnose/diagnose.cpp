#include "core/diagnose/diagnose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "core/base/parallel.h"
#include "core/diagnose/catalogue.h"
#include "core/diagnose/verdict.h"

namespace gapscope {
namespace {

// ROCm files may say "inf".
bool states_blocks_per_sm(const GpuRow& row) { return std::isfinite(row.blocks_per_sm) && row.blocks_per_sm >= 0; }

struct Need {
  RuleNeed need;
  bool (*met)(const Facts&);
  std::string_view why;
};
constexpr std::array<Need, 6> kNeeds = {{
    {kNeedsGpuWork, [](const Facts& f) { return !f.ops.empty(); },
     "No kernel, copy or memset is in this trace: record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."},
    {kNeedsLaunches, [](const Facts& f) { return f.linked > 0; },
     "No GPU work has its launch in this trace: record with ProfilerActivity.CPU as well."},
    {kNeedsSteps, [](const Facts& f) { return !f.steps.empty(); },
     "No ProfilerStep# is in this trace: pass schedule=... and call prof.step() after each iteration."},
    {kNeedsOperators,
     [](const Facts& f) { return std::any_of(f.trace.categories.begin(), f.trace.categories.end(), [](const Category& c) { return c.kind == Kind::op; }); },
     "No operators are in this trace: record with ProfilerActivity.CPU."},
    {kNeedsDeviceProperties, [](const Facts& f) { return !f.trace.header.devices.empty(); },
     "The file does not describe the GPU (deviceProperties): record with PyTorch 1.9 or later."},
    {kNeedsBlocksPerSm,
     [](const Facts& f) {
       return std::any_of(f.ops.begin(), f.ops.end(), [&](const GpuOp& op) { return op.linked() && states_blocks_per_sm(f.row(op)); });
     },
     "No kernel of this trace states its blocks per SM, as recordings of AMD GPUs do not."},
}};

// "Prefer the cause": of two findings the first explains the second. An empty effect: every problem.
struct Cause {
  std::string_view cause, effect;
};
constexpr std::array<Cause, 7> kCauses = {{
    {"compile_inside_window", ""},
    {"autotuning_in_window", ""},
    {"activity_buffer_request", "cpu_gpu_lane_offset"},
    {"activity_buffer_request", "gpu_gap_in_step"},
    {"dataloader_wait", "low_gpu_utilization"},
    {"long_sync_wait", "low_gpu_utilization"},
    {"many_small_kernels", "overhead_bound"},
}};

bool is_problem(const Rule& rule) { return rule.rule_class == RuleClass::problem || rule.rule_class == RuleClass::problem_locator; }

bool explains(const Rule& cause, const Rule& effect) {
  if (cause.id == effect.id) return false;
  // Autotuning is part of a compilation: of the two the compilation leads.
  if (effect.id == "compile_inside_window") return false;
  return std::any_of(kCauses.begin(), kCauses.end(), [&](const Cause& c) {
    return c.cause == cause.id && (c.effect.empty() ? is_problem(effect) : c.effect == effect.id);
  });
}

void fold_under_causes(std::vector<RankedFinding>& findings) {
  for (RankedFinding& effect : findings)
    for (std::size_t i = 0; i < findings.size() && effect.led_by < 0; ++i)
      if (explains(*findings[i].finding.rule, *effect.finding.rule)) effect.led_by = static_cast<std::int32_t>(i);
}

}  // namespace

Diagnosis diagnose(const Facts& facts, const std::atomic<bool>* cancel) {
  // Side by side, since rules only look; told in the order of the catalogue, whoever was first.
  const std::vector<const Rule*>& rules = all_rules();
  std::vector<std::vector<Finding>> found(rules.size());
  std::vector<const Need*> lacking(rules.size(), nullptr);
  parallel_for(hardware_threads(), rules.size(), [&](std::size_t i) {
    if (cancel != nullptr && *cancel) return;
    const auto need = std::find_if(kNeeds.begin(), kNeeds.end(), [&](const Need& n) { return (rules[i]->needs & n.need) != 0 && !n.met(facts); });
    if (need != kNeeds.end())
      lacking[i] = &*need;
    else
      found[i] = rules[i]->check(facts);
  });
  Diagnosis out;
  if (cancel != nullptr && *cancel) return out;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (lacking[i] != nullptr) out.unjudged.push_back({rules[i], std::string(lacking[i]->why)});
    for (Finding& finding : found[i]) {
      finding.rule = rules[i];
      out.findings.push_back({std::move(finding), -1});
    }
  }
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const RankedFinding& a, const RankedFinding& b) {
    return std::tuple(a.finding.severity, a.finding.cost) > std::tuple(b.finding.severity, b.finding.cost);
  });
  fold_under_causes(out.findings);
  const TimeAccount& account = facts.analysis.account();
  const Trust trust = trust_of(facts.trace, facts.ops, account);
  out.trust = trust_text(trust);
  out.verdict = verdict_of(facts.trace, account, trust).text;
  return out;
}

}  // namespace gapscope
