// `gapscope attach`: a trace of a PyTorch program that is already running.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "app/attach/capture.h"
#include "app/attach/recorded_facts.h"
#include "app/attach/session.h"
#include "app/cli/arguments.h"
#include "app/cli/attach_recordings.h"
#include "app/cli/command_line.h"
#include "app/cli/subcommands.h"
#include "app/window/run_window.h"
#include "core/base/phrase.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

struct AttachOptions {
  attach::Capture capture;
  std::int64_t pid = 0;  // of the program or a parent of it; 0: not said
  std::int64_t job = 0;  // of Slurm; 0: not said
  bool all = false, list = false, no_open = false;
  std::string folder;        // empty: "attach-" and the time
  Ns wait = 0;               // for a program to come; 0: until Ctrl+C
  Ns every = 0;              // more than 0: again and again
  std::uint64_t max_mb = 0;  // of all recordings of --every together; 0: no bound
  double slower = 0;         // more than 0: keep recordings whose median step is so many times the one of those before
  std::string executable;    // ours
};

using attach::Clock;
using attach::Program;
using attach::Stage;
using std::chrono::milliseconds;

constexpr std::int64_t kMostId = 4'294'967'295;
constexpr milliseconds kTurn{200};
constexpr milliseconds kOnePoll{attach::kLongestPollInterval / kNsPerMs + 1000};  // in which every program has asked once
constexpr int kInterrupted = 128 + SIGINT;

std::atomic<bool> interrupted{false};
void on_interrupt(int) { interrupted = true; }

// Ctrl+C ends the waiting, not the program at once.
class Interruptible {
 public:
  Interruptible() {
    interrupted = false;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, &before_int_);
    sigaction(SIGTERM, &action, &before_term_);
  }
  ~Interruptible() {
    sigaction(SIGINT, &before_int_, nullptr);
    sigaction(SIGTERM, &before_term_, nullptr);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction before_int_ {
  }, before_term_{};
};

void say(const std::string& sentence) { std::fprintf(stderr, "gapscope attach: %s\n", printable(sentence).c_str()); }

std::string words_of(const Program& program) {
  constexpr std::size_t kCommandChars = 100;
  std::string text = fmt::format("process {}", program.pid);
  if (program.own_pid() != program.pid) text += fmt::format(" ({} in its container)", program.own_pid());
  const attach::ProcessFacts facts = program.facts.value_or(attach::ProcessFacts{});
  if (facts.rank >= 0) text += fmt::format(", rank {}", facts.rank);
  if (program.job != 0) text += fmt::format(", job {}", program.job);
  if (!program.gpus.empty()) text += fmt::format(", GPU {}", fmt::join(program.gpus, ", "));
  if (program.busy) text += ", already being profiled";
  return text + ": " + (facts.command.empty() ? "?" : elide_middle(facts.command, kCommandChars));
}

bool is_wanted(const AttachOptions& options, const Program& program) {
  if (options.pid != 0) return program.has_pid(options.pid);
  return options.job == 0 || program.job == options.job;
}

class Attach {
 public:
  explicit Attach(const AttachOptions& options) : options_(options), recordings_(options.max_mb, options.slower) {}

  int run() {
    if (const auto wrong = open()) return say(wrong->message), kBadInput;
    say("Waiting for your PyTorch processes; each polls every five or ten seconds.");
    if (!wait_for_programs(options_.wait)) return interrupted ? kInterrupted : (say("No such process has polled."), kBadInput);
    if (options_.list) return kOk;
    if (const std::string question = which_one(); !question.empty()) return say(question), kUsage;
    return options_.every > 0 ? watch() : once();
  }

 private:
  std::optional<Error> open() {
    Result<std::unique_ptr<attach::Session>> session = attach::Session::open();
    if (!session.ok()) return session.error();
    session_ = std::move(*session);
    return std::nullopt;
  }

  std::vector<const Program*> wanted() const {
    std::vector<const Program*> out;
    for (const Program& program : session_->programs())
      if (is_wanted(options_, program) && !session_->is_launcher(program)) out.push_back(&program);
    return out;
  }

  void announce() {
    for (const Program& program : session_->programs()) {
      if (announced_.insert(program.pid).second) say(words_of(program));
      if (session_->is_launcher(program) && launchers_.insert(program.pid).second)
        say(fmt::format("Process {} only started the ranks: it is left out.", program.pid));
    }
  }

  // Until one is there, and then for as long as the others take to ask. False: none came in that time (0: any), or Ctrl+C.
  bool wait_for_programs(Ns at_most) {
    const auto begin = Clock::now();
    std::optional<Clock::time_point> first;
    for (bool helped = false; !interrupted;) {
      session_->listen(kTurn);
      announce();
      const auto now = Clock::now();
      if (!first && !wanted().empty()) first = now;
      if (first && has_waited(now - *first)) return true;
      if (first) continue;
      if (!helped && now - begin >= 2 * kOnePoll) say(attach::kHowToStart), helped = true;
      if (at_most > 0 && now - begin >= milliseconds(at_most / kNsPerMs)) return false;
    }
    return false;
  }

