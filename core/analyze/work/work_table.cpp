#include "core/analyze/work/work_table.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "core/analyze/operators/flops.h"
#include "core/analyze/work/call_context.h"
#include "core/base/saturating.h"
#include "core/base/tuple_hash.h"

namespace gapscope {
namespace {

std::optional<MathType> math_of_type(std::string_view type) {
  if (type == "float") return MathType::fp32;
  if (type == "double") return MathType::fp64;
  if (type == "c10::Half") return MathType::fp16;
  if (type == "c10::BFloat16") return MathType::bf16;
  if (type.starts_with("c10::Float8")) return MathType::fp8;
  return {};
}

// Of the kernels of one call: the longest, and the longest that multiplies.
struct Kernels {
  Ns time = 0;
  Ns kernel_time = 0;  // of kernels alone, no copies
  std::uint64_t count = 0;
  const GpuRow* longest = nullptr;
  std::optional<MathType> math;  // of the longest that multiplies
};

// Each name is decoded once.
class KernelMath {
 public:
  explicit KernelMath(const Trace& trace) : trace_(trace) {}
  std::optional<MathType> of(StringId name) {
    const auto [at, is_new] = known_.try_emplace(name.value);
    if (is_new) at->second = math_of_kernel_name(trace_.strings[name]);
    return at->second;
  }

 private:
  const Trace& trace_;
  std::unordered_map<std::uint32_t, std::optional<MathType>> known_;
};

Kernels sum_kernels(const Trace& trace, std::span<const OwnedWork> work, KernelMath& math) {
  Kernels out;
  Ns longest_product = -1;
  for (const OwnedWork& w : work) {
    const Ns duration = trace.duration(w.gpu->slice);
    add_saturating(out.time, duration);
    if (trace.kind(w.gpu->slice) == Kind::kernel) add_saturating(out.kernel_time, duration);
    ++out.count;
    if (!out.longest || duration > trace.duration(out.longest->slice)) out.longest = w.gpu;
    if (duration <= longest_product) continue;
    if (const auto type = math.of(trace.name_id(w.gpu->slice))) out.math = type, longest_product = duration;
  }
  return out;
}

// fp32 may run as tf32 where the GPU has it: then only a kernel's name shows.
std::optional<MathType> math_of_call(const Trace& trace, const WorkModel* model, const WorkCall* call, const Kernels& kernels) {
  if (model && model->is_product && kernels.math) return kernels.math;
  std::optional<MathType> out;
  if (call)
    for (const WorkArgument& a : call->arguments)
      if (!out && a.is_tensor()) out = math_of_type(a.type);
  if (out != MathType::fp32 || !model || !model->is_product) return out;
  const std::string_view device = kernels.longest ? gpu_name(trace, kernels.longest->device) : std::string_view{};
  const bool has_tf32 = !is_known_device(device) || dense_peak(trace.stated.roofs, device, MathType::tf32);
  return has_tf32 ? std::nullopt : out;
}

class Builder {
 public:
  Builder(const OwnedCalls& calls, const std::vector<ArgTexts>& values)
      : calls_(calls), trace_(*calls.recordings.front().trace), math_(trace_) {
    for (std::size_t r = 0; r < calls.recordings.size(); ++r)
      contexts_.emplace_back(calls.recordings.front(), calls.recordings[r], values[r]);
  }

  void add(std::span<const OwnedWork> work) {
    const OwnedWork& first = work.front();
    const SliceId op = first.op;
    const Kernels kernels = sum_kernels(trace_, work, math_);
    add_saturating(table_.kernel_ns, kernels.kernel_time);
    if (!op) return add_saturating(table_.without_operator_ns, kernels.kernel_time);
    const CountedCall counted = contexts_[first.recording].count(work, *kernels.longest);
    const auto type = math_of_call(trace_, counted.model, counted.call, kernels);
    const std::uint32_t row = row_of(first, counted, type, *kernels.longest);
    WorkRow& sums = table_.rows[row];
    ++sums.count;
    sums.kernels += kernels.count;
    add_saturating(sums.kernel_ns, kernels.time);
    if (sums.joined) add_saturating(table_.joined_ns, kernels.kernel_time);
    if (counted.work.bytes) add_saturating(table_.counted_ns, kernels.kernel_time);
    for (const OwnedWork& w : work) table_.kernels.push_back({w.gpu->slice, static_cast<std::uint32_t>(table_.calls.size())});
    table_.calls.push_back({first.recording, op, first.replay, first.gpu->slice, row, kernels.time});
  }

  WorkTable finish() {
    for (const OperatorRecording& r : calls_.recordings)
      table_.shapes_recorded =
          table_.shapes_recorded || std::any_of(r.trace->ops.begin(), r.trace->ops.end(),
                                                [&](const OpRow& op) { return !r.trace->strings[op.input_dims].empty(); });
    std::sort(table_.kernels.begin(), table_.kernels.end(),
              [](const KernelOwner& a, const KernelOwner& b) { return a.kernel < b.kernel; });
    order_rows();
    return std::move(table_);
  }

