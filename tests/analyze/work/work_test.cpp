#include "core/analyze/work/work.h"

#include <doctest/doctest.h>

#include <string>

using namespace gapscope;

namespace {

Work work(std::string_view op, std::string_view dims, std::string_view types, std::string_view values = {}) {
  const auto call = parse_call(op, dims, types, values);
  REQUIRE(call);
  return work_of(*call);
}

constexpr const char* kBf16x3 = R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])";

}  // namespace

TEST_CASE("models give TraceLens' figures where it is right") {
  // Of its report on a BERT on H100: GFLOP and MiB of one call.
  const Work addmm = work("aten::addmm", "[[512], [141, 512], [512, 512], [], []]", kBf16x3);
  CHECK(addmm.flops == 73'996'800);
  CHECK(addmm.bytes == doctest::Approx(0.7763671875 * 1024 * 1024));
  const Work norm = work("aten::layer_norm", "[[1, 141, 512], [], [512], [512], [], []]",
                         R"(["c10::BFloat16", "ScalarList", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
                         R"(["", "[512]", "", "", "1e-12", "True"])");
  CHECK(norm.flops == 364'032);
  CHECK(norm.bytes == 0.28125 * 1024 * 1024);
  const Work add = work("aten::add", "[[1, 141, 512], [1, 141, 512], []]", R"(["c10::BFloat16", "c10::BFloat16", "Scalar"])");
  CHECK(add.flops == 72'192);
  CHECK(add.bytes == 0.4130859375 * 1024 * 1024);
  const char* heads = "[[1, 8, 141, 64], [1, 8, 141, 64], [1, 8, 141, 64], [], [], [], []]";
  const char* types = R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar"])";
  const Work all =
      work("aten::_scaled_dot_product_flash_attention", heads, types, R"(["", "", "", "0.", "False", "False", ""])");
  CHECK(all.flops == 40'716'288);
  CHECK(all.bytes == 0.55078125 * 1024 * 1024);
  const Work half =
      work("aten::_scaled_dot_product_flash_attention", heads, types, R"(["", "", "", "0.", "True", "False", ""])");
  CHECK(half.flops == 40'716'288 / 2);
  // Of its report on a served model on MI300X.
  const Work rms = work("aiter::rmsnorm2d_fwd_with_add_ck", "[[32, 2880], [32, 2880], [32, 2880], [32, 2880], [2880], [], []]",
                        R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", ""])");
  CHECK(rms.flops == 460'864);
  CHECK(rms.bytes == 0.7086181640625 * 1024 * 1024);
  const Work served = work("vllm::rocm_unquantized_gemm", "[[32, 2880], [5120, 2880], [5120]]", kBf16x3);
  CHECK(served.flops == 943'882'240);
  CHECK(served.bytes == 28.623046875 * 1024 * 1024);
}

TEST_CASE("paged attention takes its keys from the annotation of the step") {
  auto call = parse_call("vllm::unified_attention_with_output", "[[32, 64, 64], [32, 8, 64], [32, 8, 64], [32, 64, 64], []]",
                         kBf16x3, {});
  REQUIRE(call);
  CHECK_FALSE(work_of(*call).flops);
  call->annotation = "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)";
  CHECK(work_of(*call).flops == 902'529'024);
  CHECK(work_of(*call).bytes == 108.08984375 * 1024 * 1024);
  // The same pass as SGLang and ATOM write it.
  call->annotation = "step[DECODE bs=32 g_sq=32 g_sk=55086 g_sqsq=32 g_sqsk=55086]";
  CHECK(work_of(*call).flops == 902'529'024);
  call->annotation = "decode[bs=32 tok=32 sk=55086 sqsq=32 sqsk=55086]";
  CHECK(work_of(*call).flops == 902'529'024);
  // A chunk of 8 tokens behind 24 cached ones, and one new token behind 9: 8 * 32 - 8 * 8 / 2 + 10 pairs.
  call->annotation = "step[MIXED bs=2 c=1 g=1 c_sq=8 c_sk=32 c_sqsq=64 c_sqsk=256 g_sq=1 g_sk=10 g_sqsq=1 g_sqsk=10]";
  CHECK(work_of(*call).flops == 2.0 * 64 * (256 - 32 + 10) * (64 + 64));
  CHECK(work_of(*call).bytes == 2.0 * (9 * (64 + 8) * 128 + (24 + 9) * 8 * 128));
}

TEST_CASE("paged attention that no annotation states the keys of is not counted, and says what would state them") {
  auto call = parse_call("vllm::unified_attention_with_output", "[[32, 64, 64], [32, 8, 64], [32, 8, 64], [32, 64, 64], []]",
                         kBf16x3, {});
  REQUIRE(call);
  for (const char* annotation :
       {"", "execute_context_0(0)_generation_32(32)", "step[DECODE bs=32]", "step[EXTEND bs=2 toks=9]",
        "execute_context_0(0)_generation_0(0)", "execute_32_context_0(sq0sk0", "prefill[bs=2 tok=9]"}) {
    CAPTURE(annotation);
    call->annotation = annotation;
    CHECK_FALSE(work_of(*call).flops);
    CHECK(work_of(*call).why.find("sqsk") != std::string_view::npos);
  }
}

TEST_CASE("paged attention of SGLang takes its caches in pages, with values of another width") {
  auto call = parse_call("sglang_profiler::attention_paged_attention_ragged_12",
                         "[[4, 16, 64], [], [4, 16, 128], [900, 16, 2, 128], [900, 16, 2, 64], []]",
                         R"(["c10::BFloat16", "", "c10::BFloat16", "c10::Float8_e4m3fn", "c10::Float8_e4m3fn", ""])", {});
  REQUIRE(call);
  call->annotation = "step[DECODE bs=4 g_sq=4 g_sk=400 g_sqsq=4 g_sqsk=400]";
  CHECK(work_of(*call).flops == 2.0 * 16 * 400 * (128 + 64));
  CHECK(work_of(*call).bytes == 4 * (16 + 2) * (128 + 64) * 2.0 + 396 * 2 * (128 + 64));
}

TEST_CASE("elementwise work reads each input's own elements and writes the result") {
  const Work wide = work("aten::mul", "[[8, 1, 4], [5, 4]]", R"(["float", "c10::BFloat16"])");
  CHECK(wide.flops == 8 * 5 * 4);
  CHECK(wide.bytes == 8 * 4 * 4 + 5 * 4 * 2 + 8 * 5 * 4 * 4);
  const Work scaled = work("aten::mul_", "[[8, 4], []]", R"(["c10::BFloat16", "double"])");
  CHECK(scaled.bytes == 8 * 4 * 2 * 2 + 8);
  CHECK(work("aten::copy_", "[[8, 4], [8, 4], []]", R"(["float", "c10::BFloat16", "Scalar"])").flops == 0);
  CHECK(work("aten::copy_", "[[8, 4], [8, 4], []]", R"(["float", "c10::BFloat16", "Scalar"])").bytes == 32 * 6);
  CHECK(work("aten::eq", "[[8, 4], []]", R"(["long int", "Scalar"])").bytes == 32 * 9);
  CHECK(work("aten::fill_", "[[8, 4], []]", R"(["float", "Scalar"])").bytes == 32 * 4);
  CHECK(work("aten::where", "[[8, 4], [8, 4], []]", R"(["bool", "c10::BFloat16", "c10::BFloat16"])").bytes == 32 + 64 + 2 + 64);
}

TEST_CASE("convolutions read strides, groups and the output mask") {
  // 2 images of 4 channels, 6 filters in 2 groups, 8 x 8 to 4 x 4.
  const char* types =
      R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])";
  const Work forward = work("aten::convolution", "[[2, 4, 8, 8], [6, 2, 3, 3], [6], [], [], [], [], [], []]", types,
                            R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"])");
  CHECK(forward.flops == 2 * (2 * 6 * 4 * 4) * (2 * 3 * 3));
  CHECK(forward.bytes == 4 * (2 * 4 * 8 * 8 + 6 * 2 * 3 * 3 + 6 + 2 * 6 * 4 * 4));
  // The other way round: each of 4 x 4 places spreads over 3 x 3, to 8 x 8.
  const Work transposed = work("aten::convolution", "[[2, 6, 4, 4], [6, 2, 3, 3], [], [], [], [], [], [], []]", types,
                               R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "2"])");
  CHECK(transposed.flops == 2 * (2 * 6 * 4 * 4) * (2 * 3 * 3));
  CHECK(transposed.bytes == 4 * (2 * 6 * 4 * 4 + 6 * 2 * 3 * 3 + 2 * 4 * 8 * 8));
}

