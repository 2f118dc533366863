#include "core/view/table/table_model.h"

#include <doctest/doctest.h>

#include <string>

#include "app/session/captured_trace.h"
#include "core/analyze/op_table/op_table.h"
#include "core/analyze/op_table/op_table_text.h"
#include "tests/support/load_text.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A graph of one product, captured in aten::mm, and replayed once.
const char* const kCapture =
    R"({"ph":"X","cat":"cuda_runtime","name":"hipStreamBeginCapture","pid":7,"tid":1,"ts":10,"dur":2,"args":{"correlation":1}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":1,"ts":20,"dur":9,"args":{"Input Dims":[[4,4],[4,4]],"Input type":["float","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"hipModuleLaunchKernel","pid":7,"tid":1,"ts":22,"dur":2,"args":{"correlation":2,"kernel":"product"}},
{"ph":"X","cat":"cuda_runtime","name":"hipStreamEndCapture","pid":7,"tid":1,"ts":40,"dur":2,"args":{"correlation":3}})";
const char* const kReplay =
    R"({"ph":"X","cat":"cpu_op","name":"replay","pid":7,"tid":1,"ts":90,"dur":30,"args":{"External id":4}},
{"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","pid":7,"tid":1,"ts":100,"dur":5,"args":{"correlation":9,"External id":4}},
{"ph":"X","cat":"kernel","name":"product","pid":0,"tid":3,"ts":110,"dur":50,"args":{"correlation":9,"External id":4,"device":0,"stream":3}})";

std::string table_text(const Trace& trace) {
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const OpEvents op_events(trace, lanes, links, TableMode::exact, KeepTree::yes);
  const OpTableOptions options{};
  return print_op_table(trace, op_events, make_op_table(trace, op_events, options), options, {});
}

}  // namespace

TEST_CASE("the profiler table is the same with a capture, and says where the operators of replayed graphs are") {
  TempFolder folder;
  const auto alone = load_captured_trace(folder.write("alone/t.json", events(kReplay)));
  folder.write("capture_traces/c.json", events(kCapture));
  const auto joined = load_captured_trace(folder.write("t.json", events(kReplay)));
  REQUIRE(alone.ok());
  REQUIRE(joined.ok());
  CHECK(replayed_words(**alone).empty());
  CHECK(
      replayed_words(**joined) ==
      "GPU work of replayed graphs (1 piece) counts for their launch here, as in PyTorch; the tab Roofline has its operators.");
  CHECK(table_text(**joined) == table_text(**alone));
  CHECK(table_text(**joined).find("replay") != std::string::npos);
  CHECK(table_text(**joined).find("aten::mm") == std::string::npos);
}
