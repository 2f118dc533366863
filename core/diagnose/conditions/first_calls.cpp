#include "core/diagnose/conditions/first_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/analyze/practices/practices.h"
#include "core/diagnose/conditions/conditions.h"

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

}  // namespace

std::vector<FirstLibraryCall> first_library_calls(const Facts& facts) {
  const SpanSet profiler = overhead_time(facts);
  std::vector<FirstLibraryCall> out;
  for (const auto& [key, ops] : library_calls(facts)) {
    if (ops.size() <= kLeastOtherCalls) continue;
    std::vector<Ns> others;
    for (std::size_t i = 1; i < ops.size(); ++i) others.push_back(facts.trace.duration(ops[i]));
    const Ns median = median_of(others), first = own_time(facts, profiler, ops.front());
    if (first >= kLeastFirstCall && first / kTimesTheMedian >= median) out.push_back({ops.front(), first, median});
  }
  return out;
}

bool come_with_new_sizes(const Facts& facts, const std::vector<FirstLibraryCall>& calls) {
  if (!facts.practices().work_differs_by_step() || facts.compiling()) return false;
  std::set<std::size_t> steps;
  for (const FirstLibraryCall& call : calls)
    if (const auto step = facts.step_at(facts.trace.begin(call.op))) steps.insert(*step);
  return steps.size() > 1;
}

}  // namespace gapscope
