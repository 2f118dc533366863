#include "core/diagnose/advice.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// A launch or a start that takes this long, and most of its part, is a case of its own and not the sum of many usual ones.
constexpr Ns kLongCall = 200 * kNsPerUs;

template <class Match>
bool any_text(const Trace& trace, Match match) {
  for (std::size_t i = 0; i < trace.strings.size(); ++i)
    if (match(trace.strings[StringId(i)])) return true;
  return false;
}
bool any_name(const Trace& trace, std::string_view begin) {
  return any_text(trace, [&](std::string_view text) { return text.starts_with(begin); });
}

// What the trace does already, and so needs no advice to do.
struct Done {
  explicit Done(const Trace& trace)
      : compiled(any_name(trace, "Torch-Compiled Region") || any_name(trace, "## Call CompiledFxGraph")),
        graphs(any_name(trace, "cudaGraphLaunch") || any_name(trace, "hipGraphLaunch")) {}
  bool compiled, graphs;
};

struct Longest {
  Ns one = 0, all = 0;

  bool leads() const { return one >= kLongCall && one > all / 2; }
};

// The launches, or what follows them, that gaps of the part waited for.
Longest longest_of(const Trace& trace, const DeviceAccount& device, Span part, IdleCause cause) {
  Longest out;
  const auto [first, last] = device.gaps_in(part);
  for (std::size_t i = first; i < last; ++i) {
    const DeviceGap& gap = device.gaps[i];
    if (!gap.launch || !gap.has(cause)) continue;
    const Span call = trace.span_of(gap.launch);
    const Span waited = cause == IdleCause::launching ? call : Span{std::max(call.end, gap.span.begin), gap.span.end};
    const Ns time = intersect(intersect(waited, gap.span), part).length();
    out.one = std::max(out.one, time);
    add_saturating(out.all, time);
  }
  return out;
}

std::string launch_advice(const Trace& trace, const DeviceAccount& device, Span part) {
  if (const Longest launch = longest_of(trace, device, part, IdleCause::launching); launch.leads())
    return fmt::format("Warm up before recording: one launch alone took {}, as the first use of a kernel or a stream does.",
                       format_duration(launch.one));
  if (Done(trace).graphs) return "Make fewer launches: fuse small kernels, or put more of them into the CUDA graphs.";
  return std::string(idle_cause_remedy(IdleCause::launching, program_kind(trace)));
}

std::string start_advice(const Trace& trace, const DeviceAccount& device, Span part) {
  const Longest start = longest_of(trace, device, part, IdleCause::starting);
  if (!start.leads())
    return Done(trace).graphs ? "A few microseconds each are usual: put more work into each CUDA graph; where one takes long, "
                                "look at what its "
                                "stream waits for."
                              : std::string(idle_cause_remedy(IdleCause::starting, program_kind(trace)));
  return fmt::format(
      "One piece of work alone began {} after its launch: look at what its stream waited for (an event, another stream, work "
      "from before the recording), or whether its kernel was used for the first time.",
      format_duration(start.one));
}

std::string operator_advice(const Done& done, ProgramKind program) {
  if (done.compiled && done.graphs)
    return "Run fewer and bigger operators: a larger batch, and more of the step in each CUDA graph.";
  if (done.compiled)
    return "Run fewer and bigger operators: a larger batch, CUDA graphs (mode=\"reduce-overhead\"), and compile what is not "
           "yet compiled.";
  return std::string(idle_cause_remedy(IdleCause::op, program));
}

std::string python_advice(const Trace& trace, const Done& done) {
  if (const ProgramKind program = program_kind(trace); program != ProgramKind::python)
    return std::string(idle_cause_remedy(IdleCause::python, program));
  std::string text = done.compiled ? "Move work out of the loop or into the compiled part; "
                                     "torch.profiler.record_function around its parts shows which take the time."
                                   : std::string(idle_cause_remedy(IdleCause::python, ProgramKind::python));
  const bool has_stacks =
      std::any_of(trace.categories.begin(), trace.categories.end(), [](const Category& c) { return c.kind == Kind::python; });
  return has_stacks ? text : text + " with_stack=True records the frames.";
}

enum CopyKind : std::size_t { on_device, pageable, fill, other, kCopyKinds };

CopyKind kind_of(const Trace& trace, SliceId work) {
  const std::string_view name = trace.name(work);
  if (trace.kind(work) == Kind::memset) return fill;
  if (is_copy_on_device(name)) return on_device;
  return is_pageable_copy(name) ? pageable : other;
}

std::string_view copy_remedy(CopyKind kind) {
  switch (kind) {
    case on_device:
      return "Most of them copy on the device: spare them with contiguous tensors, in-place operators or a one-dimensional "
             "bias.";
    case fill: return "Most of them fill memory: use torch.empty where all is written anyway, and zero_grad(set_to_none=True).";
    case pageable: return "Copy from pinned memory with non_blocking=True while something else runs, and prefetch.";
    default: return "Copy with non_blocking=True on a stream of its own while something else runs, prefetch, and copy less.";
  }
}

std::string_view copy_remedy_elsewhere(CopyKind kind) {
  switch (kind) {
    case on_device: return "Most of them copy on the device: work in place, or write where the next kernel reads.";
    case fill: return "Most of them fill memory: leave out those whose memory is written as a whole anyway.";
    case pageable:
      return "Copy from pinned memory (cudaMallocHost) with cudaMemcpyAsync while something else runs, and prefetch.";
    default: return "Copy with cudaMemcpyAsync on a stream of its own while something else runs, prefetch, and copy less.";
  }
}

}  // namespace

std::string_view warm_up_advice(ProgramKind program) {
  return program == ProgramKind::python
             ? "Record again after a few warm-up steps, as with schedule(wait=1, warmup=1): this recording holds the start of "
               "the process, which is paid once."
             : "Record again after a few warm-up steps, as with --range or --delay of gapscope record: this recording holds "
               "the start of the process, which is paid once.";
}

std::string idle_advice(const Trace& trace, const DeviceAccount& device, Span part, IdleCause cause) {
  switch (cause) {
    case IdleCause::op: return operator_advice(Done(trace), program_kind(trace));
    case IdleCause::python: return python_advice(trace, Done(trace));
    case IdleCause::launching: return launch_advice(trace, device, part);
    case IdleCause::starting: return start_advice(trace, device, part);
    case IdleCause::data_loading:
      if (any_text(trace, is_fetch_without_workers) && !any_name(trace, "enumerate(DataLoader)#_MultiProcessing"))
        return std::string(kUseWorkers);
      [[fallthrough]];
    default: return std::string(idle_cause_remedy(cause, program_kind(trace)));
  }
}

std::string copy_advice(const Trace& trace, const DeviceAccount& device, Span part) {
  std::array<std::vector<Span>, kCopyKinds> spans;
  for (const GpuRow& row : trace.gpu) {
    const Kind kind = trace.kind(row.slice);
    if (row.device == device.device && (kind == Kind::memcpy || kind == Kind::memset))
      spans[kind_of(trace, row.slice)].push_back(intersect(trace.span_of(row.slice), part));
  }
  std::array<Ns, kCopyKinds> exposed{};
  for (std::size_t k = 0; k < kCopyKinds; ++k)
    exposed[k] = length(intersect(device.exposed_copies, span_set(std::move(spans[k]))));
  const auto most = static_cast<CopyKind>(std::max_element(exposed.begin(), exposed.end()) - exposed.begin());
  return std::string(program_kind(trace) == ProgramKind::python ? copy_remedy(most) : copy_remedy_elsewhere(most));
}

}  // namespace gapscope
