// `gapscope record -- COMMAND...`: runs it with the recorder inside, writes the trace, opens it.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/subcommands.h"
#include "app/record/run_recorded.h"
#include "app/sampler/counters/metric_sets.h"
#include "app/window/run_window.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

struct RecordOptions {
  std::string output = "recording.json.gz";
  double delay_s = 0, duration_s = 0;
  std::string range;
  std::uint64_t max_mb = 0;
  bool no_open = false;
  bool profiler_api = false, queue_times = false;
  std::string counters;  // empty: none; "all", "list", or groups with commas
  std::string counter_interval = "20us";
  bool counters_only = false;
  std::vector<std::string> command;
  std::string executable;  // ours
};

void say(const std::string& sentence) { std::fprintf(stderr, "gapscope record: %s\n", printable(sentence).c_str()); }

std::int64_t milliseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1000 + 0.5); }

std::string output_trouble(const std::string& output) {
  if (output.empty()) return "A recording needs a name. Name a file with -o.";
  const std::filesystem::path path = std::filesystem::absolute(output);
  if (!path.has_filename()) return output + " is a folder: name a file in it with -o.";
  if (access(path.parent_path().c_str(), W_OK | X_OK) != 0)
    return output + ": nothing can be written there. Name another file with -o.";
  struct stat there {};
  if (stat(path.c_str(), &there) == 0)
    return S_ISREG(there.st_mode) ? std::string()
                                  : output + " is not a file: a recording cannot replace it. Name a file with -o.";
  return errno == ENOENT ? std::string() : output + ": " + std::strerror(errno) + ". Name another file with -o.";
}

// "20us", "1ms", "50000ns"; a number alone is microseconds. 0: none of these.
std::int64_t interval_ns(const std::string& text) {
  double number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double scale = unit == "ns" ? 1 : unit == "us" || unit.empty() ? 1e3 : unit == "ms" ? 1e6 : 0;
  constexpr double kShortest = 5e3, kLongest = 1e9;
  const double ns = number * scale;
  return wrong == std::errc() && ns >= kShortest && ns <= kLongest ? static_cast<std::int64_t>(ns) : 0;
}

std::string counters_trouble(const RecordOptions& options) {
  if (interval_ns(options.counter_interval) == 0)
    return "\"" + options.counter_interval +
           "\" is not an interval from 5us to 1000ms: write for example --counter-interval 20us.";
  if (options.counters_only && (options.profiler_api || options.queue_times || !options.range.empty()))
    return "With --counters-only no calls, kernels and ranges are recorded: leave out --range, --profiler-api and "
           "--queue-times.";
  return options.counters.empty() || options.counters == "all"
             ? std::string()
             : sampler::trouble_of_list(sampler::split_list(options.counters));
}

// The library itself knows, since it alone knows CUPTI.
int list_counters(const std::string& library) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW);
  if (!loaded) return say(std::string("The recorder cannot be loaded: ") + dlerror() + "."), kBadInput;
  using Describe = void (*)(void (*)(const char*));
  const auto describe = reinterpret_cast<Describe>(dlsym(loaded, "GapscopeDescribeCounters"));
  if (!describe) return say(library + " is not the recorder of this gapscope."), kBadInput;
  describe([](const char* line) { std::printf("%s\n", printable(line).c_str()); });
  return kOk;
}

RecordingOptions recording_of(const RecordOptions& options) {
  RecordingOptions r;
  r.out = options.output;
  r.delay_ms = milliseconds(options.delay_s);
  r.duration_ms = milliseconds(options.duration_s);
  r.range = options.range;
  r.max_mb = options.max_mb;
  r.profiler_api = options.profiler_api;
  r.queue_times = options.queue_times;
  r.counters = !options.counters.empty() || options.counters_only;
  r.counters_only = options.counters_only;
  r.counter_groups = options.counters == "all" ? "" : options.counters;
  r.counter_interval_ns = interval_ns(options.counter_interval);
  return r;
}

bool has_screen() { return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr; }

