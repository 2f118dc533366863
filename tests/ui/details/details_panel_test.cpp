#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/panel_harness.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

struct Details {
  explicit Details(std::string_view text, ImVec2 size = {1200, 800}) : doc(test::document_from_text(text)), harness(size) {}
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  void draw() { draw_details(*doc, view.active(), view.window, out); }

  std::shared_ptr<const Document> doc;
  ViewState view;
  Requests out;
  test::PanelHarness harness;
};

constexpr std::string_view kReduce = "_ZN2at6native13reduce_kernelILi512EfEEvT0_";

}  // namespace

TEST_CASE("without a selection the panel says what would fill it") {
  Details details(test::kOneLaunch);
  CHECK(holds(details.frame(), "Nothing is selected."));
  CHECK(details.out.list.empty());
}

TEST_CASE("a selected kernel shows its resources before its args are there") {
  Details details(test::kOneLaunch);
  details.view.active().selection = test::slice_named(*details.doc, kReduce);
  const std::string text = details.frame();
  for (const char* part : {"Resources", "registers per thread", "48.5 KiB", "8 x 8 x 1", "cudaLaunchKernel", "aten::add",
                           "reduce_kernel<512, fp32>", "Reading the args"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
}

TEST_CASE("the args of a selection are asked for once and shown when they come") {
  Details details(test::kOneLaunch);
  const SliceId slice = test::slice_named(*details.doc, "aten::add");
  details.view.active().selection = slice;
  details.frame();
  details.frame();
  REQUIRE(details.out.list.size() == 1);
  CHECK(std::get<Ask>(details.out.list[0]).question.as<ArgsQuestion>()->slice == slice);
  asked<ArgsQuestion>(*details.doc).answer =
      std::make_shared<const SliceArgs>(SliceArgs{slice, {{"Input Dims", "[[64, 64], []]", false}}});
  CHECK(holds(details.frame(), "[[64, 64], []]"));
  CHECK(details.out.list.size() == 1);
}

TEST_CASE("the source of a kernel's Python frame is asked for once, and shown with a way to the editor when it is read") {
  Details details(R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "python_function", "name": "/src/train.py(2): step", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"Python id": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 120, "dur": 10, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 140, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 7}}
]})json");
  const test::TempFolder folder;
  const std::string file = folder.write("train.py", "# the first line\ndef step():\n  return 1 % 2\n");
  details.view.window.settings.source_paths = {"/src=" + folder.path().string()};
  details.view.active().selection = test::slice_named(*details.doc, "k");
  CHECK_FALSE(holds(details.frame(), "def step"));
  std::vector<SourceLinesQuestion> asked;
  for (const Request& request : details.out.list)
    if (const auto* ask = std::get_if<Ask>(&request))
      if (const auto* source = ask->question.as<SourceLinesQuestion>()) asked.push_back(*source);
  REQUIRE(asked.size() == 1);
  answer_now(*details.doc, asked[0]);
  const std::string text = details.frame();
  for (const char* part : {"Source", "Open in editor", "# the first line", "def step():", "return 1 % 2"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  details.out.list.clear();
  REQUIRE(details.harness.click_around([&] { details.draw(); }, [&] { return details.out.has<OpenInEditor>(); }));
  CHECK(std::get<OpenInEditor>(details.out.list.back()).file == file);
  CHECK(std::get<OpenInEditor>(details.out.list.back()).line == 2);
}

TEST_CASE("a source file whose folder is not allowed is not shown, and a click allows it") {
  const test::TempFolder folder;
  const std::string file = folder.write("train.py", "def step():\n  return 1\n");
  Details details(R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "python_function", "name": ")json" +
                  file + R"json((1): step", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"Python id": 1}}
]})json");
  details.view.active().selection = SliceId(std::size_t{0});
  details.frame();
  for (const Request& request : std::vector<Request>(details.out.list))
    if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*details.doc, ask->question);
  details.out.list.clear();
  const std::string text = details.frame();
  const std::string real = std::filesystem::canonical(folder.path()).string();
  CHECK_FALSE(holds(text, "return 1"));
  CHECK(holds(text, "Allow this folder"));
  CHECK(holds(text, real));
  REQUIRE(details.harness.click_around([&] { details.draw(); }, [&] { return details.out.has<AllowSources>(); }));
  CHECK(std::get<AllowSources>(details.out.list.back()).folder == real);
}

