#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kNamesShown = 3;

struct NameCount {
  StringId name;
  std::size_t count = 0;
};

// "bf16, tile 256x128x64": what the name says.
std::string decoded(std::string_view name) {
  const KernelName parts = decode(name);
  std::string text;
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{}{}", text.empty() ? "" : ", ", label, printable(value));
  };
  add("", parts.family);
  add("", parts.arch);
  add("inputs ", parts.input_type);
  add("tile ", parts.tile);
  add("layout ", parts.layout);
  add("epilogue ", parts.epilogue);
  return text;
}

bool is_product(const Facts& facts, std::size_t i) {
  return facts.ops[i].is_kernel() && facts.gpu[i].family == RuleFamily::gemm;
}
bool any_product(const Facts& facts, bool launched) {
  for (std::size_t i = 0; i < facts.ops.size(); ++i)
    if (is_product(facts, i) && facts.ops[i].linked() == launched) return true;
  return false;
}

// What is before the example: the only name, the usual one, or one of many.
std::string_view before_example(std::size_t names, std::size_t times) {
  return names == 1 ? ": " : times > 1 ? ". Most often " : ", for example ";
}

std::vector<Finding> check_gemm_kernel_name(const Facts& facts) {
  std::map<StringId, std::size_t> count;
  std::vector<SliceId> slices;
  Ns time = 0, all = 0;
  const bool any_launched = any_product(facts, true);  // else those that were launched before the recording
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const GpuOp& op = facts.ops[i];
    if (any_launched && !op.linked()) continue;
    add_saturating(all, op.span.length());
    if (!is_product(facts, i)) continue;
    slices.push_back(op.slice);
    ++count[facts.trace.name_id(op.slice)];
    add_saturating(time, op.span.length());
  }
  if (slices.empty()) return {};
  std::vector<NameCount> names;
  for (const auto& [name, n] : count) names.push_back({name, n});
  std::stable_sort(names.begin(), names.end(), [](const NameCount& a, const NameCount& b) { return a.count > b.count; });
  EvidenceList shown;
  for (std::size_t i = 0; i < std::min(kNamesShown, names.size()); ++i) shown.emplace_back(facts.trace.strings[names[i].name]);
  const double share = all > 0 ? static_cast<double>(time) / static_cast<double>(all) : 0;
  const std::string_view first = facts.trace.strings[names.front().name];
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("{} under {}, {} of the GPU time{}{}", counted(slices.size(), "matrix product"),
                                counted(names.size(), "name"), format_share(share),
                                before_example(names.size(), names.front().count), shown_kernel(first));
  const std::string parts = decoded(first);
  finding.summary += parts.empty() ? "." : fmt::format(" ({}).", parts);
  finding.evidence = Evidence({{"n", slices.size()}, {"names", std::move(shown)}, {"share", share}});
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule gemm_kernel_name = {
    .id = "gemm_kernel_name",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsGpuWork,
    .title = "These kernels are the matrix products",
    .meaning =
        "The name of a library's matrix kernel shows the GPU generation, data types, tile, pipeline depth, layout and fused "
        "epilogue.",
    .remedy = "Compare names of two runs: the same name, grid and time mean the same work on the GPU.",
    .check = check_gemm_kernel_name,
};

}  // namespace gapscope
