#include "app/session/session.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <thread>

#include "core/replay/plain_program.h"
#include "core/view/notes/kept_view.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/process_state.h"
#include "tests/support/real_traces.h"
#include "tests/support/source_folder.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

using namespace gapscope;
using namespace std::chrono_literals;

namespace {

// A session with a UI thread that does nothing but wait to be woken.
struct Desk {
  LoadOptions load{};
  test::TempFolder folder{};
  std::counting_semaphore<> woken{0};
  ViewState view{};
  Session session{{folder.path() / "settings.json", test::source_folder() / "assets", folder.path().string(),
                   [this] { woken.release(); }, load}};

  template <class Test>
  void poll_until(Test test) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!test()) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      (void)woken.try_acquire_for(50ms);
      session.poll(view);
    }
  }
  void open(const std::string& path) {
    session.open(path);
    poll_until([&] { return !session.is_loading(); });
  }
  std::string write_trace(const std::string& name = "one.json") { return folder.write(name, test::kOneLaunch); }
};

}  // namespace

TEST_CASE("a file opens in the background and is remembered") {
  Desk desk;
  const std::string path = desk.write_trace();
  desk.session.open(path);
  CHECK(desk.session.is_loading());
  CHECK(desk.session.document() == nullptr);
  desk.poll_until([&] { return desk.session.document() != nullptr; });
  CHECK(desk.session.recent() == std::vector<std::string>{path});
  const auto kept = [&] { return read_settings(desk.folder.path() / "settings.json")->recent; };
  desk.poll_until([&] { return !kept().empty(); });
  CHECK(kept() == std::vector<std::string>{path});
  CHECK(desk.session.title() == "one.json - Gapscope");
}

TEST_CASE("a file that does not open leaves the last one open and says why") {
  Desk desk;
  desk.open(desk.write_trace());
  const Document* before = desk.session.document();
  desk.open(desk.folder.write("bad.json", "this is not JSON"));
  CHECK(desk.session.document() == before);
  CHECK(desk.session.message().find("bad.json") != std::string::npos);
  CHECK(desk.session.recent().size() == 1);
  desk.session.carry_out(DismissMessage{});
  CHECK(desk.session.message().empty());
}

TEST_CASE("a folder opens as a run of ranks, with the first of its files; a file from elsewhere is none of that run") {
  Desk desk;
  const std::string run = (desk.folder.path() / "run").string();
  std::filesystem::create_directory(run);
  desk.write_trace("run/rank0.json");
  desk.write_trace("run/rank1.json");
  desk.open(run);
  REQUIRE(desk.session.document());
  CHECK(desk.session.document()->trace.path == run + "/rank0.json");
  CHECK(desk.view.window.ranks.paths == std::vector<std::string>{run});
  CHECK(desk.view.window.ranks.wanted);
  CHECK(desk.session.recent() == std::vector<std::string>{run});
  desk.open(run + "/rank1.json");
  CHECK(desk.view.window.ranks.paths == std::vector<std::string>{run});
  CHECK(desk.session.recent() == std::vector<std::string>{run});  // a rank of it is no other recording
  desk.open(run + "/");
  CHECK(desk.session.recent() == std::vector<std::string>{run});
  desk.open(run + "/rank1.json");
  CHECK(desk.view.window.ranks.paths == std::vector<std::string>{run});
  desk.open(desk.write_trace("elsewhere.json"));
  CHECK(desk.view.window.ranks.paths.empty());
  std::filesystem::create_directory(run + "/empty");
  desk.open(run + "/empty");
  CHECK(desk.session.message().find("holds no trace") != std::string::npos);
}

TEST_CASE("several files at once are a run, or two traces to compare") {
  Desk desk;
  const auto rank = [&](int number) {
    std::string text(test::kOneLaunch);
    text.insert(text.find('{') + 1, "\"distributedInfo\": {\"rank\": " + std::to_string(number) + ", \"world_size\": 2}, ");
    return desk.folder.write("rank" + std::to_string(number) + ".json", text);
  };
  const std::vector<std::string> run = {rank(0), rank(1)};
  const auto open_all = [&](const std::vector<std::string>& paths) {
    desk.session.open_all(paths);
    desk.poll_until([&] { return !desk.session.is_loading() && !desk.session.is_loading_second(); });
  };
  open_all(run);
  REQUIRE(desk.session.document());
  CHECK(desk.session.document()->trace.path == run[0]);
  CHECK(desk.session.second() == nullptr);
  CHECK(desk.view.window.ranks.paths == run);
  CHECK(desk.view.window.ranks.wanted);
  desk.open(run[1]);
  CHECK(desk.view.window.ranks.paths == run);
  const std::string plain = desk.write_trace("plain.json"), other = desk.write_trace("other.json");
  open_all({plain, other});
  REQUIRE(desk.session.second());
  CHECK(desk.session.document()->trace.path == plain);
  CHECK(desk.session.second()->trace.path == other);
  CHECK(desk.view.window.ranks.paths.empty());
  open_all({plain, other, run[0]});
  CHECK(desk.view.window.ranks.paths == std::vector<std::string>{plain, other, run[0]});
}