void report(const Recorded& recorded) {
  for (const std::string& sentence : recorded.sentences) say(sentence);
  for (const RecordedTrace& trace : recorded.traces) {
    std::error_code ignored;
    const std::string rank = trace.rank < 0 ? "" : "rank " + std::to_string(trace.rank) + ", ";
    say("Recorded " + trace.path + " (" + rank + format_bytes(std::filesystem::file_size(trace.path, ignored)) + ").");
  }
  if (!recorded.traces.empty() || recorded.still_recording) return;
  say(recorded.sentences.empty() ? "There is no trace: the program used no CUDA, or ended before it did."
                                 : "There is no trace.");
}

int record(const RecordOptions& options) {
  const std::string library = find_recorder(options.executable);
  if (library.empty()) {
    say("This build has no recorder, since CUDA's headers were missing. Build it where the CUDA toolkit is installed.");
    return kBadInput;
  }
  if (options.counters == "list") return list_counters(library);
  if (options.command.empty()) return say("Which program? Write it after --: gapscope record -- python3 train.py"), kUsage;
  if (const std::string wrong = counters_trouble(options); !wrong.empty()) return say(wrong), kUsage;
  if (const std::string wrong = output_trouble(options.output); !wrong.empty()) return say(wrong), kBadInput;
  const Result<Recorded> recorded = run_recorded(options.command, recording_of(options), library);
  if (!recorded.ok()) return say(recorded.error().message), kBadInput;
  if (!recorded->not_started.empty()) return say(recorded->not_started), recorded->exit_code;
  report(*recorded);
  if (!options.no_open && !recorded->traces.empty() && has_screen()) {
    WindowRun run;
    run.executable = options.executable;
    run.files = {recorded->traces.front().path};
    run_window(run);
  }
  const bool nothing = recorded->traces.empty() && !recorded->still_recording;
  return recorded->exit_code == kOk && nothing ? kBadInput : recorded->exit_code;
}

}  // namespace

std::function<int()> declare_record(CLI::App& arguments) {
  auto options = std::make_shared<RecordOptions>();
  arguments.add_option("-o,--output", options->output, "the trace to write; .gz packs it")
      ->type_name("OUT.json[.gz]")
      ->capture_default_str();
  arguments.add_option("--delay", options->delay_s, "seconds after CUDA's start before recording begins")
      ->check(number_between(0, kMostSeconds));
  arguments.add_option("--duration", options->duration_s, "seconds to record; the program continues")
      ->check(number_between(0, kMostSeconds));
  arguments.add_option("--range", options->range, "record only inside NVTX ranges of this name")->type_name("NVTX_NAME");
  arguments.add_option("--max-mb", options->max_mb, "end the recording when the file has grown to this size")
      ->check(whole_number(0, kMostMb));
  arguments.add_flag("--profiler-api", options->profiler_api, "record only between cudaProfilerStart and cudaProfilerStop");
  arguments.add_flag("--queue-times", options->queue_times,
                     "record when each kernel was queued and submitted; costs about 1 us per launch");
  arguments
      .add_option(
          "--counters", options->counters,
          "also sample the GPU's hardware counters: sm, tensor, dram, pcie, nvlink with commas between, or all of them; "
          "\"list\" prints what this GPU has")
      ->type_name("LIST")
      ->expected(0, 1)
      ->default_str("all");
  arguments.add_flag("--counters-only", options->counters_only,
                     "only counters, sampled from outside the program. A profiler in the program (PyTorch's) is not disturbed; "
                     "merge-counters puts the counters into its trace");
  arguments.add_option("--counter-interval", options->counter_interval, "the time between two samples")
      ->type_name("TIME")
      ->capture_default_str();
  arguments.add_flag("--no-open", options->no_open, "do not open the window afterwards");
  arguments.add_option("COMMAND", options->command, "the program and its arguments, after --");
  return [options] {
    options->executable = own_path();
    return record(*options);
  };
}

}  // namespace gapscope
