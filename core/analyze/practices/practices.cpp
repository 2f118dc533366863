#include "core/analyze/practices/practices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/analyze/gpu/launches.h"
#include "core/analyze/inference/serving_step.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/saturating.h"
#include "core/base/span_set.h"
#include "core/base/span_sums.h"

namespace gapscope {
namespace {

// Pageable copies up to these are scalars, whatever else is pinned.
constexpr Ns kLeastPageable = 50 * kNsPerUs;
constexpr std::uint64_t kLeastPageableBytes = 1'000'000;
// Of the time in outermost operators.
constexpr double kMostlyCompiled = 0.8;
constexpr double kMostlyHalf = 0.5;
// A wait that belongs to a copy's own operator follows it at once.
constexpr Ns kWaitFollows = 20 * kNsPerUs;

template <class... Parts>
bool starts_with_any(std::string_view name, Parts... parts) {
  return (name.starts_with(parts) || ...);
}
template <class... Parts>
bool has_any(std::string_view name, Parts... parts) {
  return ((name.find(parts) != name.npos) || ...);
}

bool is_compiled_code(std::string_view name) {
  return starts_with_any(name, "Torch-Compiled Region", "## Call CompiledFxGraph", "CompiledFunction");
}
bool is_half(std::string_view type) { return has_any(type, "16", "fp8", "e4m3", "e5m2", "fp4", "int8", "half"); }
bool is_to_device(std::string_view copy) { return has_any(copy, "HtoD", "Host -> Device", "HOST_TO_DEVICE"); }
bool is_from_device(std::string_view copy) { return has_any(copy, "DtoH", "Device -> Host", "DEVICE_TO_HOST"); }

std::uint64_t key_of(const GpuRow& row) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(row.device)) << 32 | static_cast<std::uint32_t>(row.stream);
}

bool any_name(const Trace& trace, bool (*is)(std::string_view)) {
  for (std::size_t i = 0; i < trace.strings.size(); ++i)
    if (is(trace.strings[StringId(i)])) return true;
  return false;
}

// Of the launch calls those that lie in these.
double share_of_launches_in(const Trace& trace, const std::vector<SpanSet>& places) {
  std::vector<SpanSums> sums;
  for (const SpanSet& spans : places) sums.emplace_back(spans);
  std::size_t all = 0, inside = 0;
  for (const Call& call : trace.calls) {
    if (!has_any(trace.name(call.slice), "Launch")) continue;
    ++all;
    const Span at = trace.span_of(call.slice);
    inside += !at.empty() && sums[trace.lane_id(call.slice).index()].within(at) == at.length() ? 1 : 0;
  }
  return all > 0 ? static_cast<double>(inside) / static_cast<double>(all) : 0;
}

// By lane, where slices of such a name lie.
std::vector<SpanSet> spans_of(const Trace& trace, bool (*is)(std::string_view)) {
  std::vector<bool> is_name(trace.strings.size());
  for (std::size_t i = 0; i < trace.strings.size(); ++i) is_name[i] = is(trace.strings[StringId(i)]);
  std::vector<std::vector<Span>> spans(trace.lanes.size());
  for (std::size_t i = 0; i < trace.slice_count(); ++i)
    if (is_name[trace.slices.name[i].index()]) spans[trace.lane_id(SliceId(i)).index()].push_back(trace.span_of(SliceId(i)));
  std::vector<SpanSet> out;
  for (std::vector<Span>& of_lane : spans) out.push_back(span_set(std::move(of_lane)));
  return out;
}

