#pragma once
// The calls that own GPU work, each with what it computes and moves, and the rows of calls that are alike: one operator, the
// same shapes and types, multiplied in one type, the same work.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/gpu/devices.h"
#include "core/analyze/work/owned_calls.h"
#include "core/trace/arg_texts.h"

namespace gapscope {

struct WorkRow {
  std::string_view op, input_dims, input_types;  // of the recording that has the operator; empty where not recorded
  bool joined = false;                           // replayed work: known from the capture of its graph
  std::optional<MathType> math;                  // of products what the kernel's name shows, else the type of the inputs
  std::int32_t device = -1;
  std::uint64_t count = 0;    // calls
  std::uint64_t kernels = 0;  // of all of them
  Ns kernel_ns = 0;           // theirs
  Work each;                  // of one call
  bool is_product = false;    // runs on the matrix units
  bool crosses_links = false;
};

struct CallWork {
  std::uint32_t recording = 0;  // 0: the trace itself; else a capture's, where `op` is
  SliceId op;
  SliceId replay;  // of joined work the launch of its graph
  SliceId gpu;     // the first of its work
  std::uint32_t row = 0;
  Ns kernel_ns = 0;

  // A slice of the trace itself, whose begin is when the call was made.
  SliceId moment() const { return replay ? replay : op; }
};

struct KernelOwner {
  SliceId kernel;
  std::uint32_t call = 0;  // into calls
};

struct WorkTable {
  std::vector<WorkRow> rows;         // most kernel time first
  std::vector<CallWork> calls;       // ascending by recording, op, replay
  std::vector<KernelOwner> kernels;  // those with a call, ascending
  Ns kernel_ns = 0;                  // of all kernels
  Ns without_operator_ns = 0;        // of kernels that no operator of the recordings launched
  Ns joined_ns = 0;                  // of kernels whose operator is known from the capture of their graph
  Ns counted_ns = 0;                 // of kernels whose call's work is counted
  bool shapes_recorded = false;

  // Share of the time of kernels with an operator whose work is counted; none where there is no such kernel.
  std::optional<double> coverage() const;
  const CallWork* call_of_kernel(SliceId kernel) const;
  const CallWork* call(SliceId op) const;  // of an operator of the trace itself; of a captured one its first replay
};

// Without Concrete Inputs what depends on them is not counted.
WorkTable work_of_calls(const OwnedCalls& calls, const std::vector<ArgTexts>& values);
// All of it: of the trace's GPU work, with the Concrete Inputs that `read` gives.
WorkTable work_table(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const ReadValues& read);

// Whether some operator states its input shapes.
bool has_shapes(const Trace& trace);

// What a kernel multiplies in, where its name shows.
std::optional<MathType> math_of_kernel_name(std::string_view name);

}  // namespace gapscope
