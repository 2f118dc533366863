#pragma once
// What the program of a trace does already, as far as its file shows: the table that remedies are made from, so that no
// remedy names what is done. A practice that the file says nothing about counts as not followed.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/analyze/practices/remedy.h"
#include "core/trace/program_kind.h"
#include "core/trace/trace.h"

namespace gapscope {

enum class Practice : std::uint8_t {
  compiled,             // some code is torch.compile's
  mostly_compiled,      // at least 80 % of the time in operators is
  inductor,             // some of that by Inductor, torch.compile's own backend
  cuda_graphs,          // graphs are replayed
  whole_graphs,         // which launch nine of ten kernels and more: one a step, or a hundred kernels at once
  pinned_memory,        // copies from and to the host, and few bytes of them pageable
  non_blocking_copies,  // copies to the device whose operator does not wait for them
  copy_stream,          // copies to the device on streams that run no kernel
  loader_workers,       // every DataLoader has some
  half_precision,       // most of the time in matrix products and convolutions is in 16 or 8 bits
  tf32,                 // FP32 products go through tensor cores, most of their time
  foreach_optimizer,    // aten::_foreach_* inside Optimizer.step
  fused_optimizer,      // aten::_fused_adam_ and its like
  channels_last,        // convolutions of NHWC kernels, and no kernel that converts to that layout
  fused_attention,      // flash, memory-efficient or cuDNN attention
  bucket_views,         // no gradient of DistributedDataParallel is copied out of its bucket
  fsdp_any_gathers,     // no rate limiter of FullyShardedDataParallel: limit_all_gathers=False
  warm_up,              // the first ProfilerStep# is not #0
  python_frames,        // with_stack
  shapes,               // record_shapes
  cpu_activity,         // operators
  optimizer,            // steps of an optimizer of torch.optim that takes fused=True
  recurrent_cells,      // LSTMCell or GRUCell, which a program calls for each element of a sequence
  before_torch_2,       // the categories of 2021: no torch.compile, no fused optimizers for all
  serving,              // vLLM's or SGLang's engine, which compiles and captures by options of its own
  ddp,                  // DistributedDataParallel
  fsdp,                 // FullyShardedDataParallel, fully_shard()
  count_
};

enum class Vendor : std::uint8_t { nvidia, amd, intel, huawei, meta, google, other };
Vendor vendor_of(const Trace& trace);
// What shows who uses a device: "nvidia-smi".
std::string_view monitor_of(Vendor vendor);

class Practices {
 public:
  // O(n) in the slices, with little work for each.
  explicit Practices(const Trace& trace);

  bool follows(Practice practice) const { return (followed_ >> static_cast<unsigned>(practice) & 1u) != 0; }
  Vendor vendor = Vendor::nvidia;
  ProgramKind program = ProgramKind::python;
  bool is_fsdp1 = false, is_fsdp2 = false;  // FullyShardedDataParallel, fully_shard()
  bool has_loader = false;
  bool trains = false;  // backward passes or an optimizer
  // Of a device with this compute capability or later; true where the file does not describe a GPU.
  bool has_tf32 = true, has_tensor_cores = true;
  // Gradients of gradients, which compiled code has none of ("double backward").
  bool differentiates_twice = false;
  // Graphs are captured, not replayed.
  bool captures_graphs = false;

  // Launched kernels or their grids differ between most steps behind the first: no graph fits them all.
  bool work_differs_by_step() const { return work_differs_; }
  // Not to be said: done already, not available here, or named before (after()).
  bool refuses(Remedy remedy) const;
  // As they are once these are done: advice after that need not name them again, nor what contradicts them.
  Practices after(Remedies done) const;

 private:
  void set(Practice practice, bool is) { followed_ |= static_cast<std::uint32_t>(is) << static_cast<unsigned>(practice); }
  void read_names(const Trace& trace);
  void read_header(const Trace& trace);
  void read_copies(const Trace& trace);
  void read_kernels(const Trace& trace);
  void read_steps(const Trace& trace);

  void read_work_of_steps(const Trace& trace);

  std::uint32_t followed_ = 0;
  bool work_differs_ = false;
  Remedies named_;
};

// Advice as it fits this program: without what it refuses, and in its vendor's names. A choice that is refused is left out, and
// so is a sentence that names one, or has no choice left. Nothing where nothing is left.
struct Said {
  std::string text;
  Remedies remedies;  // that it names
};
Said said(const Practices& practices, const Advice& advice);
// The same of a rule's words.
std::string fitted(const Practices& practices, std::string_view words);
// What would have the launches of a step in one graph, with what prevents that in this program.
Said with_whole_step_caveat(const Practices& practices, Said remedy);
// "HIP graphs" for "CUDA graphs", "CUs" for "SMs" on AMD's GPUs, and so on; the text itself on NVIDIA's. Whole words alone:
// names that merely hold one stay.
std::string in_words_of(Vendor vendor, std::string_view text);

}  // namespace gapscope
