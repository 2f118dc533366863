#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/analyze/work/floors.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/rule.h"
#include "core/replay/at_roofline.h"

namespace gapscope {
namespace {

// Of the GPU time, what kernels near their roofline would save: below, other causes come first.
constexpr double kLeastHeadroomShare = 0.10;
// Of the kernel time, what must be rated: else what is not rated may be what matters.
constexpr double kLeastRatedShare = 0.5;
constexpr std::size_t kMostHeadroomNames = 3;

struct OperatorHeadroom {
  std::string_view op;
  Ns kernels = 0;
  double saved = 0, floor = 0;
};

struct Headroom {
  std::map<std::string_view, OperatorHeadroom> by_op;
  std::vector<bool> is_far;  // by row
  Ns rated = 0;
  double saved = 0;
};

// Kernels whose floor is below what starting one takes do not get shorter by being better: those are left out.
Headroom headroom_of(const Trace& trace, const WorkTable& table) {
  Headroom out;
  out.is_far.assign(table.rows.size(), false);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const WorkRow& row = table.rows[r];
    const Floor floor = floor_of(trace, row);
    if (!floor.floor_ns) continue;
    out.rated += row.kernel_ns;
    const double saved = static_cast<double>(row.kernel_ns) - *floor.floor_ns / kNearRoofline;
    if (floor.bound == FloorBound::launch || saved <= 0) continue;
    out.is_far[r] = true;
    out.saved += saved;
    OperatorHeadroom& op = out.by_op.try_emplace(row.op, OperatorHeadroom{row.op}).first->second;
    op.kernels += row.kernel_ns;
    op.saved += saved;
    op.floor += *floor.floor_ns;
  }
  return out;
}

std::vector<OperatorHeadroom> most_first(const Headroom& headroom) {
  std::vector<OperatorHeadroom> out;
  for (const auto& [name, op] : headroom.by_op) out.push_back(op);
  std::stable_sort(out.begin(), out.end(),
                   [](const OperatorHeadroom& a, const OperatorHeadroom& b) { return a.saved > b.saved; });
  return out;
}

std::string headroom_summary(const std::vector<OperatorHeadroom>& ops, double saved, Ns gpu_time) {
  std::string names;
  for (std::size_t i = 0; i < std::min(ops.size(), kMostHeadroomNames); ++i)
    names += fmt::format("{}{} ({} of {}, {} reached)", i == 0 ? "" : ", ", shown_name(ops[i].op),
                         format_duration(static_cast<Ns>(ops[i].saved)), format_duration(ops[i].kernels),
                         format_percent(ops[i].floor / static_cast<double>(ops[i].kernels)));
  return fmt::format("At 80 % of their roofline, kernels would take {} less, {} of the GPU time, by their recorded shapes: {}.",
                     format_duration(static_cast<Ns>(saved)), format_share(share_of(static_cast<Ns>(saved), gpu_time)), names);
}

std::vector<Finding> check_gpu_headroom(const Facts& facts) {
  const WorkTable& table = facts.session.work();
  if (facts.compiling() || facts.gpu_sum == 0 || table.kernel_ns == 0) return {};
  const Headroom headroom = headroom_of(facts.trace, table);
  if (share_of(headroom.rated, table.kernel_ns) < kLeastRatedShare) return {};
  const auto saved = static_cast<Ns>(headroom.saved);
  const double share = share_of(saved, facts.gpu_sum);
  if (share < kLeastHeadroomShare) return {};
  const std::vector<OperatorHeadroom> ops = most_first(headroom);
  std::vector<SliceId> slices;
  std::size_t joined = 0;
  for (const KernelOwner& k : table.kernels) {
    const std::uint32_t row = table.calls[k.call].row;
    if (!headroom.is_far[row]) continue;
    slices.push_back(k.kernel);
    joined += table.rows[row].joined;
  }
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = saved;
  finding.summary = headroom_summary(ops, headroom.saved, facts.gpu_sum);
  EvidenceList names;
  for (std::size_t i = 0; i < std::min(ops.size(), kMostHeadroomNames); ++i) names.emplace_back(ops[i].op);
  finding.evidence = Evidence({{"saved_us", as_us(saved)},
                               {"share", share},
                               {"rated_us", as_us(headroom.rated)},
                               {"kernels", slices.size()},
                               {"operators", names}});
  mark_joined(finding, joined, slices.size());
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule gpu_headroom = {
    .id = "gpu_headroom",
    .rule_class = RuleClass::problem_locator,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsShapes,
    .title = "Kernels are below their roofline",
    .meaning =
        "The shapes give the shortest time of a kernel: its operations at the GPU's peak rate, or its bytes at the GPU's "
        "bandwidth. These kernels took longer.",
    .remedy =
        "Open the tab Roofline, or `gapscope roofline`, and start with the most headroom. Bound by memory: fuse kernels that "
        "use the same data, or use smaller types. Bound by compute: use sizes that fill the GPU's tiles, or another kernel for "
        "these shapes.",
    .check = check_gpu_headroom,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 420},
    .evidence_names = {{{"saved_us", "less GPU time at 80 % of the roofline"}, {"rated_us", "kernel time with a known floor"}}},
    .gives = {Cure::roofline},
};

}  // namespace gapscope
