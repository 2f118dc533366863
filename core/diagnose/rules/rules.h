#pragma once
// The rules, one a file beside this one; catalogue_*.cpp put them in order.
#include "core/diagnose/rule.h"

namespace gapscope {

// A. The profiler table
extern const Rule overhead_bound;
extern const Rule compute_bound;
extern const Rule gpu_hotspot;
extern const Rule many_calls;
extern const Rule cost_in_children;
extern const Rule annotation_span_not_busy;

// B. CPU lanes
extern const Rule first_step_slow;
extern const Rule annotation_first_op_gap;
extern const Rule occupancy_query_before_launch;
extern const Rule launch_without_occupancy_query;
extern const Rule heavyweight_kernel;
extern const Rule final_device_sync;
extern const Rule sync_covers_little_gpu_work;
extern const Rule hidden_memcpy;

// C. GPU lanes
extern const Rule activity_buffer_request;
extern const Rule gpu_gap_in_step;
extern const Rule kernel_time_varies;
extern const Rule gemm_kernel_name;
extern const Rule dtod_before_gemm;

// D. From the operator to the kernel
extern const Rule dispatch_chain;
extern const Rule matmul_to_mm;
extern const Rule matmul_to_bmm;
extern const Rule addmm_dispatch_fusion;
extern const Rule gemm_bias_epilogue;
extern const Rule metadata_only_ops;
extern const Rule gemm_layout_suffix;

// E. torch.compile and CUDA graphs
extern const Rule compiled_region;
extern const Rule dynamo_cache_lookup;
extern const Rule aot_prologue;
extern const Rule fx_graph_cache_hit;
extern const Rule compile_cpu_tax;
extern const Rule compile_inside_window;
extern const Rule fake_tensor_ops;
extern const Rule compiled_region_no_kernels;
extern const Rule triton_fused_kernel;
extern const Rule cuda_graph_launch;
extern const Rule cudagraph_input_copy;
extern const Rule cudagraph_little_work;
extern const Rule recompilation;
extern const Rule graph_breaks;
extern const Rule autotuning_in_window;
extern const Rule compile_nothing_to_fuse;
extern const Rule few_sms_for_max_autotune;

// F. GPU use, launches, start-up
extern const Rule low_gpu_utilization;
extern const Rule low_sm_fill;
extern const Rule small_grid;
extern const Rule grid_covers_sms;
extern const Rule low_occupancy;
extern const Rule many_small_kernels;
extern const Rule single_large_kernel;
extern const Rule dispatch_heavy_few_kernels;
extern const Rule unfused_elementwise_chain;
extern const Rule gpu_backlog;
extern const Rule cpu_gpu_lane_offset;
extern const Rule lazy_module_loading;
extern const Rule cuda_malloc_in_window;

// G. Copies, waits, attention, data types
extern const Rule memcpy_heavy;
extern const Rule pageable_memcpy;
extern const Rule implicit_sync;
extern const Rule long_sync_wait;
extern const Rule launch_blocking;
extern const Rule unfused_attention;
extern const Rule fused_attention;
extern const Rule tf32_gemm;
extern const Rule fp32_gemm_cuda_cores;

// H. How the recording was made
extern const Rule no_warmup_schedule;
extern const Rule too_few_steps;
extern const Rule occupancy_zero_artifact;
extern const Rule gpu_ops_without_launch;
extern const Rule launches_without_gpu_op;
extern const Rule no_gpu_activity;

// X. Beyond the guide
extern const Rule gemm_misaligned;
extern const Rule dataloader_wait;

}  // namespace gapscope
