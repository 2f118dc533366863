#include "app/cli/record.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/cli/command_line.h"
#include "app/record/run_recorded.h"
#include "app/window/run_window.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

void say(const std::string& sentence) { std::fprintf(stderr, "gapscope record: %s\n", printable(sentence).c_str()); }

std::int64_t milliseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1000 + 0.5); }

std::string output_trouble(const std::string& output) {
  const std::filesystem::path path = std::filesystem::absolute(output);
  if (!path.has_filename()) return output + " is a folder: name a file in it with -o.";
  if (access(path.parent_path().c_str(), W_OK | X_OK) != 0)
    return output + ": nothing can be written there. Name another file with -o.";
  struct stat there {};
  if (stat(path.c_str(), &there) == 0)
    return S_ISREG(there.st_mode) ? std::string()
                                  : output + " is no file: a recording cannot take its place. Name a file with -o.";
  return errno == ENOENT ? std::string() : output + ": " + std::strerror(errno) + ". Name another file with -o.";
}

bool has_screen() { return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr; }

void tell(const Recorded& recorded) {
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

}  // namespace

int record(const RecordOptions& options) {
  const std::string library = find_recorder(options.executable);
  if (library.empty()) {
    say("This build has no recorder, since CUDA's headers were missing. Build it where the CUDA toolkit is installed.");
    return kBadInput;
  }
  if (const std::string wrong = output_trouble(options.output); !wrong.empty()) return say(wrong), kBadInput;
  const Result<Recorded> recorded =
      run_recorded(options.command,
                   {options.output, "", milliseconds(options.delay_s), milliseconds(options.duration_s), options.range,
                    options.max_mb, options.profiler_api, options.queue_times, ""},
                   library);
  if (!recorded.ok()) return say(recorded.error().message), kBadInput;
  tell(*recorded);
  if (!options.no_open && !recorded->traces.empty() && has_screen()) {
    WindowRun run;
    run.executable = options.executable;
    run.file = recorded->traces.front().path;
    run_window(run);
  }
  return recorded->exit_code;
}

}  // namespace gapscope
