// Over 400 lines: one table, a row for each kind of name.
#include "core/analyze/kernel_name/kernel_patterns.h"

#include <algorithm>
#include <array>

#include "core/analyze/kernel_name/name_reader.h"
#include "core/analyze/kernel_name/name_words.h"

namespace gapscope {
namespace {

using K = KernelKind;
constexpr Where kStart = Where::start, kHead = Where::head, kAny = Where::anywhere;

// Examples are shortened where the rest of the name says nothing more.
constexpr auto kPatterns = std::to_array<KernelPattern>({
    // Copies and memsets have rows of their own in a trace, or are kernels of the ROCm runtime.
    {kStart, "Memcpy", K::copy, "copy engine", nullptr, "Memcpy HtoD (Pageable -> Device)"},
    {kStart, "Memset", K::memset, "memset", nullptr, "Memset (Device)"},
    {kStart, "CopyHostToDevice", K::copy, "copy engine", nullptr, "CopyHostToDevice"},
    {kStart, "CopyDeviceTo", K::copy, "copy engine", nullptr, "CopyDeviceToHost"},
    {kStart, "__amd_rocclr_copy", K::copy, "ROCm runtime", nullptr, "__amd_rocclr_copyBuffer"},
    {kStart, "__amd_rocclr_fill", K::memset, "ROCm runtime", nullptr, "__amd_rocclr_fillBufferAligned"},

    // Communication between GPUs.
    {kHead, "ncclDevKernel", K::collective, "NCCL", read_nccl,
     "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {kHead, "ncclKernel", K::collective, "NCCL", read_nccl, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"},
    {kHead, "nccl", K::collective, "NCCL", nullptr, "ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf16"},
    {kHead, "rccl", K::collective, "RCCL", nullptr, "rcclDevKernel_Generic_4(ncclDevComm*, unsigned long, ncclWork*)"},
    {kHead, "multimem_", K::collective, "PyTorch symmetric memory", read_first_type,
     "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long)"},
    {kHead, "_shot_all_reduce", K::collective, "PyTorch symmetric memory", read_first_type,
     "void (anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)"},
    {kHead, "cross_device_reduce", K::collective, "vLLM", read_first_type,
     "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)"},
    // Vendors' libraries: NVIDIA's, AMD's, Intel's, Huawei's, Cambricon's, Moore Threads', Kunlun's, and MSCCL of Microsoft.
    {kHead, "oneccl", K::collective, "oneCCL", nullptr, "oneccl_reduce_base<float, 2, 16, 1, 1, 2>"},
    {kHead, "oneapi::ccl", K::collective, "oneCCL", nullptr, "oneapi::ccl::v1::ring_kernel<float>(float*)"},
    {kStart, "hcom_", K::collective, "HCCL", nullptr, "hcom_allReduce__000_0_1"},
    {kHead, "hccl", K::collective, "HCCL", nullptr, "HcclAllReduce"},
    {kHead, "cncl", K::collective, "CNCL", nullptr, "cnclKernel_AllReduce"},
    {kStart, "mccl", K::collective, "MCCL", nullptr, "mcclKernel_AllReduce_RING_SIMPLE"},
    {kHead, "bkcl", K::collective, "BKCL", nullptr, "bkcl_all_reduce"},
    {kHead, "msccl", K::collective, "MSCCL", nullptr, "mscclKernel_Sum_half_LL_false"},
    // Between experts: tokens are sent to where their expert is, and back.
    {kHead, "deep_ep::", K::collective, "DeepEP", nullptr, "void deep_ep::intranode::dispatch<8, 768, 8192>(int)"},
    {kHead, "pplx::", K::collective, "pplx", nullptr, "void pplx::a2a_dispatch_send_kernel<1>(int)"},
    // Memory of other GPUs that kernels reach into.
    {kHead, "nvshmem", K::collective, "NVSHMEM", nullptr, "void nvshmemi_reduce_kernel<float>(int)"},
    {kHead, "rocshmem", K::collective, "rocSHMEM", nullptr, "void rocshmem::barrier_all_kernel()"},
    {kHead, "ishmem", K::collective, "Intel SHMEM", nullptr, "ishmem_barrier_all_kernel"},
    {kHead, "symm_mem", K::collective, "symmetric memory", nullptr, "symm_mem_barrier_kernel"},
    {kHead, "userbuffers_", K::collective, "Transformer Engine", nullptr, "userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)"},
    // Serving engines' own, between the GPUs of one machine.
    {kHead, "quickreduce", K::collective, "QuickReduce", nullptr, "void quickreduce::prototype_twoshot<__half, 2>(int)"},
    {kHead, "quick_reduce", K::collective, "QuickReduce", nullptr, "void quick_reduce_twoshot<__half>(int)"},
    // By the operation, in any library.
    {kHead, "alltoall", K::collective, "", nullptr, "void tensorrt_llm::kernels::moeAllToAllKernel<1>(int)"},
    {kHead, "all_to_all", K::collective, "", nullptr, "void my::all_to_all_kernel<float>(float*)"},
    {kHead, "all-to-all", K::collective, "", nullptr, "all-to-all.3"},
    {kHead, "all-reduce", K::collective, "", nullptr, "all-reduce.1"},
    {kHead, "all-gather", K::collective, "", nullptr, "all-gather.2"},
    {kHead, "reduce-scatter", K::collective, "", nullptr, "reduce-scatter.4"},
    {kHead, "collective-permute", K::collective, "", nullptr, "collective-permute.5"},
    {kHead, "reducescatter", K::collective, "", nullptr, "void my::reducescatter_kernel<float>(float*)"},
    {kHead, "all_reduce", K::collective, "", nullptr, "void my::all_reduce_kernel<float>(float*)"},
    {kHead, "all_gather", K::collective, "", nullptr, "void my::all_gather_kernel<float>(float*)"},
    {kHead, "allgather", K::collective, "", nullptr, "void my::allgather_kernel<float>(float*)"},
    {kHead, "reduce_scatter", K::collective, "", nullptr, "void my::reduce_scatter_kernel<float>(float*)"},
    {kHead, "allreduce", K::collective, "", nullptr,
     "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8>(int)"},

    // Generated by Inductor. The prefix gives the template, the rest the operators.
    {kStart, "triton_poi", K::elementwise, "Triton (Inductor)", read_inductor, "triton_poi_fused_gelu_mul_view_0"},
    {kStart, "triton_red", K::reduction, "Triton (Inductor)", read_inductor, "triton_red_fused_sum_0"},
    {kStart, "triton_per", K::reduction, "Triton (Inductor)", read_inductor,
     "triton_per_fused__softmax_exp_prepare_softmax_online_sub_0"},
    {kStart, "triton_for", K::elementwise, "Triton (Inductor)", read_inductor, "triton_for_fused_0"},
    {kStart, "triton_tem", K::other, "Triton (Inductor)", read_inductor, "triton_tem_fused_mm_relu_0"},
    {kStart, "triton_mm", K::gemm, "Triton (Inductor)", nullptr, "triton_mm_12"},
    {kStart, "triton_bmm", K::gemm, "Triton (Inductor)", nullptr, "triton_bmm_3"},
    {kStart, "triton_flex", K::attention, "Triton (Inductor)", nullptr, "triton_flex_attention_0"},
    {kStart, "triton_conv", K::convolution, "Triton (Inductor)", nullptr, "triton_convolution2d_4"},
    {kStart, "triton_", K::other, "Triton (Inductor)", read_inductor, "triton_unk_fused_0"},

    // Attention. The cache writers only move keys and values.
    {kHead, "reshape_and_cache", K::copy, "vLLM", nullptr,
     "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>(__nv_bfloat16 const*)"},
    {kHead, "_native_sdpa_", K::attention, "cuDNN", read_cudnn_attention,
     "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64_1x4x1_cga1x1x1_kernel0_0"},
    {kHead, "compute_dot_do_o", K::attention, "cuDNN", read_attention_helper,
     "void cudnn::fusion::compute_dot_do_o_specialized<true, 64>(void const*)"},
    {kHead, "convert_dq_to_16bits", K::attention, "cuDNN", read_attention_helper,
     "void cudnn::fusion::convert_dq_to_16bits<true>(void const*, void*)"},
    {kHead, "flash_fwd", K::attention, "FlashAttention", read_flash,
     "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, "
     "false>(pytorch_flash::Flash_fwd_params)"},
    {kHead, "flash_bwd", K::attention, "FlashAttention", read_flash,
     "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, 128, "
     "128, 8, 4, 4, 4, false, false, cutlass::half_t> >(pytorch_flash::Flash_bwd_params)"},
    {kAny, "flash::", K::attention, "FlashAttention", read_flash,
     "void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, cutlass::bfloat16_t> > "
     ">(Params)"},
    {kStart, "aiter::fmha", K::attention, "AITER", read_aiter, "_ZN5aiter32fmha_fwd_hd192_hd128_bf16_causalE"},
    {kStart, "aiter::pa_", K::attention, "AITER", read_aiter, "_ZN5aiter42pa_bf16_pertokenFp8_gqa10_1tg_4w_mtp3_msk1E"},
    {kAny, "fmha", K::attention, "FMHA", read_fmha,
     "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)"},
    {kAny, "PyTorchMemEffAttention", K::attention, "memory-efficient attention", nullptr,
     "void attention_kernel_backward_batched<PyTorchMemEffAttention::AttentionBackwardKernel<float> >(Params)"},
    {kHead, "sage_fwd", K::attention, "SageAttention", nullptr, "sage_fwd"},
    {kHead, "sage_quant", K::attention, "SageAttention", read_attention_helper, "sage_quant_kernel"},
    {kHead, "attn_", K::attention, "Triton", nullptr, "attn_fwd"},
    {kHead, "attention", K::attention, "", nullptr, "kernel_unified_attention_3d"},
    {kHead, "BatchDecodeWith", K::attention, "FlashInfer", nullptr,
     "void flashinfer::BatchDecodeWithPagedKVCacheKernel<1>(int)"},
    {kHead, "BatchPrefillWith", K::attention, "FlashInfer", nullptr,
     "void flashinfer::BatchPrefillWithPagedKVCacheKernel<1>(int)"},

    // Convolution, before matrix products: many are "implicit gemm".
    {kHead, "xmma_fprop", K::convolution, "cuDNN (xmma)", read_xmma,
     "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_warpsize2x2x1_"
     "g1_tensor16x8x8_alignc4_execute_kernel_cudnn"},
    {kHead, "xmma_dgrad", K::convolution, "cuDNN (xmma)", read_xmma,
     "sm80_xmma_dgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_"
     "tensor16x8x16_kernel_cudnn"},
    {kHead, "xmma_wgrad", K::convolution, "cuDNN (xmma)", read_xmma,
     "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_"
     "g1_tensor16x8x8_kernel_cudnn"},
    {kHead, "scudnn", K::convolution, "cuDNN", read_cublas, "volta_scudnn_128x64_relu_medium_nn_v1"},
    {kStart, "igemm_", K::convolution, "MIOpen", read_igemm,
     "igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x16_wt32x32x8_ws2x1_wr2x2_ta1x4x1x4_1x4x1x64_tb1x4x1x2_1x4x1x64_gkgs"},
    {kHead, "cask_cudnn", K::convolution, "cuDNN", nullptr,
     "cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)"},
    {kHead, "xdlops_bwd_weight", K::convolution, "Composable Kernel", read_composable,
     "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightIfEEvPT_"},
    {kHead, "_grouped_conv_", K::convolution, "Composable Kernel", read_composable,
     "_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd_multiple_abd_xdl_cshuffleIfEEvPT_"},
    {kHead, "winograd", K::convolution, "cuDNN (Winograd)", read_plain_cores,
     "void cudnn::winograd_nonfused::winogradForwardData4x4<float, "
     "float>(cudnn::winograd_nonfused::WinogradDataParams<float, float>)"},
    {kHead, "convolve", K::convolution, "cuDNN", read_plain_cores,
     "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>(int, int)"},
    {kHead, "dgrad", K::convolution, "cuDNN", read_plain_cores,
     "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*)"},
    {kHead, "wgrad", K::convolution, "cuDNN", read_plain_cores,
     "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int, int)"},
    {kAny, "fprop", K::convolution, "CUTLASS", read_cutlass,
     "void "
     "cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_32x4_nhwc_unity_stride_align8>("
     "cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_32x4_nhwc_unity_stride_align8::Params)"},
    {kHead, "im2col", K::convolution, "cuDNN", read_plain_cores,
     "void cudnn::cnn::im2col4d_kernel<float, long>(cudnn::cnn::im2col4d_params)"},
    {kHead, "col2im", K::convolution, "", read_plain_cores, "void at::native::col2im_kernel<float, float>(long, float const*)"},
    {kStart, "fft2d_", K::convolution, "cuDNN (FFT)", read_plain_cores,
     "void fft2d_c2r_32x32<float, false, false, 0u, false, false>(float*, float2 const*)"},
    {kAny, "cutlass::conv", K::convolution, "CUTLASS", nullptr,
     "void cutlass::Kernel<cutlass::conv::kernel::ImplicitGemmConvolution<int> >(int)"},
    {kHead, "conv", K::convolution, "", nullptr,
     "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(float)"},

    // Matrix products.
    {kStart, "nvjet", K::gemm, "nvjet", read_nvjet, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT"},
    {kHead, "xmma_gemm", K::gemm, "xmma", read_xmma,
     "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
     "cublas"},
    {kHead, "fbgemm", K::indexing, "FBGEMM", read_embedding, "void fbgemm_gpu::permute_2D_lengths_kernel<int>(int)"},
    {kHead, "split_embedding", K::indexing, "FBGEMM", read_embedding,
     "void split_embedding_codegen_forward_unweighted_kernel<float, float, float, long>(float)"},
    // What follows a product: no products themselves.
    {kAny, "ReduceSplitK", K::reduction, "CUTLASS", read_split_k,
     "void cutlass::Kernel<cutlass::reduction::kernel::ReduceSplitK<cutlass::MatrixShape<4, 128>, float> >(Params)"},
    {kAny, "splitKreduce", K::reduction, "cuBLAS", read_split_k,
     "void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, __half, "
     "false>(cublasLt::cublasSplitKParams<float>)"},
    {kHead, "epilogue::impl::globalKernel", K::elementwise, "cuBLASLt", read_epilogue_kernel,
     "void cublasLt::epilogue::impl::globalKernel<8, 32, float, float, float, true, true, 1>(int, int, long, float*)"},
    {kAny, "cutlass_", K::gemm, "CUTLASS", read_cutlass,
     "void "
     "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(cutlass_80_wmma_tensorop_"
     "bf16_s161616gemm_bf16_32x32_128x2_tn_align8::Params)"},
    {kAny, "cutlass3x_", K::gemm, "CUTLASS", read_cutlass,
     "void "
     "cutlass::device_kernel<cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_2x1x1_0_tnn_"
     "align8_warpspecialized_cooperative_epi_tma>(Params)"},
    {kAny, "cutlass::gemm", K::gemm, "CUTLASS", nullptr,
     "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int> > >(Params)"},
    {kStart, "Cijk_", K::gemm, "Tensile", read_tensile,
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1_SN_LDSB1_ISA942_IU1_K1"},
    {kStart, "Custom_Cijk_", K::gemm, "Tensile", read_tensile, "Custom_Cijk_Alik_Bljk_HHS_BH_MT128x128x64_MI16x16x1_ISA942"},
    {kStart, "bmm_", K::gemm, "TensorRT-LLM", read_trtllm_bmm,
     "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_transOut_"
     "schedP2x1x2x3_biasM_bN_tmaOpt_clmp_dynBatch_sm100f"},
    {kStart, "_matmul_ogs", K::gemm, "Triton kernels", read_matmul_ogs, "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
    {kStart, "aiter::fmoe", K::gemm, "AITER", read_aiter, "_ZN5aiter50fmoe_bf16_pertokenMXfp4_g1u1_flat_novs_silu_16x128E"},
    {kStart, "aiter::bf16gemm", K::gemm, "AITER", read_aiter, "_ZN5aiter37bf16gemm_fp32bf16_tn_96x64_bias_cleanE"},
    {kStart, "aiter::fp8gemm", K::gemm, "AITER", read_aiter, "_ZN5aiter42fp8gemm_bf16_blockscale_BpreShuffle_32x128E"},
    {kStart, "aiter::f4gemm", K::gemm, "AITER", read_aiter, "_ZN5aiter33f4gemm_bf16_per1x32Fp4_tn_256x256E"},
    {kStart, "ck::kernel_gemm", K::gemm, "Composable Kernel", read_composable,
     "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemmMultiD_ABScale_xdl_cshuffle_v3<float> >(int)"},
    {kStart, "ck::kernel_moe_gemm", K::gemm, "Composable Kernel", read_composable,
     "void ck::kernel_moe_gemm<ck::GridwiseMoeGemmBlockScale<float>, true>(int)"},
    {kHead, "finalize_matmul", K::gemm, "Triton kernels", nullptr, "_finalize_matmul_scatter_bf16"},
    {kHead, "gemv", K::gemm, "cuBLAS", nullptr,
     "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>(float)"},
    {kHead, "dot_kernel", K::gemm, "cuBLAS", nullptr,
     "void dot_kernel<float, 128, 0, cublasDotParams<float const*, float> >(cublasDotParams<float const*, float>)"},
    {kAny, "cublasDotParams", K::gemm, "cuBLAS", nullptr,
     "void reduce_1Block_kernel<float, 128, 7, cublasDotParams<float const*, float> >(float const*)"},
    {kHead, "gemmk1", K::gemm, "cuBLAS", read_plain_cores, "void gemmk1_kernel<int, float, 256, 5, false, false>(float)"},
    {kHead, "gemmSN_", K::gemm, "cuBLAS", read_plain_cores, "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true>(float)"},
    {kHead, "magma_", K::gemm, "cuBLAS (MAGMA)", read_magma,
     "void magma_sgemmEx_kernel<float, float, float, true, false, 6, 4, 6, 3, 4>(int, int, int)"},
    {kHead, "deep_gemm", K::gemm, "DeepGEMM", nullptr, "void deep_gemm::fp8_gemm_kernel<4096u>(float)"},
    {kHead, "gemm_", K::gemm, "cuBLAS", read_cublas, "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn"},
    {kHead, "gemm", K::gemm, "", nullptr, "my_gemm"},
    {kHead, "matmul", K::gemm, "", nullptr, "matmul_kernel"},
    {kHead, "marlin", K::gemm, "Marlin", nullptr, "void marlin::Marlin<half, 256, 4, 16, 4>(int)"},
    {kHead, "fused_moe_kernel", K::gemm, "Triton", nullptr, "fused_moe_kernel"},

    // Many tensors at once: optimizers, gradient clipping.
    {kHead, "multi_tensor_apply", K::optimizer, "ATen foreach", read_foreach,
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, "
     "std::plus<float>, float>(float)"},
    {kHead, "lpnorm_cleanup", K::optimizer, "ATen foreach", nullptr,
     "void at::native::lpnorm_cleanup<float, (at::native::NormType)1, float>(float const*)"},

    // Random numbers.
    {kHead, "distribution_", K::random, "ATen random", nullptr,
     "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, "
     "at::native::templates::cuda::normal_and_transform<float> >(int)"},
    {kHead, "dropout", K::random, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, bool>(float)"},

    // Softmax and normalization, before reductions and elementwise.
    {kHead, "softmax", K::softmax, "ATen", nullptr,
     "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, at::native::(anonymous "
     "namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)"},
    {kHead, "batch_norm", K::normalization, "ATen", read_first_type,
     "void at::native::batch_norm_transform_input_kernel<c10::BFloat16, c10::BFloat16, float, true, int>(float)"},
    {kAny, "batch_norm_", K::normalization, "ATen", nullptr,
     "void at::native::(anonymous namespace)::unrolled_elementwise_kernel_for_multi_outputs<3, at::native::(anonymous "
     "namespace)::batch_norm_update_stats_and_invert(at::Tensor const&)::{lambda()#1}>(int)"},
    {kHead, "::bn_", K::normalization, "cuDNN", read_first_type,
     "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct, float const*)"},
    {kHead, "::batchnorm_", K::normalization, "cuDNN", read_first_type,
     "void cudnn::batchnorm_bwtr_nhwc_semiPersist<float, float, float, 512, 16, 3, 4, 1, 0, true, "
     "2>(cudnn::NhwcBatchNormBwdParams<float, float>)"},
    {kHead, "MIOpenBatchNorm", K::normalization, "MIOpen", nullptr, "MIOpenBatchNormFwdTrainSpatial"},
    {kHead, "layer_norm", K::normalization, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int, float)"},
    {kHead, "LayerNorm", K::normalization, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::LayerNormForwardCUDAKernel<float, float>(long)"},
    {kHead, "GammaBeta", K::normalization, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, 32u, 32u, 256u, false, "
     "true, false>(long)"},
    {kHead, "RowwiseMoments", K::normalization, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>(long, float)"},
    {kHead, "FusedParamsCUDAKernel", K::normalization, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::ComputeFusedParamsCUDAKernel<float>(long, long, long, float const*)"},
    {kHead, "groupnorm", K::normalization, "", nullptr, "void groupnorm_fwd<float>(int)"},
    {kHead, "group_norm", K::normalization, "", nullptr, "group_norm_nhwc_sum_kernel"},
    {kHead, "rms_norm", K::normalization, "", nullptr,
     "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
     "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)"},
    {kAny, "Rmsnorm", K::normalization, "", nullptr, "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdIiEEJNS_11KargsStructEEEEvDpT1_"},

    // Losses, pooling, sums.
    {kHead, "nll_loss", K::reduction, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*, "
     "float*)"},
    {kHead, "ClassNLLCriterion", K::reduction, "ATen", read_first_type,
     "void cunn_ClassNLLCriterion_updateOutput_kernel<float, float>(float*, float*, float*, long*)"},
    {kHead, "cross_entropy", K::reduction, "", nullptr, "liger_cross_entropy_kernel"},
    {kHead, "pool", K::reduction, "ATen", nullptr,
     "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float const*)"},
    {kHead, "reduce_kernel", K::reduction, "ATen reduction", read_reduce,
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
     "float>, unsigned int, float, 4, 4> >(float)"},
    {kHead, "reduce_segments", K::reduction, "", nullptr, "reduce_segments"},
    {kHead, "reduce_columns", K::reduction, "", nullptr, "reduce_columns_kernel"},

    // Moves by index, sorts, scans; routing of mixtures of experts.
    {kHead, "rotary", K::elementwise, "", nullptr, "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)"},
    {kHead, "embedding_", K::indexing, "ATen", nullptr,
     "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, float, long>(long "
     "const*)"},
    {kHead, "indexSelect", K::indexing, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, "
     "true>(int)"},
    {kHead, "indexFunc", K::indexing, "ATen", read_first_type,
     "void at::native::(anonymous namespace)::indexFuncLargeIndex<float, long, unsigned int, 2, 2, -2, true>(int)"},
    {kHead, "index_elementwise", K::indexing, "ATen", nullptr,
     "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<int>::{lambda(int)#1}>(long, "
     "int)"},
    {kHead, "indexing_backward", K::indexing, "ATen", nullptr,
     "void at::native::indexing_backward_kernel<float, 4>(long const*)"},
    {kHead, "gather", K::indexing, "ATen", nullptr, "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*)"},
    {kHead, "routing", K::indexing, "", nullptr,
     "void "
     "moe::dev::routing::routingIndicesOffsetsKernel<moe::dev::routing::routingRenormalize::KernelParams<__nv_bfloat16>"
     " >(int)"},
    {kHead, "moe::dev::finalize", K::indexing, "TensorRT-LLM", nullptr,
     "void moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<cutlass::bfloat16_t, "
     "cutlass::bfloat16_t, 4, true> >(int)"},
    {kHead, "bitmatrix", K::indexing, "Triton kernels", nullptr, "_sum_bitmatrix_rows"},
    {kHead, "topk", K::indexing, "", nullptr, "_topk_forward"},
    {kHead, "sort", K::indexing, "", nullptr, "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<int>(int)"},
    {kHead, "scan", K::indexing, "", nullptr,
     "void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >(float*)"},
    {kAny, "cub::", K::indexing, "CUB", nullptr, "void at_cuda_detail::cub::DeviceSelectSweepKernel<int>(int)"},
    {kHead, "page_indices", K::indexing, "", nullptr, "_copy_page_indices_kernel"},

    // Data moved or recast by a kernel.
    {kHead, "CatArrayBatchedCopy", K::copy, "ATen concatenation", nullptr,
     "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, "
     "unsigned int, 4, 64, 64>(int)"},
    {kHead, "split_with_sizes_copy", K::copy, "ATen copy", nullptr,
     "at::native::detail::split_with_sizes_copy_out_contiguous_no_cast_kernel(char**, char*, long*)"},
    {kHead, "chunk_cat", K::copy, "ATen concatenation", nullptr,
     "void at::native::detail::chunk_cat_cuda_kernel<char, char>(char**, char*, long*)"},
    {kHead, "transpose", K::copy, "", nullptr, "batched_transpose_16x64_pack_1x4_ediv_1x2_half"},
    {kHead, "nchwToNhwc", K::copy, "cuDNN layout change", read_first_type,
     "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)0>(float)"},
    {kHead, "nhwcToNchw", K::copy, "cuDNN layout change", read_first_type,
     "void nhwcToNchwKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(int)"},
    {kAny, "direct_copy_kernel_cuda", K::copy, "ATen copy", read_elementwise,
     "void at::native::elementwise_kernel_manual_unroll<128, 4, "
     "at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator("
     ")() const::{lambda()#4}::operator()() const::{lambda(long)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)"},
    {kAny, "float16_copy_kernel_cuda", K::copy, "ATen copy", read_elementwise,
     "void at::native::vectorized_elementwise_kernel<8, "
     "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> "
     ">(int)"},

    // One result for each element.
    {kHead, "elementwise", K::elementwise, "ATen elementwise", read_elementwise,
     "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
     ">(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"},
    {kHead, "pointwise", K::elementwise, "", nullptr, "kernelPointwiseApply2"},
    {kHead, "SubTensorOpWith", K::elementwise, "MIOpen", nullptr, "SubTensorOpWithCastTensor1d"},
    {kHead, "scalePackedTensor", K::elementwise, "cuDNN", read_first_type,
     "void cudnn::ops::scalePackedTensor_kernel<float, float>(cudnnTensor4dStruct, float*, float)"},
    {kHead, "quant", K::elementwise, "", nullptr,
     "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>(c10::Float8_e4m3fn*)"},
    {kHead, "act_and_mul", K::elementwise, "vLLM", read_first_type,
     "void vllm::act_and_mul_kernel<c10::BFloat16>(c10::BFloat16*)"},
    {kHead, "swiglu", K::elementwise, "", nullptr, "_swiglu"},
});

constexpr std::string_view kAnonymous = "(anonymous namespace)";

// Past the bracketed group that opens at `at`.
std::size_t past_parentheses(std::string_view text, std::size_t at) {
  int open = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++open;
    if (text[at] == ')' && --open == 0) return at + 1;
  }
  return text.size();
}

// The first character after the angle brackets that open at `at`. Comparisons stand in parentheses in demangled names.
std::size_t past_angles(std::string_view text, std::size_t at) {
  int open = 0;
  while (at < text.size()) {
    if (text[at] == '(') {
      at = past_parentheses(text, at);
      continue;
    }
    if (text[at] == '<') ++open;
    if (text[at] == '>' && --open == 0) return at + 1;
    ++at;
  }
  return text.size();
}

bool is_copy_of_the_runtime(std::string_view name) { return name.starts_with("Memcpy ") || name.starts_with("Memset "); }

}  // namespace

NameParts parts_of(std::string_view name) {
  NameParts parts{name, {}, {}, false};
  if (is_copy_of_the_runtime(name)) {
    parts.head = name;
    return parts;
  }
  std::size_t begin = 0, at = 0, angles = name.size(), angles_end = name.size();
  while (at < name.size()) {
    const char c = name[at];
    if (c == '<') {
      angles = at;
      angles_end = at = past_angles(name, at);
    } else if (c == '(') {
      if (name.substr(at, kAnonymous.size()) != kAnonymous) break;
      at += kAnonymous.size();
    } else if (c == ' ') {  // what came before was the return type
      begin = ++at;
      angles = angles_end = name.size();
    } else {
      ++at;
    }
  }
  parts.has_parameters = at < name.size();
  const std::size_t end = std::min(at, angles);
  parts.head = name.substr(begin, end - begin);
  if (parts.head.empty()) parts.head = name;  // no C++ name after all
  if (angles < at && angles_end > angles + 1) parts.arguments = name.substr(angles + 1, angles_end - angles - 2);
  return parts;
}

std::span<const KernelPattern> kernel_patterns() { return kPatterns; }

}  // namespace gapscope
