// The work of replayed graphs, by the operators of their capture.
#include <map>

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "app/session/captured_trace.h"
#include "core/analyze/work/roofline_rows.h"
#include "core/load/arg_texts.h"
#include "core/view/document.h"
#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string event(const char* cat, const std::string& name, int begin, int tid, const std::string& args) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":7,"tid":{},"ts":{},"dur":8,"args":{{{}}}}})", cat, name, tid,
                     begin, args);
}

// Twice a graph of one product, captured in an operator with shapes.
std::string capture_text() {
  return events(event("cuda_runtime", "hipStreamBeginCapture", 10, 1, "\"correlation\":1") + ",\n" +
                event("cpu_op", "aten::mm", 20, 1,
                      R"("External id":5,"Input Dims":[[64,32],[32,16]],"Input type":["c10::BFloat16","c10::BFloat16"])") +
                ",\n" + event("cuda_runtime", "hipModuleLaunchKernel", 21, 1, R"("correlation":2,"kernel":"product")") + ",\n" +
                event("cuda_runtime", "hipStreamEndCapture", 40, 1, "\"correlation\":3"));
}
std::string replay_text() {
  std::string all;
  for (int i = 0; i < 2; ++i) {
    const std::string launch = fmt::format("\"correlation\":{}", 10 + i);
    all += (i > 0 ? ",\n" : "") + event("cuda_runtime", "hipGraphLaunch", 100 + 100 * i, 1, launch) + ",\n" +
           event("kernel", "product", 130 + 100 * i, 3, launch + R"(,"device":0,"stream":3)");
  }
  return events(all);
}

WorkTable table_of_trace(const Trace& trace) {
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  return work_table(trace, lanes, links, concrete_inputs());
}

}  // namespace

TEST_CASE("each replay of a graph is a call of what captured it, and is marked") {
  TempFolder folder;
  folder.write("capture_traces/c.json", capture_text());
  const auto loaded = load_captured_trace(folder.write("t.json", replay_text()));
  REQUIRE(loaded.ok());
  const WorkTable table = table_of_trace(**loaded);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].op == "aten::mm");
  CHECK(table.rows[0].input_dims == "[[64,32],[32,16]]");
  CHECK(table.rows[0].joined);
  CHECK(table.rows[0].count == 2);
  CHECK(table.rows[0].each.flops == 2.0 * 64 * 32 * 16);
  CHECK(table.joined_ns == 16'000);
  CHECK(table.without_operator_ns == 0);
  REQUIRE(table.calls.size() == 2);
  CHECK(table.calls[0].replay != table.calls[1].replay);
  for (const CallWork& call : table.calls) CHECK((*loaded)->name(call.moment()) == "hipGraphLaunch");
  // Without the capture nothing is known, and nothing is guessed.
  const auto alone = load_captured_trace(folder.write("alone/t.json", replay_text()));
  REQUIRE(alone.ok());
  CHECK(table_of_trace(**alone).rows.empty());
  CHECK(table_of_trace(**alone).without_operator_ns == 16'000);
}

TEST_CASE("vLLM's replayed decode step is counted as TraceLens counts it after its join") {
  if (!has_shared("the roofline of vLLM's replay")) return;
  const auto loaded = load_captured_trace((shared_folder() / "traces/public/tracelens_mi300_graph_execution.json.gz").string());
  REQUIRE(loaded.ok());
  const WorkTable table = table_of_trace(**loaded);
  CHECK(table.coverage() == 1);
  CHECK(table.without_operator_ns == 0);
  // Its report: GFLOP and MiB of one call, calls, microseconds of kernels.
  struct Reported {
    std::string_view op, dims;
    double gflops, mib;
    std::uint64_t count;
    double kernel_us;
  };
  for (const Reported& r :
       {Reported{"vllm::unified_attention_with_output", "[[32, 64, 64], [32, 8, 64]", 0.902529024, 108.08984375, 24, 724.361},
        Reported{"vllm::rocm_unquantized_gemm", "[[32, 2880], [5120, 2880]", 0.94388224, 28.623046875, 24, 387.012},
        Reported{"vllm::rocm_unquantized_gemm", "[[32, 4096], [2880, 4096]", 0.75506688, 22.9312744140625, 24, 366.214},
        Reported{"vllm::rocm_unquantized_gemm", "[[32, 2880], [201088, 2880]", 37.06454016, 1117.05859375, 1, 276.678},
        Reported{"aiter::rmsnorm2d_fwd_with_add_ck", "[[32, 2880], [32, 2880]", 0.000460864, 0.7086181640625, 48, 326.031},
        Reported{"aiter::rms_norm", "[[32, 2880], [2880]", 0.000368704, 0.3570556640625, 1, 5.999}}) {
    CAPTURE(r.op);
    CAPTURE(r.dims);
    const auto at = std::find_if(table.rows.begin(), table.rows.end(), [&](const WorkRow& row) {
      return row.op == r.op && row.input_dims.substr(0, r.dims.size()) == r.dims;
    });
    REQUIRE(at != table.rows.end());
    CHECK(at->count == r.count);
    CHECK(*at->each.flops == doctest::Approx(r.gflops * 1e9).epsilon(0.01));
    CHECK(*at->each.bytes == doctest::Approx(r.mib * 1024 * 1024).epsilon(0.01));
    CHECK(static_cast<double>(at->kernel_ns) == doctest::Approx(r.kernel_us * 1000).epsilon(0.01));
  }
  for (const WorkRow& row : table.rows) CHECK(floor_of(**loaded, row).reached.value_or(0) <= 1);
}

TEST_CASE("experts in Triton's kernels have the width of what their first product makes") {
  // gpt-oss on 32 tokens: 4 of 32 experts, 2944 wide, gated; weights of 4 bits with a byte of scale for 32.
  WorkCall call =
      *parse_call("vllm::moe_forward", "[[32, 3072], [32, 32], [], []]", R"(["c10::BFloat16", "c10::BFloat16", "", ""])", {});
  call.kernel = "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1";
  call.kernels = {"_topk_forward", "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", call.kernel};
  call.made = {{32, 4}, {128}, {6, 512}, {1, 128, 2944}, {1, 1, 128, 3072}};
  const Work found = work_of(call);
  REQUIRE(found.flops);
  CHECK(*found.flops == 2.0 * 128 * 3072 * 2944 * 3 + 32.0 * 3072 * 7);
  call.made = {{32, 4}};
  CHECK_FALSE(work_of(call).flops);
}

TEST_CASE("a kernel's call is found among all slices, and other slices have none") {
  for (const char* name : {"mlp_geglu_eager", "needless_sync"}) {
    const Document& d = diagnosed_once(recording(name)).document;
    const WorkTable& table = d.analysis()->work();
    REQUIRE_FALSE(table.kernels.empty());
    std::map<SliceId, const CallWork*> calls;
    for (const KernelOwner& k : table.kernels) calls.emplace(k.kernel, &table.calls[k.call]);
    for (std::size_t s = 0; s < d.trace.slice_count(); ++s) {
      const auto at = calls.find(SliceId(s));
      CHECK(table.call_of_kernel(SliceId(s)) == (at == calls.end() ? nullptr : at->second));
    }
  }
}
