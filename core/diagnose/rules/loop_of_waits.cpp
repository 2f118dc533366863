#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A loop that reads a value from the GPU in each round, each of so little work that the GPU is of no use.
constexpr std::size_t kLeastRounds = 32;
constexpr Ns kMostWorkOfRound = 200 * kNsPerUs;  // of the GPU
constexpr Ns kLongestRound = 10 * kNsPerMs;      // what takes longer between two reads is another part of the program
constexpr double kMostFillOfRounds = 0.10;       // SMs with a block while kernels run
constexpr double kLeastShareOfRounds = 0.30;     // of the window

std::vector<Finding> check_loop_of_waits(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<SliceId> reads;
  for (const SliceId s : cpu_slices_called(facts, "aten::_local_scalar_dense", kIsOp))
    if ((facts.below(s) & kIsSync) != 0 && (facts.above(s) & (kIsCompileFrame | kIsDataLoader)) == 0) reads.push_back(s);
  if (reads.size() < kLeastRounds) return {};
  std::vector<FindingSpan> places;
  std::vector<Span> spans;
  Ns time = 0;
  for (std::size_t i = 1; i < reads.size(); ++i) {
    const Span round{facts.trace.end(reads[i - 1]), facts.trace.end(reads[i])};
    if (facts.trace.lane_id(reads[i]) != facts.trace.lane_id(reads[i - 1])) continue;
    if (round.length() <= 0 || round.length() > kLongestRound) continue;
    places.push_back({facts.trace.lane_id(reads[i]), round, SliceId{}});
    spans.push_back(round);
    add_saturating(time, round.length());
  }
  const SpanSet inside = span_set(std::move(spans));
  Ns work = 0;
  double filled = 0;
  std::size_t kernels = 0, products = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !contains(inside, op.launch_span.begin)) continue;
    add_saturating(work, op.span.length());
    const std::optional<double> blocks = op.is_kernel() ? blocks_per_sm(facts, op) : std::nullopt;
    if (!blocks) continue;
    filled += std::min(*blocks, 1.0);
    products += facts.decoded(op).kind == KernelKind::gemm ? 1 : 0;
    ++kernels;
  }
  const double share = share_of(time, facts.window_length);
  if (places.size() < kLeastRounds || share < kLeastShareOfRounds || kernels < 2 * places.size()) return {};
  if (work / static_cast<Ns>(places.size()) > kMostWorkOfRound || filled > kMostFillOfRounds * static_cast<double>(kernels))
    return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format(
      "{} the program launched about {} small kernels and waited for one value. The GPU was busy for {} of these {}, on {} of "
      "its SMs.",
      sentence_start(often(places.size())), kernels / places.size(), format_duration(work), format_duration(time),
      format_share(filled / static_cast<double>(kernels)));
  // A model has products in each round; else it is the program's own loop over tensors.
  if (products < places.size()) {
    finding.advice = advice_of(
        "Copy the loop's inputs to the CPU once and loop there, or replace the loop with one call (torchvision.ops.nms, "
        "cumsum, masks).");
    finding.code = "values = values.cpu()  # once, before the loop";
    finding.summary += " This is not a model: few of the kernels are matrix products.";
  }
  finding.evidence = Evidence({{"n", places.size()},
                               {"total_us", as_us(time)},
                               {"share", share},
                               {"gpu_us", as_us(work)},
                               {"fill", filled / static_cast<double>(kernels)}});
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule loop_of_waits = {
    .id = "loop_of_waits",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches | kNeedsBlocksPerSm,
    .title = "A loop waits for the GPU in each iteration",
    .meaning =
        "Each iteration needs a few kernels of microseconds on a few SMs, then a copy back. Launching and waiting take far "
        "longer than computing it on a CPU.",
    .remedy =
        "If the model gets one row at a time, run it on the CPU (model.to(\"cpu\")). Or collect many rows (environments, "
        "requests or samples) and make one call.",
    .check = check_loop_of_waits,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 71, .explains = {"item_in_loop", "many_small_kernels"}},
    .code = "model = model.to(\"cpu\")",
    .gives = {Cure::idle},
};

}  // namespace gapscope
