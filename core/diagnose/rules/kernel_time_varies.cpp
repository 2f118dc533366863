#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// GPU clocks alone move a kernel by about 5 %.
constexpr double kLeastVariation = 1.3;
// Kernels of 2 us jitter by 1 us without any reason worth looking for.
constexpr Ns kLeastSpread = 20 * kNsPerUs;
constexpr std::size_t kLeastSteps = 3;

struct Range {
  Ns least = 0, most = 0;
};

// By name: shortest and longest kernel, over all sizes and call sites. A name whose range is narrow needs no grouping.
std::vector<Range> ranges_by_name(const Facts& facts) {
  std::vector<Range> out(facts.trace.strings.size(), Range{INT64_MAX, 0});
  for (const GpuOp& op : facts.ops) {
    Range& range = out[facts.trace.name_id(op.slice).index()];
    range.least = std::min(range.least, op.span.length());
    range.most = std::max(range.most, op.span.length());
  }
  return out;
}

bool is_wide(Range range) {
  return range.most - range.least >= kLeastSpread &&
         static_cast<double>(range.most) >= kLeastVariation * static_cast<double>(range.least);
}

struct Launch {
  std::uint32_t op = 0;    // position in facts.ops
  StringId name;           // of the kernel
  std::string_view owner;  // operator
  std::int32_t step = 0;
  std::uint32_t nth = 0;  // of its kind in its step
};

// What must be equal for two launches to be the same work.
auto kind_of(const Facts& facts, const Launch& launch) {
  const GpuRow& row = facts.row(facts.ops[launch.op]);
  return std::tuple(launch.name, launch.owner, row.grid, row.block, row.shared_memory, facts.ops[launch.op].device);
}

// By kind, which is read once a launch, and in order of time on the GPU.
using LaunchesByKind = std::map<decltype(kind_of(std::declval<const Facts&>(), Launch())), std::vector<Launch>>;
LaunchesByKind candidates(const Facts& facts) {
  const std::vector<Range> ranges = ranges_by_name(facts);
  LaunchesByKind out;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const GpuOp& op = facts.ops[i];
    if (!op.is_kernel() || facts.gpu[i].step < 0 || op.gpu_class == GpuClass::communication ||
        facts.gpu[i].family == RuleFamily::comm)
      continue;
    const StringId name = facts.trace.name_id(op.slice);
    if (!is_wide(ranges[name.index()])) continue;
    const Launch launch{static_cast<std::uint32_t>(i), name, origin_of(facts, op).name(), facts.gpu[i].step, 0};
    out[kind_of(facts, launch)].push_back(launch);
  }
  return out;
}

struct Varying {
  std::vector<std::uint32_t> ops;
  Ns median = 0;
  std::uint32_t slowest = 0;
};

// Numbers the launches of one kind within their steps; false where the steps do not hold equally many, so that the n-th of
// one step need not be the n-th of another.
bool number(std::span<Launch> kind) {
  std::size_t steps = 0, first_count = 0, count = 0;
  for (std::size_t i = 0; i < kind.size(); ++i) {
    count = i > 0 && kind[i].step == kind[i - 1].step ? count + 1 : 1;
    kind[i].nth = static_cast<std::uint32_t>(count);
    if (i + 1 < kind.size() && kind[i + 1].step == kind[i].step) continue;
    ++steps;
    if (steps == 1) first_count = count;
    if (count != first_count) return false;
  }
  return steps >= kLeastSteps;
}

void judge(const Facts& facts, std::span<const Launch> group, std::vector<Varying>& out) {
  const auto took = [&](const Launch& l) { return facts.ops[l.op].span.length(); };
  std::vector<Ns> times;
  for (const Launch& l : group) times.push_back(took(l));
  const Launch& slowest =
      *std::max_element(group.begin(), group.end(), [&](const Launch& a, const Launch& b) { return took(a) < took(b); });
  const Ns median = median_of(std::move(times)), most = took(slowest);
  if (most - median < kLeastSpread || static_cast<double>(most) < kLeastVariation * static_cast<double>(median)) return;
  Varying found = {{}, median, slowest.op};
  for (const Launch& l : group) found.ops.push_back(l.op);
  out.push_back(std::move(found));
}

std::vector<Varying> varying_kernels(const Facts& facts) {
  const auto order = [&](const Launch& l) { return std::tuple(l.step, facts.ops[l.op].launch_span.begin, l.op); };
  std::vector<Varying> out;
  for (auto& [key, kind] : candidates(facts)) {
    std::sort(kind.begin(), kind.end(), [&](const Launch& a, const Launch& b) { return order(a) < order(b); });
    if (!number(kind)) continue;
    std::stable_sort(kind.begin(), kind.end(), [](const Launch& a, const Launch& b) { return a.nth < b.nth; });
    for (std::size_t i = 0, end = 0; i < kind.size(); i = end) {
      while (end < kind.size() && kind[end].nth == kind[i].nth) ++end;
      judge(facts, std::span<const Launch>(kind).subspan(i, end - i), out);
    }
  }
  return out;
}

