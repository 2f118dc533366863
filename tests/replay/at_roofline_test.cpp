#include "core/replay/at_roofline.h"

#include <doctest/doctest.h>

#include "core/analyze/work/kernel_floors.h"
#include "core/index/name_index.h"
#include "core/view/document.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("at its roofline a kernel lasts its floor, and no kernel lasts longer than it did") {
  // 1024^3 products in bf16: 2.17 us at 989.5 TFLOP/s; what has no shapes stays.
  const auto doc = document_from_text(R"json({"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 80, "args": {"External id": 2, "Input Dims": [[1024, 1024], [1024, 1024]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {"External id": 2, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "product", "pid": 0, "tid": 7, "ts": 10, "dur": 15, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "other", "pid": 0, "tid": 7, "ts": 30, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 8}}
]})json");
  const auto ops = gpu_ops(doc->trace, doc->links);
  const auto model = ReplayModel::make(doc->trace, NameIndex(doc->trace), ops);
  const WorkTable table = work_table(doc->trace, doc->lanes, doc->links, {});
  const double floor = 2.0 * 1024 * 1024 * 1024 / 989.5e12 * 1e9;
  const auto lasts = [&](double reached) { return at_roofline(*model, doc->trace, table, reached).lasts; };
  REQUIRE(lasts(1).size() == 2);
  CHECK(lasts(1)[0] == static_cast<Ns>(floor) + 1);
  CHECK(lasts(0.5)[0] == static_cast<Ns>(2 * floor) + 1);
  CHECK(lasts(0.01)[0] == 15'000);
  CHECK(lasts(1)[1] == 5'000);
}

TEST_CASE("the floors of all kernels are those of each alone") {
  std::size_t known = 0;
  for (const auto& path : real_traces()) {
    CAPTURE(path.filename().string());
    const Document doc(load_once(path));
    const WorkTable table = work_table(doc.trace, doc.lanes, doc.links, {});
    const KernelFloors floors(doc.trace, table);
    for (const GpuRow& row : doc.trace.gpu) {
      const auto floor = floor_of_kernel(doc.trace, table, row.slice);
      REQUIRE(floors.of(row.slice) == floor);
      known += floor ? 1 : 0;
    }
  }
  CHECK(known > 1000);
}
