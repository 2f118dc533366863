#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "ui/app_ui.h"
#include "ui/start/folder_rows.h"

using namespace gapscope;
using test::holds;

namespace {

struct Start {
  Start() {
    in.width_px = 1200;
    in.height_px = 800;
    in.recent = recent;
    in.samples = samples;
  }
  void draw() { draw_start_screen(in, window, out); }
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  // As the answer to what the page asked for.
  void list() {
    frame();
    folder.asked = window.start.asked_folder;
    in.folder = &folder;
  }
  template <class R>
  const R* asked() const {
    for (const Request& request : out.list)
      if (const R* found = std::get_if<R>(&request)) return found;
    return nullptr;
  }

  std::vector<std::string> recent{"/data/last.json.gz"};
  std::vector<Sample> samples{{"matmul", "A small matmul."}, {"mlp", "An MLP."}};
  FolderView folder{"/data", "", {{"runs", true, 0}, {"step1.json", false, 2048}}, ""};
  FrameInput in;
  WindowState window;
  Requests out;
  test::PanelHarness harness;
};

}  // namespace

TEST_CASE("the start screen shows samples with what they teach, recent files and the first keys") {
  Start start;
  const std::string text = start.frame();
  for (const char* part : {"last.json.gz", "matmul", "A small matmul.", "An MLP.", "W A S D", "drop a file"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
}

TEST_CASE("a folder is asked for once, and again when another one is typed") {
  Start start;
  start.frame();
  CHECK(start.out.list.size() == 1);
  REQUIRE(start.asked<ListFolder>());
  start.window.start.path = "/data/ru";
  start.frame();
  REQUIRE(start.out.list.size() == 2);
  CHECK(std::get<ListFolder>(start.out.list[1]).path == "/data/");
}

TEST_CASE("the folder lists what continues from the typed name") {
  Start start;
  start.list();
  CHECK(holds(start.frame(), "runs/"));
  start.window.start.path = "/data/st";
  start.list();
  const std::string text = start.frame();
  CHECK(holds(text, "step1.json"));
  CHECK_FALSE(holds(text, "runs/"));
}

TEST_CASE("the folder's recordings say what limits them, and can be put in order") {
  Start start;
  start.folder.entries = {{"runs", true, 0},
                          {"a.json", false, 2048, RunSummary{"Host-bound", 35 * kNsPerMs, 0.4}},
                          {"b.json", false, 2048, RunSummary{"GPU-bound", 70 * kNsPerMs, 0.9}},
                          {"c.json", false, 2048, RunSummary{}},
                          {"d.json", false, 2048, RunSummary{"is JSON without events", 0, {}, true}},
                          {"large.json", false, 1 << 30}};
  start.list();
  const std::string text = start.frame();
  for (const char* part : {"Host-bound, 35.0 ms a step", "GPU-bound, 70.0 ms a step", "being read ...", "does not open"})
    CHECK(holds(text, part));
  CHECK_FALSE(holds(text, "it has no list"));
  const auto order = [&](StartFields::Order by) {
    start.window.start.order = by;
    const std::string shown = start.frame();
    std::vector<std::pair<std::size_t, std::string>> at;
    for (const FolderEntry& entry : start.folder.entries) at.emplace_back(shown.find(entry.name), entry.name.substr(0, 1));
    std::sort(at.begin(), at.end());
    std::string out;
    for (const auto& [where, name] : at) out += name;
    return out;
  };
  CHECK(order(StartFields::Order::name) == "rabcdl");
  CHECK(order(StartFields::Order::step) == "rbacdl");
  CHECK(order(StartFields::Order::gpu) == "rabcdl");
  const auto draw = [&] {
    start.draw();
    start.folder.asked = start.window.start.asked_folder;
  };
  start.window.start.order = StartFields::Order::name;
  CHECK(start.harness.click_around(draw, [&] { return start.window.start.order == StartFields::Order::step; }));
}

TEST_CASE("where a recording's line has no room its words are cut, never its number") {
  test::PanelHarness harness;
  const RunSummary summary{"Mixed or GPU-bound or host-bound", 33'800 * kNsPerUs, 0.4};
  for (const float width : {170.0f, 230.0f, 600.0f}) {
    const std::string text = harness.settle([&] { draw_summary(summary, Theme(), 1, {0, 0}, {width, 40}); });
    CAPTURE(text);
    CHECK(holds(text, ", 33.8 ms a step"));
    CHECK(holds(text, "Mixed or GPU-bound or host-bound") == (width == 600.0f));
  }
}

TEST_CASE("samples, recent files and listed files open by a click") {
  Start start;
  start.list();
  start.frame();
  const auto draw = [&] { start.draw(); };
  CHECK(start.harness.click_around(draw, [&] { return start.asked<OpenSample>() && start.asked<OpenFile>(); }));
}

TEST_CASE("a click on a folder goes into it") {
  Start start;
  start.list();
  start.frame();
  const auto draw = [&] {
    start.draw();
    start.folder.asked = start.window.start.asked_folder;
  };
  CHECK(start.harness.click_around(draw, [&] { return start.window.start.path == "/data/runs/"; }));
}

TEST_CASE("an error is a sentence on the start screen, and can be dismissed") {
  Start start;
  start.in.message = "/data/x.json was not found.";
  CHECK(holds(start.frame(), "/data/x.json was not found."));
  CHECK(start.harness.click_around([&] { start.draw(); }, [&] { return start.asked<DismissMessage>() != nullptr; }));
}

TEST_CASE("a folder that cannot be read says so") {
  Start start;
  start.folder = {"/root", "This folder cannot be read: Permission denied.", {}};
  start.list();
  CHECK(holds(start.frame(), "Permission denied."));
}

TEST_CASE("a typed path opens by the button, and so does a folder that holds traces") {
  Start start;
  const auto draw = [&] { start.draw(); };
  const auto opens_folder = [&] {
    start.window.start.path = "/data/";
    start.list();
    start.frame();
    start.out.list.clear();
    start.harness.click_around(draw, [&] { return start.out.has<OpenFile>() && start.asked<OpenFile>()->path == "/data/"; });
    return start.asked<OpenFile>() && start.asked<OpenFile>()->path == "/data/";
  };
  CHECK(opens_folder());
  start.folder.entries = {{"runs", true, 0}};
  CHECK_FALSE(opens_folder());
  start.out.list.clear();
  start.window.start.path = "/data/step1.json";
  start.in.folder = nullptr;  // nothing listed: only the button is left
  start.in.recent = {};
  CHECK(start.harness.click_around(draw, [&] { return start.asked<OpenFile>() != nullptr; }));
  CHECK(start.asked<OpenFile>()->path == "/data/step1.json");
}

TEST_CASE("Enter on a folder's name opens it where it holds traces, and goes into it where it does not") {
  for (const bool holds_traces : {true, false}) {
    CAPTURE(holds_traces);
    Start start;
    start.window.start.path = "/data/runs";
    start.list();
    start.window.start.awaits = StartFields::Awaits::entry;
    start.frame();
    CHECK(start.window.start.path == "/data/runs/");
    CHECK_FALSE(start.asked<OpenFile>());
    start.folder = {"/data/runs", "", {{"a", true, 0}}, start.window.start.asked_folder};
    if (holds_traces) start.folder.entries.push_back({"rank0.json", false, 2048});
    start.frame();
    REQUIRE((start.asked<OpenFile>() != nullptr) == holds_traces);
    if (holds_traces) CHECK(start.asked<OpenFile>()->path == "/data/runs/");
  }
}

TEST_CASE("what went wrong goes once another path is there") {
  Start start;
  start.in.message = "/data/x.json was not found.";
  start.window.start.path = "/data/ru";
  start.list();
  start.frame();
  CHECK_FALSE(start.asked<DismissMessage>());
  start.window.start.awaits = StartFields::Awaits::completion;
  start.frame();
  CHECK(start.window.start.path == "/data/runs/");
  CHECK(start.asked<DismissMessage>());
}

TEST_CASE("the listing of another folder than the typed one is not taken for it") {
  Start start;
  start.list();
  start.window.start.path = "/else/";
  CHECK_FALSE(holds(start.frame(), "step1.json"));
}

TEST_CASE("recent files of one name show the folders that distinguish them") {
  Start start;
  start.recent = {"/data/run1/t.json", "/data/run2/t.json", "/data/u.json"};
  start.in.recent = start.recent;
  const std::string text = start.frame();
  CHECK(holds(text, "in run1"));
  CHECK(holds(text, "in run2"));
  CHECK_FALSE(holds(text, "in data"));
}

TEST_CASE("a sentence about an error moves nothing on the page, unless it needs more than two lines") {
  const auto row_of_folder = [](std::string_view message) {
    Start start;
    start.in.message = message;
    start.list();
    start.frame();
    for (float y = 60; y < 300; y += 1) {
      start.harness.point_at({60, y});
      start.frame();
      start.harness.click([&] { start.draw(); });
      if (start.window.start.path == "/data/runs/") return y;
      start.window.start.path.clear();  // a click on "../"
      start.list();
    }
    return 0.0f;
  };
  const float without = row_of_folder("");
  CHECK(without > 0);
  CHECK(row_of_folder("/a/path/trace.json was not found; is the name right, and is it on this machine?") == without);
  CHECK(row_of_folder("/a/very/long/path/that/does/not/fit/one/line/of/this/page/and/goes/on/and/on/trace.json was not found; "
                      "is the name right?") > without);  // all of it is in sight
}

TEST_CASE("the button to browse is there where the desktop has a file chooser") {
  Start start;
  CHECK_FALSE(holds(start.frame(), "Browse"));
  start.in.can_browse = true;
  start.frame();
  CHECK(start.harness.click_around([&] { start.draw(); }, [&] { return start.asked<BrowseFile>() != nullptr; }));
}

TEST_CASE("in an empty window letters are the beginning of a path, but for the key of the help") {
  test::HeadlessUi window(nullptr);
  ImGui::GetIO().AddInputCharacter('?');
  window.press(Key::question);
  CHECK(window.ui.view().window.help_open);
  window.press(Key::question);
  REQUIRE_FALSE(window.ui.view().window.help_open);
  for (const char letter : {'/', 'd', 'a', 't', 'a'}) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(letter));
    window.frames(2);
  }
  CHECK(window.ui.view().window.start.path == "/data");
}
