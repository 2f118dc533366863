// replay FILE...: what the replay costs alongside the load: processor time of the load, of the model and of replays, the least
// of some rounds, since other programs may run; for the model its share of the load, for a replay what 100,000 operations take.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/load/load_trace.h"
#include "core/replay/changes.h"
#include "core/view/document.h"

namespace {

using namespace gapscope;
constexpr int kRounds = 5;

template <class Body>
double least_seconds(int rounds, Body body) {
  double least = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const std::clock_t from = std::clock();
    body();
    least = std::min(least, static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC);
  }
  return least;
}

int measure(const std::string& path) {
  const std::clock_t from = std::clock();
  const auto loaded = load_trace(path);
  if (!loaded.ok()) return std::fprintf(stderr, "%s\n", loaded.error().message.c_str()), 1;
  const Document d(*loaded);
  const double load = static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
  const std::vector<GpuOp> ops = gpu_ops(d.trace, d.links);
  std::unique_ptr<const ReplayModel> model;
  const double made = least_seconds(kRounds, [&] { model = ReplayModel::make(d.trace, d.names, ops); });
  const double millions = static_cast<double>(model->ops().size()) / 1e6;
  std::printf("%s: load %.2f s; model of %.2f M operations and %.2f M calls %.1f ms, %.1f %% of the load\n", path.c_str(), load,
              millions, static_cast<double>(model->calls().size()) / 1e6, made * 1e3, 100 * made / load);
  for (const char* text : {"gpu 1", "gpu 0.5", "host 0.5", "no-wait", "graph", "overlap-copies", "full-queues"}) {
    const Result<Change> change = read_changes(d.trace, d.names, *model, {text});
    const double replayed = least_seconds(kRounds, [&] { replay(*model, *change); });
    std::printf("  %-15s %7.1f ms, %.2f ms for 100,000 operations\n", text, replayed * 1e3, replayed * 1e3 / millions / 10);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What the replay costs beside the load.");
  std::vector<std::string> files;
  app.add_option("FILE", files, "traces")->required();
  CLI11_PARSE(app, argc, argv);
  int code = 0;
  for (const std::string& file : files) code |= measure(file);
  return code;
}
