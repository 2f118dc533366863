// What helps against the GPU's own parts of a window: copies, communication, kernels.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"

namespace gapscope {
namespace {

enum CopyKind : std::size_t { on_device, fill, other, kCopyKinds };

CopyKind kind_of(const Trace& trace, SliceId work) {
  const std::string_view name = trace.name(work);
  if (trace.kind(work) == Kind::memset) return fill;
  return is_copy_on_device(name) ? on_device : other;
}

std::string_view copy_remedy(CopyKind kind, bool has_loader) {
  switch (kind) {
    case on_device:
      return "Most of them copy on the device. Avoid them with contiguous tensors, in-place operators or a one-dimensional "
             "bias.";
    case fill:
      return "Most of them fill memory. Use torch.empty where everything is overwritten, and zero_grad(set_to_none=True).";
    default:
      if (!has_loader)
        return "Overlap them: {pinned_memory|pinned memory (tensor.pin_memory())}, {non_blocking}, {own_stream}, {|an earlier "
               "copy}. Copy less: use a smaller data type, or make and compute it on the device.";
      return "Overlap them: {pinned_memory}, {non_blocking}, {own_stream}, {|an earlier copy of the next batch}. Copy less: "
             "use a smaller data type, or compute on the device.";
  }
}

std::string_view copy_remedy_elsewhere(CopyKind kind) {
  switch (kind) {
    case on_device: return "Most of them copy on the device. Work in place, or write where the next kernel reads.";
    case fill: return "Most of them fill memory. Remove those whose memory is fully overwritten later.";
    default:
      return "Overlap them: {pinned_memory|pinned memory (cudaMallocHost)}, {non_blocking|cudaMemcpyAsync}, {own_stream|a "
             "stream of its own}, {|an earlier copy}. Copy less.";
  }
}

// What a run of collectives asks for, by the name of the one with most exposed time.
std::string_view communication_remedy(std::string_view kernel, const Practices& practices) {
  const auto has = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
  if (has("SendRecv") || has("AlltoAll") || has("AllToAll"))
    return "Overlap it with work that does not need its result: another micro-batch, or the part of the layer that is local.";
  if (has("AllGather") || has("ReduceScatter") || has("_all_gather") || has("_reduce_scatter"))
    // Both prefetch in the backward pass by themselves.
    return practices.is_fsdp2   ? "Fetch shards earlier where memory allows: set_modules_to_forward_prefetch, and "
                                  "set_modules_to_backward_prefetch with more than the next one."
           : practices.is_fsdp1 ? "Fetch shards earlier where memory allows: {|forward_prefetch=True}, {any_gathers}."
                                : "Start it earlier, and meanwhile compute what does not need its result (async_op=True).";
  if (has("Broadcast"))
    return practices.follows(Practice::ddp) ? "Avoid it: DistributedDataParallel(broadcast_buffers=False)."
                                            : "Send it less often.";
  return practices.follows(Practice::ddp)
             ? "Overlap it with the backward pass: a larger or smaller bucket_cap_mb. Avoid a copy: "
               "gradient_as_bucket_view=True{bucket_views!}."
             : "Start it earlier, and meanwhile compute what does not need its result (async_op=True).";
}

// What parts of the kernels' time a remedy speaks of.
struct KernelShares {
  double matrix = 0, fusible = 0, optimizer = 0;
};
constexpr double kWorthNaming = 0.1;

KernelShares kernel_shares(const Trace& trace) {
  std::unordered_map<std::uint32_t, Ns> times;
  for (const GpuRow& row : trace.gpu)
    if (trace.kind(row.slice) == Kind::kernel) add_saturating(times[trace.name_id(row.slice).value], trace.duration(row.slice));
  KernelShares out;
  double all = 0;
  for (const auto& [id, time] : times) {
    const auto part = static_cast<double>(time);
    all += part;
    switch (decode(trace.strings[StringId(std::size_t{id})]).kind) {
      case KernelKind::gemm:
      case KernelKind::convolution:
      case KernelKind::attention: out.matrix += part; break;
      case KernelKind::optimizer: out.optimizer += part; [[fallthrough]];
      case KernelKind::elementwise:
      case KernelKind::reduction:
      case KernelKind::normalization:
      case KernelKind::softmax:
      case KernelKind::copy: out.fusible += part; break;
      default: break;
    }
  }
  if (all > 0) out = {out.matrix / all, out.fusible / all, out.optimizer / all};
  return out;
}

// Where one collective of a name takes far longer than all others it waited: what is sent in one step is sent in the next, too.
std::string late_rank_words(const Trace& trace, const DeviceAccount& device, std::string_view kernel) {
  constexpr std::size_t kLeastCollectives = 4;
  constexpr Ns kTimesTheMedian = 10, kTimesTheSecond = 3;
  std::vector<Ns> lengths;
  for (const GpuRow& row : trace.gpu)
    if (row.device == device.device && trace.kind(row.slice) == Kind::kernel && trace.name(row.slice) == kernel)
      lengths.push_back(trace.duration(row.slice));
  if (lengths.size() < kLeastCollectives) return {};
  std::sort(lengths.begin(), lengths.end());
  const Ns median = lengths[lengths.size() / 2], longest = lengths.back();
  const bool is_alone = longest / kTimesTheSecond >= lengths[lengths.size() - 2];
  if (!is_alone || longest / kTimesTheMedian < std::max<Ns>(1, median)) return {};
  return fmt::format("Another rank may be late: one of these takes {}, the median {}. gapscope ranks shows which.",
                     format_duration(longest), format_duration(median));
}

}  // namespace

Advice copy_advice(const AdviceOn& on, const DeviceAccount& device, Span part) {
  std::array<std::vector<Span>, kCopyKinds> spans;
  for (const GpuRow& row : on.trace.gpu) {
    const Kind kind = on.trace.kind(row.slice);
    if (row.device == device.device && (kind == Kind::memcpy || kind == Kind::memset))
      spans[kind_of(on.trace, row.slice)].push_back(intersect(on.trace.span_of(row.slice), part));
  }
  std::array<Ns, kCopyKinds> exposed{};
  for (std::size_t k = 0; k < kCopyKinds; ++k)
    exposed[k] = length(intersect(device.exposed_copies, span_set(std::move(spans[k]))));
  const auto most = static_cast<CopyKind>(std::max_element(exposed.begin(), exposed.end()) - exposed.begin());
  return fitted_or(on.practices, on.practices.program == ProgramKind::python ? copy_remedy(most, on.practices.has_loader)
                                                                             : copy_remedy_elsewhere(most));
}

Advice communication_advice(const AdviceOn& on, const DeviceAccount& device, Span part) {
  std::unordered_map<std::uint32_t, std::vector<Span>> by_name;
  for (const GpuRow& row : on.trace.gpu)
    if (row.device == device.device && on.trace.kind(row.slice) == Kind::kernel)
      if (const Span at = intersect(on.trace.span_of(row.slice), part);
          !intersect(device.exposed_communication, SpanSet{at}).empty())
        by_name[on.trace.name_id(row.slice).value].push_back(at);
  Ns most = -1;
  std::string_view kernel;
  for (auto& [name, spans] : by_name)
    if (const Ns time = length(intersect(device.exposed_communication, span_set(std::move(spans)))); time > most)
      most = time, kernel = on.trace.strings[StringId(std::size_t{name})];
  Advice remedy = fitted_or(on.practices, communication_remedy(kernel, on.practices));
  if (std::string waited = late_rank_words(on.trace, device, kernel); !waited.empty())
    return plain_advice(std::move(waited)) + std::move(remedy);
  return std::move(remedy) +
         advice_of("Find the late rank: with the other ranks' traces, gapscope ranks separates waiting from transfer.");
}

Advice compute_advice(const AdviceOn& on) {
  if (on.practices.program != ProgramKind::python)
    return advice_of("Make the kernels faster: lower precision, fusion, better shapes.");
  const KernelShares shares = kernel_shares(on.trace);
  std::string choices;
  if (shares.matrix >= kWorthNaming) choices += "{autocast|lower precision (torch.autocast)}, ";
  if (shares.fusible >= kWorthNaming) choices += "{compile|torch.compile, which fuses small ones}, {compile_rest}, ";
  if (shares.optimizer >= kWorthNaming) choices += "{fused_optimizer}, ";
  return fitted_or(on.practices,
                   fmt::format("Make the kernels faster: {}{{|better shapes}}, {{|a better algorithm}}.", choices));
}

}  // namespace gapscope
