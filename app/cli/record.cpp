#include "app/cli/record.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "app/cli/command_line.h"
#include "app/record/run_recorded.h"
#include "app/run_window.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

void say(const std::string& sentence) { std::fprintf(stderr, "gapscope record: %s\n", printable(sentence).c_str()); }

std::int64_t milliseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1000 + 0.5); }

std::string folder_trouble(const std::string& output) {
  const std::filesystem::path folder = std::filesystem::absolute(output).parent_path();
  return access(folder.c_str(), W_OK | X_OK) == 0 ? std::string()
                                                  : output + ": nothing can be written there. Name another file with -o.";
}

bool has_screen() { return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr; }

void tell(const Recorded& recorded) {
  for (const std::string& sentence : recorded.sentences) say(sentence);
  for (const std::string& path : recorded.traces) {
    std::error_code ignored;
    say("Recorded " + path + " (" + format_bytes(std::filesystem::file_size(path, ignored)) + ").");
  }
  if (recorded.traces.empty()) say("There is no trace: the program used no CUDA, or ended before it did.");
}

}  // namespace

int record(const RecordOptions& options) {
  const std::string library = find_recorder(options.executable);
  if (library.empty()) {
    say("This build has no recorder, since CUDA's headers were missing. Build it where the CUDA toolkit is installed.");
    return kBadInput;
  }
  if (const std::string wrong = folder_trouble(options.output); !wrong.empty()) return say(wrong), kBadInput;
  const Result<Recorded> recorded = run_recorded(
      options.command, {options.output, "", milliseconds(options.delay_s), milliseconds(options.duration_s), options.range, options.max_mb,
                       options.profiler_api, options.queue_times}, library);
  if (!recorded.ok()) return say(recorded.error().message), kBadInput;
  tell(*recorded);
  if (!options.no_open && !recorded->traces.empty() && has_screen()) {
    WindowRun run;
    run.executable = options.executable;
    run.file = recorded->traces.front();
    run_window(run);
  }
  return recorded->exit_code;
}

}  // namespace gapscope
