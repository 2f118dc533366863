// The tabs Kernels, Steps, GPU and Memory: what they say, what a click leads to, what they ask for when data is missing.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "core/view/timeline/gap_view.h"
#include "tests/support/panel_harness.h"
#include "tests/support/tiny_traces.h"
#include "ui/findings/findings_panel.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

struct PanelUnderTest {
  PanelUnderTest(DrawPanel of, std::string_view text, bool analyzed = true)
      : draw_panel(of), doc(test::document_from_text(text)) {
    if (analyzed) doc->analyze();
  }
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  // Answers what the panel asks for, as the session does.
  void draw() {
    draw_panel(*doc, view.active(), view.window, out);
    if (!answers) return;
    for (const Request& request : out.list)
      if (const auto* ask = std::get_if<Ask>(&request); ask && doc->analysis()) answer_now(*ask->document, ask->question);
    std::erase_if(out.list, [](const Request& r) { return std::holds_alternative<Ask>(r); });
  }
  bool click_until(const std::function<bool()>& done) {
    frame();
    return harness.click_around([this] { draw(); }, done);
  }

  DrawPanel draw_panel;
  std::shared_ptr<const Document> doc;
  ViewState view;
  Requests out;
  bool answers = true;
  test::PanelHarness harness{{1600, 700}};
};

// Two kernels of one name, the second launched late, and memory records.
constexpr std::string_view kTwoKernels = R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 110, "dur": 40, "args": {"External id": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 120, "dur": 10, "args": {"External id": 2, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "my_gemm", "pid": 0, "tid": 7, "ts": 140, "dur": 20, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 7, "grid": [8, 8, 1], "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 400, "dur": 10, "args": {"External id": 2, "correlation": 8}},
{"ph": "X", "cat": "kernel", "name": "my_gemm", "pid": 0, "tid": 7, "ts": 420, "dur": 80, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 8, "grid": [8, 8, 1], "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 130, "s": "t", "args": {"Device Type": 1, "Device Id": 0, "Bytes": 4096, "Addr": 1, "Total Allocated": 8192, "Total Reserved": 16384}}
]})json";
constexpr std::string_view kNoGpu = R"([{"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1}])";

}  // namespace

TEST_CASE("while the facts are being worked out every panel says so") {
  for (const DrawPanel panel : {draw_kernels, draw_steps, draw_gpu, draw_memory, draw_counters_panel})
    CHECK(holds(PanelUnderTest(panel, kTwoKernels, /*analyzed=*/false).frame(), "Computing"));
}

TEST_CASE("of the beginning of a file no panel says anything but that the rest is still to come") {
  const auto doc = test::document_from_text(kTwoKernels);
  std::const_pointer_cast<Trace>(doc->trace_owner)->is_part = true;
  for (const DrawPanel panel :
       {draw_table, draw_kernels, draw_steps, draw_gpu, draw_memory, draw_counters_panel, draw_report, draw_findings}) {
    ViewState view;
    Requests out;
    test::PanelHarness harness;
    CHECK(holds(harness.settle([&] { panel(*doc, view.active(), view.window, out); }),
                "Only the beginning of the file is loaded"));
    CHECK(out.list.empty());
  }
}

TEST_CASE("a panel without its data says in a sentence how to record it") {
  CHECK(holds(PanelUnderTest(draw_kernels, kNoGpu).frame(), "ProfilerActivity.CUDA"));
  CHECK(holds(PanelUnderTest(draw_gpu, kNoGpu).frame(), "ProfilerActivity.CUDA"));
  CHECK(holds(PanelUnderTest(draw_steps, kNoGpu).frame(), "schedule(...)"));
  CHECK(holds(PanelUnderTest(draw_memory, kNoGpu).frame(), "profile_memory=True"));
  CHECK(holds(PanelUnderTest(draw_counters_panel, kNoGpu).frame(), "record --counters"));
}

