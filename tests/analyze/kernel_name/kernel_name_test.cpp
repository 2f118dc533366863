#include "core/analyze/kernel_name/kernel_name.h"

#include <doctest/doctest.h>

#include <iostream>
#include <map>

#include "core/analyze/kernel_name/kernel_patterns.h"
#include "core/base/demangle.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

using Fields = std::map<std::string, std::string>;

Fields fields_of(std::string_view name) {
  Fields out;
  for (const KernelFieldValue& f : decoded_fields(decode(name))) out[std::string(field_key(f.field))] = f.value;
  return out;
}

}  // namespace

TEST_CASE("every row of the pattern table is the one that its own example finds") {
  for (const KernelPattern& pattern : kernel_patterns()) {
    CAPTURE(pattern.example);
    const std::string readable = demangle(pattern.example);
    const KernelPattern* found = pattern_of(parts_of(readable));
    REQUIRE(found != nullptr);
    CHECK(found->part == pattern.part);
    CHECK(decode(pattern.example).kind != KernelKind::unknown);
  }
}

TEST_CASE("nvjet: letters are operand, accumulator and result; bz adds nothing, badd accumulates") {
  CHECK(fields_of("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT") == Fields{{"family", "nvjet"},
                                                                              {"kind", "gemm"},
                                                                              {"arch", "sm90"},
                                                                              {"input_type", "bf16"},
                                                                              {"compute_type", "fp32"},
                                                                              {"output_type", "bf16"},
                                                                              {"tensor_core", "yes"},
                                                                              {"tile", "256x128x64"},
                                                                              {"stages", "4"},
                                                                              {"cluster", "1x2"},
                                                                              {"layout", "nn"}});
  const Fields optimized = fields_of("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_bias_TNT");
  CHECK(optimized.at("epilogue") == "bias");
  CHECK(optimized.at("input_type") == "fp16");
  CHECK(optimized.at("layout") == "tn");
  CHECK(fields_of("nvjet_sm90_tst_64x8_64x16_1x4_h_badd_NNT").at("epilogue") == "accumulate");
  CHECK(fields_of("nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_splitK_NTT").at("split_k") == "yes");
  CHECK_FALSE(fields_of("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT").contains("arch"));
  // Types that the three letters are not known to mean stay empty.
  CHECK_FALSE(fields_of("nvjet_sm90_qqtst_128x128_128x6_2x1_v_bz_TNT").contains("input_type"));
}

TEST_CASE("cuBLAS: the instruction's shape shows tensor cores, a bare sgemm runs without") {
  CHECK(fields_of("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn") == Fields{{"family", "cuBLAS"},
                                                                                           {"kind", "gemm"},
                                                                                           {"arch", "Ampere"},
                                                                                           {"input_type", "bf16"},
                                                                                           {"compute_type", "fp32"},
                                                                                           {"output_type", "bf16"},
                                                                                           {"tensor_core", "yes"},
                                                                                           {"tile", "128x256x64"},
                                                                                           {"stages", "3"},
                                                                                           {"layout", "nn"},
                                                                                           {"alignment", "8"}});
  const Fields simple = fields_of("volta_sgemm_64x64_nt");
  CHECK(simple.at("tensor_core") == "no");
  CHECK(simple.at("input_type") == "fp32");
  CHECK(simple.at("layout") == "nt");
  CHECK(simple.at("arch") == "Volta");
}

