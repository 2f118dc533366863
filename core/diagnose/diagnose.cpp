#include "core/diagnose/diagnose.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/parallel.h"
#include "core/diagnose/catalogue.h"
#include "core/diagnose/claims.h"
#include "core/diagnose/verdict.h"

namespace gapscope {
namespace {

// ROCm files may say "inf".
bool states_blocks_per_sm(const GpuRow& row) { return std::isfinite(row.blocks_per_sm) && row.blocks_per_sm >= 0; }

// The rules' sums: work is judged by who launched it.
constexpr std::string_view kWithoutUnlinked =
    " Shares of the GPU time in the findings are of the work whose launch is in the file.";

struct Need {
  RuleNeed need;
  bool (*met)(const Facts&);
  std::string_view why;      // up to what to do about it
  std::string_view instead;  // what to do when recording again
};
constexpr std::array<Need, 7> kNeeds = {{
    {kNeedsGpuWork, [](const Facts& f) { return !f.ops.empty(); }, "No kernel, copy or memset is in this trace",
     "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."},
    {kNeedsLaunches, [](const Facts& f) { return f.linked > 0; }, "No GPU work has its launch in this trace",
     "record with ProfilerActivity.CPU as well."},
    {kNeedsSteps, [](const Facts& f) { return !f.steps.empty(); }, "No ProfilerStep# is in this trace",
     "pass schedule=... and call prof.step() after each iteration."},
    {kNeedsOperators,
     [](const Facts& f) {
       return std::any_of(f.trace.categories.begin(), f.trace.categories.end(),
                          [](const Category& c) { return c.kind == Kind::op; });
     },
     "No operators are in this trace", "record with ProfilerActivity.CPU."},
    {kNeedsDeviceProperties, [](const Facts& f) { return !f.trace.header.devices.empty(); },
     "The file does not describe the GPU (deviceProperties)", "record with PyTorch 1.9 or later."},
    {kNeedsBlocksPerSm,
     [](const Facts& f) {
       return std::any_of(f.ops.begin(), f.ops.end(),
                          [&](const GpuOp& op) { return op.linked() && states_blocks_per_sm(f.row(op)); });
     },
     "No kernel of this trace states its blocks per SM, as recordings of AMD GPUs do not.", ""},
    {kNeedsCounters, [](const Facts& f) { return !f.analysis.counters().empty(); }, "No hardware counters are in this trace",
     "gapscope record --counters writes them."},
}};

// "No operators are in this trace: record with ProfilerActivity.CPU."
std::string lack_of(const Need& need, bool cut_off) {
  if (need.instead.empty()) return std::string(need.why);
  if (cut_off) return fmt::format("{}, whose end is missing: export it again.", need.why);
  return fmt::format("{}: {}", need.why, need.instead);
}

// What a recording of the process's start shows is paid once: nothing to work on before that is left out.
void fit_to_start_up(std::vector<RankedFinding>& findings) {
  for (RankedFinding& f : findings)
    if (!f.finding.rule->remedy_at_start.empty()) f.finding.remedy = f.finding.rule->remedy_at_start;
}

// Notes on what is no problem: the first few, and none that teaches.
void choose_brief(std::vector<RankedFinding>& findings) {
  std::size_t notes = 0;
  for (RankedFinding& f : findings) {
    if (f.finding.severity != Severity::informational) continue;
    f.brief = !is_teaching(f.finding.rule->rule_class) && !f.merged && notes < kBriefNotes;
    notes += f.brief ? 1 : 0;
  }
}

}  // namespace

Diagnosis diagnose(const Facts& facts, const std::atomic<bool>* cancel) {
  // Side by side, since rules only look; told in the order of the catalogue, whoever was first.
  const std::vector<const Rule*>& rules = all_rules();
  std::vector<std::vector<Finding>> found(rules.size());
  std::vector<const Need*> lacking(rules.size(), nullptr);
  parallel_for(hardware_threads(), rules.size(), [&](std::size_t i) {
    if (cancel != nullptr && *cancel) return;
    // Launches of GPU work are lacking where there is no such work, too; then that is the reason to tell.
    const std::uint32_t needs = rules[i]->needs | ((rules[i]->needs & kNeedsLaunches) != 0 ? kNeedsGpuWork : 0u);
    const auto need =
        std::find_if(kNeeds.begin(), kNeeds.end(), [&](const Need& n) { return (needs & n.need) != 0 && !n.met(facts); });
    if (need != kNeeds.end())
      lacking[i] = &*need;
    else
      found[i] = rules[i]->check(facts);
  });
  Diagnosis out;
  if (cancel != nullptr && *cancel) return out;
  const bool cut_off = !facts.trace.is_part && facts.trace.report.count(ImportIssue::truncated) > 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (lacking[i] != nullptr) out.unjudged.push_back({rules[i], lack_of(*lacking[i], cut_off)});
    for (Finding& finding : found[i]) {
      finding.rule = rules[i];
      out.findings.emplace_back().finding = std::move(finding);
    }
  }
  assign_time(facts, out.findings);
  choose_brief(out.findings);
  const TimeAccount& account = facts.analysis.account();
  const Trust trust = trust_of(facts.trace, facts.ops, account);
  out.trust = trust_text(trust);
  if (!out.trust.empty() && trust.unlinked > 0 && trust.unlinked < trust.gpu_work) out.trust += kWithoutUnlinked;
  const Verdict verdict = verdict_of(facts.trace, account, trust);
  out.verdict = verdict.text;
  if (verdict.bound == Bound::start_up) fit_to_start_up(out.findings);
  return out;
}

}  // namespace gapscope
