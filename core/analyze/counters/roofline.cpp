#include "core/analyze/counters/roofline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/analyze/kernel_name/kernel_name.h"

namespace gapscope {
namespace {

bool is_product(const KernelName& name) {
  return name.kind == KernelKind::gemm || name.kind == KernelKind::convolution || name.kind == KernelKind::attention;
}

// Operations of operators from their shapes; each combination is worked out once.
class KnownFlops {
 public:
  explicit KnownFlops(const Trace& trace) : trace_(trace) {}
  std::optional<double> of(SliceId op) {
    const OpRow* row = trace_.op_row(op);
    if (!row || !row->input_dims || !counts_flops(trace_.name(op))) return std::nullopt;
    const auto [at, is_new] = known_.try_emplace({trace_.name_id(op), row->input_dims});
    if (is_new) at->second = flops_of(trace_.name(op), trace_.strings[row->input_dims]).count;
    return at->second;
  }

 private:
  const Trace& trace_;
  std::map<std::pair<StringId, StringId>, std::optional<double>> known_;
};

// A product may have helpers (a reduction after a split): it is the longest of its operator's kernels that computes it.
std::map<SliceId, const GpuOp*> kernels_of_products(const Trace& trace, const LinkIndex& links, const std::vector<GpuOp>& ops) {
  std::map<StringId, bool> is_product_name;
  std::map<SliceId, const GpuOp*> longest;
  for (const GpuOp& op : ops) {
    if (!op.is_kernel()) continue;
    const auto [at, is_new] = is_product_name.try_emplace(trace.name_id(op.slice));
    if (is_new) at->second = is_product(decode(trace.name(op.slice)));
    const SliceId owner = at->second ? links.owner_op(trace.gpu[op.gpu_row]) : SliceId{};
    if (!owner) continue;
    const GpuOp*& kernel = longest[owner];
    if (!kernel || kernel->span.length() < op.span.length()) kernel = &op;
  }
  return longest;
}

struct Sum {
  std::uint64_t launches = 0;
  Ns time = 0;
  double operations = 0;
};

}  // namespace

std::vector<RooflinePoint> roofline_points(const Trace& trace, const LinkIndex& links, const std::vector<GpuOp>& ops,
                                           const std::vector<MeasuredKernel>& kernels) {
  KnownFlops flops(trace);
  std::map<std::pair<StringId, std::int32_t>, Sum> sums;
  for (const auto& [owner, kernel] : kernels_of_products(trace, links, ops)) {
    const std::optional<double> count = flops.of(owner);
    if (!count || kernel->span.length() == 0) continue;
    Sum& sum = sums[{trace.name_id(kernel->slice), kernel->device}];
    ++sum.launches;
    sum.time += kernel->span.length();
    sum.operations += *count;
  }
  std::vector<RooflinePoint> points;
  for (const MeasuredKernel& kernel : kernels) {
    const auto at = sums.find({kernel.name, kernel.device});
    if (at == sums.end() || !kernel.means.measured()) continue;
    const double bytes_per_ns = kernel.means[CounterKind::dram_read] + kernel.means[CounterKind::dram_write];
    if (!(bytes_per_ns > 0)) continue;  // not known, or none
    const Sum& sum = at->second;
    const double per_ns = sum.operations / static_cast<double>(sum.time);
    points.push_back({kernel.name, kernel.device, sum.launches, sum.time, per_ns * 1e9, per_ns / bytes_per_ns,
                      math_of_kernel(decode(trace.strings[kernel.name]))});
  }
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return points;
}

std::optional<double> dram_peak(const CounterMeans& means) {
  const double share = means[CounterKind::dram_share], moved = means[CounterKind::dram_read] + means[CounterKind::dram_write];
  constexpr double kLeastShare = 1;  // percent: below, two decimals say little
  if (!(share > kLeastShare) || !(moved > 0)) return std::nullopt;
  return moved * 1e9 / (share / 100);
}

}  // namespace gapscope
