#pragma once
// The families of the table in work.cpp: one function each.
#include "core/analyze/work/work.h"

namespace gapscope::work {

Work product(const WorkCall& call);          // products.cpp: mm, addmm, bmm, linear, vendors'
Work grouped_product(const WorkCall& call);  // one weight a group of rows
Work experts(const WorkCall& call);          // experts.cpp: a mixture of experts in one call
Work convolution(const WorkCall& call);      // convolution.cpp
Work convolution_backward(const WorkCall& call);
Work attention(const WorkCall& call);  // attention.cpp
Work attention_backward(const WorkCall& call);
Work paged_attention(const WorkCall& call);

Work elementwise(const WorkCall& call);             // elementwise.cpp: by name
std::vector<std::string_view> elementwise_names();  // without "aten::" and the "_" of in-place work
Work triton(const WorkCall& call);

Work cat(const WorkCall& call);  // moves.cpp
Work index_select(const WorkCall& call);
Work gather(const WorkCall& call);
Work embedding(const WorkCall& call);
Work embedding_backward(const WorkCall& call);
Work index_put(const WorkCall& call);
Work indexed(const WorkCall& call);
Work resample(const WorkCall& call);
Work every_argument(const WorkCall& call);  // 0 operations; every tensor once
Work cache_write(const WorkCall& call);
Work rotary(const WorkCall& call);
Work range(const WorkCall& call);

Work softmax(const WorkCall& call);  // reductions.cpp
Work softmax_backward(const WorkCall& call);
Work reduction(const WorkCall& call);
Work scan(const WorkCall& call);
Work sort(const WorkCall& call);
Work nll_loss(const WorkCall& call);
Work nll_loss_backward(const WorkCall& call);
Work cross_entropy(const WorkCall& call);
Work pool(const WorkCall& call);
Work pool_backward(const WorkCall& call);

Work norm(const WorkCall& call);  // norms.cpp
Work norm_backward(const WorkCall& call);
Work rms_norm(const WorkCall& call);
Work rms_norm_backward(const WorkCall& call);

Work foreach_list(const WorkCall& call);  // optimizers.cpp
Work fused_adam(const WorkCall& call);
Work fused_sgd(const WorkCall& call);

Work collective(const WorkCall& call);  // collectives.cpp

// What they share.
inline Work counted(double flops, double bytes) { return {flops, bytes, {}}; }
inline Work uncounted(std::string_view why) { return {{}, {}, why}; }
inline constexpr std::string_view kOddShapes = "The recorded shapes are not those that this operator takes.";
inline constexpr std::string_view kNoValues =
    "Its result depends on arguments that are not recorded: PyTorch writes them as Concrete Inputs from 2.1 on.";
inline constexpr std::string_view kLongList = "PyTorch writes no sizes of lists of more than 30 tensors.";
inline constexpr std::string_view kNoSizes = "It takes its sizes from arguments that PyTorch does not write.";

// Bytes of an element of a list: its kernel's name shows, as PyTorch writes no type.
double bytes_of_kernel(std::string_view kernel);
// What all tensors of a list, or the one tensor, hold.
double list_elements(const WorkArgument& argument);

}  // namespace gapscope::work