TEST_CASE("kernels are listed with times and their operator") {
  const std::string text = PanelUnderTest(draw_kernels, kTwoKernels).frame();
  for (const char* part : {"my_gemm", "100", "50.0", "100.0", "aten::mm", "1 name"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  CHECK_FALSE(holds(text, "nan"));
}

TEST_CASE("a click on a kernel selects its longest run and shows what limits it") {
  PanelUnderTest panel(draw_kernels, kTwoKernels);
  CHECK(panel.click_until([&] { return panel.view.active().selection.valid(); }));
  CHECK(panel.view.active().cycle.slices.size() == 2);
  CHECK(panel.view.active().selection == panel.view.active().cycle.slices.back());  // 80 us, the first 20
  panel.harness.point_at({-1, -1});                                                 // a tooltip would end the log
  CHECK(holds(panel.frame(), "The limits of this GPU are unknown"));
}

TEST_CASE("the menu of a kernel's row leads to the longest of its runs") {
  PanelUnderTest panel(draw_kernels, kTwoKernels);
  panel.frame();
  const auto draw = [&] { panel.draw(); };
  const auto open_menu = [&](ImVec2 at) {
    panel.harness.point_at(at);
    for (const bool down : {false, true, false}) {
      ImGui::GetIO().MouseDown[1] = down;
      panel.harness.frame(draw);
    }
    return panel.harness.settle(draw);
  };
  float row = 0;
  for (float y = 4; y < 200 && row == 0; y += 8)
    if (holds(open_menu({200, y}), "Go to its longest slice")) row = y;
  REQUIRE(row > 0);
  for (float below = 4; below < 120 && !panel.view.active().selection; below += 6) {
    open_menu({200, row});
    panel.harness.point_at({220, row + below});
    panel.harness.frame(draw);
    panel.harness.click(draw);
  }
  CHECK(panel.view.active().selection == panel.doc->names.slices_named(panel.doc->trace.strings.find("my_gemm"))[1]);
}

TEST_CASE("a kernel selected on the timeline is the chosen one of the kernels tab") {
  PanelUnderTest panel(draw_kernels, kTwoKernels);
  panel.frame();
  CHECK_FALSE(panel.view.active().kernels.selected.valid());
  panel.view.active().selection = panel.doc->names.slices_named(panel.doc->trace.strings.find("my_gemm"))[1];
  panel.frame();
  CHECK(panel.doc->trace.strings[panel.view.active().kernels.selected] == "my_gemm");
  CHECK(panel.view.active().kernels.arranged.calls.slices.size() == 2);
}

TEST_CASE("a range restricts the kernels, and one without any says so") {
  PanelUnderTest panel(draw_kernels, kTwoKernels);
  panel.view.active().range = Span{400'000, 500'000};
  panel.frame();
  CHECK(panel.view.active().kernels.arranged.table().count == 1);
  panel.view.active().range = Span{900'000, 900'100};
  CHECK(holds(panel.frame(), "No GPU work begins in this range."));
}

TEST_CASE("while the kernels of another range are worked out those of the last are shown") {
  PanelUnderTest panel(draw_kernels, kTwoKernels);
  panel.view.active().range = Span{400'000, 500'000};
  panel.frame();
  panel.answers = false;
  panel.view.active().range = Span{0, 1'000'000};
  panel.frame();
  CHECK(panel.view.active().kernels.arranged.table().count == 1);
  CHECK(panel.out.list.size() == 1);  // asked once
  panel.answers = true;
  panel.frame();
  CHECK(panel.view.active().kernels.arranged.table().count == 2);
}

TEST_CASE("a step's row leads to the step") {
  PanelUnderTest panel(draw_steps, kTwoKernels);
  const std::string text = panel.frame();
  for (const char* part : {"ProfilerStep#1", "Kernel", "CPU Exec", "GPU span"}) CHECK(holds(text, part));
  CHECK(panel.click_until([&] { return panel.view.active().selection.valid(); }));
  CHECK(panel.doc->trace.name(panel.view.active().selection) == "ProfilerStep#1");
}

TEST_CASE("another annotation can mark the steps") {
  constexpr std::string_view kEpochs = R"json([
{"ph": "X", "cat": "user_annotation", "name": "epoch", "pid": 1, "tid": 1, "ts": 0, "dur": 50, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 20, "args": {"External id": 2}},
{"ph": "X", "cat": "user_annotation", "name": "epoch", "pid": 1, "tid": 1, "ts": 60, "dur": 50, "args": {"External id": 3}}
])json";
  PanelUnderTest panel(draw_steps, kEpochs);
  CHECK(holds(panel.frame(), "No steps recorded"));
  REQUIRE(answer_to<StepsQuestion>(*panel.doc));
  REQUIRE(answer_to<StepsQuestion>(*panel.doc)->names.size() == 1);
  CHECK(answer_to<StepsQuestion>(*panel.doc)->names[0] == std::pair<std::string, std::uint32_t>("epoch", 2));
  panel.view.active().steps.annotation = "epoch";
  const std::string text = panel.frame();
  CHECK(holds(text, "epoch"));
  CHECK_FALSE(holds(text, "No steps recorded"));
  CHECK(answer_to<StepsQuestion>(*panel.doc)->steps.steps.size() == 2);
  // The verdict is of them once the file is read again with them.
  CHECK(holds(text, "Judge by these"));
  const auto stated = [&] {
    for (const Request& request : panel.out.list)
      if (const auto* steps = std::get_if<StateSteps>(&request)) return steps->annotation;
    return std::string();
  };
  REQUIRE(panel.click_until([&] { return !stated().empty(); }));
  CHECK(stated() == "epoch");
}

