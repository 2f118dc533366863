#include "app/attach/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/text.h"

namespace gapscope::attach {

std::string path_trouble(const std::string& path) {
  // PyTorch 2.11 drops the whole text for a second = in a line (libkineto/src/AbstractConfig.cpp), records without a file and
  // was seen to end in a segmentation fault at its exit.
  const bool odd = std::any_of(path.begin(), path.end(),
                               [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '#' || c == '='; });
  return odd ? printable(path) +
                   ": this path cannot be passed to PyTorch, since it holds a line break, a # or a =. Name another folder."
             : std::string();
}

std::string configuration_text(const Capture& capture, const std::string& path, std::int64_t start_ms) {
  std::string text = fmt::format("ACTIVITIES_LOG_FILE={}\nACTIVITIES_WARMUP_PERIOD_SECS={}\n", path, kWarmUp / 1'000'000'000);
  if (capture.iterations > 0)
    text += fmt::format("PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP={0}\nACTIVITIES_ITERATIONS={0}\n",
                        capture.iterations);
  else
    text += fmt::format("PROFILE_START_TIME={}\nACTIVITIES_DURATION_MSECS={}\n", start_ms,
                        std::max<Ns>(1, capture.duration / 1'000'000));
  const auto flag = [&text](const char* key, bool on) { text += fmt::format("{}={}\n", key, on); };
  flag("PROFILE_REPORT_INPUT_SHAPES", capture.shapes);
  flag("PROFILE_PROFILE_MEMORY", capture.memory);
  flag("PROFILE_WITH_STACK", capture.stacks);
  flag("PROFILE_WITH_MODULES", capture.stacks);
  return text;
}

std::string written_path(const std::string& path, std::int32_t pid) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + "_" + std::to_string(pid) + whole.extension().string())).string();
}

}  // namespace gapscope::attach
