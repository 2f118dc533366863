#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastFills = 8;
constexpr double kLeastFilled = 0.5;               // of the tensors made without a value: all of them, but for empty ones
constexpr double kLeastDeterministicShare = 0.01;  // of the window on the host, or of the GPU time

bool makes_without_value(std::string_view op) {
  return op == "aten::empty" || op == "aten::empty_strided" || op == "aten::resize_";
}

// What adds or writes at indices by atomic operations in one kernel; with deterministic algorithms by sorting.
bool is_scatter(std::string_view op) {
  constexpr std::array<std::string_view, 8> kOps = {"aten::index_add_",  "aten::index_add", "aten::scatter_add_",
                                                    "aten::scatter_add", "aten::scatter_",  "aten::scatter",
                                                    "aten::index_copy_", "aten::put_"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

struct Deterministic {
  std::vector<FindingSpan> places;
  std::size_t made = 0, fills = 0, sorts = 0;

  void add(const Facts& facts, SliceId s, Span span) { places.push_back({facts.trace.lane_id(s), span, SliceId{}}); }
};

// Fills right in an operator that should leave memory as it is.
Deterministic fills_of_new_tensors(const Facts& facts) {
  Deterministic out;
  for (const StringId name : facts.names_matching(makes_without_value))
    for (const SliceId s : facts.names.slices_named(name)) out.made += (facts.above(s) & kIsCompileFrame) == 0 ? 1 : 0;
  for (const SliceId s : cpu_slices_called(facts, "aten::fill_", kIsOp)) {
    const SliceId around = facts.parent(s);
    if (!around || !makes_without_value(facts.trace.name(around)) || (facts.above(s) & kIsCompileFrame) != 0) continue;
    ++out.fills;
    out.add(facts, s, facts.trace.span_of(s));
  }
  return out;
}

// Sorts in an operator that has a kernel of its own: all but the last launch, which adds or writes.
void add_sorts(const Facts& facts, Deterministic& out) {
  std::vector<std::pair<LaneId, Ns>> launches;
  SliceId last;
  for (const SliceId s : cpu_slices_called(facts, "aten::_index_put_impl_", kIsOp)) {
    if ((facts.below(s) & kIsLaunch) == 0 || (facts.above(s) & kIsCompileFrame) != 0) continue;
    SliceId around = facts.ancestor(s, kIsOp);
    while (around && facts.trace.name(around) == "aten::index_put_") around = facts.ancestor(around, kIsOp);
    if (!around || !is_scatter(facts.trace.name(around)) || around == last) continue;
    last = around;
    if (launches.empty()) {
      for (const GpuOp& op : facts.ops)
        if (op.linked()) launches.emplace_back(facts.trace.lane_id(op.launch), op.launch_span.begin);
      std::sort(launches.begin(), launches.end());
    }
    const Span span = facts.trace.span_of(around);
    const auto next = std::lower_bound(launches.begin(), launches.end(), std::pair(facts.trace.lane_id(around), span.end));
    if (next == launches.begin() || std::prev(next)->second <= span.begin) continue;
    ++out.sorts;
    out.add(facts, around, {span.begin, std::prev(next)->second});
  }
}

std::vector<Finding> check_deterministic_algorithms(const Facts& facts) {
  if (facts.compiling()) return {};
  Deterministic found = fills_of_new_tensors(facts);
  if (found.fills < kLeastFills || share_of(static_cast<Ns>(found.fills), static_cast<Ns>(found.made)) < kLeastFilled)
    found = {};
  add_sorts(facts, found);
  if (found.places.empty()) return {};
  Finding finding;
  const SparedTime time = mark_spared(facts, finding, std::move(found.places));
  if (time.share < kLeastDeterministicShare) return {};
  finding.severity = Severity::costly;
  const auto were = [](std::size_t n, std::string_view noun, std::string_view what) {
    return n == 0 ? std::string() : fmt::format("{} {} {}", counted(n, noun), n == 1 ? "was" : "were", what);
  };
  const std::string fills = were(found.fills, "new tensor", "filled"),
                    sorts = were(found.sorts, "index update", "sorted first");
  finding.summary = fmt::format("{}{}{}. This takes {}.", sentence_start(fills), fills.empty() || sorts.empty() ? "" : ", and ",
                                fills.empty() ? sentence_start(sorts) : sorts, time.words());
  finding.evidence = time.evidence({{"fills", found.fills}, {"sorts", found.sorts}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule deterministic_algorithms = {
    .id = "deterministic_algorithms",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Deterministic algorithms are on",
    .meaning =
        "torch.use_deterministic_algorithms(True) gives the same bits in each run. index_add_ and scatter_ therefore sort "
        "their indices first. Each new tensor is filled, so that no value depends on old memory.",
    .remedy =
        "Switch them off unless runs must be equal to the last bit. If they must, "
        "torch.utils.deterministic.fill_uninitialized_memory = False skips the fills.",
    .check = check_deterministic_algorithms,
    .claim = Claim{.time = ClaimedTime::work, .turn = 23, .explains = {"many_small_kernels", "overhead_bound", "host_gaps"}},
    .evidence_names = {{{"sorts", "index updates that sort"}, {"fills", "new tensors filled"}}},
    .code = "torch.use_deterministic_algorithms(False)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
