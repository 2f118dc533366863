#include "app/session/samples.h"

#include <array>
#include <system_error>

namespace gapscope {
namespace {

namespace fs = std::filesystem;

const std::array<Sample, 19>& table() {
  static const std::array<Sample, 19> kSamples = {{
      {"matmul_add_64_cold_eager", "A 64 x 64 matmul and add, three steps, GPU just woken: 756 µs for 8.4 µs of GPU work."},
      {"matmul_add_64_warm_eager",
       "The same after a warm-up: 312 µs, and the GPU still waits for the host nearly all the time."},
      {"matmul_add_4096_warm_eager", "The same at 4096 x 4096: now the GPU is busy and the CPU waits for it."},
      {"matmul_add_4096_warm_compile",
       "torch.compile makes one GEMM of it, but copies the bias first: look for the DtoD copy."},
      {"mlp_geglu_eager", "A GeGLU MLP in eager mode: five kernels a step, each with a launch of its own."},
      {"mlp_geglu_compile", "The MLP compiled: GELU and multiply fused into one Triton kernel, yet more CPU time around it."},
      {"mlp_geglu_reduce_overhead", "The MLP as a CUDA graph: one cudaGraphLaunch starts all kernels of a step."},
      {"transformer_baseline", "Training two small encoder layers in fp32: 43 ms of Python for 3.6 ms of GPU work."},
      {"transformer_optimized",
       "Larger, fp16 autocast, flash attention: the GPU is busy 23 of 35 ms. Compare it with the baseline."},
      // By `gapscope record` of gapscope-workload, on an NVIDIA H200.
      {"recorded_matmul_add_64_cold", "Plain CUDA, recorded by gapscope: the first step loads code and makes its handles."},
      {"recorded_matmul_add_4096", "The same at 4096 x 4096: compute-bound, the CPU is far ahead."},
      {"recorded_addmm_4096_copy", "An addmm that copies its bias first: the DtoD copy before each GEMM."},
      {"recorded_geglu_mlp_train", "Forward, backward and SGD of a GeGLU MLP in CUDA and cuBLASLt."},
      {"recorded_mul_add_graph", "Two kernels replayed as a CUDA graph: one launch for both."},
      {"recorded_streams", "Copies and compute on two streams that overlap."},
      // With the GPU's own counters (record --counters).
      {"recorded_gemm_counters", "A GEMM and an add, 4096 x 4096, with the GPU's counters: tensor pipe and DRAM take turns."},
      {"recorded_add_counters", "An elementwise kernel again and again, with the GPU's counters: DRAM is at 87 % of its peak."},
      {"recorded_geglu_counters", "Training a GeGLU MLP with the GPU's counters: see which kernels use the tensor cores."},
      {"recorded_syncs", "A needless synchronization in each step."},
  }};
  return kSamples;
}

}  // namespace

std::span<const Sample> samples() { return table(); }

fs::path find_assets(const fs::path& executable) {
  const fs::path folder = executable.parent_path();
  for (const fs::path& place : {folder / "assets", folder.parent_path() / "assets",
                                folder.parent_path() / "share/gapscope/assets", fs::path(GAPSCOPE_ASSETS_DIR)}) {
    std::error_code ignored;
    if (fs::is_directory(place / "traces", ignored)) return place;
  }
  return {};
}

fs::path sample_path(const fs::path& assets, const Sample& sample) { return assets / "traces" / (sample.name + ".json.gz"); }

}  // namespace gapscope