TEST_CASE("the tab Steps says by which steps the trace is judged") {
  PanelUnderTest panel(draw_steps, kTwoKernels);
  std::const_pointer_cast<Trace>(panel.doc->trace_owner)->stated.steps = "aten::mm";
  panel.view.active().steps.annotation = "aten::mm";
  panel.frame();
  const std::string judged = panel.frame();
  INFO(judged);
  CHECK_FALSE(holds(judged, "Judge by these"));
  CHECK(holds(judged, "Verdict, gaps"));
  CHECK(holds(judged, "Use ProfilerStep#N again"));
}

TEST_CASE("steps that were found are in the list once, and are the way back from chosen ones") {
  PanelUnderTest panel(draw_steps, kTwoKernels);
  std::const_pointer_cast<Trace>(panel.doc->trace_owner)->stated.steps = "aten::mm";
  CHECK(holds(panel.frame(), "Use ProfilerStep#N again"));
  const auto goes_back = [&] {
    for (const Request& request : panel.out.list)
      if (const auto* steps = std::get_if<StateSteps>(&request)) return steps->annotation.empty();
    return false;
  };
  CHECK(panel.click_until(goes_back));
}

TEST_CASE("an idle gap names its cause, and a click goes there") {
  PanelUnderTest panel(draw_gpu, kTwoKernels);
  const std::string text = panel.frame();
  CHECK(holds(text, "host wait 260 \u00B5s in 1"));
  CHECK_FALSE(holds(text, "0 ns in 0"));  // of the classes that it has no gap of
  for (const char* part : {"utilization", "not recorded", "host wait", "cudaLaunchKernel", "260"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  // What ended it is not what the host did all the while: the gap is chosen, and no slice.
  REQUIRE(panel.click_until([&] { return panel.view.active().gaps.selected >= 0; }));
  const GapPlace place = chosen_gap(*panel.doc, panel.view.active());
  REQUIRE(place.gap);
  CHECK(place.gap->span == panel.doc->analysis()->streams().gaps[0].span);
  CHECK_FALSE(panel.view.active().selection);
}

TEST_CASE("columns without room are left out, and stay where the person asked for them") {
  PanelUnderTest kernels(draw_kernels, kTwoKernels);
  TableLook& look = kernels.view.active().kernels.look;
  kernels.frame();
  CHECK(look.left_out == 0);
  kernels.harness.resize({500, 400});
  kernels.frame();
  REQUIRE(look.left_out != 0);
  look.wanted = look.left_out;
  kernels.frame();
  CHECK((look.left_out & look.wanted) == 0);
}

TEST_CASE("memory shows its peak and who asked") {
  const std::string text = PanelUnderTest(draw_memory, kTwoKernels).frame();
  for (const char* part : {"GPU 0", "peak 8.19 kB", "reserved", "aten::mm", "4.10", "with 4.10 kB from before",
                           "from before the recording", "At the peak", "1 allocation, 0 frees"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
}

TEST_CASE("a click on an allocation selects the operator that asked for it, and says who that was") {
  PanelUnderTest memory(draw_memory, kTwoKernels);
  CHECK(holds(memory.frame(), "Click an allocation"));
  CHECK(holds(memory.frame(), "from before the recording"));  // 4096 of the 8192 bytes
  memory.harness.point_at({1200, 200});                       // in the chart, on the upper half of what is in use
  memory.frame();
  memory.harness.click([&] { memory.draw(); });
  REQUIRE(memory.view.active().selection.valid());
  CHECK(memory.doc->trace.name(memory.view.active().selection) == "aten::mm");
  const std::string text = memory.frame();
  CHECK(holds(text, "4.10 kB by aten::mm"));
  CHECK(holds(text, "not freed in this recording"));
  memory.view.active().memory.shape = MemoryState::Shape::total;
  CHECK_FALSE(holds(memory.frame(), "4.10 kB by aten::mm"));
}

TEST_CASE("the axis of allocations begins with what was there before, or with nothing") {
  const auto chosen_low = [](bool with_before) {
    PanelUnderTest memory(draw_memory, kTwoKernels);
    memory.view.active().memory.with_before = with_before;
    memory.frame();
    memory.harness.point_at({1200, 480});  // in the lower half of the chart
    memory.frame();
    memory.harness.click([&] { memory.draw(); });
    return !memory.view.active().memory.chosen.empty();
  };
  CHECK(chosen_low(false));
  CHECK_FALSE(chosen_low(true));  // there is what was from before
}

TEST_CASE("a row of what holds the peak outlines all of its allocations, and says which of them the selection asked for") {
  std::string text(kTwoKernels);
  std::string more;
  for (int i = 1; i < 3; ++i) {
    const std::string at = std::to_string(110 + 200 * i);
    more += R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": )" + at +
            R"(, "dur": 40, "args": {"External id": )" + std::to_string(10 + i) + R"(}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": )" +
            std::to_string(130 + 200 * i) + R"(, "s": "t", "args": {"Device Type": 1, "Device Id": 0, "Bytes": )" +
            std::to_string(1000 * i) + R"(, "Addr": )" + std::to_string(1 + i) + R"(, "Total Allocated": )" +
            std::to_string(8192 + 1000 * (i == 1 ? 1 : 3)) + R"(, "Total Reserved": 16384}},
)";
  }
  text.insert(text.find(R"({"ph": "X", "cat": "cuda_runtime")"), more);
  PanelUnderTest memory(draw_memory, text);
  TraceView& view = memory.view.active();
  const auto draw = [&] {
    view.memory.list = MemoryState::List::held;  // one of the clicks hits the other list
    memory.draw();
  };
  memory.frame();
  CHECK(memory.harness.click_around(draw, [&] { return view.memory.chosen.size() == 3; }));
  REQUIRE(view.selection.valid());
  CHECK(memory.doc->trace.name(view.selection) == "aten::mm");
  const std::string among = "one of the 3 outlined, which hold 7.10 kB";
  CHECK(holds(memory.frame(), among));
  const std::array<std::string, 3> bytes = {"4.10 kB by", "1.00 kB by", "2.00 kB by"};
  const auto slices = memory.doc->names.slices_named(memory.doc->trace.strings.find("aten::mm"));
  REQUIRE(slices.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    select_slice(view, slices[i], false);
    CHECK(holds(memory.frame(), bytes[i]));
    CHECK(holds(memory.frame(), among));
  }
  view.selection = {};
  CHECK(holds(memory.frame(), "4.10 kB by"));  // the largest
}

TEST_CASE("who asked for memory is listed for the device that is shown") {
  std::string text(kTwoKernels);
  text.insert(text.rfind("\n]}"), R"json(,
{"ph": "X", "cat": "cpu_op", "name": "aten::pinned", "pid": 1, "tid": 1, "ts": 200, "dur": 40, "args": {"External id": 3}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 210, "s": "t", "args": {"Device Type": 0, "Device Id": -1, "Bytes": 512, "Addr": 9}})json");
  PanelUnderTest memory(draw_memory, text);
  memory.view.active().memory.list = MemoryState::List::asked;
  const std::string gpu = memory.frame();
  CHECK(holds(gpu, "aten::mm"));
  CHECK_FALSE(holds(gpu, "aten::pinned"));
  memory.view.active().memory.device = 1;
  const std::string cpu = memory.frame();
  CHECK(holds(cpu, "aten::pinned"));
  CHECK_FALSE(holds(cpu, "aten::mm"));
}

TEST_CASE("steps obey the selected time") {
  PanelUnderTest steps(draw_steps, kTwoKernels);
  CHECK(holds(steps.frame(), "ProfilerStep#1"));
  const Ns end = steps.doc->trace.span.end;
  steps.view.active().range = Span{end + 1'000, end + 2'000};
  CHECK(holds(steps.frame(), "The selected time has no step"));
  steps.view.active().range = Span{end - 1'000, end};
  CHECK(holds(steps.frame(), "ProfilerStep#1"));
}

TEST_CASE("of a crop that cuts every step the tab Steps does not tell to mark steps") {
  PanelUnderTest steps(draw_steps,
                       R"json({"gapscopeCrop": {"from_ns": 20000, "to_ns": 60000, "of_begin_ns": 0, "of_end_ns": 900000},
"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 900},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 25, "dur": 20}]})json");
  const std::string text = steps.frame();
  CHECK(holds(text, "This part has no complete step"));
  CHECK_FALSE(holds(text, "profiler.step()"));
}

TEST_CASE("the GPU's figures and gaps obey the selected time") {
  PanelUnderTest gaps(draw_gpu, kTwoKernels);
  CHECK(holds(gaps.frame(), "host wait"));
  CHECK(holds(gaps.frame(), "time span"));
  const Ns begin = gaps.doc->trace.span.begin;
  gaps.view.active().range = Span{begin + 70'000, begin + 80'000};  // inside the gap
  const std::string inside = gaps.frame();
  CHECK(holds(inside, "1 in the selected time"));
  CHECK(holds(inside, "0.0 %"));  // utilization
  CHECK_FALSE(holds(inside, "time span"));
  gaps.view.active().range = Span{begin, begin + 1'000};
  CHECK(holds(gaps.frame(), "No stream was idle in the selected time."));
}

TEST_CASE("the curve of memory obeys the selected time") {
  PanelUnderTest memory(draw_memory, kTwoKernels);
  memory.view.active().memory.shape = MemoryState::Shape::total;
  CHECK_FALSE(holds(memory.frame(), "in the range"));
  const Ns begin = memory.doc->trace.span.begin;
  memory.view.active().range = Span{begin + 100'000, begin + 200'000};
  const std::string text = memory.frame();
  CHECK(holds(text, "in the range at most "));
  CHECK(holds(text, "100 µs"));
  CHECK(holds(text, "200 µs"));
}

TEST_CASE("kernels, steps, gaps and memory can be copied as CSV, to the nanosecond") {
  const auto copied = [](DrawPanel draw) {
    PanelUnderTest panel(draw, kTwoKernels);
    std::string text;
    panel.click_until([&] {
      for (const Request& request : panel.out.list)
        if (const auto* copy = std::get_if<CopyText>(&request)) text = copy->text;
      return !text.empty();
    });
    return text;
  };
  const std::string kernels = copied(draw_kernels);
  CHECK(kernels.starts_with("Name,Kind,Count,Total,"));
  CHECK(holds(kernels, "my_gemm,gemm,2,100000,"));
  CHECK(holds(copied(draw_steps), "ProfilerStep#1,0,"));
  CHECK(holds(copied(draw_gpu), "60000,260000,host wait,0,7,cudaLaunchKernel,my_gemm\n"));
  CHECK(holds(copied(draw_memory), ",GPU 0,1,4096,0\n"));
}
