// A second document in the session: it loads alongside the first, and requests are about the one that is acted on.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <semaphore>

#include "app/session/session.h"
#include "app/window/folder_listing.h"
#include "tests/support/pack_archive.h"
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
    session.open_second(after);
    poll_until([&] { return session.document() && session.second(); });
  }
};

}  // namespace

TEST_CASE("a second trace loads alongside the first one, is analysed and remembered") {
  Desk desk;
  desk.open_both();
  CHECK(desk.session.title() == "before.json | after.json - Gapscope");
  CHECK(desk.session.recent().size() == 2);
  FrameInput in;
  desk.session.fill(in);
  CHECK(in.document == desk.session.document());
  CHECK(in.second == desk.session.second());
  CHECK(in.loading_second == nullptr);
  desk.poll_until([&] { return desk.session.document()->diagnosis() && desk.session.second()->diagnosis(); });
}

TEST_CASE("while the second trace loads the window knows how far it is") {
  Desk desk;
  desk.session.open_second(desk.after);
  FrameInput in;
  desk.session.fill(in);
  REQUIRE(in.loading_second);
  CHECK(in.loading_second->path == desk.after);
  CHECK(desk.session.is_loading_second());
  CHECK_FALSE(desk.session.is_loading());
  desk.session.carry_out(CloseSecond{});
  desk.session.fill(in);
  CHECK(in.loading_second == nullptr);
  (void)desk.woken.try_acquire_for(5s);
  desk.session.poll(desk.view);
  CHECK(desk.session.second() == nullptr);
  CHECK(desk.session.message().empty());
}

TEST_CASE("of a trace and counters alone, opened together, the command that joins them is shown, whichever comes first") {
  constexpr const char* kCounters = R"({"traceEvents": [
    {"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": "GPU 0"}},
    {"ph": "C", "pid": 0, "name": "SM", "ts": 1, "args": {"active %": 5}},
    {"ph": "C", "pid": 0, "name": "SM", "ts": 2, "args": {"active %": 6}}]})";
  for (const bool first : {false, true}) {
    Desk desk;
    const std::string counters = desk.folder.write("counters.json", kCounters);
    const std::string trace = first ? desk.after : desk.before;
    (first ? desk.before : desk.after) = counters;
    desk.open_both();
    CHECK(desk.session.message().find("gapscope merge-counters " + trace + " " + counters + " -o ") != std::string::npos);
  }
}

TEST_CASE("a second trace that does not open is a sentence, and both stay as they were") {
  Desk desk;
  desk.open_both();
  const Document *first = desk.session.document(), *second = desk.session.second();
  desk.session.carry_out(OpenFile{desk.folder.write("bad.json", "this is not JSON"), true});
  desk.poll_until([&] { return !desk.session.is_loading_second(); });
  CHECK(desk.session.message().find("bad.json") != std::string::npos);
  CHECK(desk.session.document() == first);
  CHECK(desk.session.second() == second);
  CHECK(desk.session.recent().size() == 2);
}

TEST_CASE("the two change places with their analyses") {
  Desk desk;
  desk.open_both();
  const Document *first = desk.session.document(), *second = desk.session.second();
  desk.session.carry_out(SwapTraces{});
  CHECK(desk.session.document() == second);
  CHECK(desk.session.second() == first);
  CHECK(desk.session.title() == "after.json | before.json - Gapscope");
  desk.poll_until([&] { return first->diagnosis() && second->diagnosis(); });
}

TEST_CASE("the second trace can be closed and is freed; the first stays") {
  Desk desk;
  desk.open_both();
  const Document* first = desk.session.document();
  FrameInput in;
  desk.session.fill(in);
  const std::weak_ptr<const Trace> second = desk.session.second()->trace_owner;
  desk.session.carry_out(CloseSecond{});
  CHECK(desk.session.second() == nullptr);
  CHECK(desk.session.document() == first);
  CHECK_FALSE(second.expired());  // the last frame was given it
  desk.session.fill(in);
  desk.poll_until([&] { return second.expired(); });
}

