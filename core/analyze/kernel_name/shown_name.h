#pragma once
// The one name that a kernel has on every screen and in every report: its function, and of its template arguments the few
// facts that distinguish it from its neighbours. The name as it is in the file is for Details, copies and data formats.
#include <string>
#include <string_view>

#include "core/analyze/kernel_name/kernel_patterns.h"
#include "core/trace/trace.h"

namespace gapscope {

// "vectorized_elementwise_kernel<add, bf16, 4>", "softmax_warp_forward<fp32, 10, true, false>",
// "cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2" of cutlass::Kernel2<...>: without return type, namespaces
// and parameters. `known`: what else the name is read to say. At most ten facts of 60 letters.
std::string name_to_show(const NameParts& parts, const KernelName& known);

// That of a kernel's name in the file; a name that cannot be read comes back as it is.
std::string kernel_title(std::string_view name_in_file);
// The same of a kernel's slice; of any other slice its name, demangled.
std::string shown_name(const Trace& trace, SliceId slice);

}  // namespace gapscope
