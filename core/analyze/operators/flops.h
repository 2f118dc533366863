#pragma once
// Floating point operations of the operators that do most of them, from the shapes that record_shapes=True writes, and
// the rate that their GPU time gives. A multiplication and an addition count as two, as everywhere.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/index/link_index.h"
#include "core/trace/trace.h"

namespace gapscope {

// Operations, or a sentence why they are not known.
struct Flops {
  std::optional<double> count;
  std::string_view why;  // where there is no count; empty for an operator that is none of these
};

// `input_dims` is the JSON text of "Input Dims". A convolution also needs `concrete_inputs` ("Concrete Inputs", stride,
// padding and dilation), which stay in the file: pass them where read. Attention counts the full score matrix, as
// PyTorch's own counter does, whether causal or not.
Flops flops_of(std::string_view op, std::string_view input_dims, std::string_view concrete_inputs = {});
// "[[2, 3], [], [4]]" of JSON text however it is laid out: some files spread a list over many lines.
std::string shapes_text(std::string_view json);
// True for operators that flops_of knows.
bool counts_flops(std::string_view op);

std::string_view math_type_name(MathType type);
// What a kernel multiplies in, where its name shows.
std::optional<MathType> math_of_kernel(const KernelName& kernel);
// Dense peak in operations a second: what is stated, else of matrix units where they take the type, else of the ordinary cores.
// Nothing for a device or type that is not in the table.
std::optional<double> dense_peak(const StatedRoofs& stated, std::string_view device_name, MathType type);

// One call of an operator that flops_of knows, with all GPU work launched while it ran.
struct OpRate {
  Flops flops;
  Ns gpu_time = 0;  // of kernels
  std::optional<MathType> math;
  std::optional<double> per_second;
  std::optional<double> peak_share;  // of dense_peak, 0..1
};
// Nothing for other slices. Looks at the slices inside the operator.
std::optional<OpRate> rate_of(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, SliceId op,
                              std::string_view concrete_inputs = {});

}  // namespace gapscope
