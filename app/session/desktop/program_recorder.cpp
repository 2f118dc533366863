#include "app/session/program_recorder.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "app/attach/session.h"
#include "core/base/failure.h"

namespace gapscope {
namespace {

constexpr std::chrono::milliseconds kListening{100};      // within LooseThread::kPatience
constexpr std::chrono::milliseconds kBeforeAnother{500};  // try at a socket that another process has

attach::Capture capture_of(const RecordPrograms& what) {
  attach::Capture capture;
  capture.duration = what.duration;
  capture.shapes = what.shapes;
  capture.memory = what.memory;
  capture.stacks = what.stacks;
  return capture;
}

// The working directory, or home where that cannot be written to.
std::string usual_folder() {
  std::error_code wrong;
  const std::string here = std::filesystem::current_path(wrong).string();
  const char* home = std::getenv("HOME");
  return !wrong && access(here.c_str(), W_OK) == 0 ? here : home ? home : "/tmp";
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& sentence : sentences) out += (out.empty() ? "" : " ") + sentence;
  return out;
}

AttachProgram shown(const attach::Program& program, bool is_ours) {
  const attach::ProcessFacts facts = program.facts.value_or(attach::ProcessFacts{});
  const bool recording = program.busy || (program.stage == attach::Stage::asked && !is_ours);
  return {program.pid, facts.rank, program.job, {program.gpus.begin(), program.gpus.end()}, facts.command, recording};
}

}  // namespace

struct ProgramRecorder::State {
  std::mutex mutex;  // guards what follows
  std::condition_variable_any changed;
  std::function<void()> wake;  // null once the waiter is gone
  bool listens = false, cancelled = false, is_new = false;
  std::optional<RecordPrograms> order;
  AttachView view;
  std::optional<Outcome> outcome;

  // Of the thread alone.
  std::unique_ptr<attach::Session> session;  // none: not listening
  std::optional<RecordPrograms> task;
  std::string folder;  // that was made for the task; empty: its programs were not asked yet
  AttachView now;

  void run(const std::stop_token& stop) {
    now.folder = usual_folder();
    now.how_to_start = attach::kHowToStart;
    now.stacks_risk = attach::kStacksRisk;
    while (!stop.stop_requested()) {
      try {
        if (take_orders(stop)) turn(stop);
        publish();
      } catch (...) {
        session.reset();
        finish({}, current_failure("record a program").message);
      }
    }
  }

  // False: there is nothing to do, and no more will be before a request.
  bool take_orders(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    const auto wanted = [this] { return listens || order || task; };
    if (!wanted() && session) return session.reset(), false;
    if (!changed.wait(lock, stop, wanted)) return false;
    if (order) {
      task = std::exchange(order, std::nullopt);
      folder.clear();
      now.said.clear();
      cancelled = false;
    }
    if (!std::exchange(cancelled, false)) return true;
    lock.unlock();
    if (task) finish({}, session ? joined(session->take_losses()) : "");
    return true;
  }

  void turn(const std::stop_token& stop) {
    now.trouble = session ? "" : open();
    if (!now.trouble.empty()) {
      finish({}, now.trouble);
      std::unique_lock lock(mutex);
      changed.wait_for(lock, stop, kBeforeAnother, [this] { return !listens || order; });
      return;
    }
    session->listen(kListening);
    if (task) go_on();
  }

  std::string open() {
    Result<std::unique_ptr<attach::Session>> opened = attach::Session::open();
    if (!opened.ok()) return opened.error().message;
    session = std::move(*opened);
    return "";
  }

  void go_on() {
    if (folder.empty()) return ask();
    if (session->pending() == 0) {
      std::vector<std::string> traces = session->traces();
      finish(std::move(traces), joined(session->take_losses()));
    }
  }