bool are_graphs_whole(const Trace& trace) {
  constexpr double kNearlyAll = 0.9, kManyAtOnce = 100;
  std::unordered_set<std::uint64_t> graphs;
  for (const Call& call : trace.calls)
    if (launches_graph(trace.name(call.slice))) graphs.insert(call.correlation);
  std::size_t kernels = 0, theirs = 0;
  for (const GpuRow& row : trace.gpu) {
    if (trace.kind(row.slice) != Kind::kernel) continue;
    ++kernels;
    theirs += graphs.count(row.correlation);
  }
  std::size_t steps = 0;
  for (std::size_t i = 0; i < trace.slice_count(); ++i)
    steps += trace.kind(SliceId(i)) == Kind::annotation && trace.name(SliceId(i)).starts_with("ProfilerStep#") ? 1 : 0;
  const bool is_step =
      graphs.size() <= steps || static_cast<double>(theirs) >= kManyAtOnce * static_cast<double>(graphs.size());
  return is_step && static_cast<double>(theirs) >= kNearlyAll * static_cast<double>(kernels);
}

bool is_mostly_compiled(const Trace& trace) {
  return share_of_launches_in(trace, spans_of(trace, is_compiled_code)) >= kMostlyCompiled;
}

// "Optimizer.step#AdamW.step": those with an implementation behind fused=True.
bool is_step_of_fusible_optimizer(std::string_view name) {
  constexpr std::string_view kStep = "Optimizer.step#";
  if (!name.starts_with(kStep)) return false;
  name.remove_prefix(kStep.size());
  return starts_with_any(name, "Adam.", "AdamW.", "SGD.", "Adagrad.");
}

// Whether the optimizer's are worth a word: its launches of all, or its kernels of the GPU time.
bool is_work_of_optimizer(const Trace& trace) {
  constexpr double kLeastOfLaunches = 0.03, kLeastOfTime = 0.05;
  const std::vector<SpanSet> steps = spans_of(trace, is_step_of_fusible_optimizer);
  if (trace.calls.empty() || share_of_launches_in(trace, steps) >= kLeastOfLaunches) return true;
  std::unordered_set<std::uint64_t> launched;
  std::vector<SpanSums> sums(steps.begin(), steps.end());
  for (const Call& call : trace.calls)
    if (const Span at = trace.span_of(call.slice); !at.empty() && sums[trace.lane_id(call.slice).index()].within(at) > 0)
      launched.insert(call.correlation);
  Ns all = 0, of_optimizer = 0;
  for (const GpuRow& row : trace.gpu) {
    add_saturating(all, trace.duration(row.slice));
    if (launched.count(row.correlation) > 0) add_saturating(of_optimizer, trace.duration(row.slice));
  }
  return static_cast<double>(of_optimizer) >= kLeastOfTime * static_cast<double>(all);
}

bool is_optimizer_of_lists(std::string_view name) {
  return starts_with_any(name, "aten::_foreach_add", "aten::_foreach_lerp", "aten::_foreach_sqrt", "aten::_foreach_sub");
}
bool is_fused_optimizer(std::string_view name) {
  return starts_with_any(name, "aten::_fused_adam", "aten::_fused_sgd", "aten::_fused_adagrad");
}
bool is_backward(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function") || name.ends_with("Backward0");
}

// Whether the call that follows on the same depth, as inside one aten::copy_, waits for the stream.
bool is_waited_for(const Trace& trace, SliceId call) {
  const SliceId next(call.index() + 1);
  if (next.index() >= trace.slice_count() || trace.slices.row[next.index()] != trace.slices.row[call.index()]) return false;
  return trace.name(next).ends_with("Synchronize") && trace.begin(next) - trace.end(call) < kWaitFollows;
}

}  // namespace

