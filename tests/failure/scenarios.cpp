#include "tests/failure/scenarios.h"

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/jobs/latest_job.h"
#include "app/session/background_load.h"
#include "app/session/free_later.h"
#include "app/session/session.h"
#include "core/base/failure.h"
#include "core/base/free_memory.h"
#include "core/base/parallel.h"
#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "tests/failure/failing_system.h"
#include "tests/support/dump_trace.h"
#include "tests/support/temp_folder.h"
#include "tests/support/two_traces.h"

namespace gapscope::test {
namespace {

using namespace std::chrono_literals;
using Trouble = std::optional<Error>;

Trouble wrong(const std::string& what) { return Error{what}; }

template <class Test>
bool comes_true(Test test) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (!test()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// From none on, up to as many as are asked for.
Trouble load_without_threads() {
  const TempFolder folder;
  const std::string path = folder.write("a.json", kBefore);
  LoadOptions options;
  options.threads = 7;
  options.batch_bytes = 200;
  const std::string whole = dump_trace(**load_trace(path, options));
  for (int allowed = 0; allowed <= 7; ++allowed) {
    const NoThreads none(allowed);
    const auto loaded = load_trace(path, options);
    if (!loaded.ok()) return loaded.error();
    if (dump_trace(**loaded) != whole) return wrong("fewer threads load something else");
    const auto document = Document::make(*loaded, nullptr);
    document->diagnose();
    if (!document->diagnosis() || !document->arrows()) return wrong("without threads the diagnosis or the arrows are missing");
    if (allowed < 6 && NoThreads::refused() == 0) return wrong("no thread was asked for: this tests nothing");
  }
  return {};
}

// The window's own threads: all that a session does is done, by the one thread that asks.
Trouble session_without_threads() {
  const TempFolder folder;
  const std::string path = folder.write("a.json", kBefore);
  const NoThreads none;
  Session session({folder.path() / "settings.json", {}, folder.path().string(), [] {}});
  ViewState view;
  session.open(path);
  session.poll(view);
  if (session.document() == nullptr) return wrong("without threads nothing opens: " + session.message());
  if (!session.document()->diagnosis()) return wrong("without threads nothing is diagnosed");
  session.carry_out(Ask{session.document(), TableQuestion{}});
  session.poll(view);
  if (!answer_to<TableQuestion>(*session.document())) return wrong("without threads there is no table");
  session.open((folder.path() / "no such file").string());
  session.poll(view);
  if (session.document() == nullptr || session.message().empty()) return wrong("without threads a failed load is not said");
  return {};
}

// A load is cancelled while it waits for a pipe's writer.
Trouble pipe_without_writer() {
  const TempFolder folder;
  const std::string fifo = (folder.path() / "fifo").string();
  if (::mkfifo(fifo.c_str(), 0600) != 0) return wrong("no pipe can be made here");
  BackgroundLoad load(fifo, {}, [] {}, {});
  std::this_thread::sleep_for(50ms);
  if (load.done()) return wrong("a pipe without a writer is not waited for");
  load.cancel();
  if (!comes_true([&] { return load.done(); })) return wrong("a load that waits for a writer cannot be cancelled");
  const auto outcome = load.take();
  return outcome.ok() || outcome.error().message != "Cancelled." ? wrong("a cancelled load says something else") : Trouble();
}

// Quitting does not wait for a file system that no longer answers; what hangs there is left behind, and does no harm when it
// continues.
Trouble hung_file() {
  const TempFolder folder;
  const std::string path = folder.write("hung/a.json", kBefore);
  std::atomic<bool> gone{false}, woken_after{false};
  {
    const HungFiles hung("/hung/");
    auto load = std::make_unique<BackgroundLoad>(
        path, LoadOptions{}, [&] { woken_after = gone.load(); }, std::filesystem::path());
    if (!comes_true([&] { return HungFiles::waiting() == 1; })) return wrong("the load does not hang: this tests nothing");
    load->cancel();
    load.reset();
    gone = true;
    if (LooseThread::left_behind() != 1) return wrong("what hangs is not left behind");
  }
  if (!comes_true([&] { return LooseThread::left_behind() == 0; })) return wrong("what was left behind does not end");
  return woken_after ? wrong("who has gone is woken") : Trouble();
}

Trouble session_with_hung_file() {
  const TempFolder folder;
  const std::string path = folder.write("hung/a.json", kBefore);
  const HungFiles hung("/hung/");
  {
    Session session({folder.path() / "settings.json", {}, folder.path().string(), [] {}});
    ViewState view;
    session.open(path);
    session.open_second(path);
    if (!comes_true([&] { return HungFiles::waiting() == 2; })) return wrong("the loads do not hang: this tests nothing");
    session.carry_out(CancelLoad{});
    session.poll(view);
    if (session.is_loading()) return wrong("a load that hangs cannot be cancelled");
  }
  return LooseThread::left_behind() == 2 ? Trouble() : wrong("what hangs is not left behind");
}

// A job that fails says why, and answers the next question.
Trouble job_that_fails() {
  std::counting_semaphore<> woken{0};
  LatestJob<int, int> job(
      "square", [](const int& n) { return n < 0 ? throw std::bad_alloc() : n * n; }, [&] { woken.release(); });
  job.ask(-1);
  woken.acquire();
  const auto trouble = job.take_trouble();
  if (job.take() || !trouble || trouble->message.find("Not enough memory to square.") != 0)
    return wrong("a job that fails does not say so");
  if (job.take_trouble()) return wrong("a failure is said twice");
  job.ask(3);
  woken.acquire();
  return job.take() == 9 ? Trouble() : wrong("a job that failed once does not continue");
}

// A window's session with a trace in it.
struct Desk {
  TempFolder folder{};
  std::counting_semaphore<> woken{0};
  ViewState view{};
  Session session{{{}, {}, folder.path().string(), [this] { woken.release(); }}};

  template <class Test>
  bool poll_until(Test test) {
    return comes_true([&] {
      (void)woken.try_acquire_for(5ms);
      session.poll(view);
      return test();
    });
  }
  bool open() {
    session.open(folder.write("a.json", kBefore));
    return poll_until([&] { return session.document() != nullptr && !session.is_loading(); });
  }
};

// Whichever request for memory fails while a table is made: there is a table, or the tab says why there is none, and the next
// wish for it is fulfilled.
Trouble tab_of_failed_job() {
  Desk desk;
  if (!desk.open()) return wrong("nothing opens: this tests nothing");
  const Document* document = desk.session.document();
  Asked<TableQuestion>& table = asked<TableQuestion>(*document);
  const auto is_answered = [&] { return table.answer != nullptr || !table.trouble.empty(); };
  int said = 0;
  for (std::uint64_t n = 1; n < 400; ++n) {
    table = {};
    bool frame_failed = false;
    {
      const MemoryFailsAt fails(n, Then::goes_on);
      try {
        desk.session.carry_out(Ask{document, TableQuestion{}});
        if (!desk.poll_until(is_answered)) return wrong("a tab waits for ever");
      } catch (const std::bad_alloc&) {
        frame_failed = true;  // that frame's, as run_window says
      }
    }
    if (frame_failed) continue;
    const std::string& why = table.trouble;
    if (table.answer) continue;
    if (why.find("emory") == std::string::npos) return wrong("the tab says something else: " + why);
    ++said;
    desk.session.carry_out(Ask{document, TableQuestion{}});
    if (!desk.poll_until(is_answered) || !table.answer) return wrong("what failed once is not worked out again");
  }
  return said > 0 ? Trouble() : wrong("no job failed: this tests nothing");
}

// Texts are saved one after the other, none for another; where one cannot be, the sentence says so.
Trouble texts_saved() {
  Desk desk;
  if (!desk.open()) return wrong("nothing opens: this tests nothing");
  for (const char* text : {"one", "two", "three"}) desk.session.carry_out(SaveText{".table.csv", text});
  std::vector<std::string> said;
  const auto gather = [&] {
    if (!desk.session.message().empty() && (said.empty() || said.back() != desk.session.message()))
      said.push_back(desk.session.message());
    return said.size() == 3;
  };
  if (!desk.poll_until(gather)) return wrong("of three texts only " + std::to_string(said.size()) + " are said to be saved");
  for (const char* name : {"a.table.csv", "a.table-2.csv", "a.table-3.csv"})
    if (!std::filesystem::exists(desk.folder.path() / name)) return wrong(std::string(name) + " is missing");
  desk.session.carry_out(DismissMessage{});
  desk.session.carry_out(SaveText{"/no such folder/x.csv", "four"});
  if (!desk.poll_until([&] { return !desk.session.message().empty(); }))
    return wrong("a text that cannot be saved is not spoken of");
  return desk.session.message().find("cannot be written") == std::string::npos ? wrong("it says: " + desk.session.message())
                                                                               : Trouble();
}

// What is free below a limit of so many bytes.
std::uint64_t free_with(std::uint64_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &limit);
  return free_of_limit();
}

// How a program ends that crashes below a limit on its memory, with `left` bytes to go: the status that wait() gives, and what
// it says.
int crash_with(std::size_t left, std::string& said) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDERR_FILENO);
    const rlimit limit{(std::uint64_t{1} << 40) - free_with(std::uint64_t{1} << 40) + left, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    end_with_a_sentence_when_memory_ends();
    ::raise(SIGSEGV);
    std::_Exit(0);
  }
  ::close(pipe[1]);
  std::array<char, 200> bytes{};
  for (ssize_t n = 0; (n = ::read(pipe[0], bytes.data(), bytes.size())) > 0;)
    said.append(bytes.data(), static_cast<std::size_t>(n));
  ::close(pipe[0]);
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

// Where memory has run out a crash of another library is a sentence; elsewhere it is the crash that it was.
Trouble crash_without_memory() {
  std::string said;
  const int short_of_it = crash_with(std::size_t{16} << 20, said);
  if (!WIFEXITED(short_of_it) || WEXITSTATUS(short_of_it) != 1) return wrong("a crash without memory has no exit code");
  if (said != "gapscope: Out of memory.\n") return wrong("a crash without memory says: " + said);
  said.clear();
  const int plenty = crash_with(std::size_t{4} << 30, said);
  if (!WIFSIGNALED(plenty) || WTERMSIG(plenty) != SIGSEGV || !said.empty())
    return wrong("a crash of our own is hidden: " + said);
  return {};
}

}  // namespace

const std::map<std::string, std::function<std::optional<Error>()>>& scenarios() {
  static const std::map<std::string, std::function<std::optional<Error>()>> all = {
      {"load_without_threads", load_without_threads},     {"session_without_threads", session_without_threads},
      {"pipe_without_writer", pipe_without_writer},       {"hung_file", hung_file},
      {"session_with_hung_file", session_with_hung_file}, {"job_that_fails", job_that_fails},
      {"tab_of_failed_job", tab_of_failed_job},           {"texts_saved", texts_saved},
      {"crash_without_memory", crash_without_memory},
  };
  return all;
}

}  // namespace gapscope::test