TEST_CASE("another selection replaces the model and asks again") {
  Details details(test::kOneLaunch);
  details.view.active().selection = test::slice_named(*details.doc, "first");
  details.frame();
  details.view.active().selection = test::slice_named(*details.doc, "second");
  CHECK(holds(details.frame(), "second"));
  std::size_t args = 0, commands = 0;
  for (const Request& request : details.out.list) {
    const auto* asked = std::get_if<Ask>(&request);
    args += asked && asked->question.as<ArgsQuestion>() ? 1 : 0;
    commands += asked && asked->question.as<KernelCommandQuestion>() ? 1 : 0;
  }
  CHECK(args == 2);
  CHECK(commands == 2);
}

TEST_CASE("a name with percent signs is drawn as it is") {
  Details details(R"([{"ph":"X","name":"%s%n%d 100 %","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1}])");
  details.view.active().selection = SliceId(std::size_t{0});
  CHECK(holds(details.frame(), "%s%n%d 100 %"));
}

TEST_CASE("a click on the call of a kernel selects it and brings it into view") {
  Details details(test::kOneLaunch);
  const SliceId kernel = test::slice_named(*details.doc, kReduce);
  const SliceId call = test::slice_named(*details.doc, "cudaLaunchKernel");
  details.view.active().selection = kernel;
  details.frame();
  CHECK(details.harness.click_around([&] { details.draw(); },
                                     [&] {
                                       const bool found = details.view.active().selection == call;
                                       if (!found) details.view.active().selection = kernel;
                                       return found;
                                     }));
  CHECK(details.view.active().signals.reveal_selection);
}

TEST_CASE("a panel of any width draws every section") {
  for (const float width : {120.0f, 340.0f, 700.0f, 2400.0f}) {
    CAPTURE(width);
    Details details(test::kOneLaunch, {width, 3000});
    details.view.active().selection = test::slice_named(*details.doc, kReduce);
    const std::string text = details.frame();
    for (const char* title : {"Resources", "Launched by", "GPU", "Slice", "Args"}) CHECK(holds(text, title));
  }
}

TEST_CASE("the command for Nsight Compute is copied with one click") {
  Details details(test::kOneLaunch);
  const SliceId kernel = test::slice_named(*details.doc, "second");
  details.view.active().selection = kernel;
  CHECK(holds(details.frame(), "Counting the launches of this kernel..."));
  answer_now(*details.doc, KernelCommandQuestion{test::slice_named(*details.doc, "first")});
  CHECK(holds(details.frame(), "Counting the launches of this kernel..."));
  answer_now(*details.doc, KernelCommandQuestion{kernel});
  CHECK(holds(details.frame(), "Profiles this launch again"));
  const auto copied = [&]() -> std::string {
    for (const Request& request : details.out.list)
      if (const auto* copy = std::get_if<CopyText>(&request)) return copy->text;
    return {};
  };
  REQUIRE(details.harness.click_around(
      [&] {
        details.view.active().selection = kernel;
        details.draw();
      },
      [&] { return !copied().empty(); }));
  CHECK(copied() == "ncu --set full --kernel-name regex:'^second$' --launch-skip 0 --launch-count 1 python your_script.py");
  details.view.active().selection = test::slice_named(*details.doc, "aten::add");
  CHECK_FALSE(holds(details.frame(), "Nsight Compute"));
}

TEST_CASE("what is selected anew is shown from its top; the same stays where it was scrolled to") {
  Details details(test::kOneLaunch, {360, 90});
  float scroll = 0;
  std::optional<float> wanted;
  const auto run = [&] {
    details.harness.settle([&] {
      details.draw();
      if (wanted) ImGui::SetScrollY(*std::exchange(wanted, std::nullopt));
      scroll = ImGui::GetScrollY();
    });
  };
  details.view.active().selection = test::slice_named(*details.doc, kReduce);
  run();
  wanted = 40.0f;
  run();
  CHECK(scroll == 40);
  details.view.active().selection = test::slice_named(*details.doc, "aten::add");
  run();
  CHECK(scroll == 0);
}
