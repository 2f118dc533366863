// A second document in the session: it loads beside the first, and requests are about the one that is acted on.
#include <doctest/doctest.h>

#include <chrono>
#include <semaphore>

#include "app/session/session.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_traces.h"
#include "tests/support/two_traces.h"

using namespace gapscope;
using namespace std::chrono_literals;

namespace {

// A session whose window has two traces, and a UI thread that does nothing but wait to be woken.
struct Desk {
  test::TempFolder folder{};
  std::counting_semaphore<> woken{0};
  ViewState view{};
  Session session{{folder.path() / "settings.json", {}, folder.path().string(), [this] { woken.release(); }}};
  std::string before = folder.write("before.json", test::kBefore);
  std::string after = folder.write("after.json", test::kAfter);

  template <class Test>
  void poll_until(Test test) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!test()) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      (void)woken.try_acquire_for(50ms);
      session.poll(view);
    }
  }
  void open_both() {
    session.open(before);
    session.open_beside(after);
    poll_until([&] { return session.document() && session.beside(); });
  }
};

}  // namespace

TEST_CASE("a second trace loads beside the first one, is analysed and remembered") {
  Desk desk;
  desk.open_both();
  CHECK(desk.session.title() == "before.json | after.json - Gapscope");
  CHECK(desk.session.recent().size() == 2);
  FrameInput in;
  desk.session.fill(in);
  CHECK(in.document == desk.session.document());
  CHECK(in.beside == desk.session.beside());
  CHECK(in.loading_beside == nullptr);
  desk.poll_until([&] { return desk.session.document()->diagnosis() && desk.session.beside()->diagnosis(); });
}

TEST_CASE("while the second trace loads the window is told how far it is") {
  Desk desk;
  desk.session.open_beside(desk.after);
  FrameInput in;
  desk.session.fill(in);
  REQUIRE(in.loading_beside);
  CHECK(in.loading_beside->path == desk.after);
  CHECK(desk.session.is_loading_beside());
  CHECK_FALSE(desk.session.is_loading());
  desk.session.carry_out(CloseBeside{});
  desk.session.fill(in);
  CHECK(in.loading_beside == nullptr);
  (void)desk.woken.try_acquire_for(5s);
  desk.session.poll(desk.view);
  CHECK(desk.session.beside() == nullptr);
  CHECK(desk.session.message().empty());
}

TEST_CASE("a second trace that does not open is a sentence, and both stay as they were") {
  Desk desk;
  desk.open_both();
  const Document *first = desk.session.document(), *second = desk.session.beside();
  desk.session.carry_out(OpenFile{desk.folder.write("bad.json", "this is not JSON"), true});
  desk.poll_until([&] { return !desk.session.is_loading_beside(); });
  CHECK(desk.session.message().find("bad.json") != std::string::npos);
  CHECK(desk.session.document() == first);
  CHECK(desk.session.beside() == second);
  CHECK(desk.session.recent().size() == 2);
}

TEST_CASE("the two change places with their analyses") {
  Desk desk;
  desk.open_both();
  const Document *first = desk.session.document(), *second = desk.session.beside();
  desk.session.carry_out(SwapTraces{});
  CHECK(desk.session.document() == second);
  CHECK(desk.session.beside() == first);
  CHECK(desk.session.title() == "after.json | before.json - Gapscope");
  desk.poll_until([&] { return first->diagnosis() && second->diagnosis(); });
}

TEST_CASE("the second trace can be closed and is freed; the first stays") {
  Desk desk;
  desk.open_both();
  const Document* first = desk.session.document();
  FrameInput in;
  desk.session.fill(in);
  const std::weak_ptr<const Trace> second = desk.session.beside()->trace_owner;
  desk.session.carry_out(CloseBeside{});
  CHECK(desk.session.beside() == nullptr);
  CHECK(desk.session.document() == first);
  desk.poll_until([&] { return second.expired(); });
}

TEST_CASE("closing the trace that is acted on leaves the other one open") {
  for (const TraceSide side : {TraceSide::a, TraceSide::b}) {
    Desk desk;
    desk.open_both();
    const Document* kept = side == TraceSide::a ? desk.session.beside() : desk.session.document();
    desk.session.carry_out(ActOn{side});
    desk.session.carry_out(CloseFile{});
    CHECK(desk.session.document() == kept);
    CHECK(desk.session.beside() == nullptr);
    desk.session.carry_out(CloseFile{});
    CHECK(desk.session.document() == nullptr);
  }
}

TEST_CASE("what panels ask for is about the trace that is acted on") {
  Desk desk;
  desk.open_both();
  const auto slices_in_all = [&] {
    desk.view.area.answer.reset();
    const Document& document = desk.view.compare.side == TraceSide::b ? *desk.session.beside() : *desk.session.document();
    desk.session.carry_out(ActOn{desk.view.compare.side});
    desk.session.carry_out(MakeAreaStats{whole_area(document.trace)});
    desk.poll_until([&] { return desk.view.area.answer != nullptr; });
    return desk.view.area.answer->slices;
  };
  CHECK(slices_in_all() == 5);
  desk.view.compare.side = TraceSide::b;
  CHECK(slices_in_all() == 6);
  desk.session.carry_out(SwapTraces{});  // what is acted on goes on to be acted on, as A
  desk.view.compare.side = TraceSide::a;
  CHECK(slices_in_all() == 6);
}

TEST_CASE("an answer about the other trace is dropped") {
  Desk desk;
  desk.open_both();
  desk.session.carry_out(ActOn{TraceSide::b});
  desk.session.carry_out(MakeAreaStats{whole_area(desk.session.beside()->trace)});
  desk.session.carry_out(ActOn{TraceSide::a});
  CHECK(desk.woken.try_acquire_for(5s));
  for (int i = 0; i < 20; ++i) {
    (void)desk.woken.try_acquire_for(10ms);
    desk.session.poll(desk.view);
  }
  CHECK(desk.view.area.answer == nullptr);
}

TEST_CASE("the two are compared in the background, and swapped ones are not mistaken for them") {
  Desk desk;
  desk.open_both();
  desk.session.carry_out(MakeComparison{});
  desk.poll_until([&] { return desk.view.compare.answer != nullptr; });
  const Ns ns_of_a = desk.view.compare.answer->step_a.length();
  CHECK(ns_of_a == 900'000);
  desk.view.compare.answer.reset();
  desk.session.carry_out(MakeComparison{});
  desk.session.carry_out(SwapTraces{});
  desk.session.carry_out(MakeComparison{});
  desk.poll_until([&] { return desk.view.compare.answer != nullptr; });
  CHECK(desk.view.compare.answer->step_a.length() == 600'000);
}
