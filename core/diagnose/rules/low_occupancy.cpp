#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Memory-bound kernels hide their waits behind other warps: with less than a quarter of the slots they cannot.
constexpr double kLowOccupancy = 0.25;
// A smaller grid is a matter of its size, not of the block's registers and memory (small_grid).
constexpr double kFullGrid = 1;
// Of the kernel time.
constexpr double kLeastLowShare = 0.20;

// Tensor-core kernels run best with few, large blocks, and collectives are meant to leave room for others.
bool is_judged(RuleFamily family) {
  return family != RuleFamily::gemm && family != RuleFamily::conv && family != RuleFamily::attention &&
         family != RuleFamily::comm;
}

struct Judged {
  double occupancy = 0;
  SmLimits sm;
  BlockNeeds needs;
  std::uint64_t blocks = 0;  // of the grid

  std::string words() const { return occupancy_words(sm, needs, blocks); }
};

bool covers_gpu(const Facts& facts, const GpuOp& op) { return blocks_per_sm(facts, op).value_or(0) >= kFullGrid; }

// Not the file's percentage, which is 0 for every block with more than 48 KB of shared memory.
std::optional<Judged> occupancy_of(const Facts& facts, const GpuOp& op) {
  const GpuRow& row = facts.row(op);
  const DeviceProperties* device = facts.trace.device(row.device);
  if (device == nullptr || !row.has_launch_config()) return std::nullopt;
  const std::optional<SmLimits> sm = sm_limits(*device);
  const std::optional<double> blocks = blocks_per_sm(facts, op);
  if (!sm || !blocks) return std::nullopt;
  const BlockNeeds needs = needs_of(row);
  const std::optional<Occupancy> fit = occupancy(*sm, needs);
  if (!fit) return std::nullopt;
  const double resident = std::min(static_cast<double>(fit->active_blocks), *blocks) * static_cast<double>(needs.threads);
  return Judged{resident / static_cast<double>(sm->threads), *sm, needs, grid_blocks(row)};
}

struct Low {
  std::vector<SliceId> slices;
  Ns time = 0, all_kernels = 0, known = 0;
  double weighted = 0, weighted_all = 0;  // occupancy multiplied by time: of these, of every kernel where it is known
  GpuOp longest;
  Judged longest_judged{};
};

Low low_kernels(const Facts& facts) {
  Low out;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const GpuOp& op = facts.ops[i];
    if (!op.linked() || !op.is_kernel()) continue;
    add_saturating(out.all_kernels, op.span.length());
    const std::optional<Judged> judged = occupancy_of(facts, op);
    if (!judged) continue;
    add_saturating(out.known, op.span.length());
    out.weighted_all += judged->occupancy * static_cast<double>(op.span.length());
    if (!is_judged(facts.gpu[i].family) || judged->occupancy >= kLowOccupancy || !covers_gpu(facts, op)) continue;
    if (out.slices.empty() || op.span.length() > out.longest.span.length()) out.longest = op, out.longest_judged = *judged;
    out.slices.push_back(op.slice);
    add_saturating(out.time, op.span.length());
    out.weighted += judged->occupancy * static_cast<double>(op.span.length());
  }
  return out;
}

std::vector<Finding> check_low_occupancy(const Facts& facts) {
  Low low = low_kernels(facts);
  const double share = share_of(low.time, low.all_kernels);
  if (low.time == 0 || share < kLeastLowShare) return {};
  const double weighted = low.weighted / static_cast<double>(low.time);
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = low.time;
  finding.summary =
      fmt::format("{} with {} of the kernel time {} less than {} of the warp slots. The longest, {}, has {}.",
                  counted(low.slices.size(), "kernel"), format_share(share), low.slices.size() == 1 ? "uses" : "use",
                  format_share(kLowOccupancy), shown_kernel(facts.name(low.longest)), low.longest_judged.words());
  finding.evidence = Evidence({{"share", share},
                               {"weighted_occupancy", low.weighted_all / static_cast<double>(low.known)},
                               {"occupancy_of_these", weighted},
                               {"kernels", low.slices.size()},
                               {"time_us", as_us(low.time)},
                               {"longest", facts.name(low.longest)},
                               {"limiter", low.longest_judged.words()}});
  mark_slices(finding, facts.trace, low.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule low_occupancy = {
    .id = "low_occupancy",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsDeviceProperties | kNeedsBlocksPerSm,
    .title = "Low occupancy: few warps on each SM",
    .meaning =
        "Kernels other than matrix products have a block for every SM but use less than a quarter of the warp slots. Too few "
        "warps can run while others wait for memory.",
    .remedy =
        "The limiter shows what helps: fewer registers or less shared memory per block, or another block size (num_warps in "
        "Triton). If the grid is the limiter, put more work into each call.",
    .check = check_low_occupancy,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 290},
    .gives = {Cure::roofline},
};

}  // namespace gapscope
