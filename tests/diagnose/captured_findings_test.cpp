// Findings about kernels of replayed graphs name the operators of the capture, and say so; without the capture they know none.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/session/captured_trace.h"
#include "tests/support/diagnosed.h"
#include "tests/support/real_traces.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A kernel, and the operator that captured it; none: the same one as the last. Times in microseconds.
struct Node {
  std::string op, kernel;
  int duration = 100;
  std::string dims = "[[64, 64], [64, 64]]", types = R"(["float", "float"])";
  std::string around = {};  // an operator or annotation around that
};

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";
constexpr const char* kMul = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >(int)";
constexpr const char* kGemm = "ampere_sgemm_128x64_nn";

std::string slice_text(const std::string& cat, const std::string& name, int begin, int length, int tid,
                       const std::string& args) {
  return fmt::format(
      "{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",\"pid\":7,\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}", cat, name,
      tid, begin, length, args);
}

std::string file_text(const std::string& inside) {
  return R"({"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3","computeMajor":9,"computeMinor":0}],"traceEvents":[)" +
         inside + "]}";
}

std::string capture_text(const std::vector<Node>& nodes) {
  std::string all = slice_text("cuda_runtime", "hipStreamBeginCapture", 10, 5, 1, "\"correlation\":1");
  int at = 100, correlation = 2;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    int length = 40;
    for (std::size_t next = i + 1; next < nodes.size() && nodes[next].op.empty(); ++next) length += 50;
    const bool is_op = node.around.starts_with("aten::");
    if (!node.around.empty()) all += ",\n" + slice_text(is_op ? "cpu_op" : "user_annotation", node.around, at, length, 1, "");
    if (!node.op.empty())
      all += ",\n" + slice_text("cpu_op", node.op, at + 1, length - 2, 1,
                                fmt::format("\"Input Dims\":{},\"Input type\":{}", node.dims, node.types));
    const bool copies = node.kernel.starts_with("Memcpy");
    all += ",\n" + slice_text("cuda_runtime", copies ? "hipMemcpyAsync" : "hipModuleLaunchKernel", at + 2, 10, 1,
                              copies ? fmt::format("\"correlation\":{}", correlation)
                                     : fmt::format("\"correlation\":{},\"kernel\":\"{}\"", correlation, node.kernel));
    ++correlation;
    at += 50;
  }
  return file_text(all + ",\n" + slice_text("cuda_runtime", "hipStreamEndCapture", at, 5, 1, "\"correlation\":1000"));
}

// Three replays, one after another.
std::string replay_text(const std::vector<Node>& nodes) {
  std::string all;
  int at = 1000;
  for (int i = 0; i < 3; ++i) {
    const std::string launch = fmt::format("\"correlation\":{}", 2000 + i);
    all += (i > 0 ? ",\n" : "") + slice_text("cuda_runtime", "hipGraphLaunch", at, 10, 1, launch);
    at += 20;
    for (const Node& node : nodes) {
      all += ",\n" + slice_text(node.kernel.starts_with("Memcpy") ? "gpu_memcpy" : "kernel", node.kernel, at, node.duration, 3,
                                launch + R"(,"device":0,"stream":3)");
      at += node.duration;
    }
    at += 10;
  }
  return file_text(all);
}

struct Replayed {
  Replayed(const std::vector<Node>& nodes, bool with_capture = true) {
    if (with_capture) folder.write("capture_traces/c.json", capture_text(nodes));
    const auto loaded = load_captured_trace(folder.write("t.json", replay_text(nodes)));
    REQUIRE(loaded.ok());
    diagnosed = std::make_unique<Diagnosed>(*loaded);
  }
  const Finding* finding(std::string_view rule) const {
    const std::vector<const Finding*> found = diagnosed->findings(rule);
    return found.empty() ? nullptr : found.front();
  }
  TempFolder folder;
  std::unique_ptr<Diagnosed> diagnosed;
};

std::int64_t joined_of(const Finding& finding) {
  const EvidenceValue* value = finding.evidence.find("joined");
  return value == nullptr ? 0 : std::get<std::int64_t>(value->value);
}

std::string text_of(const Finding& finding, std::string_view key) {
  const EvidenceValue* value = finding.evidence.find(key);
  return value == nullptr ? std::string() : std::get<std::string>(value->value);
}

