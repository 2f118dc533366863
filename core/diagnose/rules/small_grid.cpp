#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Not 1: persistent kernels use 128 of 132 SMs (0.97), and grids rounded to clusters come out a little below one wave.
constexpr double kSmallGrid = 0.8;
// Of the kernel time. Less is a tail that no larger problem would shorten much.
constexpr double kLeastSmallGridShare = 0.40;

struct Small {
  std::vector<SliceId> slices;
  Ns time = 0, all_kernels = 0;
  double unused = 0;  // time multiplied by the share of empty SMs
  GpuOp longest;      // the one that the sentence names
  double longest_blocks = 0;
};

Small small_kernels(const Facts& facts) {
  Small out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || op.gpu_class != GpuClass::compute) continue;  // collectives take few SMs on purpose
    add_saturating(out.all_kernels, op.span.length());
    const std::optional<double> blocks = blocks_per_sm(facts, op);
    if (!blocks || *blocks >= kSmallGrid) continue;
    if (out.slices.empty() || op.span.length() > out.longest.span.length()) out.longest = op, out.longest_blocks = *blocks;
    out.slices.push_back(op.slice);
    add_saturating(out.time, op.span.length());
    out.unused += (1 - *blocks) * static_cast<double>(op.span.length());
  }
  return out;
}

std::vector<Finding> check_small_grid(const Facts& facts) {
  Small small = small_kernels(facts);
  const double share = share_of(small.time, small.all_kernels);
  if (small.slices.empty() || share < kLeastSmallGridShare) return {};
  const std::size_t kernels = small.slices.size();
  const bool one = kernels == 1, all = small.time == small.all_kernels;
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = static_cast<Ns>(small.unused);
  finding.summary =
      fmt::format("{} with fewer than {} blocks per SM. {}, {}, has {}, {} per SM.",
                  all ? fmt::format("All of the kernel time is in {}", counted(kernels, "kernel"))
                      : fmt::format("{} of the kernel time is in {}", format_share(share), counted(kernels, "kernel")),
                  kSmallGrid, one ? "It" : "The longest", shown_kernel(facts.name(small.longest)),
                  counted(grid_blocks(facts.row(small.longest)), "block"), format_significant(small.longest_blocks));
  finding.evidence = Evidence({{"share", share},
                               {"kernels", kernels},
                               {"time_us", as_us(small.time)},
                               {"longest", facts.name(small.longest)},
                               {"blocks", grid_blocks(facts.row(small.longest))},
                               {"blocks_per_sm", small.longest_blocks}});
  mark_slices(finding, facts.trace, small.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule small_grid = {
    .id = "small_grid",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsBlocksPerSm,
    .title = "Grids are too small for the GPU",
    .meaning = "These kernels start fewer blocks than the GPU has SMs, so some SMs have no work while they run.",
    .remedy =
        "Increase batch size or sequence length, run several small problems in one call, or use kernels that split the inner "
        "dimension (split-K, stream-K).",
    .check = check_small_grid,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 300},
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
