#include "core/view/details/details_sections.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A kernel with 200 KB of shared memory on a fully described H200; Kineto states 0 %.
constexpr std::string_view kLarge = R"json({"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "computeMajor": 9,
"computeMinor": 0, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "warpSize": 32,
"sharedMemPerBlock": 49152, "sharedMemPerMultiprocessor": 233472, "numSms": 132}], "traceEvents": [
{"ph": "X", "cat": "kernel", "name": "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "pid": 0, "tid": 7, "ts": 1.0, "dur": 2.0,
"args": {"device": 0, "stream": 7, "registers per thread": 168, "shared memory": 204800, "grid": [132, 1, 1],
"block": [384, 1, 1], "est. achieved occupancy %": 0}}]})json";

const DetailsLine& line(const std::vector<DetailsLine>& lines, std::string_view key) {
  const auto at = std::find_if(lines.begin(), lines.end(), [&](const DetailsLine& l) { return l.key == key; });
  REQUIRE_MESSAGE(at != lines.end(), std::string(key));
  return *at;
}

}  // namespace

TEST_CASE("a stated 0 % comes with the value it should have been, and why") {
  const auto doc = document_from_text(kLarge);
  const DetailsLine occupancy = occupancy_line(*doc, doc->trace.gpu[0]);
  CHECK(occupancy.value == "18.8 % of warp slots, limited by registers and shared memory");
  CHECK(occupancy.hover.find("The file states 0 %: the profiler assumes that a block gets at most 48 KiB") !=
        std::string::npos);
}

TEST_CASE("each decoded field explains itself on hover") {
  const DetailsSection section = decoded_name("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT");
  CHECK(line(section.lines, "kind").value == "gemm");
  CHECK(line(section.lines, "layout").value == "nn");
  for (const DetailsLine& l : section.lines) CHECK_FALSE(l.hover.empty());
  CHECK(section.note.empty());
  CHECK_FALSE(decoded_name("k").note.empty());
}

TEST_CASE("without the GPU's properties the panel says what is missing") {
  const auto doc = document_from_text(kOneLaunch);
  const DetailsLine occupancy = occupancy_line(*doc, *doc->trace.gpu_row(slice_named(*doc, "first")));
  CHECK(occupancy.look == DetailsLine::Look::absent);
  CHECK(occupancy.hover == "The file does not state the kernel's grid and block.");
}

TEST_CASE("a convolution counts its operations as soon as its stride and padding are read") {
  const auto doc = document_from_text(R"json({"deviceProperties": [{"id": 0, "name": "Some GPU"}], "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::convolution", "pid": 1, "tid": 1, "ts": 0, "dur": 90, "args": {"External id": 1,
 "Input Dims": [[1, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], []]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {"External id": 1, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "implicit_convolve_sgemm", "pid": 0, "tid": 7, "ts": 10, "dur": 2, "args": {"External id": 1, "device": 0, "stream": 7, "correlation": 7}}
]})json");
  const SliceId op = slice_named(*doc, "aten::convolution");
  CHECK(arithmetic(*doc, op, nullptr).note ==
        "A convolution's result depends on stride and padding, which are not known here.");
  SliceArgs args{op};
  args.args.push_back({"Concrete Inputs", R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])", false});
  const DetailsSection section = arithmetic(*doc, op, &args);
  CHECK(line(section.lines, "operations").value == "13.8 kFLOP");  // 2 * 4 * 8 * 8 places * 3 * 3 * 3
  CHECK(line(section.lines, "achieved").value == "6.91 GFLOP/s");
  CHECK(line(section.lines, "of the dense peak").value == "not known");
  const DetailsSection kernel = arithmetic(*doc, slice_named(*doc, "implicit_convolve_sgemm"), nullptr);
  CHECK(kernel.title == "Arithmetic of aten::convolution");
  CHECK(arithmetic(*doc, slice_named(*doc, "cudaLaunchKernel"), nullptr).title.empty());
}