TEST_CASE("closing the trace that is acted on leaves the other one open") {
  for (const TraceSide side : {TraceSide::a, TraceSide::b}) {
    Desk desk;
    desk.open_both();
    const Document* kept = side == TraceSide::a ? desk.session.second() : desk.session.document();
    desk.session.carry_out(ActOn{side});
    desk.session.carry_out(CloseFile{});
    CHECK(desk.session.document() == kept);
    CHECK(desk.session.second() == nullptr);
    desk.session.carry_out(CloseFile{});
    CHECK(desk.session.document() == nullptr);
  }
}

TEST_CASE("what panels ask about one of two traces is answered alongside that one, also when they change places") {
  Desk desk;
  desk.open_both();
  const Document &a = *desk.session.document(), &b = *desk.session.second();
  const auto slices_in_all = [&](const Document& document) {
    asked<AreaQuestion>(document) = {};
    desk.session.carry_out(Ask{&document, AreaQuestion{whole_area(document.trace)}});
    desk.poll_until([&] { return answer_to<AreaQuestion>(document) != nullptr; });
    const AreaStats& found = *answer_to<AreaQuestion>(document);
    return found.slices + found.annotations;
  };
  CHECK(slices_in_all(a) == 5);
  CHECK(slices_in_all(b) == 6);
  desk.session.carry_out(Ask{&b, FlameQuestion{whole_area(b.trace), PathTime::cpu}});
  desk.session.carry_out(SwapTraces{});
  CHECK(slices_in_all(a) == 5);
  desk.poll_until([&] { return answer_to<FlameQuestion>(b) != nullptr; });
  CHECK_FALSE(answer_to<FlameQuestion>(a));
}

TEST_CASE("a question about a document that is not open is dropped") {
  Desk desk;
  desk.open_both();
  const auto other = test::document_from_text(test::kOneLaunch);
  CHECK(desk.session.carry_out(Ask{other.get(), AreaQuestion{whole_area(other->trace)}}));
  CHECK_FALSE(asked<AreaQuestion>(*other).question);
}