  // Each of them has to ask first.
  void ask() {
    std::erase_if(task->pids, [](std::int64_t pid) { return !attach::process_lives(static_cast<pid_t>(pid)); });
    if (task->pids.empty()) return finish({}, "The programs that were to be recorded have ended.");
    const std::vector<pid_t> pids(task->pids.begin(), task->pids.end());
    const auto has_asked = [this](pid_t pid) {
      return std::any_of(session->programs().begin(), session->programs().end(),
                         [pid](const attach::Program& program) { return program.pid == pid; });
    };
    if (!std::all_of(pids.begin(), pids.end(), has_asked)) return;
    const std::string base = task->folder.empty() ? now.folder : task->folder;
    const Result<std::string> made = session->record(pids, capture_of(*task), base + "/" + attach::default_folder());
    if (!made.ok()) return finish({}, made.error().message);
    folder = *made;
    now.seconds = static_cast<double>(session->time_left()) / 1e9;
  }

  void finish(std::vector<std::string> traces, std::string said) {
    if (!task) return;
    if (!traces.empty()) ++now.recordings;
    now.said = traces.empty() ? said : "";
    const std::lock_guard lock(mutex);
    outcome = Outcome{*std::exchange(task, std::nullopt), std::exchange(folder, {}), std::move(traces), std::move(said)};
  }

  void publish() {
    describe();
    const std::lock_guard lock(mutex);
    if (now == view) return;
    view = now;
    is_new = true;
    if (wake) wake();
  }

  void describe() {
    now.programs.clear();
    now.to_ask = now.to_write = 0;
    now.recording = task.has_value();
    if (task && folder.empty()) now.to_ask = task->pids.size();
    if (!session) return;
    const std::vector<const attach::Program*> ours =
        task && !folder.empty() ? session->asked() : std::vector<const attach::Program*>();
    for (const attach::Program* program : ours) {
      if (program->stage == attach::Stage::chosen) ++now.to_ask;
      if (program->stage == attach::Stage::asked) ++now.to_write;
    }
    now.seconds_left = static_cast<double>(session->time_left() / 100'000'000) / 10;
    for (const attach::Program& program : session->programs())
      if (attach::process_lives(program.pid) && !session->is_launcher(program))
        now.programs.push_back(shown(program, std::find(ours.begin(), ours.end(), &program) != ours.end()));
  }
};

ProgramRecorder::ProgramRecorder(std::function<void()> wake) : state_(std::make_shared<State>()) {
  state_->wake = std::move(wake);
}

ProgramRecorder::~ProgramRecorder() {
  thread_.reset();
  const std::lock_guard lock(state_->mutex);
  state_->wake = nullptr;
}

void ProgramRecorder::tell(const std::function<void(State&)>& what) {
  {
    const std::lock_guard lock(state_->mutex);
    what(*state_);
  }
  state_->changed.notify_one();
  if (thread_) return;
  try {
    thread_.emplace([state = state_](const std::stop_token& stop) { state->run(stop); }, []() noexcept {});
  } catch (...) {
    const std::lock_guard lock(state_->mutex);
    state_->view.trouble = current_failure("listen for programs").message;
    state_->is_new = true;
  }
}

void ProgramRecorder::listen(bool on) {
  listens_ = on;
  tell([on](State& state) { state.listens = on; });
}

void ProgramRecorder::record(RecordPrograms what) {
  tell([&what](State& state) { state.order = std::move(what); });
}

void ProgramRecorder::record_again() {
  if (!last_) return;
  RecordPrograms again = *last_;
  again.as_second = true;
  record(std::move(again));
}

void ProgramRecorder::cancel() {
  tell([](State& state) { state.cancelled = true; });
}

void ProgramRecorder::request_stop() {
  if (thread_) thread_->request_stop();
}

std::optional<ProgramRecorder::Outcome> ProgramRecorder::take() {
  const std::lock_guard lock(state_->mutex);
  std::optional<Outcome> outcome = std::exchange(state_->outcome, std::nullopt);
  if (outcome && !outcome->traces.empty()) last_ = outcome->what;
  return outcome;
}

const AttachView& ProgramRecorder::view() {
  const std::lock_guard lock(state_->mutex);
  if (std::exchange(state_->is_new, false)) view_ = state_->view;
  return view_;
}

}  // namespace gapscope
