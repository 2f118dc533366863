#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/load/load_trace.h"
#include "core/view/compile/compile_model.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

// A guard check, a piece with a graph, and a generated kernel whose file is `path`.
std::string compiled_call(const std::string& path) {
  return fmt::format(R"json({{"schemaVersion": 1, "traceEvents": [
{{"ph": "X", "cat": "cpu_op", "name": "TorchDynamo Cache Lookup", "pid": 1, "tid": 1, "ts": 100, "dur": 5, "args": {{}}}},
{{"ph": "X", "cat": "cpu_op", "name": "Torch-Compiled Region: 0/0", "pid": 1, "tid": 1, "ts": 110, "dur": 80, "args": {{}}}},
{{"ph": "X", "cat": "cpu_op", "name": "## Call CompiledFxGraph fabc ##", "pid": 1, "tid": 1, "ts": 115, "dur": 60, "args": {{}}}},
{{"ph": "X", "cat": "cpu_op", "name": "triton_poi_fused_add_mul_0", "pid": 1, "tid": 1, "ts": 120, "dur": 20, "args": {{"External id": 3, "kernel_file": "{}"}}}},
{{"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 1, "tid": 1, "ts": 125, "dur": 5, "args": {{"correlation": 9, "External id": 3}}}},
{{"ph": "X", "cat": "kernel", "name": "triton_poi_fused_add_mul_0", "pid": 0, "tid": 7, "ts": 140, "dur": 30, "args": {{"device": 0, "stream": 7, "correlation": 9, "External id": 3}}}}
]}})json",
                     path);
}

struct CompileTab {
  explicit CompileTab(std::shared_ptr<const Document> document) : doc(std::move(document)) {}
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  void draw() {
    view.active().compile.list = list;  // a click on the buttons that change it is none on a row
    draw_compile(*doc, view.active(), view.window, out);
    for (const Request& request : out.list)
      if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
    out.list.clear();
  }

  std::shared_ptr<const Document> doc;
  CompileList list = CompileList::regions;
  ViewState view;
  Requests out;
  test::PanelHarness harness{{1600, 500}};
};

}  // namespace

TEST_CASE("the tab shows what compiled code did, and a row leads to its slices") {
  CompileTab tab(test::document_from_text(compiled_call("/no/such/file.py")));
  tab.frame();
  const std::string text = tab.frame();
  for (const char* part : {"1 call of 1 compiled function", "1 guard check took 5.00", "compiled code ran after 1", "0/0"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  CHECK(tab.harness.click_around([&] { tab.draw(); }, [&] { return tab.view.active().selection.valid(); }));
}

TEST_CASE("the source of a generated kernel is shown where it is on this machine, and said to be missing where not") {
  const test::TempFolder folder;
  const std::string path = folder.write("cab.py", "# Original ATen: [aten.add, aten.mul]\ntl.store(out_ptr0)\n");
  for (const bool is_there : {true, false}) {
    const auto loaded = load_trace(folder.write("trace.json", compiled_call(is_there ? path : "/no/such/file.py")));
    REQUIRE(loaded.ok());
    CompileTab tab(std::make_shared<const Document>(*loaded));
    tab.list = CompileList::kernels;
    tab.view.window.settings.source_paths = {"=" + folder.path().string()};
    tab.frame();
    CHECK(holds(tab.frame(), "add, mul"));
    REQUIRE(tab.harness.click_around([&] { tab.draw(); }, [&] { return !tab.view.active().compile.code.path.empty(); }));
    tab.harness.point_at({-1, -1});  // no tooltip, which would end the log
    const std::string text = tab.frame();
    CAPTURE(text);
    CHECK(holds(text, "tl.store(out_ptr0)") == is_there);
    CHECK(holds(text, "This file is not on this machine") == !is_there);
  }
}

TEST_CASE("code is read below allowed folders only, from files of source") {
  const test::TempFolder folder;
  const std::string path = folder.write("cab.py", "tl.store(out_ptr0)\n"), key = folder.write("id_rsa", "secret");
  const std::vector<std::string> allowed = {"=" + folder.path().string()};
  for (const std::string& other : {std::string("/dev/zero"), std::string("/"), std::string("/etc/passwd"), key}) {
    CAPTURE(other);
    CHECK_FALSE(read_code(other, allowed, true).trouble.empty());
    CHECK(read_code(other, allowed, true).text.empty());
  }
  CHECK(read_code("", allowed, true).trouble.empty());
  CHECK(read_code(path, allowed, true).text == "tl.store(out_ptr0)\n");
  const CodeText unasked = read_code(path, {}, true), nobody = read_code(path, {}, false);
  CHECK(unasked.text.empty());
  CHECK(unasked.to_allow == std::filesystem::canonical(folder.path()).string());
  CHECK(nobody.text.empty());
  CHECK(nobody.to_allow.empty());
  CHECK(nobody.trouble == read_code("/no/such/file.py", {}, false).trouble);
}

TEST_CASE("generated code appears once its folder is allowed") {
  const test::TempFolder folder;
  const auto loaded = load_trace(folder.write("trace.json", compiled_call(folder.write("cab.py", "tl.store(out_ptr0)\n"))));
  REQUIRE(loaded.ok());
  CompileTab tab(std::make_shared<const Document>(*loaded));
  tab.list = CompileList::kernels;
  tab.frame();
  tab.frame();
  REQUIRE(tab.harness.click_around([&] { tab.draw(); }, [&] { return !tab.view.active().compile.code.path.empty(); }));
  tab.harness.point_at({-1, -1});
  const std::string before = tab.frame();
  CHECK_FALSE(holds(before, "tl.store"));
  CHECK(holds(before, "Allow this folder"));
  tab.view.window.settings.source_paths = {"=" + tab.view.active().compile.code.to_allow};
  const std::string after = tab.frame();
  CHECK(holds(after, "tl.store(out_ptr0)"));
  CHECK_FALSE(holds(after, "Allow this folder"));
}

TEST_CASE("a trace without compiled code says so") {
  CompileTab tab(test::document_from_text(test::kOneLaunch));
  tab.frame();
  CHECK(holds(tab.frame(), "This trace has nothing of torch.compile"));
}