TEST_CASE("the two are compared in the background, and swapped ones are not mistaken for them") {
  Desk desk;
  desk.open_both();
  desk.session.carry_out(MakeComparison{});
  desk.poll_until([&] { return desk.view.window.compare.answer != nullptr; });
  const Ns ns_of_a = desk.view.window.compare.answer->step_a.length();
  CHECK(ns_of_a == 900'000);
  desk.view.window.compare.answer.reset();
  desk.session.carry_out(MakeComparison{});
  desk.session.carry_out(SwapTraces{});
  desk.session.carry_out(MakeComparison{});
  desk.poll_until([&] { return desk.view.window.compare.answer != nullptr; });
  CHECK(desk.view.window.compare.answer->step_a.length() == 600'000);
}

TEST_CASE("what is opened is shown alone, whichever way; only what says compare opens a second one") {
  const auto done = [](Desk& desk) {
    desk.poll_until([&] { return !desk.session.is_loading() && !desk.session.is_loading_second(); });
  };
  enum class Way { opened, dropped, swapped };
  for (const Way way : {Way::opened, Way::dropped, Way::swapped}) {
    Desk desk;
    const std::string next = desk.folder.write("next.json", test::kOneLaunch);
    desk.open_both();
    if (way == Way::swapped) desk.session.carry_out(SwapTraces{});
    if (way == Way::dropped)
      desk.session.open_all({next});
    else
      desk.session.carry_out(OpenFile{next});
    CHECK(desk.session.second());  // until the new one is there
    done(desk);
    CHECK(desk.session.title() == "next.json - Gapscope");
    CHECK(desk.session.second() == nullptr);
    desk.session.carry_out(OpenFile{desk.after, true});
    done(desk);
    CHECK(desk.session.title() == "next.json | after.json - Gapscope");
    desk.session.carry_out(ReloadFile{});  // is no opening
    done(desk);
    CHECK(desk.session.title() == "next.json | after.json - Gapscope");
  }
}

TEST_CASE("what does not open closes no trace; a trace to compare is of what loads when it is asked for") {
  Desk desk;
  const std::string next = desk.folder.write("next.json", test::kOneLaunch);
  desk.open_both();
  const Document *first = desk.session.document(), *second = desk.session.second();
  desk.session.carry_out(OpenFile{desk.folder.write("bad.json", "this is not JSON")});
  desk.poll_until([&] { return !desk.session.is_loading(); });
  CHECK(desk.session.document() == first);
  CHECK(desk.session.second() == second);
  desk.session.carry_out(OpenFile{next});
  desk.session.carry_out(OpenFile{desk.before, true});
  desk.poll_until([&] { return !desk.session.is_loading() && !desk.session.is_loading_second(); });
  CHECK(desk.session.title() == "next.json | before.json - Gapscope");
  desk.session.carry_out(OpenFile{desk.after, true});  // was for next.json
  desk.session.carry_out(OpenFile{desk.after});
  desk.poll_until([&] { return !desk.session.is_loading() && !desk.session.is_loading_second(); });
  CHECK(desk.session.title() == "after.json - Gapscope");
}

TEST_CASE("an archive of recordings that are no ranks of one run is listed as a folder is") {
  Desk desk;
  const std::string text(test::kBefore);
  const std::string zip = desk.folder.write("days.zip", test::zip_of({{"monday.json", text}, {"tuesday.json", text}}));
  desk.session.carry_out(OpenFile{zip});
  desk.poll_until([&] { return !desk.session.is_loading(); });
  CHECK(desk.session.document() == nullptr);
  CHECK(desk.session.message().find("2 recordings that are not ranks of one run") != std::string::npos);
  REQUIRE(desk.view.window.start.path == zip + "/");
  const FolderView view = list_folder(zip + "/", "");
  REQUIRE(view.entries.size() == 2);
  CHECK(view.entries[1].name == "tuesday.json");
  CHECK(view.path == zip);
  desk.session.carry_out(OpenFile{view.path + "/" + view.entries[1].name});
  desk.poll_until([&] { return !desk.session.is_loading() && desk.session.document(); });
  CHECK(desk.session.document()->trace.path == zip + "/tuesday.json");
}

TEST_CASE("a folder whose folders hold the traces shows those to choose from, and says no command") {
  Desk desk;
  const std::string top = desk.folder.path().string() + "/dump";
  for (const char* step : {"10", "20"}) {
    const std::filesystem::path folder = top + "/profile_traces/iteration_" + step;
    std::filesystem::create_directories(folder);
    for (const char* name : {"rank0.json", "rank1.json"}) std::filesystem::copy_file(desk.before, folder / name);
  }
  desk.session.carry_out(OpenFile{top});
  desk.poll_until([&] { return !desk.session.is_loading(); });
  CHECK(desk.session.message().find("iteration_10 (2) and profile_traces/iteration_20 (2)") != std::string::npos);
  CHECK(desk.session.message().find("gapscope ranks") == std::string::npos);
  CHECK(desk.view.window.start.path == top + "/profile_traces/");
}

TEST_CASE("a folder of recordings that are no ranks of one run is listed, and a run opens") {
  Desk desk;
  const std::string runs = desk.folder.path().string() + "/runs";
  std::filesystem::create_directory(runs);
  for (const char* name : {"monday.json", "tuesday.json"})
    std::filesystem::copy_file(desk.before, std::filesystem::path(runs) / name);
  desk.session.carry_out(OpenFile{runs});
  desk.poll_until([&] { return !desk.session.is_loading(); });
  CHECK(desk.session.document() == nullptr);
  CHECK(desk.session.message().find("2 recordings that are not ranks of one run") != std::string::npos);
  CHECK(desk.view.window.start_open);
  CHECK(desk.view.window.start.path == runs + "/");
  CHECK_FALSE(desk.view.window.ranks.wanted);
  std::filesystem::rename(runs + "/monday.json", runs + "/rank0.json");
  std::filesystem::rename(runs + "/tuesday.json", runs + "/rank1.json");
  desk.session.carry_out(OpenFile{runs});
  desk.poll_until([&] { return !desk.session.is_loading() && desk.session.document(); });
  CHECK(desk.view.window.ranks.wanted);
}
