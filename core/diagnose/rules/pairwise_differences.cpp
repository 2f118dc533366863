#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastPairShare = 0.10;  // of the GPU time

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
constexpr std::string_view kCosines = "aten::cosine_similarity";
constexpr std::array<std::string_view, 3> kDifferences = {"aten::sub", "aten::rsub", "aten::subtract"};
constexpr std::array<std::string_view, 5> kPowers = {"aten::pow", "aten::square", "aten::mul", "aten::abs", "aten::norm"};
constexpr std::array<std::string_view, 4> kSums = {"aten::sum", "aten::mean", "aten::norm", "aten::linalg_vector_norm"};

// Each of two tensors is repeated along an axis of the other, as [N, 1, D] - [1, M, D] does. By their sizes, else by the two
// new axes right before.
bool is_of_all_pairs(const Facts& facts, const Operators& ops, std::size_t at) {
  const auto call = recorded_call(facts, ops[at]);
  if (!call)
    return at >= 2 && facts.trace.name(ops[at - 1]) == "aten::unsqueeze" && facts.trace.name(ops[at - 2]) == "aten::unsqueeze";
  const Sizes a = call->sizes(0), b = call->sizes(1);
  if (a.size() != b.size() || a.size() < 3) return false;
  bool a_repeats = false, b_repeats = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a_repeats |= a[i] == 1 && b[i] > 1;
    b_repeats |= b[i] == 1 && a[i] > 1;
  }
  return a_repeats && b_repeats;
}

// Differences, a power of them, and its sum; a norm is both at once, and a cosine is all in one. Those that hold all pairs,
// none where it is something else.
std::vector<SliceId> distances_at(const Facts& facts, const Operators& ops, std::size_t at) {
  const auto name = [&](std::size_t i) { return i < ops.size() ? facts.trace.name(ops[i]) : std::string_view{}; };
  if (name(at) == kCosines && is_of_all_pairs(facts, ops, at)) return {ops[at]};
  if (!is_one_of(name(at), kDifferences) || !is_of_all_pairs(facts, ops, at)) return {};
  if (name(at + 1).ends_with("norm")) return {ops[at], ops[at + 1]};
  if (is_one_of(name(at + 1), kPowers) && is_one_of(name(at + 2), kSums)) return {ops[at], ops[at + 1], ops[at + 2]};
  return {};
}

// Their backward passes, which have their numbers, or those of operators in them.
void add_backward(const Facts& facts, std::vector<SliceId>& ops) {
  std::vector<Span> spans;
  for (const SliceId s : ops) spans.push_back(facts.trace.span_of(s));
  const SpanSet inside = span_set(std::move(spans));
  std::set<std::int64_t> numbers;
  for (const OpRow& row : facts.trace.ops)
    if (row.sequence >= 0 && contains(inside, facts.trace.begin(row.slice))) numbers.insert(row.sequence);
  for (const SliceId s : cpu_slices_called(facts, "autograd::engine::evaluate_function: ", kIsOp))
    if (const OpRow* row = facts.trace.op_row(s); row != nullptr && numbers.count(row->sequence) != 0) ops.push_back(s);
}

std::vector<Finding> check_pairwise_differences(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<SliceId> theirs;
  std::size_t times = 0, cosines = 0;
  for (const Operators& ops : operators_by_thread_and_step(facts))
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (const std::vector<SliceId> found = distances_at(facts, ops, i); !found.empty()) {
        theirs.insert(theirs.end(), found.begin(), found.end());
        ++times;
        cosines += found.size() == 1 ? 1 : 0;
      }
  if (theirs.empty()) return {};
  add_backward(facts, theirs);
  const LaunchedWork work = work_launched_in(facts, theirs);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastPairShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = work.time;
  finding.summary = fmt::format("{} {}. That is {} of the GPU time ({}), with the backward pass.", sentence_start(often(times)),
                                cosines == times ? "torch.cosine_similarity stored the products of all pairs and summed them"
                                                 : "the differences of all pairs were stored, raised to a power and summed",
                                format_share(share), format_duration(work.time));
  finding.evidence = Evidence({{"n", times}, {"total_us", as_us(work.time)}, {"share", share}});
  if (cosines == times) {
    finding.advice = advice_of(
        "Normalize the rows and multiply them: F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T gives the same numbers, and "
        "stores one for each pair.");
    finding.code = "similarity = F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T";
  }
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule pairwise_differences = {
    .id = "pairwise_differences",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "A vector is stored for each pair of rows",
    .meaning =
        "x[:, None] - y[None] stores one vector for each pair of rows, and the next operators read and write all of them "
        "again. Distances and similarities need one number for each pair.",
    .remedy =
        "Use torch.cdist(x, y), which computes the distances with a matrix product and stores nothing else. For squared "
        "distances, add the squared norms of the rows and subtract 2 * x @ y.T.",
    .check = check_pairwise_differences,
    .claim =
        Claim{.time = ClaimedTime::kernels, .turn = 257, .explains = {"unfused_elementwise_chain", "memory_bound_kernels"}},
    .code = "distance = torch.cdist(x, y)",
    .gives = {Cure::work},
};

}  // namespace gapscope
