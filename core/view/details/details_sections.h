#pragma once
// The sections of the details (core/view/details/details_model.h), one subject each. A section without a title says nothing.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/details/details_model.h"

namespace gapscope {

struct Document;

// ---- A kernel beyond its figures: details_kernel.cpp

// One line for each field that the name shows, its meaning on hover.
DetailsSection decoded_name(std::string_view name);
// The occupancy worked out from registers, shared memory, block and grid, in one sentence, the headline first; how it comes
// about and what the file states on hover. Where the file does not hold what it takes, what it states, and why that is all.
DetailsLine occupancy_line(const Document& doc, const GpuRow& row);

// The command that profiles this launch again with Nsight Compute; without a title where there is none. `command` may be null:
// its place among the launches is not counted yet.
DetailsSection ncu_section(const Document& doc, SliceId kernel, const KernelCommand* command);

// ---- What the GPU's counters say: details_counters.cpp

// Without a title where the trace has no counters, the facts are not there yet, or the slice has no GPU work.
DetailsSection counters_of(const Document& doc, SliceId slice);

// ---- The arithmetic of an operator, or of the one behind a kernel: details_flops.cpp

// Empty for slices without such an operator. `args`: of `slice`; a convolution's stride and padding are among them.
DetailsSection arithmetic(const Document& doc, SliceId slice, const SliceArgs* args);

// "137 GFLOP", "412 TFLOP": three digits and a power of 1000.
std::string flop_text(double count);

// ---- An operator's call, or a kernel of one, under its GPU's roof: details_roofline.cpp

// Empty as long as nobody asked for the roofline (RooflineQuestion) or its answer is not there, and of slices that are no call.
DetailsSection roofline_section(const Document& doc, SliceId slice);
// Of a kernel with counters: bytes that DRAM moved for a launch of its name, on average.
std::optional<double> measured_bytes(const Document& doc, SliceId slice);

// ---- Where in the program's sources a slice was made: details_source.cpp

// The innermost module and Python line around a call; of a call in the backward pass, which autograd makes on a thread without
// the program's frames, around the forward operator.
void add_source_lines(const Document& doc, SliceId call, std::vector<DetailsLine>& lines);
// The innermost Python frame of the program, by its whole name, around the slice: around the launch of GPU work or, where the
// work is joined with its capture, around that; else as above. A Python frame is its own. Empty where none is recorded.
std::string source_frame(const Document& doc, SliceId slice);
// The innermost nn.Module around the slice, or the slice itself, else around the forward operator: "Linear_3". Empty where none
// is recorded.
std::string source_module(const Document& doc, SliceId slice);
// The lines around its frame; without a title where there is none, or `lines` is null or about another one.
DetailsSection source_section(const Document& doc, SliceId slice, const std::string& frame,
                              std::shared_ptr<const SourceLines> lines);

}  // namespace gapscope
