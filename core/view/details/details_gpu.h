#pragma once
// The sections of the details that columns fill: what a kernel asked of the machine, what a copy moved, who launched it, and
// what a call launched. Parts of make_details (core/view/details/details_model.h).
#include "core/view/details/details_model.h"

namespace gapscope {

DetailsSection kernel_resources(const Document& doc, const GpuRow& row);
// Copies and memsets: bytes, rate, kind of memory as the name states it.
DetailsSection copy_figures(const Document& doc, const GpuRow& row);
// The args of an operator that have lines of their own; empty where there are none.
DetailsSection operator_args(const Document& doc, SliceId slice);
// Device, stream, context and correlation of any GPU slice.
DetailsSection gpu_place(const Document& doc, const GpuRow& row);
// The call and the operator behind GPU work, and how long it waited.
DetailsSection launched_from(const Document& doc, const GpuRow& row);
// Of a call that waits for the GPU (cudaStreamSynchronize): the last GPU work that ends in it.
DetailsSection waited_for(const Document& doc, SliceId call);
// The GPU work that a call launched; empty where it launched none.
DetailsSection launched_work(const Document& doc, SliceId call);

// Args that core/trace/arg_columns.h gives a line of their own, and that this row states.
std::vector<DetailsLine> other_args(const Document& doc, const GpuRow& row);

// What a hover says of GPU work, from the sections above: operator and module, the program's line, then of a kernel its launch
// and its occupancy. What is not recorded is left out.
std::vector<std::string> hover_lines(const Document& doc, SliceId work);

DetailsLine text_line(std::string key, std::string value, std::string hover = {});
DetailsLine number_line(std::string key, std::string value, std::string hover = {});
// "not recorded"
DetailsLine absent_line(std::string key);
DetailsLine slice_line(const Document& doc, std::string key, SliceId target);

}  // namespace gapscope
