// frame FILE...: CPU time of a frame of the window, without a window: at ten zoom levels from the whole trace to a single
// kernel, panning every frame, with badges, counters, the selection's arrows and all others; then with each tab open.
// Then selects one kernel after the other with Details open. Prints median and worst milliseconds. Drawing is all of AppUi and
// Dear ImGui up to the vertices; no GPU takes part.
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "core/view/timeline/flow_choice.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/stand_in.h"
#include "ui/panels.h"

namespace {
using namespace gapscope;

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

constexpr int kZooms = 10;
constexpr int kFrames = 40;
constexpr int kRounds = 5;  // the same way again; of each frame the fastest counts, so that a busy machine spoils nothing
constexpr int kWarmUp = 4;  // frames that lay out what a change opened
constexpr int kFramesSelected = 3;
constexpr std::size_t kSelected = 20;
constexpr double kPanWidths = 0.011;
constexpr double kMedianBudgetMs = 2, kWorstBudgetMs = 8;

struct Times {
  std::vector<double> ms;
  double median() {
    std::nth_element(ms.begin(), ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2), ms.end());
    return ms[ms.size() / 2];
  }
  double worst() const { return *std::max_element(ms.begin(), ms.end()); }
};

struct Bench {
  test::HeadlessUi& ui;
  const Document& document;
  bool within = true;

  double frame() {
    const auto begin = Clock::now();
    ui.frame();
    const double ms = ms_since(begin);
    test::answer(ui.out, document, ui.ui.view());
    return ms;
  }

  void report(const std::string& what, Times times, double first) {
    const double median = times.median(), worst = times.worst();
    const bool good = median <= kMedianBudgetMs && worst <= kWorstBudgetMs;
    within = within && good;
    std::printf("  %-44s %6.2f %6.2f %6.2f  %5zu rects %7d vertices%s\n", what.c_str(), median, worst, first,
                ui.ui.timeline().rects().size(), ImGui::GetDrawData()->TotalVtxCount, good ? "" : "  OVER");
  }

  // The frames after each selection, until all that was asked for is shown.
  void measure_selecting(const std::vector<SliceId>& slices) {
    Times times{std::vector<double>(slices.size() * kFramesSelected, 1e9)};
    for (int round = 0; round < kRounds; ++round) {
      auto ms = times.ms.begin();
      for (const SliceId slice : slices) {
        select_slice(ui.ui.view().active(), slice, /*reveal=*/true);
        for (int i = 0; i < kFramesSelected; ++i, ++ms) *ms = std::min(*ms, frame());
      }
    }
    report("selecting kernels", std::move(times), 0);
  }

  // Pans away. The slowest of the frames that lay out what a change opened counts as `first`; there is one of each, so a
  // busy machine shows in it.
  void measure(const std::string& what) {
    double first = 0;
    for (int i = 0; i < kWarmUp; ++i) first = std::max(first, frame());
    Times times{std::vector<double>(kFrames, 1e9)};
    const TimeView begin = ui.ui.view().active().time;
    for (int round = 0; round < kRounds; ++round) {
      ui.ui.view().active().time = begin;
      for (double& ms : times.ms) {
        ui.ui.view().active().time = panned(ui.ui.view().active().time, kPanWidths, document.trace.span);
        ms = std::min(ms, frame());
      }
    }
    report(what, std::move(times), first);
  }
};

// The GPU slice in the middle of the table, else the middle slice of all.
SliceId middle_slice(const Trace& trace) {
  if (!trace.gpu.empty()) return trace.gpu[trace.gpu.size() / 2].slice;
  return SliceId(trace.slice_count() / 2);
}

// From all of the trace to the slice alone, by equal ratios.
TimeView zoom_level(const Trace& trace, SliceId slice, int level) {
  const double whole = visible_ns(fit(trace.span)), close = visible_ns(focused_on(trace.span_of(slice), trace.span));
  const double length = whole * std::pow(close / whole, static_cast<double>(level) / (kZooms - 1));
  const Ns middle = trace.begin(slice) + trace.duration(slice) / 2, half = static_cast<Ns>(length / 2);
  return within_limits(TimeView{{middle - half, middle + half}, 0, 0}, trace.span);
}

// Some of the kernels whose name the most have, all over the trace.
std::vector<SliceId> commonest_kernels(const Document& document) {
  std::map<std::uint32_t, std::vector<SliceId>> named;
  for (const GpuRow& row : document.trace.gpu)
    if (document.trace.kind(row.slice) == Kind::kernel) named[document.trace.name_id(row.slice).value].push_back(row.slice);
  std::vector<SliceId> most, some;
  for (std::pair<const std::uint32_t, std::vector<SliceId>>& one : named)
    if (one.second.size() > most.size()) most = std::move(one.second);
  for (std::size_t i = 0; i < std::min(most.size(), kSelected); ++i)
    some.push_back(most[i * most.size() / std::min(most.size(), kSelected)]);
  return some;
}

void measure_file(const std::string& path, bool& within) {
  const auto loaded = load_trace(path);
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    within = false;
    return;
  }
  const Document document(*loaded);
  document.diagnose();
  const Trace& trace = document.trace;
  test::HeadlessUi ui(&document, 1600, 900);
  Bench bench{ui, document};
  std::printf("%s: %zu slices, %zu findings\n  %-44s %6s %6s %6s\n", path.c_str(), trace.slice_count(),
              document.diagnosis()->findings.size(), "ms a frame", "median", "worst", "first");
  ViewState& view = ui.ui.view();
  const SliceId slice = middle_slice(trace);
  for (const FlowShow show : {FlowShow::selection, FlowShow::all}) {
    view.active().flows.show = show;
    for (int level = 0; level < kZooms; ++level) {
      view.active().time = zoom_level(trace, slice, level);
      select_slice(view.active(), slice, /*reveal=*/false);
      bench.measure(std::string(flow_show_text(show)) + ", zoom " + std::to_string(level));
    }
  }
  view.active().time = zoom_level(trace, slice, 4);
  for (std::size_t tab = 0; tab < panels().size(); ++tab) {
    view.window.tab = tab;
    view.window.signals.select_tab = true;
    bench.measure(std::string("tab ") + panels()[tab].title);
    view.active().range = Span{trace.span.begin + trace.span.length() / 10, trace.span.end - trace.span.length() / 10};
    bench.measure(std::string("tab ") + panels()[tab].title + ", a range");
    view.active().range.reset();
  }
  show_panel(view.window, "details");
  bench.measure_selecting(commonest_kernels(document));
  within = within && bench.within;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  bool check = false;
  CLI::App app("CPU time of a frame, without a window");
  app.add_option("files", files)->required();
  app.add_flag("--check", check, "fail when a frame is over budget");
  CLI11_PARSE(app, argc, argv);
  bool within = true;
  for (const std::string& path : files) measure_file(path, within);
  return check && !within ? 1 : 0;
}
