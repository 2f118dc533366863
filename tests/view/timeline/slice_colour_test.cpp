#include "core/view/timeline/slice_colour.h"

#include <doctest/doctest.h>

#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("text can be read on every slice: contrast 4.5 or more, one colour of text a hue") {
  for (const Palette palette : {Palette::usual, Palette::colour_blind}) {
    for (std::size_t hue = 0; hue < kHues; ++hue) {
      for (std::uint8_t shade = 0; shade < kShades; ++shade) {
        const Paint& paint = paint_of(palette, static_cast<Hue>(hue), shade);
        CHECK(paint.text == paint_of(palette, static_cast<Hue>(hue), 0).text);
        CHECK_MESSAGE(contrast(paint.fill, paint.text) >= 4.5, "hue ", hue, " shade ", int{shade});
      }
    }
  }
}

TEST_CASE("contrast agrees with the definition at its ends") {
  CHECK(contrast(rgb(0x000000), rgb(0xFFFFFF)) == doctest::Approx(21));
  CHECK(contrast(rgb(0x777777), rgb(0x777777)) == doctest::Approx(1));
}

TEST_CASE("kernels are distinguished by name") {
  CHECK(hue_of_kernel("nvjet_hsh_64x8_64x16_4x1_v_bz_TNT") == Hue::gemm);
  CHECK(hue_of_kernel("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x6_nn_align8>") ==
        Hue::gemm);
  CHECK(hue_of_kernel("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>") == Hue::attention);
  CHECK(hue_of_kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>") ==
        Hue::elementwise);
  CHECK(hue_of_kernel("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>") == Hue::reduction);
  CHECK(hue_of_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL") == Hue::collective);
  CHECK(hue_of_kernel("sm80_xmma_fprop_implicit_gemm_tf32f32") == Hue::convolution);
  CHECK(hue_of_kernel("something_else") == Hue::kernel);
}

TEST_CASE("an operator that shares a kernel's name keeps the colour of operators") {
  const auto trace = hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"triton_poi_fused_add_0", 0, 5, Kind::op}}}},
                                 {"g", "s", LaneKind::gpu_stream, {{{"triton_poi_fused_add_0", 6, 9, Kind::kernel}}}}});
  SliceColours colours(*trace);
  CHECK(colours.of(SliceId(0)).hue == Hue::op);
  CHECK(colours.of(SliceId(1)).hue == Hue::elementwise);
  CHECK(colours.of(SliceId(0)).shade == colours.of(SliceId(1)).shade);
}