// The work of another stream that runs concurrently for longest, or nothing.
struct Concurrent {
  StringId name;
  Ns overlap = 0;
};
Concurrent concurrent_with(const Facts& facts, std::uint32_t slow) {
  constexpr std::uint32_t kLooked = 64;  // neighbours on either side
  const GpuOp& op = facts.ops[slow];
  Concurrent best;
  const std::uint32_t last = std::min(slow + kLooked, static_cast<std::uint32_t>(facts.ops.size()) - 1);
  for (std::uint32_t i = slow > kLooked ? slow - kLooked : 0; i <= last; ++i) {
    const GpuOp& other = facts.ops[i];
    if (other.device != op.device || other.stream == op.stream) continue;
    const Ns overlap = intersect(other.span, op.span).length();
    if (overlap > best.overlap) best = {facts.trace.name_id(other.slice), overlap};
  }
  return best;
}

Evidence numbers(const Facts& facts, const Varying& worst, double ratio) {
  Ns sum = 0, least = INT64_MAX;
  for (const std::uint32_t i : worst.ops)
    add_saturating(sum, facts.ops[i].span.length()), least = std::min(least, facts.ops[i].span.length());
  const GpuOp& slowest = facts.ops[worst.slowest];
  return Evidence({{"kernel", facts.name(slowest)},
                   {"n", worst.ops.size()},
                   {"min_us", as_us(least)},
                   {"median_us", as_us(worst.median)},
                   {"mean_us", as_us(sum / static_cast<Ns>(worst.ops.size()))},
                   {"max_us", as_us(slowest.span.length())},
                   {"ratio", ratio},
                   {"step", facts.trace.name(facts.steps[static_cast<std::size_t>(facts.gpu[worst.slowest].step)])}});
}

std::vector<Finding> check_kernel_time_varies(const Facts& facts) {
  if (facts.compiling() || facts.step_count() < kLeastSteps) return {};
  const std::vector<Varying> all = varying_kernels(facts);
  if (all.empty()) return {};
  const auto excess = [&](const Varying& v) { return facts.ops[v.slowest].span.length() - v.median; };
  const Varying& worst =
      *std::max_element(all.begin(), all.end(), [&](const Varying& a, const Varying& b) { return excess(a) < excess(b); });
  const GpuOp& slowest = facts.ops[worst.slowest];
  const double ratio = static_cast<double>(slowest.span.length()) / static_cast<double>(std::max<Ns>(1, worst.median));
  Finding finding;
  finding.severity = Severity::notable;
  finding.summary =
      fmt::format("{} takes {} (median), but {} in {}.", shown_kernel(facts.name(slowest)), format_duration(worst.median),
                  format_duration(slowest.span.length()),
                  shown_name(facts.trace.name(facts.steps[static_cast<std::size_t>(facts.gpu[worst.slowest].step)])));
  finding.evidence = numbers(facts, worst, ratio);
  if (const Concurrent other = concurrent_with(facts, worst.slowest); other.overlap > 0) {
    const double share = static_cast<double>(other.overlap) / static_cast<double>(slowest.span.length());
    finding.summary += fmt::format(" For {} of that time {} ran on another stream.", format_share(share),
                                   shown_kernel(facts.trace.strings[other.name]));
    finding.evidence.add("beside", facts.trace.strings[other.name]);
    finding.evidence.add("beside_share", share);
  }
  if (all.size() > 1) finding.summary += fmt::format(" {} per step vary like this.", counted(all.size(), "kernel"));
  std::vector<SliceId> slices;
  for (const Varying& v : all) finding.cost += excess(v), slices.push_back(facts.ops[v.slowest].slice);
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule kernel_time_varies = {
    .id = "kernel_time_varies",
    .rule_class = RuleClass::observation,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsSteps,
    .title = "The same kernel takes different times",
    .meaning =
        "Identical launches took clearly different times. Usual reasons: another stream competed for memory or SMs, clocks or "
        "power changed, or the work depends on the data.",
    .remedy =
        "Quote the median and the spread, not the mean. Look at what runs concurrently with the slow one. Lock the clocks for "
        "benchmarks.",
    .check = check_kernel_time_varies,
    .claim = Claim{.time = ClaimedTime::work, .turn = 360},
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
