#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Operators that return another view of the same memory. reshape copies where strides leave it no choice.
constexpr std::array<std::string_view, 27> kViews = {
    "t",      "transpose", "view",    "as_strided", "expand",  "reshape",  "permute", "squeeze",          "unsqueeze",
    "slice",  "select",    "detach",  "alias",      "narrow",  "unfold",   "split",   "split_with_sizes", "chunk",
    "unbind", "diagonal",  "view_as", "expand_as",  "movedim", "swapaxes", "numpy_T", "_unsafe_view",     "_reshape_alias"};
constexpr std::size_t kShownNames = 4;

bool is_view(std::string_view name) {
  constexpr std::string_view kAten = "aten::";
  return name.starts_with(kAten) && std::find(kViews.begin(), kViews.end(), name.substr(kAten.size())) != kViews.end();
}

struct Views {
  struct Named {
    StringId name;
    std::size_t count = 0;
    Ns first = 0;
  };
  std::vector<Named> names;
  std::vector<SliceId> slices;  // without GPU work
  std::size_t copied = 0;       // with
  Ns cpu_time = 0;              // of the outermost
};

Views gather(const Facts& facts) {
  Views out;
  for (const StringId name : facts.names_matching(is_view)) {
    Views::Named named{name, 0, 0};
    for (const SliceId s : facts.names.slices_named(name)) {
      if ((facts.own(s) & kIsOp) == 0) continue;
      if (facts.below(s) & kIsLaunch) {
        ++out.copied;
        continue;
      }
      if (named.count++ == 0) named.first = facts.trace.begin(s);
      const SliceId parent = facts.parent(s);
      if (!parent || !is_view(facts.trace.name(parent))) add_saturating(out.cpu_time, facts.trace.duration(s));
      out.slices.push_back(s);
    }
    if (named.count > 0) out.names.push_back(named);
  }
  std::sort(out.names.begin(), out.names.end(),
            [](const auto& a, const auto& b) { return a.count != b.count ? a.count > b.count : a.first < b.first; });
  return out;
}

std::vector<Finding> check_metadata_only_ops(const Facts& facts) {
  // While the compiler runs such operators are its tracing, which is a finding of its own.
  if (facts.compiling()) return {};
  Views views = gather(facts);
  if (views.slices.empty()) return {};
  Finding finding;
  EvidenceMap top;
  for (std::size_t i = 0; i < std::min(kShownNames, views.names.size()); ++i)
    top.emplace_back(std::string(facts.trace.strings[views.names[i].name]), views.names[i].count);
  finding.summary =
      fmt::format("{} only changed shapes and strides: no GPU work, {} of CPU time.{}",
                  counted(views.slices.size(), "operator"), format_duration(views.cpu_time),
                  views.copied == 0 ? "" : fmt::format(" {} more such operators had to copy.", shown_count(views.copied)));
  finding.evidence.add("n", views.slices.size());
  finding.evidence.add("top", std::move(top));
  finding.evidence.add("meta_ops_that_did_copy", views.copied);
  mark_slices(finding, facts.trace, views.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule metadata_only_ops = {
    .id = "metadata_only_ops",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "Operators that launch nothing",
    .meaning =
        "view, transpose, expand, reshape and similar operators only describe the same memory differently. They take no GPU "
        "time and little CPU time.",
    .remedy =
        "Ignore them when you look at the GPU. If the host is the bottleneck, their CPU time counts. In compiled code they "
        "cost nothing (torch.compile){compile!}.",
    .check = check_metadata_only_ops,
    .other_remedy = "Ignore them when you look at the GPU. If the host is the bottleneck, their CPU time counts.",
};

}  // namespace gapscope
