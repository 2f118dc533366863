// Any text as SQL over a small trace: no crash, no file, nothing changed. Half of the seeds are queries that people write.
#include <cstdlib>
#include <string>

#include "core/load/load_trace.h"
#include "core/sql/database.h"

namespace {

constexpr std::string_view kTrace = R"([
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{"External id":1,"Input Dims":[[1,2],[]]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":3,"args":{"correlation":5}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":3,"args":{"correlation":5,"External id":1,"device":0,"stream":7,"grid":[1,1,1],"block":[32,1,1]}},
{"ph":"i","s":"t","name":"here","pid":1,"tid":1,"ts":3},
{"ph":"C","name":"c","pid":1,"ts":3,"args":{"v":1}}])";

struct Count final : gapscope::sql::RowSink {
  std::size_t rows = 0;
  bool begin(const std::vector<std::string>&) override { return true; }
  bool row(std::span<const gapscope::sql::Cell>) override { return ++rows < 10'000; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gapscope;
  static const auto trace = *load_trace_from_text(kTrace);
  sql::Options options;
  options.time_limit = std::chrono::milliseconds(200);
  sql::Database database(trace, options);
  Count sink;
  database.run({reinterpret_cast<const char*>(data), size}, sink);
  Count after;
  if (database.run("select 1 from slice", after) || after.rows != 4) std::abort();
  return 0;
}
