// What the lanes show of a comparison's kernels.
#include <doctest/doctest.h>

#include "core/view/compare/kernel_marks.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;

namespace {

constexpr std::string_view kNames = R"json({"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "stays", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "goes", "pid": 0, "tid": 7, "ts": 3, "dur": 1, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "fewer", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "part", "pid": 0, "tid": 7, "ts": 7, "dur": 1, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "elsewhere", "pid": 0, "tid": 7, "ts": 9, "dur": 1, "args": {"device": 0, "stream": 7}}
]})json";

KernelChange row(KernelChangeClass change, std::string a, std::string b) {
  KernelChange out;
  out.change = change;
  out.name_a = std::move(a);
  out.name_b = std::move(b);
  return out;
}

}  // namespace

TEST_CASE("a name is marked by its rows: the same, changed, or on this side only") {
  const auto document = test::document_from_text(kNames);
  const Trace& trace = document->trace;
  Comparison comparison;
  comparison.kernels = {
      row(KernelChangeClass::same, "stays", "stays"),          row(KernelChangeClass::removed, "goes", ""),
      row(KernelChangeClass::same, "fewer", "fewer"),          row(KernelChangeClass::removed, "fewer", ""),
      row(KernelChangeClass::fused, "part + other", "triton"), row(KernelChangeClass::added, "", "elsewhere")};
  comparison.kernels[4].fused_a = {"part", "other"};
  const KernelMarks a(comparison, TraceSide::a, trace), b(comparison, TraceSide::b, trace);
  const auto of = [&](const KernelMarks& marks, std::string_view name) {
    return marks.of(trace.name_id(test::slice_named(*document, name)));
  };
  CHECK(of(a, "stays") == KernelMark::same);
  CHECK(of(a, "goes") == KernelMark::only);
  CHECK(of(a, "fewer") == KernelMark::changed);  // one stayed and one went
  CHECK(of(a, "part") == KernelMark::changed);
  CHECK(of(a, "elsewhere") == KernelMark::none);
  CHECK(of(b, "elsewhere") == KernelMark::only);
  CHECK(of(b, "goes") == KernelMark::none);
  CHECK(a.any());
  CHECK(KernelMarks().of(StringId(3)) == KernelMark::none);
  comparison.kernels.resize(1);
  CHECK_FALSE(KernelMarks(comparison, TraceSide::a, trace).any());
}
