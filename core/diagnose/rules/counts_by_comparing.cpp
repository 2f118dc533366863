#include <algorithm>
#include <array>
#include <optional>
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

constexpr double kLeastComparingShare = 0.10;  // of the GPU time
constexpr double kTimesTheInputs = 16;         // what is summed: a mask of few classes is smaller
constexpr std::size_t kLongestChain = 16;      // operators from the first comparison to the sum

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
constexpr std::array<std::string_view, 5> kJoins = {"aten::__and__", "aten::bitwise_and", "aten::logical_and", "aten::mul",
                                                    "aten::__iand__"};
constexpr std::array<std::string_view, 3> kCounts = {"aten::sum", "aten::count_nonzero", "aten::mean"};
constexpr std::array<std::string_view, 9> kSameValues = {"aten::to",        "aten::unsqueeze", "aten::view",
                                                         "aten::reshape",   "aten::expand",    "aten::slice",
                                                         "aten::transpose", "aten::permute",   "aten::arange"};

// Of two tensors that are repeated along each other's axes.
double elements_of_result(const Sizes& a, const Sizes& b) {
  double out = 1;
  for (std::size_t i = 1; i <= std::max(a.size(), b.size()); ++i)
    out *= std::max(i <= a.size() ? a[a.size() - i] : 1, i <= b.size() ? b[b.size() - i] : 1);
  return out;
}

struct Counting {
  std::vector<SliceId> ops;  // comparisons, what joins them and the sum
  std::size_t comparisons = 0;
};

// What ends in a sum at `at`: comparisons of whole numbers, maybe joined, whose result is far larger than what is compared.
Counting counting_at(const Facts& facts, const Operators& ops, std::size_t at) {
  Counting out;
  const auto sum = is_one_of(facts.trace.name(ops[at]), kCounts) ? recorded_call(facts, ops[at]) : std::nullopt;
  if (!sum) return {};
  double compared = 1;
  bool is_summed = false, is_cast = sum->at(0).type == "bool";
  for (std::size_t i = at; i-- > 0 && at - i <= kLongestChain;) {
    const std::string_view name = facts.trace.name(ops[i]);
    const bool compares = name == "aten::eq";
    if (!compares && !is_one_of(name, kJoins)) {
      is_cast |= name == "aten::to";
      if (is_one_of(name, kSameValues)) continue;
      break;
    }
    const auto call = recorded_call(facts, ops[i]);
    if (!call || !is_cast) return {};
    const bool fits =
        compares ? call->at(0).type.find("int") != std::string::npos : call->at(0).type == "bool" && call->at(1).type == "bool";
    if (!fits) return {};
    is_summed |= elements_of_result(call->sizes(0), call->sizes(1)) == elements(sum->sizes(0));
    if (compares) compared = std::max({compared, elements(call->sizes(0)), elements(call->sizes(1))});
    out.comparisons += compares ? 1 : 0;
    out.ops.push_back(ops[i]);
  }
  if (out.comparisons == 0 || !is_summed || elements(sum->sizes(0)) < kTimesTheInputs * compared) return {};
  out.ops.push_back(ops[at]);
  return out;
}

std::vector<Finding> check_counts_by_comparing(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<SliceId> theirs;
  std::size_t times = 0, pairs = 0;
  for (const Operators& ops : operators_by_thread_and_step(facts))
    for (std::size_t i = 1; i < ops.size(); ++i)
      if (const Counting found = counting_at(facts, ops, i); !found.ops.empty()) {
        theirs.insert(theirs.end(), found.ops.begin(), found.ops.end());
        pairs += found.comparisons > 1 ? 1 : 0;
        ++times;
      }
  if (theirs.empty()) return {};
  const LaunchedWork work = work_launched_in(facts, theirs);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastComparingShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = work.time;
  finding.summary = fmt::format(
      "{} comparisons made a tensor {:.0f} times as large as their inputs or larger, and then summed it. That is {} of the "
      "GPU time ({}).",
      sentence_start(often(times)), kTimesTheInputs, format_share(share), format_duration(work.time));
  finding.evidence = Evidence({{"n", times}, {"total_us", as_us(work.time)}, {"share", share}});
  if (2 * pairs > times) finding.code = "count = torch.bincount(a * n + b, minlength=n * n).view(n, n)";
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule counts_by_comparing = {
    .id = "counts_by_comparing",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators | kNeedsShapes,
    .title = "Values are counted by comparing each with every class",
    .meaning =
        "x == ids[:, None] stores a value for each combination of an element and a class, and the sum reads all of them. A "
        "count needs each element once.",
    .remedy =
        "Count the elements instead: torch.bincount(a, minlength=n) for one class per element. For two, as in a confusion "
        "matrix: torch.bincount(a * n + b, minlength=n * n).view(n, n).",
    .check = check_counts_by_comparing,
    .claim =
        Claim{.time = ClaimedTime::kernels, .turn = 264, .explains = {"unfused_elementwise_chain", "memory_bound_kernels"}},
    .code = "count = torch.bincount(a, minlength=n)",
    .gives = {Cure::work},
};

}  // namespace gapscope
