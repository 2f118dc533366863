// analyze FILE...: what all analyses together cost alongside the load: seconds (the least of some rounds) and their ratio to
// the load, bytes a slice at the worst moment and retained (the most of these rounds), above what the loaded document takes;
// the time account of them alone; the same with what the window makes of them and alongside them (arrows, counter lanes, other
// arrangements of lanes); then tables of ranges, kernels of a range, slices of a row, the sums and the call paths of an area
// that is everything, in milliseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/analyze/account/time_account.h"
#include "core/analyze/op_table/op_table.h"
#include "core/analyze/operators/call_paths.h"
#include "core/analyze/selection/area_stats.h"
#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "core/view/kernels/kernels_model.h"
#include "core/view/table/table_model.h"
#include "tests/bench/give_back.h"

namespace {

using namespace gapscope;
using Clock = std::chrono::steady_clock;
double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// A line of /proc/self/status in bytes: "VmRSS:", "VmHWM:".
double status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kb = 0;
    if (word == key && status >> kb) return kb * 1024;
  }
  return 0;
}

// The highest resident size counts anew from here.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

struct Cost {
  double seconds = 1e9, cpu = 1e9;  // the least
  double peak = 0, kept = 0;        // bytes above what was taken before, the most: later rounds find room of earlier ones

  void join(const Cost& other) {
    seconds = std::min(seconds, other.seconds);
    cpu = std::min(cpu, other.cpu);
    peak = std::max(peak, other.peak);
    kept = std::max(kept, other.kept);
  }
};

// What `body` gives is retained while its memory is looked at.
template <class Body>
Cost cost_of(Body body) {
  give_back_freed_memory();
  forget_peak();
  const double before = status_bytes("VmRSS:");
  const double cpu_start = cpu_seconds();
  const auto start = Clock::now();
  [[maybe_unused]] const auto result = body();
  Cost cost;
  cost.seconds = since(start);
  cost.cpu = cpu_seconds() - cpu_start;
  cost.peak = status_bytes("VmHWM:") - before;
  give_back_freed_memory();
  cost.kept = status_bytes("VmRSS:") - before;
  return cost;
}

template <class Body>
double best_ms(Body body, int rounds = 9) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    body();
    best = std::min(best, since(start) * 1e3);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  bool exact = false;
  int rounds = 5;
  CLI::App app("All analyses against the load");
  app.add_option("files", files)->required();
  app.add_flag("--exact", exact, "op events of the exact mode too");
  app.add_option("--rounds", rounds, "how often the analyses are made alone")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  for (const std::string& path : files) {
    const double load_cpu_start = cpu_seconds();
    const auto load_start = Clock::now();
    const auto loaded = load_trace(path);
    if (!loaded) {
      std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
      return 1;
    }
    const Document doc(*loaded);
    const double load_s = since(load_start);
    const double load_cpu = cpu_seconds() - load_cpu_start;
    const auto slices = static_cast<double>(std::max<std::size_t>(1, doc.trace.slice_count()));
    const Trace& t = doc.trace;
    std::printf("%s: %.2f M slices, %.2f M on GPUs\n", path.c_str(), slices / 1e6, static_cast<double>(t.gpu.size()) / 1e6);
    std::printf("  load     %.2f s (%.2f s of processors)\n", load_s, load_cpu);
    const auto print = [&](const char* what, const Cost& cost) {
      std::printf(
          "  %s %.3f s (%.3f s of processors): %.1f %% of the load, %.1f %% by processor seconds; bytes a slice: %.1f at the "
          "worst moment, %.1f kept\n",
          what, cost.seconds, cost.cpu, 100 * cost.seconds / load_s, 100 * cost.cpu / load_cpu, cost.peak / slices,
          cost.kept / slices);
    };
    Cost alone;
    for (int round = 0; round < rounds; ++round) alone.join(cost_of([&] { return TraceSession(doc.trace_owner).prefetch(); }));
    print("analyses", alone);
    const std::vector<GpuOp> ops = gpu_ops(t, doc.links);
    Cost account;
    for (int round = 0; round < rounds; ++round)
      account.join(cost_of([&] { return std::make_unique<const TimeAccount>(t, doc.links, ops); }));
    print("account ", account);
    print("all      ", cost_of([&] { return doc.analyze(), 0; }));
    const TraceSession& facts = *doc.analysis();
    if (exact) {
      const auto exact_start = Clock::now();
      facts.op_events(TableMode::exact);
      std::printf("  exact op events %.2f s\n", since(exact_start));
    }
    const OpEvents& events = facts.op_events(TableMode::corrected);
    const Ns quarter = t.span.length() / 4;
    const std::vector<std::pair<const char*, std::optional<Span>>> ranges = {
        {"all", std::nullopt},
        {"all as a range", Span{t.span.begin, t.span.end + 1}},
        {"half", Span{t.span.begin + quarter, t.span.end - quarter}}};
    for (const auto& [what, within] : ranges) {
      const std::optional<Span>& range = within;  // a binding is not for lambdas to capture, says clang
      OpTable table;
      const double ms = best_ms([&] { table = make_op_table(t, events, {range, false}); });
      const double shapes_ms = best_ms([&] { make_op_table(t, events, {range, true}); }, 1);
      const double kernels_ms = best_ms([&] { kernel_table(t, doc.links, range); }, 1);
      double worst = 0;
      const TableQuestion question{TableMode::corrected, false, range};
      for (const OpTableRow& row : table.rows)
        worst = std::max(worst, best_ms([&] { slices_of_row(t, events, question, row); }, 1));
      std::printf("  %-14s table %.1f ms (%zu rows), by shapes %.1f ms, kernels %.1f ms, slices of a row at most %.1f ms\n",
                  what, ms, table.rows.size(), shapes_ms, kernels_ms, worst);
    }
    const Area area = whole_area(t);
    const double stats_ms = best_ms([&] { area_stats(t, doc.lanes, area); }, 3);
    const double cpu_ms = best_ms([&] { call_paths(t, doc.lanes, doc.links, area, PathTime::cpu); }, 2);
    const double gpu_ms = best_ms([&] { call_paths(t, doc.lanes, doc.links, area, PathTime::gpu); }, 2);
    std::printf("  area           sums %.1f ms, call paths by CPU time %.1f ms, by GPU time %.1f ms\n", stats_ms, cpu_ms,
                gpu_ms);
  }
}
