#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/radix_sort.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the window.
constexpr double kLeastHandoverShare = 0.01;
// Longer than to wake a thread takes, it is the program's own code.
constexpr Ns kMostHandover = 2 * kNsPerMs;

// From the last operator of any other thread to the first node of a backward pass: the engine wakes its thread.
std::vector<FindingSpan> handovers(const Facts& facts) {
  std::vector<std::pair<Ns, SliceId>> ops, other;  // with their begins, which lie far apart in memory
  for (const SliceId s : facts.slices_with(kIsOp))
    if ((facts.above(s) & kIsOp) == 0 && (facts.own(s) & kIsStep) == 0) ops.emplace_back(facts.trace.begin(s), s);
  radix_sort(ops, other, [](const auto& op) { return ordered_bits(op.first); });
  std::vector<FindingSpan> out;
  for (std::size_t i = 1; i < ops.size(); ++i) {
    const SliceId before = ops[i - 1].second, node = ops[i].second;
    if (!facts.trace.name(node).starts_with("autograd::engine::evaluate_function")) continue;
    if (facts.trace.lane_id(node) == facts.trace.lane_id(before)) continue;
    const Span wait{facts.trace.end(before), facts.trace.begin(node)};
    if (!wait.empty() && wait.length() <= kMostHandover) out.push_back({facts.trace.lane_id(before), wait, SliceId{}});
  }
  return out;
}

std::vector<Finding> check_autograd_handover(const Facts& facts) {
  std::vector<FindingSpan> waits = handovers(facts);
  Ns time = 0;
  std::vector<Ns> lengths;
  for (const FindingSpan& wait : waits) {
    add_saturating(time, wait.span.length());
    lengths.push_back(wait.span.length());
  }
  const double share = share_of(time, facts.window_length);
  if (waits.empty() || share < kLeastHandoverShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  const std::string began = format_duration(median_of(lengths)), part = format_share(share);
  finding.summary =
      waits.size() == 1
          ? fmt::format("The backward pass started {} after the last operator before it, {} of the window.", began, part)
          : fmt::format("{} started {} (median) after the last operator before them: {} in total, {} of the window.",
                        counted(waits.size(), "backward pass"), began, format_duration(time), part);
  finding.evidence =
      Evidence({{"n", waits.size()}, {"total_us", as_us(time)}, {"share", share}, {"median_us", as_us(median_of(lengths))}});
  mark_gaps(finding, std::move(waits));
  return {std::move(finding)};
}

}  // namespace

extern const Rule autograd_handover = {
    .id = "autograd_handover",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "The backward pass starts late on its own thread",
    .meaning =
        "autograd runs the backward pass on its own thread, which sleeps between passes. Nothing is launched while this thread "
        "wakes and while Python runs between the loss and .backward().",
    .remedy =
        "Call .backward() right after the loss. torch.autograd.set_multithreading_enabled(False) runs it on the calling "
        "thread.",
    .check = check_autograd_handover,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 155},
    .gives = {Cure::idle},
};

}  // namespace gapscope
