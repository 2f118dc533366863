#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kLinks = kIsAten | kIsAnnotation | kIsStep;

// The launch is in an aten operator, that in an annotation, that in a step.
bool is_complete(const Facts& facts, const GpuOp& op) {
  if (!op.linked() || !op.is_kernel() || (facts.above(op.launch) & kLinks) != kLinks) return false;
  const SliceId aten = facts.ancestor(op.launch, kIsAten);
  const SliceId annotation = aten ? facts.ancestor(aten, kIsAnnotation) : SliceId{};
  return annotation && facts.ancestor(annotation, kIsStep);
}

std::vector<SliceId> chain_of(const Facts& facts, const GpuOp& op) {
  std::vector<SliceId> chain{op.slice};
  for (SliceId at = op.launch; at; at = facts.parent(at)) chain.push_back(at);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::vector<Finding> check_dispatch_chain(const Facts& facts) {
  const auto at = std::find_if(facts.ops.begin(), facts.ops.end(), [&](const GpuOp& op) { return is_complete(facts, op); });
  if (at == facts.ops.end()) return {};
  Finding finding;
  const SliceId annotation = facts.ancestor(facts.ancestor(at->launch, kIsAten), kIsAnnotation);
  const Ns after = at->span.begin - at->launch_span.end;
  finding.summary =
      fmt::format("{} > {} > {} > {} > {}: the kernel began {} {} the call returned.",
                  shown_name(facts.trace.name(facts.ancestor(annotation, kIsStep))), shown_name(facts.trace.name(annotation)),
                  shown_name(facts.trace.name(facts.ancestor(at->launch, kIsAten))), shown_name(facts.trace.name(at->launch)),
                  shown_kernel(facts.name(*at)), format_duration(after < 0 ? -after : after), after < 0 ? "before" : "after");
  EvidenceList names;
  for (const SliceId s : chain_of(facts, *at)) {
    names.emplace_back(printable(facts.trace.name(s)));
    finding.spans.push_back(span_of_slice(facts.trace, s));
  }
  finding.evidence.add("chain", std::move(names));
  return {std::move(finding)};
}

}  // namespace

extern const Rule dispatch_chain = {
    .id = "dispatch_chain",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsLaunches | kNeedsSteps | kNeedsOperators,
    .title = "From the step down to the kernel",
    .meaning =
        "The usual nesting: a step contains your annotation, which contains the aten operators. The innermost operator calls "
        "the driver, and an arrow leads to the kernel. Total time includes the rows below, self time does not.",
    .remedy = "Follow it up from a kernel to find the code that launched it.",
    .check = check_dispatch_chain,
};

}  // namespace gapscope
