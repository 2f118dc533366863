#include <doctest/doctest.h>

#include "core/load/args.h"
#include "core/load/load_trace.h"
#include "tests/support/dump_trace.h"
#include "tests/support/naive_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::vector<NaiveSlice> slices_of(const Trace& t) {
  std::vector<NaiveSlice> out;
  for (std::size_t i = 0; i < t.slice_count(); ++i) {
    const SliceId s(i);
    const Lane& lane = t.lane(s);
    out.push_back({t.processes[lane.process.index()].key, lane.key, std::string(t.name(s)), std::string(t.category_name(s)),
                   t.begin(s), t.end(s)});
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("every real recording opens with all its slices, as a naive reader sees them") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const auto result = load_trace(path.string());
    REQUIRE(result.ok());
    const Trace& t = **result;
    const NaiveTrace naive = read_naively(whole_text(path.string()));
    CHECK(t.figures.events == naive.events);
    CHECK(t.flow_counts.starts == naive.flow_starts);
    CHECK(t.flow_counts.ends == naive.flow_ends);
    REQUIRE(t.slice_count() == naive.slices.size());
    CHECK(slices_of(t) == naive.slices);
    CHECK(t.report.count(ImportIssue::bad_event) == 0);
  }
}

TEST_CASE("real recordings are the same for 1, 2 and 7 threads and for tiny and large batches") {
  for (const char* name : {"matmul_add_64_cold_eager", "muladd_compile_cold", "transformer_baseline", "fsdp_rank1",
                           "hta_a100_simple_add", "tracelens_h100_bert_small", "tracelens_mi300_graph_execution"}) {
    CAPTURE(name);
    const auto path = recording_or_none(name);
    if (path.empty()) continue;  // one by others
    const std::string text = whole_text(path.string());
    REQUIRE(!text.empty());
    std::string first;
    for (const int threads : {1, 2, 7}) {
      for (const std::size_t batch : {std::size_t{64}, std::size_t{5000}, std::size_t{1} << 20}) {
        LoadOptions options;
        options.threads = threads;
        options.batch_bytes = batch;
        const auto result = load_trace_from_text(text, "text", options);
        REQUIRE(result.ok());
        const std::string dump = dump_trace(**result);
        if (first.empty()) first = dump;
        CHECK(dump == first);
      }
    }
  }
}

TEST_CASE("the args of a slice come back from the file, packed or not") {
  const auto result = load_trace(recording("matmul_add_64_cold_eager").string());
  REQUIRE(result.ok());
  const Trace& t = **result;
  REQUIRE(!t.gpu.empty());
  for (const GpuRow& g : t.gpu) {
    const auto args = read_args(t, t.slices.offset[g.slice.index()]);
    REQUIRE(args.ok());
    const auto at = std::find_if(args->begin(), args->end(), [](const Arg& a) { return a.key == "correlation"; });
    REQUIRE(at != args->end());
    CHECK(at->value == std::to_string(g.correlation));
  }
}
