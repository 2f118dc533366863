#include "ui/attach/attach_page.h"

#include <doctest/doctest.h>

#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/tiny_traces.h"
#include "ui/commands.h"

using namespace gapscope;
using test::holds;

namespace {

struct ShownPage {
  ShownPage() {
    now.how_to_start = "Start it with KINETO_USE_DAEMON=1.";
    now.stacks_risk = "The program may end.";
    now.folder = "/home/me";
    page.open = true;
  }
  void draw() { draw_attach_page(page, now, can_compare, view.window, out); }
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  template <class R>
  const R* asked() const {
    for (const Request& request : out.list)
      if (const R* found = std::get_if<R>(&request)) return found;
    return nullptr;
  }
  // Over all of the page, its cross too.
  template <class Done>
  bool click_until(Done done) {
    return harness.click_around(
        [this] {
          page.open = true;
          draw();
        },
        done, 7);
  }
  void list_two() { now.programs = {{70, 0, 0, {}, "python3 train.py", false}, {71, 1, 9, {0, 1}, "python3 train.py", false}}; }

  AttachPage page;
  AttachView now;
  bool can_compare = false;
  ViewState view;
  Requests out;
  test::PanelHarness harness{{900, 560}};
};

}  // namespace

TEST_CASE("attach page: where nobody asks it says how to start a program, or why nobody can be heard") {
  ShownPage shown;
  std::string text = shown.frame();
  CHECK(holds(text, "No program has polled yet."));
  CHECK(holds(text, "KINETO_USE_DAEMON=1"));
  CHECK_FALSE(holds(text, "The program may end."));
  shown.page.what.stacks = true;
  CHECK(holds(shown.frame(), "The program may end."));
  shown.now.trouble = "Another daemon listens.";
  text = shown.frame();
  CHECK(holds(text, "Another daemon listens."));
  CHECK_FALSE(holds(text, "No program has polled"));
}

TEST_CASE("attach page: programs are listed as they ask, and no command line is more than text") {
  ShownPage shown;
  shown.list_two();
  shown.now.programs[0].command = "python3 \x1b[31m%s%n";
  const std::string text = shown.frame();
  for (const char* part : {"70", "71", "0, 1", "python3 train.py", "%s%n", "Record 2 programs"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  CHECK_FALSE(holds(text, "\x1b"));
}

TEST_CASE("attach page: programs are in order of their ranks, whichever asked first") {
  ShownPage shown;
  shown.list_two();
  shown.now.programs[0].command = "python3 train.py of rank 3";
  shown.now.programs[0].rank = 3;
  const std::string text = shown.frame();
  REQUIRE(holds(text, "of rank 3"));
  CHECK(text.find("71") < text.find("of rank 3"));
}

TEST_CASE("attach page: the ticked programs are recorded as was chosen, those that record already are not") {
  ShownPage shown;
  shown.list_two();
  shown.frame();
  REQUIRE(shown.click_until([&] { return shown.asked<RecordPrograms>() != nullptr; }));
  shown.out.list.clear();
  shown.page.left_out = {70};
  shown.page.duration = 1;
  shown.page.what = {};
  shown.page.what.shapes = true;
  shown.page.what.folder = "~/runs";
  shown.page.enter = true;
  shown.frame();
  REQUIRE(shown.asked<RecordPrograms>());
  CHECK(shown.asked<RecordPrograms>()->pids == std::vector<std::int64_t>{71});
  CHECK(shown.asked<RecordPrograms>()->duration == 500'000'000);
  CHECK(shown.asked<RecordPrograms>()->shapes);
  CHECK_FALSE(shown.asked<RecordPrograms>()->stacks);
  CHECK_FALSE(shown.asked<RecordPrograms>()->as_second);
  CHECK(shown.asked<RecordPrograms>()->folder == "~/runs");
  shown.out.list.clear();
  shown.now.programs[1].recording = true;
  shown.page.enter = true;
  shown.frame();
  CHECK(shown.asked<RecordPrograms>() == nullptr);
}

TEST_CASE("attach page: a new trace is compared with an open one where that is asked for") {
  ShownPage shown;
  shown.list_two();
  CHECK_FALSE(holds(shown.frame(), "compare"));
  shown.can_compare = true;
  CHECK(holds(shown.frame(), "Record and compare"));
  CHECK(shown.click_until([&] {
    const auto* asked = shown.out.list.empty() ? nullptr : std::get_if<RecordPrograms>(&shown.out.list.back());
    return asked && asked->as_second;
  }));
}

TEST_CASE("attach page: while programs record it says what is waited for, and can be cancelled") {
  ShownPage shown;
  shown.list_two();
  shown.now.recording = true;
  shown.now.to_ask = 2;
  CHECK(holds(shown.frame(), "waiting until 2 programs poll"));
  CHECK(shown.click_until([&] { return shown.asked<CancelRecording>() != nullptr; }));
  CHECK(shown.asked<RecordPrograms>() == nullptr);
  shown.now.to_ask = 0;
  shown.now.to_write = 2;
  shown.now.seconds_left = 3.2;
  CHECK(attach_text(shown.now) == "warming up, then recording: about 4 s left");
  shown.now.seconds_left = 0;
  CHECK(attach_text(shown.now) == "waiting for 2 traces to be written");
}

TEST_CASE("attach page: it is listened for as long as the page is open, which a new trace closes") {
  ShownPage shown;
  shown.frame();
  REQUIRE(shown.out.list.size() == 1);
  CHECK(shown.asked<ListenForPrograms>()->on);
  shown.out.list.clear();
  shown.now.recordings = 1;
  shown.frame();
  CHECK_FALSE(shown.page.open);
  REQUIRE(shown.out.list.size() == 1);
  CHECK_FALSE(shown.asked<ListenForPrograms>()->on);
}

TEST_CASE("attach page: a command shows it, Escape closes it, and to record again something must have been recorded") {
  AttachView now;
  test::HeadlessUi h(nullptr);
  h.input.attach = &now;
  CommandScope scope{nullptr, h.ui.view().active(), h.ui.view().window, h.out};
  CHECK_FALSE(is_enabled(command(CommandId::record_again), scope));
  run_command(CommandId::record_program, scope);
  h.frames(2);
  REQUIRE(h.out.has<ListenForPrograms>());
  h.out.list.clear();
  h.press(Key::escape);
  REQUIRE(h.out.has<ListenForPrograms>());
  CHECK_FALSE(std::get<ListenForPrograms>(h.out.list.back()).on);
  now.recordings = 1;
  scope.has_recorded = true;
  run_command(CommandId::record_again, scope);
  CHECK(h.out.has<RecordAgain>());
}
