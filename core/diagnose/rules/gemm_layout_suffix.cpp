#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::string_view kCut = "…";

std::vector<Finding> check_gemm_layout_suffix(const Facts& facts) {
  std::vector<std::pair<std::string, std::size_t>> layouts;
  std::vector<SliceId> kernels;
  std::set<std::uint32_t> names;
  std::string example;
  bool example_is_cut = false;
  for (const NameTotal& total : facts.by_name) {
    const std::string_view name = facts.trace.strings[total.name];
    const KernelName& decoded = facts.decoded(total.name);
    const std::string& layout = decoded.layout;
    if (decoded.kind != KernelKind::gemm || layout.empty()) continue;
    auto at = std::find_if(layouts.begin(), layouts.end(), [&](const auto& l) { return l.first == layout; });
    if (at == layouts.end()) at = layouts.insert(layouts.end(), {layout, 0});
    at->second += total.count;
    names.insert(total.name.value);
    // One that shows its layout: the letters stand where a long name is cut.
    if (example.empty() || (example_is_cut && shown_kernel(name).find(kCut) == std::string::npos)) {
      example = shown_kernel(name);
      example_is_cut = example.find(kCut) != std::string::npos;
    }
  }
  if (layouts.empty()) return {};
  for (const GpuOp& op : facts.ops)
    if (op.linked() && names.count(facts.trace.name_id(op.slice).value) > 0) kernels.push_back(op.slice);
  Finding finding;
  EvidenceMap counts;
  std::string text;
  for (const auto& [layout, count] : layouts) {
    counts.emplace_back(layout, count);
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", shown_count(count), layout);
  }
  finding.summary =
      fmt::format("The names of matmul kernels show which operand is read transposed: {}. Example: {}.", text, example);
  finding.evidence.add("layouts", std::move(counts));
  mark_slices(finding, facts.trace, kernels);
  return {std::move(finding)};
}

}  // namespace

extern const Rule gemm_layout_suffix = {
    .id = "gemm_layout_suffix",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "The kernel name shows the layout of its operands",
    .meaning =
        "nn, tn, nt and tt show which operand is read transposed, in BLAS's column-major order: x @ W.t() appears as tn. The "
        "library chose it from the strides.",
    .remedy = "If two runs differ here, the strides of an input changed.",
    .check = check_gemm_layout_suffix,
};

}  // namespace gapscope