Vendor vendor_of(const Trace& trace) {
  const auto& devices = trace.header.devices;
  const auto names = [&](auto... parts) {
    return std::any_of(devices.begin(), devices.end(), [&](const DeviceProperties& d) { return has_any(d.name, parts...); });
  };
  const auto has_category = [&](std::string_view beginning) {
    return std::any_of(trace.categories.begin(), trace.categories.end(),
                       [&](const Category& c) { return trace.strings[c.name].starts_with(beginning); });
  };
  const std::string_view producer = trace.producer->id;
  const bool is_amd = names("AMD", "Instinct", "Radeon") || producer == "rocprof" ||
                      !trace.header.find("hip_runtime_version").empty() || any_name(trace, [](std::string_view n) {
                        return n == "hipLaunchKernel" || n == "hipExtModuleLaunchKernel" || n == "hipModuleLaunchKernel";
                      });
  if (is_amd) return Vendor::amd;
  if (names("NVIDIA", "Tesla", "GeForce", "Quadro")) return Vendor::nvidia;
  if (names("Intel") || has_category("xpu_") || producer == "unitrace") return Vendor::intel;
  if (producer == "ascend" || names("Ascend")) return Vendor::huawei;
  if (has_category("mtia_") || names("ARTEMIS", "MTIA")) return Vendor::meta;
  if (names("TPU") || std::any_of(trace.processes.begin(), trace.processes.end(),
                                  [](const Process& p) { return p.name.find("device:TPU") != std::string::npos; }))
    return Vendor::google;
  // The last speak CUDA, but no tool of NVIDIA's knows them.
  const bool is_unknown = has_category("hpu_") || has_category("privateuse1_") || has_category("musa_") ||
                          has_category("gcu_") || names("Gaudi", "HPU", "HL-", "Apple") ||
                          names("DCU", "Hygon", "Iluvatar", "MetaX", "MTT S", "Biren", "MLU", "Enflame");
  return is_unknown || producer == "unknown" ? Vendor::other : Vendor::nvidia;
}

std::string_view monitor_of(Vendor vendor) {
  switch (vendor) {
    case Vendor::nvidia: return "nvidia-smi";
    case Vendor::amd: return "rocm-smi";
    case Vendor::intel: return "xpu-smi";
    case Vendor::huawei: return "npu-smi";
    case Vendor::google: return "tpu-info";
    default: return "the vendor's monitor";
  }
}

Practices::Practices(const Trace& trace) : program(program_kind(trace)) {
  read_names(trace);
  read_header(trace);
  read_copies(trace);
  read_kernels(trace);
  read_steps(trace);
  read_work_of_steps(trace);
}

void Practices::read_names(const Trace& trace) {
  set(Practice::compiled, any_name(trace, is_compiled_code));
  if (follows(Practice::compiled)) set(Practice::mostly_compiled, is_mostly_compiled(trace));
  set(Practice::inductor, any_name(trace, [](std::string_view n) {
        return has_any(n, "CompiledFxGraph") || starts_with_any(n, "triton_poi_", "triton_red_", "triton_per_");
      }));
  set(Practice::cuda_graphs, any_name(trace, launches_graph));
  set(Practice::whole_graphs, follows(Practice::cuda_graphs) && are_graphs_whole(trace));
  set(Practice::serving, any_name(trace, [](std::string_view n) {
        return starts_with_any(n, "vllm/", "vllm::", "sglang/", "sglang::") || has_any(n, "/vllm/", "/sglang/") ||
               serving_step(n).has_value();
      }));
  set(Practice::recurrent_cells,
      any_name(trace, [](std::string_view n) { return n == "aten::lstm_cell" || n == "aten::gru_cell"; }));
  differentiates_twice = any_name(trace, [](std::string_view n) { return has_any(n, "BackwardBackward"); });
  captures_graphs = any_name(trace, [](std::string_view n) { return n.ends_with("StreamBeginCapture"); });
  const bool has_optimizer = any_name(trace, is_step_of_fusible_optimizer);
  set(Practice::optimizer, has_optimizer && is_work_of_optimizer(trace));
  set(Practice::foreach_optimizer, has_optimizer && any_name(trace, is_optimizer_of_lists));
  set(Practice::fused_optimizer, any_name(trace, is_fused_optimizer));
  trains = any_name(trace, [](std::string_view n) { return n.starts_with("Optimizer.step#"); }) || any_name(trace, is_backward);
  set(Practice::ddp, any_name(trace, [](std::string_view n) { return n.starts_with("DistributedDataParallel."); }));
  is_fsdp1 = any_name(trace, [](std::string_view n) { return n.starts_with("FullyShardedDataParallel."); });
  is_fsdp2 = any_name(trace, [](std::string_view n) { return n.starts_with("FSDP::"); });
  set(Practice::fsdp, is_fsdp1 || is_fsdp2);
  set(Practice::fsdp_any_gathers,
      is_fsdp1 && !any_name(trace, [](std::string_view n) { return n == "FullyShardedDataParallel.rate_limiter"; }));
  set(Practice::bucket_views,
      follows(Practice::ddp) && !any_name(trace, [](std::string_view n) { return has_any(n, "copy_bucket_to_grad"); }));
  const bool enumerates = any_name(trace, [](std::string_view n) { return n.starts_with("enumerate(DataLoader)"); });
  has_loader = enumerates || any_name(trace, [](std::string_view n) { return has_any(n, "torch/utils/data/dataloader.py("); });
  set(Practice::loader_workers,
      enumerates && !any_name(trace, [](std::string_view n) { return n.starts_with("enumerate(DataLoader)#_SingleProcess"); }));
}

