#include "tests/failure/scenarios.h"

#include <chrono>
#include <memory>
#include <semaphore>
#include <string>

#include <sys/stat.h>

#include "app/jobs/latest_job.h"
#include "app/session/background_load.h"
#include "app/session/free_later.h"
#include "app/session/session.h"
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
  session.carry_out(MakeTable{});
  session.poll(view);
  if (!view.table.answer) return wrong("without threads there is no table");
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
  BackgroundLoad load(fifo, {}, [] {});
  std::this_thread::sleep_for(50ms);
  if (load.done()) return wrong("a pipe without a writer is not waited for");
  load.cancel();
  if (!comes_true([&] { return load.done(); })) return wrong("a load that waits for a writer cannot be cancelled");
  const auto outcome = load.take();
  return outcome.ok() || outcome.error().message != "Cancelled." ? wrong("a cancelled load says something else") : Trouble();
}

// Quitting does not wait for a file system that no longer answers; what hangs there is left behind, and harms nobody when it goes on.
Trouble hung_file() {
  const TempFolder folder;
  const std::string path = folder.write("hung/a.json", kBefore);
  std::atomic<bool> gone{false}, woken_after{false};
  {
    const HungFiles hung("/hung/");
    auto load = std::make_unique<BackgroundLoad>(path, LoadOptions{}, [&] { woken_after = gone.load(); });
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
    session.open_beside(path);
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
  LatestJob<int, int> job("square", [](const int& n) { return n < 0 ? throw std::bad_alloc() : n * n; }, [&] { woken.release(); });
  job.ask(-1);
  woken.acquire();
  const auto trouble = job.take_trouble();
  if (job.take() || !trouble || trouble->message.find("Not enough memory to square.") != 0) return wrong("a job that fails does not say so");
  if (job.take_trouble()) return wrong("a failure is said twice");
  job.ask(3);
  woken.acquire();
  return job.take() == 9 ? Trouble() : wrong("a job that failed once does not go on");
}

}  // namespace

const std::map<std::string, std::function<std::optional<Error>()>>& scenarios() {
  static const std::map<std::string, std::function<std::optional<Error>()>> all = {
      {"load_without_threads", load_without_threads},
      {"session_without_threads", session_without_threads},
      {"pipe_without_writer", pipe_without_writer},
      {"hung_file", hung_file},
      {"session_with_hung_file", session_with_hung_file},
      {"job_that_fails", job_that_fails},
  };
  return all;
}

}  // namespace gapscope::test
