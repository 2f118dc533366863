#include "app/cli/attach_recordings.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "app/attach/recorded_facts.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

std::string missing_path(const std::string& folder) { return folder + "/missing.txt"; }

void print_facts(const std::string& trace, const attach::RecordedFacts& facts) {
  const std::string step = facts.step ? format_duration(*facts.step) + " a step" : "no steps marked";
  const std::string busy =
      facts.busy && facts.window > 0
          ? "GPU busy " + format_percent(static_cast<double>(*facts.busy) / static_cast<double>(facts.window))
          : "no GPU work";
  std::printf("%s\t%s\t%s\n", printable(trace).c_str(), step.c_str(), busy.c_str());
  std::fflush(stdout);
}

// Its traces, then the folder, unless anything else was put there.
void remove(const WatchedRecordings::Recording& recording) {
  std::error_code ignored;
  for (const std::string& trace : recording.traces) std::filesystem::remove(trace, ignored);
  std::filesystem::remove(missing_path(recording.folder), ignored);
  std::filesystem::remove(recording.folder, ignored);
}

}  // namespace

std::string note_missing(const std::string& folder, const std::vector<std::string>& missing) {
  if (missing.empty()) return {};
  const std::string path = missing_path(folder);
  std::ofstream file(path);
  for (const std::string& sentence : missing) file << printable(sentence) << '\n';
  return file.flush() ? std::string() : path + " cannot be written: is the disk full?";
}

void WatchedRecordings::judge(Recording recording) {
  std::vector<Ns> steps;
  for (const std::string& trace : recording.traces) {
    const auto facts = attach::facts_of_recording(trace);
    if (!facts) continue;
    if (facts->step) steps.push_back(*facts->step);
    print_facts(trace, *facts);
  }
  const std::optional<Ns> step = attach::median(steps);
  if (slower_ > 0 && step && !attach::is_slow(*step, steps_, slower_))
    remove(recording);
  else
    recordings_.push_back(std::move(recording));
  if (step) steps_.push_back(*step);
  for (; max_mb_ > 0 && recordings_.size() > 1 && bytes() > max_mb_ * 1'000'000; recordings_.pop_front())
    remove(recordings_.front());
}

std::uint64_t WatchedRecordings::bytes() const {
  std::uint64_t bytes = 0;
  std::error_code missing;
  for (const Recording& recording : recordings_)
    for (const std::string& trace : recording.traces)
      if (const auto size = std::filesystem::file_size(trace, missing); !missing) bytes += size;
  return bytes;
}

}  // namespace gapscope
