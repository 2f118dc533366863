// frame_snapshot FILE.pickle: CPU time of a frame with a memory snapshot open (tests/bench/make_snapshot.py makes large ones):
// at ten zoom levels from all events to a hundred, panning every frame, by events and by time, with each tab. Prints opening's
// seconds, then median and worst milliseconds.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "core/snapshot/opened_snapshot.h"
#include "tests/support/headless_ui.h"
#include "ui/snapshot/snapshot_page.h"

namespace {
using namespace gapscope;

// Of the processor, not of the clock on the wall: a busy machine spoils nothing.
double ms_since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) * 1000 / CLOCKS_PER_SEC; }

constexpr int kZooms = 10, kFrames = 40, kRounds = 3;
constexpr double kBudgetMs = 1000.0 / 60;

struct Bench {
  test::HeadlessUi& ui;
  const OpenedSnapshot& opened;
  std::shared_ptr<const SnapshotMoment> moment{};
  bool within = true;

  void frame() {
    ui.input.moment = moment.get();
    ui.frame();
    if (const auto ask = ui.ui.snapshot_page().take_question()) moment = moment_of(opened, ask->device, ask->event);
  }
  // Of each frame the fastest of some rounds counts, so that a busy machine spoils nothing.
  void measure(const std::string& what) {
    for (int i = 0; i < 4; ++i) frame();
    std::vector<double> best(kFrames, 1e9);
    for (int round = 0; round < kRounds; ++round)
      for (double& ms : best) {
        ui.wheel = 0;
        ui.ui.snapshot_page().pan(round % 2 == 0 ? 0.01 : -0.01);
        const std::clock_t begin = std::clock();
        frame();
        ms = std::min(ms, ms_since(begin));
      }
    std::ranges::sort(best);
    const double median = best[best.size() / 2], worst = best.back();
    within = within && worst <= kBudgetMs;
    std::printf("  %-30s %6.2f %6.2f  %7d vertices%s\n", what.c_str(), median, worst, ImGui::GetDrawData()->TotalVtxCount,
                worst <= kBudgetMs ? "" : "  OVER");
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "frame_snapshot FILE.pickle\n"), 2;
  std::clock_t begin = std::clock();
  const auto opened = open_snapshot(arguments[1]);
  if (!opened) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), 1;
  std::printf("opened in %.2f s\n", ms_since(begin) / 1000);
  test::HeadlessUi ui(nullptr, 1600, 900, 1, /*fonts=*/true);
  ui.input.snapshot = opened->get();
  Bench bench{ui, **opened};
  begin = std::clock();
  bench.frame();
  std::printf("first frame with its moment: %.1f ms\n      %-26s median  worst ms\n", ms_since(begin), "");
  for (const SnapshotPage::Tab tab : {SnapshotPage::Tab::flame, SnapshotPage::Tab::lines, SnapshotPage::Tab::segments}) {
    ui.ui.snapshot_page().show(tab);
    bench.measure(std::string(SnapshotPage::name_of(tab)));
  }
  for (const bool by_time : {false, true}) {
    ui.ui.snapshot_page().show_by_time(by_time);
    for (int zoom = 0; zoom < kZooms; ++zoom) {
      ui.ui.snapshot_page().zoom(std::pow(1e-5, static_cast<double>(zoom) / (kZooms - 1)));
      bench.measure((by_time ? "by time, zoom " : "by event, zoom ") + std::to_string(zoom));
    }
  }
  return bench.within ? 0 : 1;
}