TEST_CASE("CUTLASS: wmma, simt, tf32 without types, alignment and the letters of 3.x") {
  CHECK(fields_of("void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(int)") ==
        Fields{{"family", "CUTLASS"},
               {"kind", "gemm"},
               {"arch", "sm80"},
               {"input_type", "bf16"},
               {"compute_type", "fp32"},
               {"output_type", "bf16"},
               {"tensor_core", "yes"},
               {"tile", "32x32x128"},
               {"stages", "2"},
               {"layout", "tn"},
               {"alignment", "8"}});
  const Fields tf32 = fields_of("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4>(int)");
  CHECK(tf32.at("input_type") == "fp32");
  CHECK(tf32.at("compute_type") == "tf32");
  const Fields turing = fields_of("void cutlass::Kernel<cutlass_75_tensorop_f16_s1688gemm_f16_128x128_32x2_tn_align1>(int)");
  CHECK(turing.at("input_type") == "fp16");
  CHECK(turing.at("compute_type") == "fp32");
  CHECK(turing.at("alignment") == "1");
  CHECK(fields_of("void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>(int)").at("tensor_core") == "no");
  CHECK(fields_of("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(int)")
            .at("epilogue") == "relu variant");  // not proof of a ReLU
  const Fields three = fields_of(
      "void cutlass::device_kernel<cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_2x1x1_0_"
      "tnn_align8_warpspecialized_cooperative_epi_tma>(Params)");
  CHECK(three.at("arch") == "sm90");
  CHECK(three.at("tile") == "128x128x64");
  CHECK(three.at("cluster") == "2x1x1");
  CHECK(three.at("compute_type") == "fp32");
  CHECK(three.at("layout") == "tn");
}

TEST_CASE("xmma: operands, tf32 products and the layout; convolutions are distinguished") {
  const Fields gemm = fields_of(
      "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
      "cublas");
  CHECK(gemm == Fields{{"family", "xmma"},
                       {"kind", "gemm"},
                       {"arch", "sm90"},
                       {"input_type", "fp32"},
                       {"compute_type", "tf32"},
                       {"tensor_core", "yes"},
                       {"tile", "64x128x32"},
                       {"layout", "nn"}});
  CHECK(fields_of("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_"
                  "warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn")
            .at("kind") == "convolution");
}

TEST_CASE("Tensile: index letters give the layout, ISA the GPU") {
  CHECK(fields_of("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1_SN_ISA942_PGR2_PLR1") ==
        Fields{{"family", "Tensile"},
               {"kind", "gemm"},
               {"arch", "gfx942"},
               {"input_type", "bf16"},
               {"compute_type", "fp32"},
               {"output_type", "bf16"},
               {"tensor_core", "yes"},
               {"tile", "32x32x256"},
               {"stages", "2"},
               {"layout", "tn"}});
  CHECK(fields_of("Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_MT128x64x32_MI32x32x1_ISA90a").at("layout") == "nt");
}

TEST_CASE("Triton: the fused operators come apart, names with underscores stay whole") {
  CHECK(decode("triton_poi_fused_gelu_mul_view_0").fused == std::vector<std::string>{"gelu", "mul", "view"});
  CHECK(decode("triton_per_fused__softmax_exp_prepare_softmax_online_sub_0").fused ==
        std::vector<std::string>{"_softmax", "exp", "prepare_softmax_online", "sub"});
  CHECK(decode("triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_or_ge_lt_mul_sub_0").fused ==
        std::vector<std::string>{"add", "bitwise_and", "bitwise_not", "bitwise_or", "ge", "lt", "mul", "sub"});
  CHECK(decode("triton_poi_fused_0").fused.empty());
  CHECK(decode("triton_red_fused_sum_0").kind == KernelKind::reduction);
  CHECK(decode("triton_tem_fused_mm_relu_0").kind == KernelKind::gemm);
}

TEST_CASE("ATen: the functor says what is computed and in which type") {
  const KernelName add = decode(
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
      "3ul> >(int)");
  CHECK(add.kind == KernelKind::elementwise);
  CHECK(add.operation == "add");
  CHECK(add.input_type == "bf16");
  CHECK(add.short_name == "vectorized_elementwise_kernel<add, bf16, 4>");
  const KernelName mean = decode(
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
      "float>, unsigned int, float, 4, 4> >(int)");
  CHECK(mean.kind == KernelKind::reduction);
  CHECK(mean.operation == "mean");
  CHECK(mean.output_type == "fp32");
}

TEST_CASE("mangled and plain names decode alike; odd ones do no harm") {
  CHECK(decode("_ZN2at6native13reduce_kernelILi512EfEEvT0_").kind == KernelKind::reduction);
  CHECK(decode("").kind == KernelKind::unknown);
  CHECK(decode("k").kind == KernelKind::other);
  for (const char* odd : {"<", ">", "((((", "void ", "a<b", "a<b(", "cutlass_", "cutlass3x_", "nvjet", "nvjet_", "Cijk_A",
                          "triton_poi_fused_", "bmm_", "_matmul_ogs_x", "std::enable_if<(((8)>(0)))", "Cijk_Ailk_"})
    CHECK(decode(odd).kind != KernelKind::unknown);
}

