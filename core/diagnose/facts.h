#pragma once
// What the rules look at, worked out once a trace: the CPU tree with what each slice is and is in, the GPU work with its
// owners and steps, the window, the totals. Definitions are section 2 of the rule catalogue; times are integer nanoseconds.
// Refers to the session, which must outlive it.
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/span_set.h"
#include "core/session/trace_session.h"

namespace gapscope {

class GapPieces;
class Practices;
struct HostStalls;

// What a CPU slice is by its category and name. `above(s)` is the union over its ancestors, `below(s)` over itself and all
// that is in it.
enum CpuBit : std::uint32_t {
  kIsOp = 1u << 0,          // cpu_op
  kIsAten = 1u << 1,        // an operator aten::*
  kIsAnnotation = 1u << 2,  // user_annotation that is no step
  kIsStep = 1u << 3,        // ProfilerStep#N, annotation or (2021) operator
  kIsPython = 1u << 4,
  kIsCall = 1u << 5,             // runtime or driver call
  kIsLaunch = 1u << 6,           // a call that GPU work of this file belongs to
  kIsGraphLaunch = 1u << 7,      // cudaGraphLaunch, hipGraphLaunch
  kIsSync = 1u << 8,             // *Synchronize calls
  kIsDeviceSync = 1u << 9,       // cudaDeviceSynchronize, hipDeviceSynchronize
  kIsOccupancyQuery = 1u << 10,  // cudaOccupancy*
  kIsCompileFrame = 1u << 11,    // Dynamo, AOTAutograd or Inductor at work
  kIsRegion = 1u << 12,          // Torch-Compiled Region
  kIsCompiledGraph = 1u << 13,   // ## Call CompiledFxGraph <hash> ##
  kIsCopyOp = 1u << 14,          // aten::copy_, to, clone, contiguous, item, ...: an operator that copies on purpose
  kIsDataLoader = 1u << 15,      // enumerate(DataLoader)#...__next__
};

struct NameTotal {
  StringId name;
  std::uint32_t count = 0;
  Ns total = 0, longest = 0;
};

class Facts {
 public:
  explicit Facts(const TraceSession& session);
  ~Facts();

  const Trace& trace;
  const LaneIndex& lanes;
  const LinkIndex& links;
  const NameIndex& names;
  const TraceSession& session;

  // --- CPU tree: containment per thread. GPU lanes have no parents and no bits here.
  SliceId parent(SliceId s) const {
    return parent_[s.index()] == SliceId::kNone ? SliceId{} : SliceId(std::size_t{parent_[s.index()]});
  }
  std::uint32_t own(SliceId s) const { return own_[s.index()]; }
  std::uint32_t above(SliceId s) const { return above_[s.index()]; }
  std::uint32_t below(SliceId s) const { return below_[s.index()]; }
  // The nearest ancestor (not itself) with one of the bits, or none; the outermost one.
  SliceId ancestor(SliceId s, std::uint32_t bits) const;
  SliceId outermost(SliceId s, std::uint32_t bits) const;
  // Every CPU slice with one of the bits, in order of (lane, depth, begin). A scan over all slices: a few a rule at most.
  std::vector<SliceId> slices_with(std::uint32_t bits) const;
  // Names of the trace that satisfy `match`, each asked once.
  template <class Match>
  std::vector<StringId> names_matching(Match match) const {
    std::vector<StringId> out;
    for (const StringId name : names.used_names())
      if (match(trace.strings[name])) out.push_back(name);
    return out;
  }

  // --- Steps: every ProfilerStep#N in time order.
  std::vector<SliceId> steps;
  std::optional<std::size_t> step_at(Ns t) const;  // position in `steps` of the one that contains t
  std::size_t step_count() const { return steps.size(); }

  // --- GPU work in time order, with what belongs to each piece. `gpu[i]` is about `ops[i]`.
  struct GpuFact {
    SliceId owner;  // operator or annotation; none if neither
    RuleFamily family = RuleFamily::other;
    std::int32_t step = -1;  // of its launch
  };
  const std::vector<GpuOp>& ops;
  std::vector<GpuFact> gpu;
  const GpuRow& row(const GpuOp& op) const { return trace.gpu[op.gpu_row]; }
  std::string_view name(const GpuOp& op) const { return trace.name(op.slice); }
  // What the name of GPU work of this trace shows; each name is read once.
  const KernelName& decoded(StringId name) const { return decoded_.at(name.value); }
  const KernelName& decoded(const GpuOp& op) const { return decoded(trace.name_id(op.slice)); }
  SpanSet busy;       // of all GPU work
  Ns gpu_sum = 0;     // durations of linked work
  Ns kernel_sum = 0;  // of linked kernels
  std::size_t linked = 0;
  std::vector<NameTotal> by_name;  // linked work by name, most time first

  // --- The window and who works in it.
  Span window;
  Ns window_length = 0;  // without what is between recordings of one file
  Ns busy_in_window = 0;
  std::optional<double> gpu_util;         // busy in window / its length
  std::optional<double> gpu_window_util;  // union of linked work / (its last end - its first begin)
  Ns cpu_total = 0;                  // over threads, the union of operators, annotations and calls: the table's Self CPU total
  Ns sync_time = 0;                  // of *Synchronize calls
  Ns cpu_active = 0;                 // cpu_total - sync_time
  std::optional<double> cpu_to_gpu;  // cpu_active / gpu_sum; none without linked GPU work

  // --- Start-up and the profiler.
  std::vector<SliceId> compile_frames;                     // outermost and nested alike, in time order
  SpanSet compile_time;                                    // their union
  double compile_share = 0;                                // of the window
  bool compiling() const { return compile_share >= 0.5; }  // then throughput rules are silent
  std::vector<SliceId> overheads;                          // the profiler's own, in time order
  bool has_launches = false;                               // some runtime or driver call is in the file

  // --- What several rules and remedies rest on, worked out once.
  const Practices& practices() const { return *practices_; }
  const HostStalls& stalls() const { return *stalls_; }
  // Of the busiest device; null in a trace without an account.
  const GapPieces* gap_pieces() const { return gap_pieces_.get(); }

 private:
  void read_names();
  void link_parents();
  void spread_bits();
  void gather_gpu();
  void gather_cpu();

  std::unordered_map<std::uint32_t, KernelName> decoded_;  // by name
  std::vector<std::uint32_t> bits_of_name_;
  std::vector<std::uint32_t> parent_, own_, above_, below_;  // by slice
  std::unique_ptr<const Practices> practices_;
  std::unique_ptr<const HostStalls> stalls_;
  std::unique_ptr<const GapPieces> gap_pieces_;
};

}  // namespace gapscope