TEST_CASE("a saved file that the desktop does not open is said so in a sentence with its path") {
  Desk desk;
  const std::string program = desk.folder.write("bin/xdg-open", "#!/bin/sh\nexit 3\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  const std::string bin = std::filesystem::path(program).parent_path().string();
  for (const std::string& path : {bin + ":" + before, std::string("/nowhere")}) {
    CAPTURE(path);
    {
      const test::SetVariable programs("PATH", path);
      CHECK(desk.session.carry_out(OpenOnDesktop{"/data/a.html"}));
    }
    desk.poll_until([&] { return !desk.session.message().empty(); });
    CHECK(desk.session.message().find("/data/a.html") != std::string::npos);
    CHECK(desk.session.message().ends_with("."));
    desk.session.carry_out(DismissMessage{});
  }
}

TEST_CASE("queries are remembered") {
  Desk desk;
  CHECK(desk.session.carry_out(KeepQueries{{"select 1"}, {"select 2"}}));
  const auto kept = [&] { return *read_settings(desk.folder.path() / "settings.json"); };
  desk.poll_until([&] { return !kept().recent_queries.empty(); });
  CHECK(kept().recent_queries == std::vector<std::string>{"select 1"});
  CHECK(kept().saved_queries == std::vector<std::string>{"select 2"});
  desk.open(desk.write_trace());
  CHECK(desk.view.window.sql.recent == std::vector<std::string>{"select 1"});
}

TEST_CASE("a folder of sources that was allowed once stays so, next to those that were there") {
  Desk desk;
  CHECK(desk.session.carry_out(KeepEditor{{"vi", {"/workspace=/home/me/project"}}}));
  CHECK(desk.session.carry_out(AllowSources{"/home/me/a=b"}));
  const auto saved = [&] { return *read_settings(desk.folder.path() / "settings.json"); };
  desk.poll_until([&] { return saved().source_paths.size() == 2; });
  CHECK(saved().source_paths == std::vector<std::string>{"/workspace=/home/me/project", "=/home/me/a=b"});
  CHECK(saved().editor == "vi");
}

TEST_CASE("a second file replaces the first, which is freed") {
  Desk desk;
  desk.open(desk.write_trace("one.json"));
  const std::weak_ptr<const Trace> first = desk.session.document()->trace_owner;
  desk.open(desk.write_trace("two.json"));
  CHECK(desk.session.title() == "two.json - Gapscope");
  desk.poll_until([&] { return first.expired(); });  // its analysis may be on its way out
}

TEST_CASE("a cancelled load changes nothing and says nothing") {
  Desk desk;
  desk.session.open(desk.write_trace());
  desk.session.carry_out(CancelLoad{});
  CHECK_FALSE(desk.session.is_loading());
  (void)desk.woken.try_acquire_for(5s);
  desk.session.poll(desk.view);
  CHECK(desk.session.document() == nullptr);
  CHECK(desk.session.message().empty());
}

TEST_CASE("opening another file while one loads gives the other") {
  Desk desk;
  desk.session.open(desk.write_trace("one.json"));
  desk.open(desk.write_trace("two.json"));
  CHECK(desk.session.title() == "two.json - Gapscope");
}

TEST_CASE("args of a slice are read from the file in the background") {
  Desk desk;
  desk.open(desk.write_trace());
  const Document& document = *desk.session.document();
  const SliceId slice = test::slice_named(document, "cudaLaunchKernel");
  CHECK(desk.session.carry_out(Ask{&document, ArgsQuestion{slice}}));
  desk.poll_until([&] { return answer_to<ArgsQuestion>(document) != nullptr; });
  const SliceArgs& read = *answer_to<ArgsQuestion>(document);
  CHECK(read.slice == slice);
  REQUIRE(read.args.size() == 3);
  CHECK(read.args[1].key == "cbid");
  CHECK(read.args[1].value == "211");
}

TEST_CASE("args of a file that vanished are a sentence") {
  Desk desk;
  const std::string path = desk.write_trace();
  desk.open(path);
  std::filesystem::remove(path);
  const Document& document = *desk.session.document();
  desk.session.carry_out(Ask{&document, ArgsQuestion{test::slice_named(document, "cudaLaunchKernel")}});
  desk.poll_until([&] { return answer_to<ArgsQuestion>(document) != nullptr; });
  CHECK(answer_to<ArgsQuestion>(document)->error.ends_with('.'));
}

TEST_CASE("the event of a slice that only the document before had is not copied") {
  Desk desk;
  desk.open(desk.write_trace());
  CHECK(desk.session.carry_out(CopyEvent{SliceId(std::size_t{1'000'000'000})}));
  desk.session.carry_out(CopyEvent{test::slice_named(*desk.session.document(), "cudaLaunchKernel")});
  std::optional<std::string> copied;
  desk.poll_until([&] { return (copied = desk.session.take_copy()).has_value(); });
  CHECK(copied->find("cudaLaunchKernel") != std::string::npos);
  CHECK(desk.session.message().empty());
}

TEST_CASE("what is saved twice in one frame is saved twice") {
  Desk desk;
  desk.open(desk.write_trace());
  const Span all = desk.session.document()->trace.span;
  desk.session.carry_out(SaveCrop{all});
  desk.session.carry_out(SaveCrop{all});
  const auto crops = [&] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(desk.folder.path()))
      count += entry.path().filename().string().find(".part") != std::string::npos ? 1 : 0;
    return count;
  };
  desk.poll_until([&] { return crops() >= 2 && desk.session.message().starts_with("Saved "); });
  CHECK(crops() == 2);
}

TEST_CASE("a new document forgets what was shown of the last one") {
  Desk desk;
  desk.open(desk.write_trace("one.json"));
  desk.view.active().details.slice = SliceId(std::size_t{1});
  desk.open(desk.write_trace("two.json"));
  CHECK_FALSE(desk.view.active().details.slice);
}

TEST_CASE("samples and folders are the session's, text and titles the window's") {
  Desk desk;
  CHECK(desk.session.carry_out(OpenSample{0}));
  desk.poll_until([&] { return desk.session.document() != nullptr; });
  CHECK(desk.session.carry_out(ListFolder{desk.folder.path().string()}));
  FrameInput in;
  desk.poll_until([&] { return desk.session.fill(in), in.folder != nullptr; });
  CHECK(in.folder->path == desk.folder.path().string());
  CHECK_FALSE(desk.session.carry_out(CopyText{"x"}));
  CHECK_FALSE(desk.session.carry_out(Quit{}));
}

TEST_CASE("an area is counted and its call paths are added up in the background") {
  Desk desk;
  desk.open(desk.write_trace());
  const Area area = whole_area(desk.session.document()->trace);
  const Document& document = *desk.session.document();
  CHECK(desk.session.carry_out(Ask{&document, AreaQuestion{area}}));
  CHECK(desk.session.carry_out(Ask{&document, FlameQuestion{area, PathTime::gpu}}));
  desk.poll_until([&] { return answer_to<AreaQuestion>(document) && answer_to<FlameQuestion>(document); });
  CHECK(answer_to<AreaQuestion>(document)->slices == 8);
  CHECK(answer_to<AreaQuestion>(document)->annotations == 1);
  CHECK(answer_to<FlameQuestion>(document)->question == FlameQuestion{area, PathTime::gpu});
}

// The window knows documents by their addresses: a later one at the same place would be taken for it.
TEST_CASE("what a frame was given lives until the next one") {
  Desk desk;
  desk.open(desk.write_trace());
  FrameInput in;
  desk.session.fill(in);
  REQUIRE(in.document);
  const std::weak_ptr<const void> given = in.document->trace_owner;
  desk.poll_until([&] { return in.document->analysis() != nullptr; });  // no job holds it any more
  desk.session.carry_out(CloseFile{});
  std::this_thread::sleep_for(200ms);
  CHECK_FALSE(given.expired());
  desk.session.fill(in);
  CHECK(in.document == nullptr);
  desk.poll_until([&] { return given.expired(); });
}

TEST_CASE("a closed file is gone, and so are its details") {
  Desk desk;
  desk.open(desk.write_trace());
  desk.view.active().details.slice = SliceId(std::size_t{1});
  desk.session.carry_out(CloseFile{});
  desk.session.poll(desk.view);
  CHECK(desk.session.document() == nullptr);
  CHECK_FALSE(desk.view.active().details.slice);
  CHECK(desk.session.title() == "Gapscope");
}

TEST_CASE("broken settings are named in the window") {
  const test::TempFolder folder;
  const std::string path = folder.write("settings.json", "{");
  Session session({path, {}, {}, [] {}});
  const std::string said =
      path + ": the settings are no JSON; the file is now " + path + ".broken-1, and the settings are the defaults.";
  CHECK(session.message() == said);
  session.open("/no such file");  // as when the program is started with one
  ViewState view;
  session.poll(view);
  CHECK(session.message().starts_with(said));  // that file may have been looked for by now
  while (session.is_loading()) session.poll(view);
  CHECK(session.message() == said + " /no such file was not found. Check the path.");
  CHECK(!std::filesystem::exists(path));
  CHECK(std::filesystem::exists(path + ".broken-1"));
}

TEST_CASE("while a file loads its beginning is shown, then the whole in its place") {
  std::string text = "[";
  for (int i = 0; i < 120'000; ++i) {
    text += (i ? ",\n" : "") + std::string(R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":)") +
            std::to_string(i * 10) + R"(,"dur":5})";
  }
  text += "]";
  LoadOptions load;
  load.threads = 1;
  load.batch_bytes = 4096;
  load.least_bytes_for_parts = 1;
  Desk desk{load};
  desk.open(desk.write_trace());
  const Document* other = desk.session.document();
  const std::string path = desk.folder.write("big.json", text);
  bool seen = false;
  // A machine that reads the file faster than it shows its beginning needs no part: a few tries are fair.
  for (int attempt = 0; attempt < 30 && !seen; ++attempt) {
    desk.session.open(path);
    const Document* part = nullptr;
    FrameInput in;
    desk.poll_until([&] {
      desk.session.fill(in);
      if (in.document && in.document->trace.is_part) part = in.document;
      return !desk.session.is_loading();
    });
    desk.session.fill(in);
    CHECK_FALSE(in.document->trace.is_part);
    CHECK(in.document->trace.slice_count() == 120'000);
    seen = part != nullptr;
    if (seen) CHECK(in.part_before == part);
    desk.session.poll(desk.view);
    desk.session.fill(in);
    CHECK(in.part_before == nullptr);
    desk.open(desk.write_trace());
    other = desk.session.document();
  }
  CHECK(seen);
  // Cancelled, the beginning goes and what was open before is there again.
  desk.session.open(path);
  desk.session.poll(desk.view);
  desk.session.carry_out(CancelLoad{});
  desk.session.poll(desk.view);
  CHECK(desk.session.document() == other);
}

TEST_CASE("a search is answered in the background, and only the newest question is") {
  Desk desk;
  desk.open(desk.write_trace());
  const Document& document = *desk.session.document();
  for (const char* text : {"c", "cuda", "cudaLaunch"})
    CHECK(desk.session.carry_out(Ask{&document, SearchQuestion{text, false}}));
  CHECK(desk.session.is_at_work());
  desk.poll_until([&] { return !desk.session.is_at_work(); });
  REQUIRE(answer_to<SearchQuestion>(document) != nullptr);
  CHECK(document.diagnosis() != nullptr);
  CHECK(answer_to<SearchQuestion>(document)->question == SearchQuestion{"cudaLaunch", false});
  CHECK(answer_to<SearchQuestion>(document)->hits.size() == 1);
}

TEST_CASE("what is seen of B is not remembered of A, also in the frame in which B is closed") {
  Desk desk;
  const auto frame = [&] {
    FrameInput in;
    desk.session.poll(desk.view);
    desk.session.fill(in);
    return in.kept ? std::optional(*in.kept) : std::nullopt;
  };
  desk.open(desk.write_trace("a.json"));
  desk.session.open_second(desk.write_trace("b.json"));
  desk.poll_until([&] { return desk.session.second() != nullptr; });
  frame();
  desk.view.window.compare.side = TraceSide::b;
  desk.session.carry_out(ActOn{TraceSide::b});
  desk.view.of(TraceSide::b).notes.notes.push_back({{0, 1}, "of B"});
  frame();
  desk.session.carry_out(CloseFile{});
  frame();  // the window would turn to A in this one
  CHECK(desk.session.second() == nullptr);
  desk.session.carry_out(ReloadFile{});
  desk.poll_until([&] { return !desk.session.is_loading(); });
  const auto kept = frame();
  CHECK((!kept || kept->notes.empty()));
}

TEST_CASE("the recordings of a listed folder say what limits them, while no trace is shown") {
  Desk desk;
  desk.write_trace("a.json");
  desk.folder.write("b.json", "no trace");
  const std::filesystem::path real = test::recording("transformer_optimized");
  std::filesystem::copy_file(real, desk.folder.path() / "c.json.gz");
  desk.session.carry_out(ListFolder{desk.folder.path().string()});
  const auto entry = [&](std::string_view name) -> const FolderEntry* {
    if (desk.session.folder())
      for (const FolderEntry& e : desk.session.folder()->entries)
        if (e.name == name) return &e;
    return nullptr;
  };
  const auto done = [&](std::string_view name) {
    return entry(name) && entry(name)->summary && !entry(name)->summary->limit.empty();
  };
  desk.poll_until([&] { return done("a.json") && done("b.json") && done("c.json.gz") && !desk.session.is_at_work(); });
  CHECK(entry("b.json")->summary->failed);
  const RunSummary& known = *entry("c.json.gz")->summary;
  CHECK(known.limit == "Host-bound");
  CHECK(known.step > 0);
  REQUIRE(known.gpu_share);
  CHECK(*known.gpu_share == doctest::Approx(0.66).epsilon(0.02));
  // Behind a trace nothing is read.
  desk.open(desk.write_trace("d.json"));
  desk.session.carry_out(ListFolder{desk.folder.path().string()});
  desk.poll_until([&] { return entry("d.json") != nullptr; });
  CHECK(entry("d.json")->summary->limit.empty());
  desk.view.window.start_open = true;
  desk.poll_until([&] { return done("d.json"); });
}

TEST_CASE("a step's time that the user states is that of the open trace alone") {
  Desk desk;
  const std::string path = desk.write_trace("a.json");
  desk.open(path);
  desk.session.carry_out(StateStepTime{5 * kNsPerMs});
  desk.poll_until([&] { return !desk.session.is_loading(); });
  REQUIRE(desk.session.document()->trace.stated.step_time);
  CHECK(desk.session.document()->trace.stated.step_time->step == 5 * kNsPerMs);
  CHECK(desk.session.document()->trace.path == path);
  desk.session.open_second(desk.write_trace("b.json"));
  desk.poll_until([&] { return desk.session.second() != nullptr; });
  CHECK_FALSE(desk.session.second()->trace.stated.step_time);
  CHECK(desk.session.document()->trace.stated.step_time);
}

TEST_CASE("what went wrong stands until it is dismissed, and what went well comes after it") {
  Desk desk;
  desk.open(desk.write_trace());
  const std::string saved = desk.folder.path() / "one.csv";
  desk.session.say("This went wrong.");
  desk.session.carry_out(SaveText{".csv", "a,b\n"});
  desk.poll_until([&] { return std::filesystem::exists(saved); });
  for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(5ms), desk.session.poll(desk.view);
  CHECK(desk.session.message() == "This went wrong.");
  desk.session.carry_out(DismissMessage{});
  CHECK(desk.session.message() == "Saved " + saved);
  desk.session.say("That too.");
  CHECK(desk.session.message() == "That too.");
  desk.session.carry_out(DismissMessage{});
  CHECK(desk.session.message() == "Saved " + saved);
  desk.session.carry_out(DismissMessage{});
  CHECK(desk.session.message().empty());
}

TEST_CASE("the notes of a trace outlive the beginning of another one that is shown in between") {
  LoadOptions load;
  load.threads = 1;
  load.batch_bytes = 4096;
  load.least_bytes_for_parts = 1;
  std::string text = "[";
  for (int i = 0; i < 120'000; ++i)
    text +=
        (i ? ",\n" : "") + std::string(R"({"ph":"X","name":"op","pid":1,"tid":1,"dur":5,"ts":)") + std::to_string(i * 10) + "}";
  Desk desk{load};
  desk.open(desk.write_trace());
  const std::string big = desk.folder.write("big.json", text + "]");
  FrameInput in;
  const auto frame = [&] {
    desk.session.poll(desk.view);
    desk.session.fill(in);
  };
  bool seen = false;
  for (int attempt = 0; attempt < 30 && !seen; ++attempt) {
    desk.open(desk.folder.path() / "one.json");
    desk.session.open_second(desk.write_trace("b.json"));
    desk.poll_until([&] { return desk.session.second() != nullptr; });
    frame();
    desk.view.of(TraceSide::a).notes.notes = {{{0, 1}, "mine"}};
    frame();
    desk.session.open(big);
    desk.poll_until([&] {
      desk.session.fill(in);
      seen = in.document && in.document->trace.is_part;
      return seen || !desk.session.is_loading();
    });
  }
  REQUIRE(seen);
  CHECK(in.second == nullptr);
  CHECK(desk.session.title() == "big.json - Gapscope");
  desk.session.carry_out(CancelLoad{});
  desk.session.fill(in);
  CHECK(in.second != nullptr);
  const KeptView* back = in.kept;
  REQUIRE((back && back->notes.size() == 1));
  CHECK(back->notes[0].text == "mine");
}

namespace {

// What a window with this session is given, run after run of the program.
struct Run {
  ViewState view{};
  FrameInput in{};
  std::counting_semaphore<> woken{0};
  Session session;

  Run(const test::TempFolder& folder, const std::string& path) : session(options_in(folder)) {
    session.open(path);
    show_loaded();
  }
  // That loads.
  void carry_out(const Request& request) {
    session.carry_out(request);
    show_loaded();
  }
  void show_loaded() {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (session.is_loading() || !session.document()) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      (void)woken.try_acquire_for(50ms);
      session.poll(view);
    }
    session.fill(in);
    shown.reset();
    if (const KeptView* last = in.kept) shown = *last;
    has_notice = in.notice != nullptr;
    reset_folds(view.active().folds, session.document()->trace);
    view.active().time = fit(session.document()->trace.span);
    if (shown) restore_view(*shown, session.document()->trace, view.active());
    if (shown && !shown->tab.empty()) show_panel(view.window, shown->tab);
    frame();
  }
  SessionOptions options_in(const test::TempFolder& folder) {
    SessionOptions options{{}, {}, {}, [this] { woken.release(); }};
    options.states = folder.path() / "states";
    return options;
  }
  void frame() {
    session.poll(view);
    session.fill(in);
  }
  std::optional<KeptView> shown{};  // when it was opened
  bool has_notice = false;          // then
};

}  // namespace

TEST_CASE("the steps and their time that the user states are saved with the file, until they are taken back") {
  test::TempFolder folder;
  const std::string path = folder.write("a.json", test::kOneLaunch);
  const auto stated = [](const Run& run) { return run.session.document()->trace.stated.step_time; };
  const auto steps = [](const Run& run) { return run.session.document()->trace.stated.steps; };
  {
    Run first(folder, path);
    CHECK_FALSE(stated(first));
    first.carry_out(StateStepTime{5 * kNsPerMs});
    REQUIRE(stated(first));
    first.carry_out(StateSteps{"train"});
    CHECK(stated(first));
    CHECK(steps(first) == "train");
  }
  {
    Run second(folder, path);
    REQUIRE(stated(second));
    CHECK(stated(second)->step == 5 * kNsPerMs);
    CHECK(steps(second) == "train");
    CHECK(second.has_notice);
    second.carry_out(StartFresh{});
    CHECK(steps(second).empty());
    REQUIRE(stated(second));
    second.carry_out(StateSteps{"train"});
    second.carry_out(StateStepTime{});
    CHECK_FALSE(stated(second));
    CHECK(steps(second) == "train");
    second.carry_out(StateSteps{});
  }
  const Run third(folder, path);
  CHECK_FALSE(third.has_notice);
  CHECK_FALSE(stated(third));
  CHECK(steps(third).empty());
}

TEST_CASE(
    "the bar of the view of last time is there where something comes back that a fresh start undoes, until the view moves") {
  test::TempFolder folder;
  const std::string path = folder.write("a.json", test::kOneLaunch);
  {
    Run first(folder, path);
    CHECK_FALSE(first.has_notice);
    first.view.active().notes.notes = {{{150'000, 160'000}, "mine"}};
    first.frame();
  }
  {
    Run noted(folder, path);
    REQUIRE(noted.shown);
    CHECK(noted.shown->notes.size() == 1);
    CHECK_FALSE(noted.has_notice);
    noted.view.active().time.span = {200'000, 300'000};
    noted.frame();
  }
  Run zoomed(folder, path);
  CHECK(zoomed.has_notice);
  CHECK(zoomed.view.active().time.span == Span{200'000, 300'000});
  zoomed.frame();
  CHECK(zoomed.in.notice != nullptr);
  zoomed.view.active().time.span = {250'000, 300'000};
  zoomed.frame();
  CHECK(zoomed.in.notice == nullptr);
}

TEST_CASE("the tab of a comparison is not what a trace alone opens with") {
  test::TempFolder folder;
  const std::string path = folder.write("a.json", test::kOneLaunch);
  const auto open_with = [&](const char* tab, bool is_compared) {
    Run run(folder, path);
    show_panel(run.view.window, tab);
    run.view.window.compare.open = is_compared;
    run.view.active().time.span.end -= 1;  // something else to write
    run.frame();
  };
  open_with("kernels", false);
  open_with("compare", true);
  const Run alone(folder, path);
  REQUIRE(alone.shown);
  CHECK(alone.shown->tab == "kernels");
}

TEST_CASE("a crop has the notes that lie in its time, and opens as it comes") {
  test::TempFolder folder;
  const std::string path = folder.write("a.json", test::kOneLaunch);
  const std::string crop = (folder.path() / "a.part.json.gz").string();
  {
    Run whole(folder, path);
    whole.view.active().notes.notes = {
        {{110'000, 110'000}, "flag"}, {{190'000, 900'000}, "reaches in"}, {{950'000, 960'000}, "out"}};
    whole.frame();
    whole.session.carry_out(SaveCrop{{100'000, 220'000}});
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!whole.session.message().starts_with("Saved ")) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      (void)whole.woken.try_acquire_for(50ms);
      whole.frame();
    }
    CHECK(whole.session.message().find("notes") == std::string::npos);
  }
  const Run part(folder, crop);
  REQUIRE(part.shown);
  REQUIRE(part.shown->notes.size() == 2);
  CHECK(part.shown->notes[0].text == "flag");
  CHECK(part.shown->notes[1].text == "reaches in");
  CHECK_FALSE(part.has_notice);
  CHECK(part.view.active().time.span == fit(part.session.document()->trace.span).span);
}

TEST_CASE("notes outlive their trace as the second one, too, and when the two have changed places") {
  test::TempFolder folder;
  const std::string a = folder.write("a.json", test::kOneLaunch), b = folder.write("b.json", test::kOneLaunch);
  ViewState view;
  // What a window does with what it is given, as far as notes go.
  const auto in_session = [&](const auto& act) {
    std::counting_semaphore<> woken{0};
    view = {};
    SessionOptions options{{}, {}, {}, [&] { woken.release(); }};
    options.states = folder.path() / "states";
    Session session(std::move(options));
    FrameInput in;
    const auto frame = [&] {
      session.poll(view);
      session.fill(in);
      if (in.kept) view.of(TraceSide::a).notes.notes = in.kept->notes;
    };
    session.open(a);
    session.open_second(b);
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!session.document() || !session.second()) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      (void)woken.try_acquire_for(50ms);
      session.poll(view);
    }
    for (int i = 0; i < 3; ++i) frame();
    act(session, frame);
    frame();
  };
  std::vector<Note>&of_a = view.of(TraceSide::a).notes.notes, &of_b = view.of(TraceSide::b).notes.notes;
  in_session([&](Session& session, const auto& frame) {
    of_a = {{{0, 1}, "of a"}};
    of_b = {{{0, 2}, "of b"}};
    frame();
    session.carry_out(CloseSecond{});
  });
  in_session([&](Session& session, const auto& frame) {
    REQUIRE((of_a.size() == 1 && of_b.size() == 1));
    CHECK(of_a[0].text == "of a");
    CHECK(of_b[0].text == "of b");
    session.carry_out(SwapTraces{});
    frame();
    std::swap(of_a, of_b);
    of_b.push_back({{5, 6}, "of a below"});
    frame();
    session.carry_out(OpenFile{b});
  });
  in_session([&](Session&, const auto&) {
    REQUIRE((of_a.size() == 2 && of_b.size() == 1));
    CHECK(of_a[1].text == "of a below");
    CHECK(of_b[0].text == "of b");
  });
}