TEST_CASE("a convolution's backward pass counts the gradients that its output mask asks for") {
  const auto backward = [](std::string_view mask) {
    const std::string values =
        R"(["", "", "", "[6]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2", ")" + std::string(mask) + "\"]";
    return work(
               "aten::convolution_backward", "[[2, 6, 4, 4], [2, 4, 8, 8], [6, 2, 3, 3], [], [], [], [], [], [], [], []]",
               R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"])",
               values.c_str())
        .flops;
  };
  const double once = 2 * (2 * 6 * 4 * 4) * (2 * 3 * 3);
  CHECK(backward("[False, True, False]") == once);
  CHECK(backward("[True, True, False]") == 2 * once);
}

TEST_CASE("lists without sizes are counted by their elements where these are known") {
  auto call =
      parse_call("aten::_foreach_addcmul_", "[[], [], [], []]", R"(["TensorList", "TensorList", "TensorList", "Scalar"])", {});
  REQUIRE(call);
  call->kernel = "multi_tensor_apply_kernel<TensorListMetadata<3>, BinaryOp<float>>";
  CHECK(work_of(*call).why.find("30 tensors") != std::string_view::npos);
  call->list_elements = 1000;
  CHECK(work_of(*call).bytes == 4 * 4 * 1000);
}

TEST_CASE("what is hostile, odd or not recorded is not counted, and says why") {
  for (const char* dims : {"[]", "[[]]", "[[1e300, 1e300], [1e300, 1e300], []]", "[[-5, 3], [3, 2]]", "[[\"a\"]]", "[[[]]]"}) {
    for (const char* op : {"aten::mm", "aten::addmm", "aten::convolution", "aten::convolution_backward", "aten::index_select",
                           "aten::native_layer_norm_backward", "aten::_flash_attention_forward", "aten::cat", "aten::sum",
                           "aten::max_pool2d_with_indices", "aten::upsample_nearest2d", "vllm::moe_forward", "aten::arange",
                           "aten::embedding_dense_backward", "aten::_fused_adam_", "triton_poi_fused_add_0"}) {
      CAPTURE(dims);
      CAPTURE(op);
      const Work got = work(op, dims, "[]", R"(["", "[9999999999]", "-1"])");
      CHECK(got.flops.has_value() == got.bytes.has_value());
      CHECK((got.flops || !got.why.empty()));
    }
  }
  CHECK_FALSE(work_model("aten::unheard_of"));
  CHECK(work("aten::unheard_of", "[[2, 2]]", "[\"float\"]").why.empty());
}
