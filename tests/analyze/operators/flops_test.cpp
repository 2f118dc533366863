#include "core/analyze/operators/flops.h"

#include <doctest/doctest.h>

#include "core/analyze/gpu/devices.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A convolution of one pixel at a time, to count against.
double count_convolution(int n, int c, int o, int size, int kernel, int stride, int padding, int groups) {
  const int out = (size + 2 * padding - kernel) / stride + 1;
  const int channels = c / groups;
  double flops = 0;
  for (int place = 0; place < n * o * out * out; ++place) flops += 2.0 * channels * kernel * kernel;
  return flops;
}

}  // namespace

TEST_CASE("products count two for each multiplication and addition, and one for each result with a bias") {
  CHECK(flops_of("aten::mm", "[[2, 3], [3, 5]]").count == 60);
  CHECK(flops_of("aten::addmm", "[[5], [2, 3], [3, 5], [], []]").count == 60 + 2 * 5);
  CHECK(flops_of("aten::bmm", "[[8, 2, 3], [8, 3, 5]]").count == 480);
  CHECK(flops_of("aten::baddbmm", "[[8, 2, 5], [8, 2, 3], [8, 3, 5], [], []]").count == 480 + 8 * 2 * 5);
  CHECK(flops_of("aten::linear", "[[4, 7, 3], [5, 3], [5]]").count == 2 * 4 * 7 * 3 * 5 + 4 * 7 * 5);
}

TEST_CASE("attention counts scores and values, backward five products") {
  const double scores = 2.0 * 2 * 4 * 16 * 32 * 8, values = 2.0 * 2 * 4 * 16 * 32 * 6;
  CHECK(flops_of("aten::scaled_dot_product_attention", "[[2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 6], []]").count ==
        scores + values);
  CHECK(flops_of("aten::_scaled_dot_product_flash_attention_backward",
                 "[[2, 4, 16, 6], [2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 6]]")
            .count == 3 * scores + 2 * values);
}

TEST_CASE("attention kernels that take heads after places count the same") {
  CHECK(flops_of("aten::_flash_attention_forward", "[[2, 16, 4, 8], [2, 32, 4, 8], [2, 32, 4, 8]]").count ==
        flops_of("aten::_cudnn_attention_forward", "[[2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 8]]").count);
}

TEST_CASE("convolutions need stride and padding, and agree with counting pixel by pixel") {
  const char* dims = "[[2, 6, 11, 11], [9, 2, 3, 3], [9], [], [], [], [], [], []]";
  CHECK_FALSE(flops_of("aten::convolution", dims).count);
  CHECK(flops_of("aten::convolution", dims).why.find("stride") != std::string_view::npos);
  const char* inputs = R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "3"])";
  CHECK(flops_of("aten::convolution", dims, inputs).count == count_convolution(2, 6, 9, 11, 3, 2, 1, 3));
  const char* library = R"(["", "", "[1, 1]", "[2, 2]", "[1, 1]", "3", "False"])";
  CHECK(flops_of("aten::cudnn_convolution", "[[2, 6, 11, 11], [9, 2, 3, 3], [], [], [], []]", library).count ==
        count_convolution(2, 6, 9, 11, 3, 2, 1, 3));
  CHECK(flops_of("aten::convolution_backward", "[[2, 9, 6, 6], [2, 6, 11, 11], [9, 2, 3, 3], []]").count ==
        2 * count_convolution(2, 6, 9, 11, 3, 2, 1, 3));
  const char* weight_alone = R"(["", "", "", "", "", "", "", "False", "", "3", "[False, True, False]"])";
  CHECK(flops_of("aten::convolution_backward", "[[2, 9, 6, 6], [2, 6, 11, 11], [9, 2, 3, 3], [], [], [], [], [], [], [], []]",
                 weight_alone)
            .count == count_convolution(2, 6, 9, 11, 3, 2, 1, 3));
}

TEST_CASE("missing, odd and hostile shapes say so") {
  CHECK(flops_of("aten::mm", "").why.find("record_shapes=True") != std::string_view::npos);
  for (const char* odd : {"[]", "{}", "[[2, 3]]", "[[2, 3], [4, 5]]", "nonsense", "[[2, 3], \"a\"]", "[[], []]"}) {
    CAPTURE(odd);
    CHECK_FALSE(flops_of("aten::mm", odd).count);
    CHECK_FALSE(flops_of("aten::mm", odd).why.empty());
  }
  CHECK_FALSE(flops_of("aten::add", "[[2, 3], [3, 5]]").count);
  CHECK(flops_of("aten::add", "[[2, 3], [3, 5]]").why.empty());
}