bool says(const Finding& finding, std::string_view words) { return finding.summary.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("the leading kernel of a replayed graph has the operator that captured it") {
  const std::vector<Node> nodes = {{"aten::mm", kGemm, 900}, {"aten::add", kAdd, 100}};
  const Replayed with(nodes), without(nodes, false);
  REQUIRE(with.finding("gpu_hotspot"));
  CHECK(says(*with.finding("gpu_hotspot"), "It was replayed by a graph and captured by aten::mm."));
  CHECK(text_of(*with.finding("gpu_hotspot"), "captured_by") == "aten::mm");
  REQUIRE(without.finding("gpu_hotspot"));
  CHECK_FALSE(says(*without.finding("gpu_hotspot"), "captured"));
  CHECK_FALSE(says(*without.finding("gpu_hotspot"), "launched by"));
}

TEST_CASE("products in fp32 of a replayed graph have the shapes of the capture") {
  const std::vector<Node> nodes = {{"aten::mm", kGemm, 900, "[[640, 64], [64, 64]]"}, {"aten::add", kAdd, 100}};
  const Replayed with(nodes), without(nodes, false);
  REQUIRE(with.finding("fp32_gemm_cuda_cores"));
  CHECK(text_of(*with.finding("fp32_gemm_cuda_cores"), "input_dims") == "[[640, 64], [64, 64]]");
  CHECK(text_of(*with.finding("fp32_gemm_cuda_cores"), "captured_by") == "aten::mm");
  REQUIRE(without.finding("fp32_gemm_cuda_cores"));
  CHECK(text_of(*without.finding("fp32_gemm_cuda_cores"), "input_dims").empty());
}

TEST_CASE("casts in a replayed graph are found by the types of the capture") {
  const std::string cast = R"(["c10::BFloat16", "float"])", copy = R"(["float", "float"])";
  const std::vector<Node> nodes = {{"aten::mm", kGemm, 500},
                                   {"aten::copy_", kAdd, 500, "[[64], [64]]", cast, "aten::_to_copy"}};
  const Replayed with(nodes);
  REQUIRE(with.finding("amp_casts"));
  CHECK(joined_of(*with.finding("amp_casts")) == 3);
  CHECK(says(*with.finding("amp_casts"), "3 casts between 32 and 16 bits take 50 %"));
  CHECK(says(*with.finding("amp_casts"), "Operators are those of the capture of the replayed graphs."));
  CHECK_FALSE(Replayed(nodes, false).finding("amp_casts"));
  std::vector<Node> plain = nodes;
  plain[1].types = copy;
  CHECK_FALSE(Replayed(plain).finding("amp_casts"));
  plain = nodes;
  plain[1].around = "aten::clone";
  CHECK_FALSE(Replayed(plain).finding("amp_casts"));
}

TEST_CASE("attention in separate steps is found in a replayed graph, once a replay") {
  const std::vector<Node> nodes = {{"aten::bmm", kGemm, 100, "[[8, 64, 64], [8, 64, 64]]"},
                                   {"aten::_softmax", "softmax_warp_forward", 100},
                                   {"aten::bmm", kGemm, 100}};
  const Replayed with(nodes);
  REQUIRE(with.finding("unfused_attention"));
  CHECK(says(*with.finding("unfused_attention"), "3 times scores are computed"));
  CHECK(joined_of(*with.finding("unfused_attention")) == 9);
  CHECK(text_of(*with.finding("unfused_attention"), "input_dims") == "[[8, 64, 64], [8, 64, 64]]");
  CHECK(with.finding("unfused_attention")->stake == 900'000);
  CHECK_FALSE(Replayed(nodes, false).finding("unfused_attention"));
}

TEST_CASE("a chain of elementwise kernels in a replayed graph has the operators of the capture, but for compiled code") {
  const std::vector<Node> nodes = {{"aten::add", kAdd}, {"aten::mul", kMul}, {"aten::mm", kGemm}};
  const Replayed with(nodes);
  REQUIRE(with.finding("unfused_elementwise_chain"));
  const Finding& chain = *with.finding("unfused_elementwise_chain");
  CHECK(joined_of(chain) == 6);
  const auto& names = std::get<EvidenceList>(chain.evidence.find("longest_chain")->value);
  REQUIRE(names.size() == 2);
  CHECK(std::get<std::string>(names[0].value) == "aten::add");
  CHECK(std::get<std::string>(names[1].value) == "aten::mul");
  CHECK_FALSE(Replayed(nodes, false).finding("unfused_elementwise_chain"));
  std::vector<Node> compiled = nodes;
  for (Node& node : compiled) node.around = "Torch-Compiled Region: 0/0";
  CHECK_FALSE(Replayed(compiled).finding("unfused_elementwise_chain"));
}

TEST_CASE("a bias copied before its product is found in a replayed graph where one operator captured both") {
  const std::vector<Node> nodes = {{"aten::addmm", "Memcpy DtoD (Device -> Device)"}, {"aten::addmm", kGemm}};
  // Two calls of addmm, a kernel each: nothing is copied for a product.
  CHECK_FALSE(Replayed(nodes).finding("dtod_before_gemm"));
  std::vector<Node> one = nodes;
  one[1].op.clear();
  const Replayed with(one);
  REQUIRE(with.finding("dtod_before_gemm"));
  CHECK(says(*with.finding("dtod_before_gemm"), "aten::addmm copies its bias before its matrix product, 3 times"));
  CHECK(joined_of(*with.finding("dtod_before_gemm")) == 3);
  CHECK_FALSE(Replayed(one, false).finding("dtod_before_gemm"));
}

TEST_CASE("the headroom of replayed kernels counts by the shapes of the capture") {
  const std::vector<Node> nodes = {{"aten::mm", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", 1000,
                                    "[[2048, 2048], [2048, 2048]]", R"(["c10::BFloat16", "c10::BFloat16"])"},
                                   {"aten::mul", kMul, 400, "[[1024, 1024], [1024, 1024]]"}};
  const Replayed with(nodes);
  REQUIRE(with.finding("gpu_headroom"));
  CHECK(joined_of(*with.finding("gpu_headroom")) == 6);
  CHECK(says(*with.finding("gpu_headroom"), "aten::mm"));
  CHECK_FALSE(Replayed(nodes, false).finding("gpu_headroom"));
}

TEST_CASE("the findings about vLLM's replay name what the capture knows") {
  if (!has_shared("findings about vLLM's replay")) return;
  const auto loaded = load_captured_trace((shared_folder() / "traces/public/tracelens_mi300_graph_execution.json.gz").string());
  REQUIRE(loaded.ok());
  const Document document(*loaded);
  const Facts facts(document.session);
  const Diagnosis diagnosis = diagnose(facts);
  const auto headroom = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                     [](const RankedFinding& f) { return f.finding.rule->id == "gpu_headroom"; });
  REQUIRE(headroom != diagnosis.findings.end());
  CHECK(says(headroom->finding, "vllm::moe_forward ("));
  CHECK(says(headroom->finding, "The operators of 275 kernels are those of the capture of replayed graphs."));
}
