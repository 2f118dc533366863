#include "core/view/timeline/slice_label.h"

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

GlyphWidths ten_wide() {
  GlyphWidths widths;
  widths.ascii.fill(10);
  widths.other = widths.ellipsis = 10;
  return widths;
}

std::string fitted(std::string_view name, float room) {
  std::string out;
  fit_label(name, room, ten_wide(), out);
  return out;
}

}  // namespace

TEST_CASE("a name that fits is left alone") { CHECK(fitted("aten::mm", 80) == "aten::mm"); }

TEST_CASE("namespaces go before letters do") {
  CHECK(fitted("aten::matmul", 60) == "matmul");
  CHECK(without_namespaces("void at::native::(anonymous namespace)::softmax<4>(int)") == "softmax<4>(int)");
  CHECK(without_namespaces("std::vector<std::string>") == "vector<std::string>");
  CHECK(without_namespaces("model.py(12): forward") == "model.py(12): forward");
  CHECK(without_namespaces("a::") == "a::");
}

TEST_CASE("a Python frame loses its folders, then its place, before its function") {
  const std::string frame = "torch/nn/modules/module.py(1783): _call_impl";
  CHECK(fitted(frame, 300) == "module.py(1783): _call_impl");
  CHECK(fitted(frame, 120) == "_call_impl");
  CHECK(fitted(frame, 60) == "_call\xE2\x80\xA6");
  CHECK(fitted("nn.Module: Linear_2", 100) == "Linear_2");
}

TEST_CASE("a name keeps its beginning, and of a function that is too long the facts behind it") {
  CHECK(fitted("cudaLaunchKernel", 60) == "cudaL\xE2\x80\xA6");
  CHECK(fitted("nvjet_hsh_64x8_64x16_4x1_v_bz_TNT", 160) == "nvjet_hsh_64x8_\xE2\x80\xA6");
  CHECK(fitted("vectorized_elementwise_kernel<add, bf16, 4>", 240) == "vectorized_e\xE2\x80\xA6<add, bf16\xE2\x80\xA6");
  CHECK(fitted("vectorized_elementwise_kernel<gelu, 8>", 240) == "vectorized_ele\xE2\x80\xA6<gelu, 8>");
  CHECK(fitted("vectorized_elementwise_kernel<gelu, 8>", 130) == "vectorized_e\xE2\x80\xA6");
  CHECK(fitted("reduce_kernel<512, 1, ReduceOp<float>>", 240) == "reduce_kernel<512, 1, R\xE2\x80\xA6");
  CHECK(fitted("ProfilerStep#12", 90) == "Profi\xE2\x80\xA6#12");
  CHECK(fitted("ProfilerStep#12", 60) == "Profi\xE2\x80\xA6");
  CHECK(fitted("## Call CompiledFxGraph f3 ##", 100) == "## Call C\xE2\x80\xA6");
  CHECK(fitted("autograd::engine::evaluate_function: MmBackward0", 240) == "evaluate_fun\xE2\x80\xA6MmBackward0");
}

TEST_CASE("a room for nothing shows nothing") {
  CHECK(fitted("abcdef", 15).empty());
  CHECK(fitted("abcdef", 35).empty());
  CHECK(fitted("", 100).empty());
}

TEST_CASE("code points are never cut") {
  std::string name;
  for (int i = 0; i < 30; ++i) name += "\xC3\xA4";
  for (float room = 20; room < 200; room += 10) {
    const std::string text = fitted(name, room);
    CHECK(ten_wide().of(text) <= room);
    std::size_t letters = 0;
    for (const char c : text) letters += (c == '\xC3') - (c == '\xA4');
    CHECK(letters == 0);
  }
}

TEST_CASE("control characters do not reach the screen") { CHECK(fitted("a\tb\nc", 100) == "a b c"); }