TEST_CASE("peaks go by the device's whole name") {
  CHECK(dense_peak({}, "NVIDIA H200", MathType::bf16) == 989.5e12);
  CHECK(dense_peak({}, "NVIDIA H100 PCIe", MathType::bf16) == 756e12);
  CHECK(dense_peak({}, "NVIDIA A100-SXM4-80GB", MathType::tf32) == 156e12);
  CHECK(dense_peak({}, "AMD Instinct MI300X", MathType::fp16) == 1307.4e12);
  CHECK_FALSE(dense_peak({}, "Tesla V100-SXM2-32GB", MathType::bf16));
  CHECK_FALSE(dense_peak({}, "NVIDIA A10G", MathType::fp16));
  CHECK_FALSE(dense_peak({}, "some GPU", MathType::fp16));
  // The documents that the table names.
  CHECK(dense_peak({}, "NVIDIA GB200", MathType::fp64) == 45e12);
  CHECK(dense_peak({}, "NVIDIA B200", MathType::tf32) == 18'000e12 / 8 / 2);
  CHECK(dense_peak({}, "AMD Instinct MI355X", MathType::fp16) == doctest::Approx(2.0 * 256 * 4096 * 2.4e9 / 2).epsilon(1e-4));
  CHECK(dense_peak({}, "AMD Instinct MI350X", MathType::fp8) == doctest::Approx(2.0 * 256 * 8192 * 2.2e9 / 2).epsilon(1e-4));
  CHECK(dense_peak({}, "NVIDIA GeForce RTX 5060 Ti", MathType::fp32) == doctest::Approx(2 * 4608 * 2.57e9).epsilon(1e-2));
}

TEST_CASE("a GPU whose name only begins like that of another one is not rated by its peaks") {
  CHECK(dense_peak({}, "NVIDIA L40", MathType::fp8) == 362e12);
  CHECK(dense_peak({}, "NVIDIA L4", MathType::fp8) == 242.5e12);
  CHECK(dense_peak({}, "NVIDIA GeForce RTX 2060 SUPER", MathType::fp32) == 7.2e12);
  CHECK(dense_peak({}, "NVIDIA GeForce RTX 4090", MathType::fp32) == 82.6e12);
  CHECK(dense_peak({}, "nvidia h100 80gb hbm3", MathType::fp16) == 989.5e12);
  for (const char* name :
       {"NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 2070 with Max-Q Design",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA A1000 Laptop GPU", "NVIDIA L40G", "NVIDIA A10M"}) {
    CAPTURE(name);
    CHECK_FALSE(is_known_device(name));
    CHECK_FALSE(memory_bandwidth({}, name));
  }
}

TEST_CASE("what is stated of a GPU is preferred to the table") {
  StatedRoofs roofs;
  CHECK(read_peak("bf16=989e12", roofs));
  CHECK(read_peak("bandwidth=4.8e12", roofs));
  for (const char* odd : {"bf16", "bf16=", "bf16=fast", "int3=1e12", "bf16=-1", "bandwidth=0", "=1e12", "bf16=1e12 "})
    CHECK_FALSE(read_peak(odd, roofs));
  CHECK(dense_peak(roofs, "A GPU of tomorrow", MathType::bf16) == 989e12);
  CHECK_FALSE(dense_peak(roofs, "A GPU of tomorrow", MathType::fp8));
  CHECK(memory_bandwidth(roofs, "NVIDIA H100 PCIe") == 4.8e12);
  CHECK(dense_peak(roofs, "NVIDIA H100 PCIe", MathType::fp16) == 756e12);
  CHECK(memory_bandwidth({}, "NVIDIA H100 PCIe") == 2039e9);
}

TEST_CASE("the rate of one call is its operations over the time of every kernel launched inside it") {
  const auto doc = document_from_text(R"json({"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 0, "dur": 90, "args": {"External id": 1, "Input Dims": [[1024, 1024], [1024, 1024], []], "Input type": ["c10::BFloat16", "c10::BFloat16", ""]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 80, "args": {"External id": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {"External id": 2, "correlation": 7}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 4, "dur": 1, "args": {"External id": 2, "correlation": 8}},
{"ph": "X", "cat": "kernel", "name": "product", "pid": 0, "tid": 7, "ts": 10, "dur": 15, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "sum", "pid": 0, "tid": 7, "ts": 30, "dur": 5, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 8}},
{"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 100, "dur": 9, "args": {"External id": 3}}
]})json");
  const auto rate = [&](std::string_view name) { return rate_of(doc->trace, doc->lanes, doc->links, slice_named(*doc, name)); };
  const auto linear = rate("aten::linear");
  REQUIRE(linear);
  const double count = 2.0 * 1024 * 1024 * 1024;
  CHECK(linear->flops.count == count);
  CHECK(linear->gpu_time == 20'000);
  REQUIRE(linear->per_second);
  CHECK(*linear->per_second == doctest::Approx(count / 20e-6));
  REQUIRE(linear->peak_share);
  CHECK(*linear->peak_share == doctest::Approx(count / 20e-6 / 989.5e12));
  CHECK(rate("aten::mm")->flops.why == "The shapes are not recorded: record with record_shapes=True.");
  CHECK_FALSE(rate("aten::relu"));
  CHECK_FALSE(rate("product"));
}

TEST_CASE("shapes read on one line however the file lays them out") {
  CHECK(shapes_text("[[2, 3], [], [4]]") == "[[2, 3], [], [4]]");
  CHECK(shapes_text("[\n  [\n   2,\n   3\n  ],[],\t[4]\n]") == "[[2, 3], [], [4]]");
  CHECK(shapes_text(R"(["a, \" b", 1])") == R"(["a, \" b", 1])");
  CHECK(shapes_text("").empty());
}
