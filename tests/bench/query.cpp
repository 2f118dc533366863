// query FILE...: what the timeline asks every frame, in microseconds: the visible set of every lane at 2,000 pixels at ten
// zooms, the slice at a time and depth, all slices of a name. Best read on a trace of millions of slices (make_big).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/load/load_trace.h"
#include "core/view/document.h"

namespace {
using namespace gapscope;
using Clock = std::chrono::steady_clock;
double us_since(Clock::time_point t) { return std::chrono::duration<double, std::micro>(Clock::now() - t).count(); }
}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  CLI::App app("Queries of the lane and name indexes");
  app.add_option("files", files)->required();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& path : files) {
    const auto loaded = load_trace(path);
    if (!loaded) {
      std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
      return 1;
    }
    const Trace& t = **loaded;
    const Document doc(*loaded);
    std::printf("%s: %zu slices\n", path.c_str(), t.slice_count());
    std::mt19937_64 random(1);
    std::vector<VisibleItem> items;
    for (int zoom = 0; zoom < 10; ++zoom) {
      const Ns length = std::max<Ns>(1000, t.span.length() >> (zoom * 2));
      const Ns begin =
          t.span.begin + static_cast<Ns>(random() % static_cast<std::uint64_t>(std::max<Ns>(1, t.span.length() - length + 1)));
      double worst = 0;
      std::size_t most = 0;
      for (std::uint32_t l = 0; l < t.lanes.size(); ++l) {
        double best = 1e9;
        for (int round = 0; round < 3; ++round) {
          items.clear();
          const auto start = Clock::now();
          for (std::uint32_t d = 0; d < t.lanes[l].depth_count; ++d)
            doc.lanes.visible(t.row_id(LaneId(l), d), {begin, begin + length}, 2000, items);
          best = std::min(best, us_since(start));
        }
        if (best > worst) {
          worst = best;
          most = items.size();
        }
      }
      std::printf("  visible, 1/%-7lld of the trace: slowest lane %8.1f us, %zu items\n", 1LL << (zoom * 2), worst, most);
    }
    constexpr int kTries = 200'000;
    std::size_t found = 0;
    const auto start = Clock::now();
    for (int i = 0; i < kTries; ++i) {
      const RowId row(random() % t.rows.size());
      found +=
          doc.lanes.at(row, t.span.begin + static_cast<Ns>(random() % static_cast<std::uint64_t>(t.span.length()))) ? 1 : 0;
    }
    std::printf("  slice at a time and depth: %.3f us (%zu of %d found)\n", us_since(start) / kTries, found, kTries);
    const auto names = doc.names.used_names();
    const auto name_start = Clock::now();
    std::size_t slices = 0;
    for (const StringId name : names) slices += doc.names.slices_named(name).size();
    std::printf("  slices of a name: %.3f us (%zu names, %zu slices)\n",
                us_since(name_start) / static_cast<double>(names.size()), names.size(), slices);
  }
}