void Practices::read_header(const Trace& trace) {
  set(Practice::shapes, trace.header.flag("record_shapes"));
  set(Practice::python_frames, trace.has(Kind::python));
  set(Practice::cpu_activity, trace.has(Kind::op));
  set(Practice::before_torch_2, std::any_of(trace.categories.begin(), trace.categories.end(),
                                            [&](const Category& c) { return trace.strings[c.name] == "Operator"; }));
  const auto& devices = trace.header.devices;
  vendor = vendor_of(trace);
  const bool is_described = vendor == Vendor::nvidia && !devices.empty() && devices.front().compute_major > 0;
  has_tf32 = !is_described || devices.front().compute_major >= 8;
  has_tensor_cores = !is_described || devices.front().compute_major >= 7;
}

void Practices::read_copies(const Trace& trace) {
  std::unordered_set<std::uint64_t> compute_streams, to_device;
  Ns pageable_time = 0;
  std::uint64_t pageable_bytes = 0, copies = 0;
  for (const GpuRow& row : trace.gpu)
    if (trace.kind(row.slice) == Kind::kernel) compute_streams.insert(key_of(row));
  std::size_t pinned = 0, apart = 0;
  for (const GpuRow& row : trace.gpu) {
    if (trace.kind(row.slice) != Kind::memcpy) continue;
    const std::string_view name = trace.name(row.slice);
    const bool to = is_to_device(name);
    if (!to && !is_from_device(name)) continue;
    pinned += has_any(name, "Pinned") ? 1 : 0;
    if (is_pageable_copy(name)) {
      add_saturating(pageable_time, trace.duration(row.slice));
      pageable_bytes += row.bytes;
    }
    if (!to) continue;
    ++copies;
    apart += compute_streams.count(key_of(row)) == 0 ? 1 : 0;
    if (row.correlation != 0) to_device.insert(row.correlation);
  }
  set(Practice::pinned_memory, pinned > 0 && pageable_time < kLeastPageable && pageable_bytes < kLeastPageableBytes);
  set(Practice::copy_stream, copies > 0 && apart == copies);
  if (to_device.empty()) return;
  std::size_t calls = 0, waited_for = 0;
  for (const Call& call : trace.calls) {
    if (to_device.count(call.correlation) == 0 || !has_any(trace.name(call.slice), "Memcpy")) continue;
    ++calls;
    waited_for += !trace.name(call.slice).ends_with("Async") || is_waited_for(trace, call.slice) ? 1 : 0;
  }
  set(Practice::non_blocking_copies, calls > 0 && waited_for == 0 && pageable_time < kLeastPageable);
}

