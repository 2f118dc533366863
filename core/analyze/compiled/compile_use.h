#pragma once
// What torch.compile's code did in a recording: which pieces ran and in which versions, what their guards cost, what was
// compiled meanwhile, where functions were split, and which generated kernels ran. Only what the file states: PyTorch 2.1 and
// later write "TorchDynamo Cache Lookup", "Torch-Compiled Region: K/M", "## Call CompiledFxGraph HASH ##", and operators named
// as the Triton kernels that they launch.
//
// A piece of GPU work belongs to the innermost region and the innermost graph around the begin of its launch: the times of all
// regions add up, and so do those of all graphs. Backward graphs lie in no region: autograd calls them.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/compiled/compile_id.h"
#include "core/analyze/gpu/gpu_ops.h"

namespace gapscope {

// GPU work that belongs to something: all pieces, the kernels among them, the sum of durations.
struct CompiledWork {
  std::uint64_t pieces = 0, kernels = 0;
  Ns gpu = 0;
};

// "Torch-Compiled Region: K/M".
struct CompiledRegion {
  std::string id;                   // "0/1", as the file writes it
  std::optional<CompileId> number;  // where that is of this form
  std::vector<SliceId> slices;      // in order of begin
  Ns host = 0;                      // in it, in no region inside it, and not compiling
  CompiledWork work;
  std::uint64_t lookups = 0;  // guard checks that led to it
  Ns lookup_time = 0;
  Ns compile_time = 0;                // of the compilations with its id in this recording
  StringId frame;                     // Python frame whose code it is: of with_stack=True; none otherwise
  std::vector<std::uint32_t> graphs;  // called in it and in no region inside it
};

// "## Call CompiledFxGraph HASH ##".
struct CompiledGraph {
  std::string hash;
  std::vector<SliceId> slices;
  Ns host = 0;  // in it; graphs do not call each other
  CompiledWork work;
  std::string code;                    // path of the generated Python, where a Python frame states it
  std::string cache_entry;             // its folder in Inductor's cache, where some path of the file shows where that is
  std::vector<std::uint32_t> kernels;  // positions in CompileUse::kernels
};

// A kernel that Inductor generated, by name.
struct FusedKernel {
  StringId name;
  std::vector<std::string> operators;  // that it fuses, as its name shows
  std::vector<SliceId> slices;         // kernels, in order of begin
  std::vector<SliceId> launches;       // the operators that launched these, where they have its name
  Ns gpu = 0;
  std::string code;  // path of its source, where an arg states it: "kernel_file" of record_shapes=True
};

// One compiled function ended and Python ran until another: all breaks between the same two.
struct SplitFunction {
  std::string from, to;               // "0/0", "1/0"
  std::vector<SliceId> slices;        // the regions that follow
  Ns between = 0;                     // host time from the end of the first one's work to the second, less compiling it
  StringId frame;                     // Python frame of what follows
  std::string broke_at;               // "forward, line 25 of model.py", where that frame's name shows; empty otherwise
  std::vector<StringId> between_ops;  // operators between the two at their first break, the outermost, in order
};

// Dynamo, AOTAutograd or Inductor at work: an outermost slice of theirs.
struct Compilation {
  SliceId slice;
  std::string id;  // "0/1" of "compile_id=0/1" in it; empty where none is
};

struct GuardChecks {
  std::vector<SliceId> slices;
  Ns time = 0;
  std::uint64_t hits = 0, compiled = 0, other = 0;  // compiled code ran next, Dynamo compiled next, neither
};

struct CompileUse {
  std::vector<CompiledRegion> regions;    // by number, then by text
  std::vector<CompiledGraph> graphs;      // most GPU time first, then most calls
  std::vector<FusedKernel> kernels;       // most GPU time first
  std::vector<SplitFunction> breaks;      // most host time first
  std::vector<Compilation> compilations;  // in order of thread and begin
  Ns compile_time = 0;                    // of the compilations
  GuardChecks guards;
  CompiledWork in_regions, in_graphs;
  bool has_python = false;  // some Python frame is recorded

  bool empty() const {
    return regions.empty() && graphs.empty() && kernels.empty() && compilations.empty() && guards.slices.empty();
  }
  // Regions whose frame ran, or was compiled, in more than one version.
  bool is_recompiled(const CompiledRegion& region) const;
};

// The value of an arg of a slice, read from the file; empty where it has none.
using ArgOf = std::function<std::string(SliceId slice, std::string_view key)>;

// `ops`: gpu_ops() of the trace. `arg_of` may be empty: then no paths come from args. Asked once a generated kernel's name.
CompileUse compile_use(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const std::vector<GpuOp>& ops,
                       const ArgOf& arg_of = {});

}  // namespace gapscope
