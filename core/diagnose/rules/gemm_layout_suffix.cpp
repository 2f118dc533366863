#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/rules/conditions.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_layout(std::string_view t, char n, char trans) { return (t[0] == n || t[0] == trans) && (t[1] == n || t[1] == trans); }

// nvjet_..._NNT: the two operands and the result.
std::optional<std::string> nvjet_layout(std::string_view name) {
  if (!name.starts_with("nvjet") || name.size() < 4 || name[name.size() - 4] != '_') return std::nullopt;
  const std::string_view end = name.substr(name.size() - 3);
  if (!is_layout(end, 'N', 'T') || (end[2] != 'N' && end[2] != 'T')) return std::nullopt;
  return std::string{end[0] == 'T' ? 't' : 'n', end[1] == 'T' ? 't' : 'n'};
}

// What may follow the two letters: cutlass "_align8", xmma "_n_", and "" or "_v1" in cuBLAS' own names.
bool ends_layout(std::string_view name, std::string_view rest) {
  if (rest.empty()) return true;
  if (rest.starts_with("_align")) return rest.size() > 6 && is_digit(rest[6]);
  if (rest.starts_with("_n_")) return name.find("xmma") != std::string_view::npos;
  return rest.starts_with("_v") && rest.size() > 2 && is_digit(rest[2]);
}

std::optional<std::string> layout_of(std::string_view name) {
  if (auto layout = nvjet_layout(name)) return layout;
  for (std::size_t at = name.find('_'); at != std::string_view::npos && at + 2 < name.size(); at = name.find('_', at + 1)) {
    const std::string_view letters = name.substr(at + 1, 2);
    if (is_layout(letters, 'n', 't') && ends_layout(name, name.substr(at + 3))) return std::string(letters);
  }
  return std::nullopt;
}

std::vector<Finding> check(const Facts& facts) {
  std::vector<std::pair<std::string, std::size_t>> layouts;
  std::vector<SliceId> kernels;
  std::string example;
  for (const NameTotal& total : facts.by_name) {
    const std::string_view name = facts.trace.strings[total.name];
    if (rule_family(name) != RuleFamily::gemm) continue;
    const auto layout = layout_of(name);
    if (!layout) continue;
    auto at = std::find_if(layouts.begin(), layouts.end(), [&](const auto& l) { return l.first == *layout; });
    if (at == layouts.end()) at = layouts.insert(layouts.end(), {*layout, 0});
    at->second += total.count;
    const auto slices = facts.names.slices_named(total.name);
    kernels.insert(kernels.end(), slices.begin(), slices.end());
    if (example.empty()) example = shown_name(name);
  }
  if (layouts.empty()) return {};
  Finding finding;
  EvidenceMap counts;
  std::string text;
  for (const auto& [layout, count] : layouts) {
    counts.emplace_back(layout, count);
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", shown_count(count), layout);
  }
  finding.summary = fmt::format("The names of matmul kernels tell which operand is read transposed: {}; for example {}.", text, example);
  finding.evidence.add("layouts", std::move(counts));
  finding.spans = spans_of_slices(facts.trace, std::move(kernels));
  return {std::move(finding)};
}

}  // namespace

const Rule gemm_layout_suffix = {
    "gemm_layout_suffix", RuleClass::reading_help, Severity::informational, kNeedsLaunches,
    "The kernel name tells the layout of its operands",
    "nn, tn, nt and tt say which operand is read transposed, column by column as BLAS counts: x @ W.t() appears as tn. The library "
    "chose it from the strides.",
    "When two runs differ here, the strides of an input changed.",
    check};

}  // namespace gapscope