TEST_CASE("every field explains itself in one line") {
  for (std::size_t i = 0; i < static_cast<std::size_t>(KernelField::count_); ++i) {
    const auto field = static_cast<KernelField>(i);
    CHECK_FALSE(field_name(field).empty());
    CHECK(explain(field).ends_with('.'));
    CHECK(explain(field).find('\n') == std::string_view::npos);
  }
}

namespace {

struct Sayings {
  const char* name;
  Fields expected;  // without short name and architecture
};

const char* const kBackwardWeight = "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightIDF16bfEEvPT_PT0_";

// What libraries write, and what must be read from it.
std::vector<Sayings> names_and_what_they_say() {
  return {
      {"void sgemm_largek_lds64<true, false, 5, 5, 4, 4, 4, 32>(float*, float const*)",
       {{"family", "cuBLAS"}, {"kind", "gemm"}, {"input_type", "fp32"}, {"compute_type", "fp32"}, {"tensor_core", "no"}}},
      {"void cublasLt::epilogue::impl::globalKernel<8, 32, float, float, float, true, true, 1>(int, int, long, float*)",
       {{"family", "cuBLASLt"}, {"kind", "elementwise"}, {"operation", "epilogue of a product"}}},
      {"void epilogue::impl::globalKernel<float, float, float, true, true>(int, int, long, float*, cublasLtEpilogue_t, int)",
       {{"family", "cuBLASLt"}, {"kind", "elementwise"}, {"operation", "epilogue of a product"}}},
      {"void splitKreduce_kernel<float, float, float, float>(cublasSplitKParams<float>, float const*)",
       {{"family", "cuBLAS"},
        {"kind", "reduction"},
        {"operation", "adds up the parts of a split-K product"},
        {"split_k", "yes"}}},
      {"void cutlass::Kernel<cutlass::reduction::kernel::ReduceSplitK<cutlass::MatrixShape<4, 128>, float> >(Params)",
       {{"family", "CUTLASS"},
        {"kind", "reduction"},
        {"operation", "adds up the parts of a split-K product"},
        {"split_k", "yes"}}},
      {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_128x64_16x6_nhwc_align4>(int)",
       {{"family", "CUTLASS"},
        {"kind", "convolution"},
        {"input_type", "fp32"},
        {"compute_type", "tf32"},
        {"output_type", "fp32"},
        {"tensor_core", "yes"},
        {"tile", "128x64x16"},
        {"stages", "6"},
        {"alignment", "4"}}},
      {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_128x128_16x4_nhwc_unity_stride_align4>(int)",
       {{"family", "CUTLASS"},
        {"kind", "convolution"},
        {"input_type", "fp32"},
        {"compute_type", "tf32"},
        {"output_type", "fp32"},
        {"tensor_core", "yes"},
        {"tile", "128x128x16"},
        {"stages", "4"},
        {"alignment", "4"}}},
      {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688wgrad_optimized_tf32_128x128_16x4_nhwc_align4>(int)",
       {{"family", "CUTLASS"},
        {"kind", "convolution"},
        {"input_type", "fp32"},
        {"compute_type", "tf32"},
        {"output_type", "fp32"},
        {"tensor_core", "yes"},
        {"tile", "128x128x16"},
        {"stages", "4"},
        {"alignment", "4"}}},
      {"void gemmk1_kernel<int, float, 256, 5, false, false, false, false, cublasGemvTensorStridedBatched<float const> "
       ">(float)",
       {{"family", "cuBLAS"}, {"kind", "gemm"}, {"input_type", "fp32"}, {"compute_type", "fp32"}, {"tensor_core", "no"}}},
      {"void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensorStridedBatched<float const> >(float)",
       {{"family", "cuBLAS"},
        {"kind", "gemm"},
        {"input_type", "fp32"},
        {"compute_type", "fp32"},
        {"tensor_core", "no"},
        {"layout", "tn"}}},
      {"void magma_sgemmEx_kernel<float, float, float, true, false, 6, 4, 6, 3, 4>(int, int, cublasLtEpilogue_t)",
       {{"family", "cuBLAS (MAGMA)"},
        {"kind", "gemm"},
        {"input_type", "fp32"},
        {"compute_type", "fp32"},
        {"output_type", "fp32"},
        {"tensor_core", "no"}}},
      {"void magma_sgemmEx_kernel<float, __nv_bfloat16, __nv_bfloat16, true, false, 6, 4, 6, 3, 4>(int)",
       {{"family", "cuBLAS (MAGMA)"}, {"kind", "gemm"}, {"compute_type", "fp32"}, {"tensor_core", "no"}}},
      {"void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>(int, int)",
       {{"family", "cuDNN"}, {"kind", "convolution"}, {"input_type", "fp32"}, {"compute_type", "fp32"}, {"tensor_core", "no"}}},
      {"void implicit_convolve_sgemm<__nv_bfloat16, __nv_bfloat16, 128, 5, 5, 3, 3, 3, 1, false, false, true>(int, int)",
       {{"family", "cuDNN"}, {"kind", "convolution"}, {"input_type", "bf16"}, {"compute_type", "fp32"}, {"tensor_core", "no"}}},
      {"void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int, int)",
       {{"family", "cuDNN"}, {"kind", "convolution"}, {"input_type", "fp32"}, {"compute_type", "fp32"}, {"tensor_core", "no"}}},
      {"void cudnn::winograd_nonfused::winogradWgradDelta4x4<float, "
       "float>(cudnn::winograd_nonfused::WinogradDeltaParams<float>)",
       {{"family", "cuDNN (Winograd)"}, {"kind", "convolution"}, {"input_type", "fp32"}, {"tensor_core", "no"}}},
      {"void fft2d_r2c_32x32<float, false, 5u, true>(float2*, float const*)",
       {{"family", "cuDNN (FFT)"}, {"kind", "convolution"}, {"input_type", "fp32"}, {"tensor_core", "no"}}},
      {"void cudnn::cnn::im2col4d_kernel<float, long>(cudnn::cnn::im2col4d_params)",
       {{"family", "cuDNN"}, {"kind", "convolution"}, {"input_type", "fp32"}, {"tensor_core", "no"}}},
      {kBackwardWeight,
       {{"family", "Composable Kernel"},
        {"kind", "convolution"},
        {"operation", "gradient of the weights"},
        {"tensor_core", "yes"}}},
      {"_ZN5aiter32fmha_fwd_hd192_hd128_bf16_causalE",
       {{"family", "AITER"}, {"kind", "attention"}, {"operation", "forward"}, {"input_type", "bf16"}}},
      {"_ZN5aiter37bf16gemm_fp32bf16_tn_96x64_bias_cleanE",
       {{"family", "AITER"},
        {"kind", "gemm"},
        {"input_type", "bf16"},
        {"tile", "96x64"},
        {"layout", "tn"},
        {"epilogue", "bias"}}},
      {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_",
       {{"family", "AITER"}, {"kind", "normalization"}}},
      {"void fbgemm_gpu::split_embedding_codegen_forward_unweighted_kernel<float, float, float, long>(float)",
       {{"family", "FBGEMM"}, {"kind", "indexing"}, {"operation", "embedding"}}},
      {"void fbgemm::bounds_check_indices_embedding_kernel<long>(long)",
       {{"family", "FBGEMM"}, {"kind", "indexing"}, {"operation", "embedding"}}},
      {"sage_fwd", {{"family", "SageAttention"}, {"kind", "attention"}}},
      {"sage_quant_kernel", {{"family", "SageAttention"}, {"kind", "attention"}, {"operation", "beside attention"}}},
      {"void groupnorm_fwd<float>(int)", {{"kind", "normalization"}}},
      {"group_norm_nhwc_sum_kernel", {{"kind", "normalization"}}},
      {"void at::native::(anonymous namespace)::ComputeFusedParamsCUDAKernel<float>(long, long, long, float const*)",
       {{"family", "ATen"}, {"kind", "normalization"}, {"input_type", "fp32"}}},
      {"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN_ISA942",
       {{"family", "Tensile"},
        {"kind", "gemm"},
        {"input_type", "bf16"},
        {"compute_type", "fp32"},
        {"output_type", "bf16"},
        {"tensor_core", "yes"},
        {"tile", "16x16x128"},
        {"layout", "tn"}}},
      {"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN_ISA942",
       {{"family", "Tensile"},
        {"kind", "gemm"},
        {"input_type", "fp32"},
        {"compute_type", "fp32"},
        {"output_type", "fp32"},
        {"tensor_core", "yes"},
        {"tile", "16x16x128"},
        {"layout", "nn"}}},
      {"Cijk_Alik_Bljk_HBH_MT64x64x16_SN_ISA906",
       {{"family", "Tensile"},
        {"kind", "gemm"},
        {"input_type", "fp16"},
        {"compute_type", "fp32"},
        {"output_type", "fp16"},
        {"tile", "64x64x16"},
        {"layout", "tn"}}},
      {"Cijk_Alik_Bljk_SB_MT64x64x16_SN_ISA906",
       {{"family", "Tensile"},
        {"kind", "gemm"},
        {"input_type", "fp32"},
        {"compute_type", "fp32"},
        {"output_type", "fp32"},
        {"tile", "64x64x16"},
        {"layout", "tn"}}},
      {"ampere_gcgemm_64x64_nt",
       {{"family", "cuBLAS"},
        {"kind", "gemm"},
        {"input_type", "complex64"},
        {"compute_type", "complex64"},
        {"tensor_core", "no"},
        {"tile", "64x64"},
        {"layout", "nt"}}},
      {"volta_scudnn_128x64_relu_medium_nn_v1",
       {{"family", "cuDNN"},
        {"kind", "convolution"},
        {"input_type", "fp32"},
        {"compute_type", "fp32"},
        {"tensor_core", "no"},
        {"tile", "128x64"},
        {"layout", "nn"},
        {"epilogue", "relu variant"}}},
      {"void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
       "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)",
       {{"family", "ATen elementwise"}, {"kind", "elementwise"}, {"operation", "gelu"}}},
      {"void at::native::vectorized_elementwise_kernel<8, at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
       "at::native::GeluType)::{lambda()#2}, std::array<char*, 3ul> >(int)",
       {{"family", "ATen elementwise"}, {"kind", "elementwise"}, {"operation", "gelu_backward"}}},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<long, long, bool, "
       "at::native::(anonymous namespace)::CompareEqFunctor<long> >, std::array<char*, 2ul> >(int)",
       {{"family", "ATen elementwise"},
        {"kind", "elementwise"},
        {"operation", "compare_eq"},
        {"input_type", "int64"},
        {"output_type", "bool"}}},
      {"void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out(c10::Scalar "
       "const&)::{lambda()#1}>"
       "(int)",
       {{"family", "ATen elementwise"}, {"kind", "elementwise"}, {"operation", "arange"}}},
  };
}

}  // namespace

