#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A first call this much longer than the median of the others made something that lasts: a handle, a workspace, a choice of
// algorithm, the kernel's code.
constexpr Ns kTimesTheMedian = 10;
constexpr Ns kLeastFirstCall = 200 * kNsPerUs;
constexpr std::size_t kLeastOtherCalls = 3;

bool is_library(RuleFamily family) {
  return family == RuleFamily::gemm || family == RuleFamily::conv || family == RuleFamily::attention;
}

// Operators that launch a library's kernels, by thread, name and shapes, in order of begin.
std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<SliceId>> library_calls(const Facts& facts) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<SliceId>> out;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const SliceId op = facts.gpu[i].owner;
    if (!op || !is_library(facts.gpu[i].family) || (facts.own(op) & kIsOp) == 0 || (facts.above(op) & kIsCompileFrame) != 0)
      continue;
    const OpRow* args = facts.trace.op_row(op);
    const std::uint64_t lane = facts.trace.lane_id(op).value;
    out[{lane << 32 | facts.trace.name_id(op).value, args != nullptr ? args->input_dims.value : 0}].push_back(op);
  }
  for (auto& [key, ops] : out) {
    std::sort(ops.begin(), ops.end(), [&](SliceId a, SliceId b) { return facts.trace.begin(a) < facts.trace.begin(b); });
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  }
  return out;
}

SpanSet overhead_time(const Facts& facts) {
  std::vector<Span> spans;
  for (const SliceId s : facts.overheads) spans.push_back(facts.trace.span_of(s));
  return span_set(std::move(spans));
}
// Less the profiler's own work in it.
Ns own_time(const Facts& facts, const SpanSet& profiler, SliceId op) {
  return facts.trace.duration(op) - length_within(profiler, facts.trace.span_of(op));
}

std::vector<Finding> check_cold_library_calls(const Facts& facts) {
  const SpanSet profiler = overhead_time(facts);
  std::vector<SliceId> first;
  std::vector<Ns> usual;
  Ns time = 0;
  for (const auto& [key, ops] : library_calls(facts)) {
    if (ops.size() <= kLeastOtherCalls) continue;
    std::vector<Ns> others;
    for (std::size_t i = 1; i < ops.size(); ++i) others.push_back(facts.trace.duration(ops[i]));
    const Ns median = median_of(others), longest = own_time(facts, profiler, ops.front());
    if (longest < kLeastFirstCall || longest / kTimesTheMedian < median) continue;
    first.push_back(ops.front());
    usual.push_back(median);
    add_saturating(time, longest);
  }
  if (first.empty()) return {};
  const SliceId longest = *std::max_element(first.begin(), first.end(), [&](SliceId a, SliceId b) {
    return own_time(facts, profiler, a) < own_time(facts, profiler, b);
  });
  const Ns median = usual[static_cast<std::size_t>(std::find(first.begin(), first.end(), longest) - first.begin())];
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary = fmt::format("{} of a library took {}{}{}. Later calls take {} (median){}.",
                                first.size() == 1 ? "The first call" : counted(first.size(), "first call"),
                                format_duration(time), first.size() == 1 ? ", " : ", the longest ",
                                shown_name(facts.trace.name(longest)) +
                                    (first.size() == 1 ? "" : ", " + format_duration(own_time(facts, profiler, longest))),
                                format_duration(median), profiler.empty() ? "" : ", without the profiler's own work");
  finding.evidence = Evidence({{"n", first.size()}, {"total_us", as_us(time)}, {"median_us", as_us(median)}});
  mark_slices(finding, facts.trace, first);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cold_library_calls = {
    .id = "cold_library_calls",
    .rule_class = RuleClass::start_up,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "The recording has first calls of a library",
    .meaning =
        "The first matrix product, convolution or attention of a kind creates the library's handle and workspace, loads its "
        "kernels and picks an algorithm. This cost occurs once.",
    .remedy =
        "Warm up with the same shapes before measuring (schedule(wait=1, warmup=1) and the same model and batch){warm_up!}.",
    .check = check_cold_library_calls,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 55},
    .other_remedy = "Warm up with the same shapes before measuring (--range or --delay of gapscope record).",
    .gives = {Cure::idle},
};

}  // namespace gapscope