void Practices::read_kernels(const Trace& trace) {
  std::unordered_map<std::uint32_t, Ns> time_of;
  for (const GpuRow& row : trace.gpu)
    if (trace.kind(row.slice) == Kind::kernel)
      add_saturating(time_of[trace.name_id(row.slice).value], trace.duration(row.slice));
  Ns matrix = 0, half = 0, tf32 = 0, plain = 0;
  bool fused = false, nhwc = false, converts = false;
  for (const auto& [id, time] : time_of) {
    const std::string_view text = trace.strings[StringId(std::size_t{id})];
    const KernelName name = decode(text);
    // cuDNN takes TF32 unasked: what most products do says whether they may.
    if (is_tf32(name)) add_saturating(tf32, time);
    if (name.kind == KernelKind::gemm && is_fp32_on_plain_cores(name)) add_saturating(plain, time);
    fused |= is_fused_attention(name);
    converts |= has_any(text, "nchwToNhwc") || text.starts_with("batched_transpose_");
    if (name.kind != KernelKind::gemm && name.kind != KernelKind::convolution) continue;
    nhwc |= name.kind == KernelKind::convolution && has_any(text, "nhwc");
    add_saturating(matrix, time);
    if (is_half(name.input_type)) add_saturating(half, time);
  }
  set(Practice::tf32, tf32 > 0 && tf32 >= plain);
  set(Practice::fused_attention, fused);
  set(Practice::channels_last, nhwc && !converts);
  set(Practice::half_precision, matrix > 0 && static_cast<double>(half) >= kMostlyHalf * static_cast<double>(matrix));
}

void Practices::read_steps(const Trace& trace) {
  constexpr std::string_view kProfilerStep = "ProfilerStep#";
  bool any = false, zero = false;
  for (std::size_t i = 0; i < trace.strings.size(); ++i) {
    const std::string_view name = trace.strings[StringId(i)];
    if (!name.starts_with(kProfilerStep)) continue;
    any = true;
    zero |= name == "ProfilerStep#0";
  }
  set(Practice::warm_up, any && !zero);
}

// By the blocks of all kernels launched in a step, which sizes of inputs change.
void Practices::read_work_of_steps(const Trace& trace) {
  constexpr std::size_t kLeastSteps = 4;  // the first may hold start-up
  constexpr double kSame = 0.01;
  std::vector<Span> steps;
  for (std::size_t i = 0; i < trace.slice_count(); ++i)
    if (trace.kind(SliceId(i)) == Kind::annotation && trace.name(SliceId(i)).starts_with("ProfilerStep#"))
      steps.push_back(trace.span_of(SliceId(i)));
  if (steps.size() < kLeastSteps) return;
  std::sort(steps.begin(), steps.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  // Of several ranks or threads: one's step is no other size of another's.
  if (std::adjacent_find(steps.begin(), steps.end(), [](const Span& a, const Span& b) { return b.begin < a.end; }) !=
      steps.end())
    return;
  std::unordered_map<std::uint64_t, Ns> launched;
  for (const Call& call : trace.calls) launched.emplace(call.correlation, trace.begin(call.slice));
  std::vector<double> blocks(steps.size());
  for (const GpuRow& row : trace.gpu) {
    const auto at = launched.find(row.correlation);
    if (at == launched.end() || !row.has_launch_config()) continue;
    const auto step = std::upper_bound(steps.begin(), steps.end(), at->second, [](Ns t, const Span& s) { return t < s.begin; });
    if (step == steps.begin() || at->second >= std::prev(step)->end) continue;
    blocks[static_cast<std::size_t>(std::prev(step) - steps.begin())] += 1.0 * row.grid[0] * row.grid[1] * row.grid[2];
  }
  std::size_t differ = 0;
  for (std::size_t i = 2; i < blocks.size(); ++i)
    differ += std::abs(blocks[i] - blocks[i - 1]) > kSame * std::max(blocks[i], blocks[i - 1]) ? 1 : 0;
  work_differs_ = 2 * differ > blocks.size() - 2;
  if (!work_differs_) return;
  named_.add(Remedy::cuda_graph);
  named_.add(Remedy::larger_graphs);
}

}  // namespace gapscope