TEST_CASE("each library's names say what they are known to say") {
  for (const Sayings& row : names_and_what_they_say()) {
    CAPTURE(row.name);
    Fields said = fields_of(row.name);
    said.erase("arch");
    CHECK(said == row.expected);
  }
}

TEST_CASE("a name in 16-bit floats is read in full, though the library that reads names does not know them") {
  CHECK(decode("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_").short_name ==
        "add_rmsnorm_quant_kernel<bfloat16_t, 256, 16, true, false, true, 1>");
  CHECK(decode(kBackwardWeight).short_name == "kernel_batched_gemm_xdlops_bwd_weight<bfloat16_t, fp32>");
}

TEST_CASE("plain FP32, TF32 and what is no product are distinguished by the decoded name") {
  const auto plain = [](const char* name) { return is_fp32_on_plain_cores(decode(name)); };
  const auto tf32 = [](const char* name) { return is_tf32(decode(name)); };
  for (const char* name :
       {"volta_sgemm_64x64_nt", "void sgemm_largek_lds64<true>(float*)", "cutlass_80_simt_sgemm_64x64_8x5_nn_align1",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_kernel__5x_cublas",
        "void gemmSN_TN_kernel<float, 128>(float)", "void implicit_convolve_sgemm<float, float, 1024>(int)",
        "void magma_sgemmEx_kernel<float, float, float, true>(int)", "void dgrad_engine<float, 512>(int)"}) {
    CAPTURE(name);
    CHECK(plain(name));
    CHECK_FALSE(tf32(name));
  }
  for (const char* name :
       {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32_warpgroupsize1x1x1_kernel__5x_cublas",
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4>(int)",
        "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_64x64_16x10_nhwc_align4>(int)"}) {
    CAPTURE(name);
    CHECK(tf32(name));
    CHECK_FALSE(plain(name));
  }
  for (const char* name : {"void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float>(int)",
                           "void cutlass::Kernel<cutlass_75_tensorop_f16_s1688gemm_f16_128x128_32x2_tn_align1>(int)",
                           "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT", "ampere_gcgemm_64x64_nt"}) {
    CAPTURE(name);
    CHECK_FALSE(plain(name));
    CHECK_FALSE(tf32(name));
  }
}

