#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kShownNames = 3;

// Pointwise, reduction, persistent reduction, template, foreach.
bool is_fused_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> kKinds = {"triton_poi_fused_", "triton_red_fused_", "triton_per_fused_",
                                                      "triton_tem_fused_", "triton_for_fused_"};
  return std::any_of(kKinds.begin(), kKinds.end(), [&](std::string_view kind) { return name.starts_with(kind); });
}

struct Fused {
  std::size_t count = 0;
  Ns time = 0;
  std::vector<std::string_view> names;  // in the order in which they first ran
  std::string_view costliest;
  std::vector<SliceId> slices;
};

Fused fused_kernels(const Facts& facts) {
  Fused out;
  std::vector<std::pair<Ns, std::string_view>> by_first_run;
  for (const NameTotal& total : facts.by_name) {
    const std::string_view name = facts.trace.strings[total.name];
    if (!is_fused_name(name)) continue;
    if (out.count == 0) out.costliest = name;
    out.count += total.count;
    add_saturating(out.time, total.total);
    const std::size_t before = out.slices.size();
    // The operator around the launch has the kernel's name.
    for (const SliceId s : facts.names.slices_named(total.name))
      if (is_gpu_work(facts.trace.kind(s))) out.slices.push_back(s);
    by_first_run.emplace_back(facts.trace.begin(out.slices[before]), name);
  }
  std::stable_sort(by_first_run.begin(), by_first_run.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [begin, name] : by_first_run) out.names.push_back(name);
  return out;
}

// What Inductor generates for the CPU are operators.
Fused fused_cpu_loops(const Facts& facts) {
  Fused out;
  out.slices = cpu_slices_called(facts, "cpp_fused_", kIsOp);
  out.count = out.slices.size();
  for (const SliceId s : out.slices) {
    add_saturating(out.time, facts.trace.duration(s));
    const std::string_view name = facts.trace.name(s);
    if (out.names.size() < kShownNames && std::find(out.names.begin(), out.names.end(), name) == out.names.end())
      out.names.push_back(name);
  }
  if (!out.names.empty()) out.costliest = out.names.front();
  return out;
}

std::vector<Finding> check_triton_fused_kernel(const Facts& facts) {
  Fused fused = fused_kernels(facts);
  const bool on_gpu = fused.count > 0;
  if (!on_gpu) fused = fused_cpu_loops(facts);
  if (fused.count == 0) return {};
  const double share = on_gpu ? share_of(fused.time, facts.gpu_sum) : share_of(fused.time, facts.cpu_active);
  Finding finding;
  EvidenceList names;
  for (std::size_t i = 0; i < std::min(kShownNames, fused.names.size()); ++i) names.emplace_back(printable(fused.names[i]));
  finding.summary = fmt::format("{} of Inductor's own {} took {} of the {} time{}{}.", counted(fused.count, "run"),
                                on_gpu ? "kernels" : "CPU loops", format_share(share), on_gpu ? "GPU" : "CPU",
                                fused.names.size() == 1 ? ": " : ", most of it ", shown_name(fused.costliest));
  finding.evidence.add("n", fused.count);
  finding.evidence.add("names", std::move(names));
  finding.evidence.add("share", share);
  mark_slices(finding, facts.trace, fused.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule triton_fused_kernel = {
    .id = "triton_fused_kernel",
    .rule_class = RuleClass::good_sign,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "torch.compile fused several operators into one kernel",
    .meaning =
        "Inductor fused several operators into one Triton kernel. poi means pointwise, red and per mean reductions. The name "
        "lists the operators. The number at the end is only a counter.",
    .remedy = "The list of operators shows what was fused.",
    .check = check_triton_fused_kernel,
};

}  // namespace gapscope