 private:
  using Key = std::tuple<bool, std::string_view, std::string_view, std::string_view, int, std::int32_t, double, double>;
  // The same within one recording, where equal texts have one id: most calls are like an earlier one.
  // The numbers by their bits.
  using IdKey = std::tuple<std::uint32_t, bool, StringId, StringId, StringId, int, std::int32_t, std::uint64_t, std::uint64_t>;

  std::uint32_t row_of(const OwnedWork& first, const CountedCall& counted, std::optional<MathType> math, const GpuRow& gpu) {
    const Trace& recording = calls_.trace_of(first);
    const auto& [row, model, work, call] = counted;
    const auto text = [&](StringId id) { return id ? recording.strings[id] : std::string_view{}; };
    const std::string_view dims = row ? text(row->input_dims) : "", types = row ? text(row->input_types) : "";
    const bool joined = first.replay.valid();
    const int type = math ? static_cast<int>(*math) : -1;
    const double flops = work.flops.value_or(-1), bytes = work.bytes.value_or(-1);
    const IdKey ids{first.recording,
                    joined,
                    recording.name_id(first.op),
                    row ? row->input_dims : StringId{},
                    row ? row->input_types : StringId{},
                    type,
                    gpu.device,
                    std::bit_cast<std::uint64_t>(flops),
                    std::bit_cast<std::uint64_t>(bytes)};
    const auto [known, is_new_here] = rows_of_recording_.try_emplace(ids);
    if (!is_new_here) return known->second;
    const Key key{joined, recording.name(first.op), dims, types, type, gpu.device, flops, bytes};
    const auto [at, is_new] = rows_.try_emplace(key, static_cast<std::uint32_t>(table_.rows.size()));
    if (is_new)
      table_.rows.push_back({recording.name(first.op), dims, types, joined, math, gpu.device, 0, 0, 0, work,
                             model && model->is_product, model && model->crosses_links});
    return known->second = at->second;
  }

  void order_rows() {
    std::vector<std::uint32_t> order(table_.rows.size()), place(table_.rows.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return table_.rows[a].kernel_ns > table_.rows[b].kernel_ns; });
    std::vector<WorkRow> rows;
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i, rows.push_back(table_.rows[order[i]]);
    table_.rows = std::move(rows);
    for (CallWork& call : table_.calls) call.row = place[call.row];
  }

  const OwnedCalls& calls_;
  const Trace& trace_;
  std::vector<CallContext> contexts_;  // by recording
  KernelMath math_;
  WorkTable table_;
  std::map<Key, std::uint32_t> rows_;
  std::unordered_map<IdKey, std::uint32_t, TupleHash> rows_of_recording_;
};

}  // namespace

bool has_shapes(const Trace& trace) {
  return std::any_of(trace.ops.begin(), trace.ops.end(), [](const OpRow& op) { return op.input_dims.valid(); });
}

std::optional<MathType> math_of_kernel_name(std::string_view name) { return math_of_kernel(decode(name)); }

std::optional<double> WorkTable::coverage() const {
  const Ns owned = kernel_ns - without_operator_ns;
  if (owned <= 0) return {};
  return static_cast<double>(counted_ns) / static_cast<double>(owned);
}

const CallWork* WorkTable::call_of_kernel(SliceId kernel) const {
  if (kernels.empty() || kernel < kernels.front().kernel || kernels.back().kernel < kernel) return nullptr;
  // Each is there once, and most slices between the first and the last are: so far from either end it is at most.
  const std::size_t last = kernels.size() - 1;
  const std::size_t to_last = kernels.back().kernel.index() - kernel.index();
  const auto low = kernels.begin() + static_cast<std::ptrdiff_t>(last - std::min(last, to_last));
  const auto high =
      kernels.begin() + static_cast<std::ptrdiff_t>(std::min(last, kernel.index() - kernels.front().kernel.index()));
  const auto at = std::lower_bound(low, high, kernel, [](const KernelOwner& k, SliceId wanted) { return k.kernel < wanted; });
  return at->kernel == kernel ? &calls[at->call] : nullptr;
}

const CallWork* WorkTable::call(SliceId op) const {
  const auto at = std::lower_bound(calls.begin(), calls.end(), std::pair(std::uint32_t{0}, op),
                                   [](const CallWork& c, const auto& wanted) { return std::pair(c.recording, c.op) < wanted; });
  return at != calls.end() && at->recording == 0 && at->op == op ? &*at : nullptr;
}

WorkTable work_of_calls(const OwnedCalls& calls, const std::vector<ArgTexts>& values) {
  Builder builder(calls, values);
  const std::vector<OwnedWork>& work = calls.work;
  for (std::size_t i = 0; i < work.size();) {
    std::size_t end = i + 1;
    while (end < work.size() && is_same_call(work[end], work[i])) ++end;
    builder.add(std::span(work).subspan(i, end - i));
    i = end;
  }
  return builder.finish();
}

WorkTable work_table(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const ReadValues& read) {
  const OwnedCalls calls = owned_work(trace, lanes, links);
  return work_of_calls(calls, values_of_calls(calls, read));
}

}  // namespace gapscope