TEST_CASE("copies show by their names whether they stay on the device, and whether host memory is pageable") {
  CHECK(is_copy_on_device("Memcpy DtoD (Device -> Device)"));
  CHECK(is_copy_on_device("CopyDeviceToDevice"));
  CHECK_FALSE(is_copy_on_device("Memcpy HtoD (Pageable -> Device)"));
  CHECK(is_pageable_copy("Memcpy HtoD (Pageable -> Device)"));
  CHECK_FALSE(is_pageable_copy("Memcpy HtoD (Pinned -> Device)"));
}

TEST_CASE("the families of the rules follow from the decoded kind") {
  const auto rule_family = [](const char* name) { return gapscope::rule_family(decode(name)); };
  CHECK(rule_family("ncclDevKernel_AllGather_RING_LL(int)") == RuleFamily::comm);
  CHECK(rule_family("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>") == RuleFamily::comm);
  CHECK(rule_family("triton_poi_fused_add_0") == RuleFamily::triton);
  CHECK(rule_family("cudnn_generated_fort_native_sdpa_sm90_flash_fprop") == RuleFamily::attention);
  CHECK(rule_family("sm80_xmma_fprop_implicit_gemm_indexed") == RuleFamily::conv);
  CHECK(rule_family("volta_scudnn_128x64_relu_medium_nn_v1") == RuleFamily::conv);
  CHECK(rule_family("volta_sgemm_64x64_nt") == RuleFamily::gemm);
  CHECK(rule_family("void fbgemm_gpu::permute_2D<int>(int)") == RuleFamily::other);
  CHECK(rule_family("bmm_Bfloat16") == RuleFamily::gemm);
  CHECK(rule_family("void splitKreduce_kernel<float>(cublasSplitKParams<float>)") == RuleFamily::other);
  CHECK(rule_family("void at::native::elementwise_kernel<128, 4, "
                    "at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(int)::{lambda()#1}> >(int)") ==
        RuleFamily::elementwise);
  CHECK(rule_family("void at::native::vectorized_elementwise_kernel<4>") == RuleFamily::elementwise);
  CHECK(rule_family("Memcpy DtoD (Device -> Device)") == RuleFamily::other);
}

TEST_CASE("at least 95 % of the GPU time of every recording gets a telling kind") {
  for (const auto& path : real_traces()) {
    const Trace& t = *load_once(path);
    Ns all = 0, told_time = 0, unknown = 0;
    for (const GpuRow& row : t.gpu) {
      if (!is_gpu_work(t.kind(row.slice))) continue;
      const KernelKind kind = decode(t.name(row.slice)).kind;
      all += t.duration(row.slice);
      if (kind == KernelKind::unknown) unknown += t.duration(row.slice);
      if (kind != KernelKind::unknown && kind != KernelKind::other) told_time += t.duration(row.slice);
    }
    CAPTURE(path.filename().string());
    CHECK(unknown == 0);
    // Its author called the kernel "k": nothing there to read.
    if (path.filename().string().starts_with("low_occupancy")) continue;
    CHECK(static_cast<double>(told_time) >= 0.95 * static_cast<double>(all));
  }
}
