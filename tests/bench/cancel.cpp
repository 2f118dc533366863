// cancel FILE: how long a load takes to end after it is cancelled, asked at many moments between its start and its end.
// Prints the longest wait of each stage; the promise of LoadProgress::cancel is 100 ms.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

#include "core/base/parallel.h"
#include "core/load/load_trace.h"
#include "core/view/document.h"

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

bool open(const std::string& path, int threads, gapscope::LoadProgress& progress) {
  gapscope::LoadOptions options;
  options.threads = threads;
  options.progress = &progress;
  const auto trace = gapscope::load_trace(path, options);
  progress.stage = static_cast<int>(gapscope::LoadStage::indexing);
  return trace.ok() && gapscope::Document::make(*trace, &progress.cancel) != nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  std::string path;
  int threads = gapscope::hardware_threads();
  int moments = 40;
  CLI::App app("How soon a cancelled load ends");
  app.add_option("file", path)->required();
  app.add_option("--threads", threads);
  app.add_option("--moments", moments);
  CLI11_PARSE(app, argc, argv);

  gapscope::LoadProgress whole;
  const auto start = Clock::now();
  if (!open(path, threads, whole)) return 1;
  const double seconds = since(start);
  std::printf("%.2f s uncancelled\n", seconds);

  std::array<double, 5> longest{};
  std::array<int, 5> asked{};
  for (int i = 0; i < moments; ++i) {
    gapscope::LoadProgress progress;
    auto loading = gapscope::start([&] { return open(path, threads, progress); });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds * i / moments));
    const auto stage = static_cast<std::size_t>(progress.stage.load());
    const auto asked_at = Clock::now();
    progress.cancel = true;
    (void)loading.get();
    const double wait = since(asked_at);
    longest[stage] = std::max(longest[stage], wait);
    ++asked[stage];
    if (wait > 0.1) std::printf("  %5.0f ms after a cancel at %.2f s\n", wait * 1e3, seconds * i / moments);
  }
  for (std::size_t s = 0; s < longest.size(); ++s) {
    std::printf("%-16s asked %3d times, at most %5.0f ms\n",
                std::string(gapscope::load_stage_name(static_cast<gapscope::LoadStage>(s))).c_str(), asked[s],
                longest[s] * 1e3);
  }
}
