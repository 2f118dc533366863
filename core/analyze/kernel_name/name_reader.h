#pragma once
// Readers of single naming conventions. Each fills in what the convention states and nothing else.
#include "core/analyze/kernel_name/kernel_patterns.h"

namespace gapscope {

void read_nvjet(const NameParts&, KernelName&);            // nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT
void read_xmma(const NameParts&, KernelName&);             // sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize...
void read_cutlass(const NameParts&, KernelName&);          // cutlass_80_tensorop_bf16_s16816gemm_..., cutlass3x_...
void read_cublas(const NameParts&, KernelName&);           // ampere_bf16_s16816gemm_..., volta_sgemm_..., volta_scudnn_...
void read_tensile(const NameParts&, KernelName&);          // Cijk_Alik_Bljk_BBS_BH_..._MT32x32x256_..._ISA942
void read_trtllm_bmm(const NameParts&, KernelName&);       // bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_...
void read_matmul_ogs(const NameParts&, KernelName&);       // _matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu
void read_igemm(const NameParts&, KernelName&);            // igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x16_...
void read_split_k(const NameParts&, KernelName&);          // cublasLt::splitKreduce_kernel<...>
void read_epilogue_kernel(const NameParts&, KernelName&);  // cublasLt::epilogue::impl::globalKernel<...>
void read_plain_cores(const NameParts&, KernelName&);  // gemmk1_kernel<int, float, ...>, implicit_convolve_sgemm<float, ...>
void read_magma(const NameParts&, KernelName&);        // magma_sgemmEx_kernel<float, float, float, ...>
void read_composable(const NameParts&, KernelName&);   // ck::tensor_operation::device::kernel_..._xdl_cshuffle<...>
void read_aiter(const NameParts&, KernelName&);        // aiter::bf16gemm_fp32bf16_tn_96x64_bias_clean
void read_embedding(const NameParts&, KernelName&);    // split_embedding_codegen_forward_unweighted_kernel<float, ...>
void read_first_type(const NameParts&, KernelName&);   // dgrad_engine<float, ...>
void read_cudnn_attention(const NameParts&, KernelName&);   // cudnn_generated_fort_native_sdpa_sm90_flash_...
void read_attention_helper(const NameParts&, KernelName&);  // cudnn::fusion::convert_dq_to_16bits<true>
void read_flash(const NameParts&, KernelName&);             // flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, ...>>
void read_fmha(const NameParts&, KernelName&);              // fmha_cutlassF_bf16_aligned_64x64_rf_sm80, fmhaSm100a...
void read_inductor(const NameParts&, KernelName&);          // triton_poi_fused_add_mul_0
void read_nccl(const NameParts&, KernelName&);              // ncclDevKernel_AllReduce_Sum_f32_RING_LL
void read_elementwise(const NameParts&, KernelName&);       // vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ...>
void read_reduce(const NameParts&, KernelName&);            // reduce_kernel<512, 1, ReduceOp<float, MeanOps<...>, ...>>
void read_foreach(const NameParts&, KernelName&);           // multi_tensor_apply_kernel<..., std::plus<float>, float>

}  // namespace gapscope
