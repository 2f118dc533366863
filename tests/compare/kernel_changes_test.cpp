// Each class of kernel change by a made-up recording.
#include <doctest/doctest.h>

#include "tests/support/tiny_steps.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

const KernelClassTotal& total(const Comparison& c, KernelChangeClass change) {
  return c.kernel_totals[static_cast<std::size_t>(change)];
}

// One GEMM whose kernel has another name.
KernelChange one_gemm(const char* name_a, const char* name_b) {
  const Comparison c = compare_runs({{{"aten::mm", name_a}}}, {{{"aten::mm", name_b}}});
  REQUIRE(c.kernels.size() == 1);
  CHECK(c.kernels[0].count_a == 1);
  CHECK(c.kernels[0].count_b == 1);
  CHECK(c.kernels[0].operators == std::vector<std::string>{"aten::mm"});
  return c.kernels[0];
}

constexpr const char* kPlain = "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT";

}  // namespace

TEST_CASE("a kernel of the same name is the same, whatever number a generated name ends in") {
  CHECK(one_gemm(kPlain, kPlain).change == KernelChangeClass::same);
  CHECK(one_gemm("triton_poi_fused_add_0", "triton_poi_fused_add_12").change == KernelChangeClass::same);
  CHECK(one_gemm("void f<g()::{lambda(int)#1}>(int)", "void f<g()::{lambda(int)#2}>(int)").change == KernelChangeClass::same);
}

TEST_CASE("badd instead of bz is another epilogue") {
  const KernelChange k = one_gemm(kPlain, "nvjet_sm90_tst_64x8_64x16_1x4_h_badd_NNT");
  CHECK(k.change == KernelChangeClass::epilogue);
  CHECK(k.detail == "epilogue none -> accumulate");
}

TEST_CASE("other letters at the end of a product's name are another layout") {
  CHECK(one_gemm(kPlain, "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_TNT").change == KernelChangeClass::layout);
}

TEST_CASE("bf16 to fp16 is another data type, even where the tile changes as well") {
  const KernelChange k = one_gemm(kPlain, "nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_NNT");
  CHECK(k.change == KernelChangeClass::dtype);
  CHECK(k.detail.starts_with("input bf16 -> fp16, output bf16 -> fp16, tile "));
}

TEST_CASE("what a TF32 kernel multiplies is its input's type, as another kernel's name says it") {
  const KernelChange k = one_gemm(
      "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
      "nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_NNT");
  CHECK(k.change == KernelChangeClass::dtype);
  CHECK(k.detail.starts_with("input tf32 -> fp16, family "));
}

TEST_CASE("another tile of the same library is a tile change") {
  CHECK(one_gemm(kPlain, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT").change == KernelChangeClass::tile);
}

TEST_CASE("the same sort of product from another library is another family") {
  const KernelChange k = one_gemm(
      "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
      "void "
      "cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x5_tn_align4>(cutlass_80_tensorop_s1688gemm_128x128_32x5_tn_"
      "align4::Params)");
  CHECK(k.change == KernelChangeClass::family);
}

TEST_CASE("operators that a Triton kernel names went into it, also past a product") {
  const TinyRun eager = {{{"aten::gelu", "gelu_kernel", 4}, {"aten::mm", kPlain, 9}, {"aten::mul", "mul_kernel", 3}}};
  const TinyRun compiled = {{{"aten::mm", kPlain, 9}, {"triton_poi_fused_gelu_mul_0", "triton_poi_fused_gelu_mul_0", 5}}};
  const Comparison c = compare_runs(eager, compiled);
  REQUIRE(c.kernels.size() == 2);
  const KernelChange& fused = c.kernels[0];
  CHECK(fused.change == KernelChangeClass::fused);
  CHECK(fused.name_b == "triton_poi_fused_gelu_mul_0");
  CHECK(fused.count_a == 2);
  CHECK(fused.count_b == 1);
  CHECK(fused.ns_a == 7'000);
  CHECK(fused.ns_b == 5'000);
  CHECK(fused.operators == std::vector<std::string>{"aten::gelu", "aten::mul"});
  CHECK(c.kernels[1].change == KernelChangeClass::same);

  const Comparison back = compare_runs(compiled, eager);
  CHECK(total(back, KernelChangeClass::fused).count_a == 1);
  CHECK(total(back, KernelChangeClass::fused).count_b == 2);
  CHECK(c.verdict.find("2 kernels became 1 by fusing") != std::string::npos);
  CHECK(back.verdict.find("1 kernel became 2 with less fusing") != std::string::npos);
}

TEST_CASE("one kernel for one is another generator's, and what a programmer wrote in Triton fuses nothing") {
  const TinyRun eager = {{{"aten::gelu", "gelu_kernel", 4}, {"aten::mm", kPlain, 9}}};
  const Comparison c =
      compare_runs(eager, {{{"triton_poi_fused_gelu_0", "triton_poi_fused_gelu_0", 5}, {"aten::mm", kPlain, 9}}});
  CHECK(total(c, KernelChangeClass::fused).count_a == 0);
  CHECK(total(c, KernelChangeClass::family).count_a == 1);
  CHECK(c.verdict.find("1 kernel comes from another library or generator") != std::string::npos);
  const Comparison by_hand = compare_runs(eager, {{{"attention", "attn_fwd", 5}, {"aten::mm", kPlain, 9}}});
  CHECK(total(by_hand, KernelChangeClass::fused).count_b == 0);
  CHECK(total(by_hand, KernelChangeClass::added).count_b == 1);
}

TEST_CASE("a kernel that only one side has is added or removed, and one of two equal ones as well") {
  const Comparison c = compare_runs({{{"aten::mm", kPlain}, {"aten::mm", kPlain}}},
                                    {{{"aten::mm", kPlain}, {"aten::copy_", "Memcpy DtoD (Device -> Device)"}}});
  CHECK(total(c, KernelChangeClass::same).count_a == 1);
  CHECK(total(c, KernelChangeClass::removed).count_a == 1);
  CHECK(total(c, KernelChangeClass::added).count_b == 1);
  CHECK(c.verdict.find("1 of 2 GEMMs keep their kernel") != std::string::npos);
}

TEST_CASE("kernels that only changed places are the same") {
  const Comparison c = compare_runs({{{"aten::mm", kPlain}, {"aten::add", "x"}, {"aten::mul", "y"}}},
                                    {{{"aten::mul", "y"}, {"aten::mm", kPlain}, {"aten::add", "x"}}});
  CHECK(total(c, KernelChangeClass::same).count_a == 3);
  CHECK(c.kernels.size() == 3);
}

TEST_CASE("the same name with another grid is the same kernel on another amount of work") {
  const Comparison c =
      compare_runs({{{"aten::mm", kPlain, 5, "cudaLaunchKernel", 8}}}, {{{"aten::bmm", kPlain, 5, "cudaLaunchKernel", 64}}});
  REQUIRE(c.kernels.size() == 1);
  CHECK(c.kernels[0].change == KernelChangeClass::same);
  CHECK(c.kernels[0].other_grid);
  CHECK(c.kernels[0].operators == std::vector<std::string>{"aten::mm", "aten::bmm"});
  CHECK(finding_of(c, "pair_same_gpu_work") == nullptr);
  CHECK(finding_of(c, "pair_kernel_changed") == nullptr);
}