  // Enough for the others, as long after the first one: for ranks that should be there one poll more.
  bool has_waited(Clock::duration waited) {
    if (wanted_is_one() || waited >= 2 * kOnePoll) return true;
    const std::vector<std::string> missing = attach::missing_ranks(wanted());
    if (waited < kOnePoll) return is_group() && !options_.all && missing.empty() && has_ranks_only();
    if (missing.empty() && !awaits_ranks()) return true;
    if (!std::exchange(says_waiting_, true)) say("Some ranks have not polled yet: waiting for them once more.");
    return false;
  }

  // Their number is known.
  bool has_ranks_only() const {
    const auto programs = wanted();
    return std::all_of(programs.begin(), programs.end(), [](const Program* p) { return p->facts && p->facts->ranks_here > 0; });
  }

  // One has started ranks, and none of these has asked.
  bool awaits_ranks() const {
    const auto programs = wanted();
    return std::any_of(programs.begin(), programs.end(), [](const Program* p) { return p->facts && !p->facts->below.empty(); });
  }

  // More than one program is to be recorded, together.
  bool is_group() const { return options_.all || options_.job != 0 || (options_.pid != 0 && !wanted_is_one()); }

  // One that was named by its own pid: no one else has to be waited for.
  bool wanted_is_one() const {
    const auto programs = wanted();
    return options_.pid != 0 && programs.size() == 1 && programs[0]->facts && programs[0]->facts->below.empty() &&
           (programs[0]->pid == options_.pid || programs[0]->own_pid() == options_.pid);
  }

  std::string which_one() const {
    const bool chosen = options_.all || options_.pid != 0 || options_.job != 0;
    return chosen || wanted().size() == 1
               ? std::string()
               : "Choose one with --pid, those of a Slurm job with --job, or all of them with --all.";
  }

  // Asks them and waits for what they write. The Error: there is no folder.
  Result<std::string> record(const std::string& folder) {
    std::vector<pid_t> pids;
    for (const Program* program : wanted()) pids.push_back(program->pid);
    const Result<std::string> made = session_->record(pids, options_.capture, folder);
    if (!made.ok()) return made;
    say(fmt::format("Recording {} into {}{}.", counted(pids.size(), "program"), *made,
                    options_.capture.iterations > 0 ? ", as they finish a step"
                                                    : fmt::format("; about {} left", format_duration(session_->time_left()))));
    const bool more_may_come = is_group();
    for (bool warned = false; session_->pending() > 0 && !interrupted;) {
      session_->listen(kTurn);
      announce();
      if (more_may_come)
        for (const Program* program : wanted()) session_->add(program->pid);
      for (const std::string& news : session_->take_news()) say(news);
      if (!warned && options_.capture.iterations > 0 && session_->time_left() == 0) {
        say("No trace yet. Steps are counted where the program calls optimizer.step() or the profiler's step(); --seconds "
            "needs neither.");
        warned = true;
      }
    }
    missing_ = session_->take_losses();
    if (more_may_come)
      for (std::string& ranks : attach::missing_ranks(wanted())) missing_.push_back(std::move(ranks));
    if (missing_.empty() && session_->asked().empty())
      missing_.emplace_back("Its ranks have polled meanwhile: --all records them.");
    for (const std::string& missing : missing_) say(missing);
    return made;
  }

  void note(const std::string& folder) const {
    if (const std::string trouble = note_missing(folder, missing_); !trouble.empty()) say(trouble);
  }

  bool all_written() const {
    const auto programs = session_->asked();
    return missing_.empty() && !programs.empty() &&
           std::all_of(programs.begin(), programs.end(), [](const Program* p) { return p->stage == Stage::written; });
  }

  int once() {
    const Result<std::string> folder = record(options_.folder.empty() ? attach::default_folder() : options_.folder);
    if (!folder.ok()) return say(folder.error().message), kBadInput;
    const std::vector<std::string> traces = session_->traces();
    for (const std::string& trace : traces) {
      std::error_code ignored;
      say(fmt::format("Recorded {} ({}).", trace, format_bytes(std::filesystem::file_size(trace, ignored))));
    }
    if (!traces.empty()) note(*folder);
    if (interrupted) return kInterrupted;
    const bool all = all_written();
    const bool has_screen = std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY");
    if (!options_.no_open && !traces.empty() && has_screen) {
      WindowRun run;
      run.executable = options_.executable;
      run.files = traces.size() == 1 ? traces : std::vector{*folder};
      if (const int code = run_window(run); code != kOk) return code;
    }
    return all ? kOk : kBadInput;
  }

