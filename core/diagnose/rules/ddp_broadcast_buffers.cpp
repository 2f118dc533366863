#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the window: host time of sending buffers.
constexpr double kLeastBufferShare = 0.01;

constexpr std::string_view kForward = "DistributedDataParallel.forward";

bool is_broadcast(std::string_view name) { return name == "c10d::broadcast_"; }
// What _broadcast_coalesced does before and behind it: packs the buffers and copies them back.
bool is_packing(std::string_view name) {
  constexpr std::array<std::string_view, 11> kNames = {"aten::flatten_dense_tensors",
                                                       "aten::unflatten_dense_tensors",
                                                       "aten::copy_",
                                                       "aten::narrow",
                                                       "aten::view",
                                                       "aten::view_as",
                                                       "aten::slice",
                                                       "aten::detach",
                                                       "aten::cat",
                                                       "record_param_comms",
                                                       "cudaEventRecord"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || is_broadcast(name) || name.starts_with("nccl:");
}

// The operators of one forward that send its buffers: those around a broadcast, on its depth, that pack and unpack.
void gather(const Facts& facts, SliceId broadcast, std::vector<SliceId>& out) {
  const Row& row = facts.trace.row(broadcast);
  const SliceId forward = facts.parent(broadcast);
  const auto belongs = [&](std::uint32_t at) {
    return at >= row.first && at < row.first + row.count && facts.parent(SliceId(std::size_t{at})) == forward &&
           is_packing(facts.trace.name(SliceId(std::size_t{at})));
  };
  std::uint32_t first = broadcast.value, last = broadcast.value;
  while (first > 0 && belongs(first - 1)) --first;
  while (belongs(last + 1)) ++last;
  for (std::uint32_t at = first; at <= last; ++at) out.emplace_back(std::size_t{at});
}

std::vector<Finding> check_ddp_broadcast_buffers(const Facts& facts) {
  std::vector<SliceId> ops;
  std::size_t broadcasts = 0;
  for (const SliceId s : cpu_slices_called(facts, "c10d::broadcast_", kIsOp)) {
    const SliceId forward = facts.ancestor(s, kIsAnnotation);
    if (!is_broadcast(facts.trace.name(s)) || !forward || facts.trace.name(forward) != kForward) continue;
    ++broadcasts;
    if (std::find(ops.begin(), ops.end(), s) == ops.end()) gather(facts, s, ops);
  }
  if (broadcasts == 0) return {};
  std::sort(ops.begin(), ops.end(), [](SliceId a, SliceId b) { return a.value < b.value; });
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  Ns host = 0;
  for (const SliceId s : ops) add_saturating(host, facts.trace.duration(s));
  const double share = share_of(host, facts.window_length);
  if (share < kLeastBufferShare) return {};
  const SpanSet gpu = gpu_work_inside(facts, ops);
  const std::size_t forwards = cpu_slices_called(facts, kForward, kIsAnnotation).size();
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = host;
  finding.summary = fmt::format(
      "{} of the model's buffers in {}. Packing, sending and copying them back took {} on the host, {} of the window, and {} "
      "on the GPU.",
      counted(broadcasts, "broadcast"), counted(forwards, "forward pass"), format_duration(host), format_share(share),
      format_duration(length(gpu)));
  finding.evidence = Evidence({{"n", broadcasts}, {"host_us", as_us(host)}, {"share", share}, {"gpu_us", as_us(length(gpu))}});
  mark_slices(finding, facts.trace, ops);
  return {std::move(finding)};
}

}  // namespace

extern const Rule ddp_broadcast_buffers = {
    .id = "ddp_broadcast_buffers",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "DDP broadcasts the model's buffers in every forward pass",
    .meaning =
        "DistributedDataParallel packs the model's buffers (batch-norm statistics, masks), broadcasts them from rank 0 and "
        "copies each one back. This comes before the first layer.",
    .remedy =
        "Pass broadcast_buffers=False to DistributedDataParallel. Each rank then has its own statistics, unless you use "
        "torch.nn.SyncBatchNorm.",
    .check = check_ddp_broadcast_buffers,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses, .turn = 145},
    .evidence_names = {{{"host_us", "host time"}}},
    .code = "DistributedDataParallel(model, broadcast_buffers=False)",
    .gives = {Cure::host, true},
};

}  // namespace gapscope
