#include "core/analyze/account/idle_cause.h"

#include <algorithm>

#include "core/analyze/gpu/launches.h"

namespace gapscope {
namespace {

struct Words {
  std::string_view key, title, words, remedy;
};
constexpr std::array<Words, kIdleCauses> kWords = {{
    {"operator", "operators", "in operators",
     "Run fewer and larger operators: {compile}, {compile_rest}, {cuda_graph|mode=\"reduce-overhead\" for CUDA graphs}, "
     "{larger_graphs}, {fused_optimizer}, {larger_batch}."},
    {"python", "Python", "in Python outside operators",
     "Run less Python between the launches: {compile|use torch.compile}, {compile_rest}, {|move work out of the loop}. Put "
     "torch.profiler.record_function around its parts to see which are slow{record_frames!}. Record with with_stack=True to "
     "see the frames{record_frames!}."},
    {"launching", "launch calls", "inside launch calls",
     "Make fewer launches: {compile|torch.compile, which fuses small kernels}, {compile_rest}, {cuda_graph|CUDA graphs "
     "(mode=\"reduce-overhead\", torch.cuda.make_graphed_callables)}, {larger_graphs}, {fused_optimizer}, {larger_batch}."},
    {"cuda_call", "other runtime calls", "inside other runtime calls",
     "Look at which calls these are. Reuse buffers, events and streams."},
    {"starting", "launch latency", "in launch latency",
     "A few microseconds per launch are usual. Make fewer launches: {cuda_graph|CUDA graphs (mode=\"reduce-overhead\")}, "
     "{larger_graphs}, {|fused kernels}. If one takes long, look at what its stream waits for."},
    {"synchronizing", "synchronization", "waiting for the GPU",
     "Remove the synchronization (.item(), .cpu(), print of a tensor, torch.cuda.synchronize), so that the host runs ahead."},
    {"data_loading", "data loading", "in the data loader",
     "Prepare the next batch ahead: {workers}, {more_workers}, {|a larger prefetch_factor}, {pinned_memory|pin_memory=True}."},
    {"compiling", "compiling", "compiling",
     "Call the compiled function a few times before recording, and mark varying dimensions as dynamic "
     "(torch._dynamo.mark_dynamic), so that nothing is recompiled."},
    {"allocating", "allocating memory", "allocating memory",
     "Let the caching allocator keep its memory: no empty_cache() in the loop, fixed shapes, a warm-up step."},
    {"loading", "loading kernels", "loading kernels",
     "Run a warm-up step before recording: the driver loads a kernel's code at its first use."},
    {"profiler", "the profiler's own work", "in the profiler's own work",
     "Record fewer steps with less detail, and skip the first with schedule(warmup=...). The profiler causes this time, not "
     "the program."},
    {"unrecorded", "nothing recorded", "with no CPU activity recorded",
     "No slice shows what the host did. Record more of it: {|ProfilerActivity.CPU}, {record_frames|with_stack=True}, {|every "
     "thread that takes part}."},
    {"unlinked", "launch not in the file", "before work whose launch is not in the file",
     "Let the GPU finish before the recorded steps (torch.cuda.synchronize() at the end of the warm-up), and record every "
     "thread that launches. This work was launched before the recording, or by a thread that was not recorded."},
}};

// Of other programs than Python's, where the words above suppose Python or PyTorch.
constexpr std::array<Words, 10> kOtherWords = {{
    {"operator", "operators", "in operators",
     "Run fewer and larger operators: {|fuse them}, {cuda_graph|replay them as a CUDA graph}, {larger_batch|take a larger "
     "batch}."},
    {"python", "program code", "in the program's own code",
     "Do less between the launches, or do it ahead on another thread. NVTX ranges around its parts show which are slow "
     "(gapscope record saves them)."},
    {"launching", "launch calls", "inside launch calls",
     "Make fewer launches: {|fuse small kernels}, {cuda_graph|replay them as a CUDA graph}, {larger_graphs|put more of the "
     "work into each CUDA graph}."},
    {"synchronizing", "synchronization", "waiting for the GPU",
     "Remove the synchronization (cudaDeviceSynchronize, cudaStreamSynchronize, a blocking copy), so that the host runs "
     "ahead."},
    {"starting", "launch latency", "in launch latency",
     "A few microseconds per launch are usual. Make fewer launches: {cuda_graph|replay them as a CUDA graph}, "
     "{larger_graphs|put more of the work into each CUDA graph}, {|fuse kernels}. If one takes long, look at what its stream "
     "waits for."},
    {"data_loading", "data loading", "in the data loader",
     "Load ahead on other threads, so that the next batch is ready in time."},
    {"allocating", "allocating memory", "allocating memory",
     "Allocate once before the loop, or use a memory pool (cudaMallocAsync)."},
    {"profiler", "the profiler's own work", "in the profiler's own work",
     "Record a shorter part, after a warm-up (--range, --delay, --duration). The recorder causes this time, not the program."},
    {"unrecorded", "nothing recorded", "with no CPU activity recorded",
     "No slice shows what the host did. Put NVTX ranges around the program's parts, on all threads that take part (gapscope "
     "record saves them)."},
    {"unlinked", "launch not in the file", "before work whose launch is not in the file",
     "Let the GPU finish before the recorded part (cudaDeviceSynchronize() at the end of the warm-up). This work was launched "
     "before the recording, or by a thread that was not recorded."},
}};

const Words& words_of(IdleCause cause, ProgramKind program) {
  const Words& usual = kWords[index_of(cause)];
  if (program == ProgramKind::python) return usual;
  const auto* const other =
      std::find_if(kOtherWords.begin(), kOtherWords.end(), [&](const Words& w) { return w.key == usual.key; });
  return other != kOtherWords.end() ? *other : usual;
}

template <class... Parts>
bool has_any(std::string_view name, Parts... parts) {
  return ((name.find(parts) != name.npos) || ...);
}
template <class... Parts>
bool starts_with_any(std::string_view name, Parts... parts) {
  return (name.starts_with(parts) || ...);
}

// Copies that return when the copy is done. Those on a stream of the caller's choice (...Async) do not wait.
bool is_blocking_copy(std::string_view name) {
  return name == "cudaMemcpy" || name == "hipMemcpy" || (name.starts_with("cuMemcpy") && !has_any(name, "Async"));
}

bool is_allocating(std::string_view name) {
  if (starts_with_any(name, "cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaHostRegister")) return true;
  if (starts_with_any(name, "hipMalloc", "hipFree", "hipHostMalloc", "hipHostAlloc", "hipHostFree", "hipHostRegister",
                      "hipExtMalloc"))
    return true;
  for (const std::string_view memory : {"cuMem", "hipMem"})
    if (name.starts_with(memory))
      return starts_with_any(name.substr(memory.size()), "Alloc", "Free", "Create", "Map", "Unmap", "Release", "SetAccess",
                             "AddressReserve");
  return false;
}

}  // namespace

std::string_view idle_cause_key(IdleCause cause) { return kWords[index_of(cause)].key; }
std::string_view idle_cause_title(IdleCause cause, ProgramKind program) { return words_of(cause, program).title; }
std::string_view idle_cause_words(IdleCause cause, ProgramKind program) { return words_of(cause, program).words; }
std::string_view idle_cause_remedy(IdleCause cause, ProgramKind program) { return words_of(cause, program).remedy; }

IdleCause cause_of_call(std::string_view name) {
  if (is_synchronization_name(name) || is_blocking_copy(name)) return IdleCause::synchronizing;
  return is_allocating(name) ? IdleCause::allocating : IdleCause::cuda_call;
}

bool is_compile_frame_name(std::string_view name) {
  if (name == "dynamo" || name.starts_with("_compile.")) return true;
  if (name.ends_with("): run")) return false;  // compile_fx.py's function around each run of compiled code with CUDA graphs
  if (has_any(name, "(dynamo_timed)", "entire_frame_compile", "backend_compile", "compile_fx", "create_aot_dispatcher"))
    return true;
  constexpr std::string_view kAttempt = "compile_attempt_";
  const std::size_t at = name.find(kAttempt);
  return at != name.npos && at + kAttempt.size() < name.size() && name[at + kAttempt.size()] >= '0' &&
         name[at + kAttempt.size()] <= '9';
}

}  // namespace gapscope