  // Recordings into FOLDER/TIME, one line each; until Ctrl+C or until the programs have ended. Between them nothing listens: a
  // program that starts meanwhile is left alone (attach::kHowToStart).
  int watch() {
    const std::string base = options_.folder.empty() ? attach::default_folder() : options_.folder;
    say(fmt::format("`gapscope trend {}` prints the trend.", base));
    while (!interrupted) {
      const auto next = Clock::now() + milliseconds(options_.every / kNsPerMs);
      const Result<std::string> folder = make_round(base);
      if (!folder.ok()) return say(folder.error().message), kBadInput;
      if (!session_->traces().empty()) note(*folder);
      if (!interrupted) recordings_.judge({*folder, session_->traces()});
      session_.reset();
      while (!interrupted && Clock::now() < next)
        std::this_thread::sleep_for(std::min<Clock::duration>(kTurn, next - Clock::now()));
      if (interrupted) break;
      if (const auto wrong = open()) return say(wrong->message), kBadInput;
      if (!wait_for_programs(2 * kOnePoll.count() * kNsPerMs) && !interrupted) return say("The programs have ended."), kOk;
    }
    return kOk;
  }

  Result<std::string> make_round(const std::string& base) {
    std::error_code wrong;
    std::filesystem::create_directories(base, wrong);
    if (wrong) return Error{base + ": " + wrong.message() + ". Name another folder."};
    return record(fmt::format("{}/{:%Y%m%d-%H%M%S}", base, fmt::localtime(std::time(nullptr))));
  }

  const AttachOptions& options_;
  std::unique_ptr<attach::Session> session_;  // none: between the rounds of watch()
  std::set<pid_t> announced_, launchers_;     // already reported
  bool says_waiting_ = false;
  std::vector<std::string> missing_;  // of the last recording, sentences; empty: all that was asked for is there
  WatchedRecordings recordings_;
};

int attach_to_programs(const AttachOptions& options) {
  const Interruptible guard;
  if (options.capture.stacks) say(attach::kStacksRisk);
  return Attach(options).run();
}

// "step>1.3x": 1.3; 0: not of that form.
double slower_than(const std::string& text) {
  constexpr std::string_view kBegin = "step>";
  double times = 0;
  if (text.compare(0, kBegin.size(), kBegin) != 0 || text.back() != 'x') return 0;
  const auto [end, wrong] = std::from_chars(text.data() + kBegin.size(), text.data() + text.size() - 1, times);
  return wrong == std::errc() && end == text.data() + text.size() - 1 && times > 0 && times < 1e6 ? times : 0;
}

}  // namespace

std::function<int()> declare_attach(CLI::App& arguments) {
  auto options = std::make_shared<AttachOptions>();
  auto* pid = arguments.add_option("--pid", options->pid, "the program, or a parent of it (torchrun): all below it")
                  ->type_name("N")
                  ->check(whole_number(1, kMostId));
  auto* job = arguments.add_option("--job", options->job, "all programs of this Slurm job on this machine")
                  ->type_name("ID")
                  ->check(whole_number(1, kMostId))
                  ->excludes(pid);
  arguments.add_flag("--all", options->all, "all programs that wait to be profiled, together: the ranks of a run")
      ->excludes(pid)
      ->excludes(job);
  arguments.add_flag("--list", options->list, "list the processes that wait to be profiled, and record nothing");
  const auto seconds = [&arguments](const char* name, Ns& value, const char* help, double most) {
    return arguments
        .add_option_function<double>(
            name, [&value](double s) { value = static_cast<Ns>(s * 1e9); }, help)
        ->type_name("S")
        ->check(number_between(0.001, most));
  };
  auto* duration = seconds("--seconds", options->capture.duration, "how long to record; default: 0.5", 600);
  arguments
      .add_option("--iterations", options->capture.iterations,
                  "record this many steps instead, counted by optimizer.step() or the profiler's step()")
      ->type_name("N")
      ->check(whole_number(1, 1000))
      ->excludes(duration);
  arguments.add_flag("--shapes", options->capture.shapes, "record the shapes of operators' inputs");
  arguments.add_flag("--memory", options->capture.memory, "record allocations");
  arguments.add_flag("--stacks", options->capture.stacks,
                     "record Python frames and modules; slows the program down while it records");
  arguments.add_option("-o,--output", options->folder, "the folder to write to; created if missing")->type_name("FOLDER");
  seconds("--wait", options->wait, "how long to wait for a program; default: until Ctrl+C", 1e6);
  auto* watch =
      seconds("--watch", options->every, "record every S seconds, each time into a new folder, and print the trend", 1e6);
  arguments.add_option("--max-mb", options->max_mb, "with --watch: delete the oldest recordings beyond this size")
      ->type_name("N")
      ->check(whole_number(0, kMostMb))
      ->needs(watch);
  arguments
      .add_option_function<std::string>(
          "--when",
          [options](const std::string& text) {
            options->slower = slower_than(text);
            if (options->slower == 0)
              throw CLI::ValidationError("--when", "\"" + text + "\" is not a condition: write for example \"step>1.3x\".");
          },
          "with --watch: retain only recordings whose median step is slower than before by this factor: \"step>1.3x\"")
      ->type_name("COND")
      ->needs(watch);
  arguments.add_flag("--no-open", options->no_open, "do not open the window afterwards");
  arguments.footer(attach::kHowToStart);
  return [options] {
    options->executable = own_path();
    return attach_to_programs(*options);
  };
}

}  // namespace gapscope
