// diagnose FILE...: what it takes from a loaded file to its findings, by station, in milliseconds (the least of some rounds, of
// the clock and of all processors), and each rule alone, the dearest first. The sum is what `gapscope diagnose` takes beyond
// `gapscope info`, less the text.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/analyze/work/work_table.h"
#include "core/diagnose/catalogue.h"
#include "core/diagnose/device_time.h"
#include "core/load/arg_texts.h"
#include "core/load/load_trace.h"
#include "core/replay/replay.h"
#include "core/view/document.h"

namespace {

using namespace gapscope;
using Clock = std::chrono::steady_clock;

struct Cost {
  double ms = 1e9, cpu_ms = 1e9;
};

// What `body` gives is let go after the clock has stopped.
template <class Body>
Cost cost_of(Body body, int rounds) {
  Cost best;
  for (int i = 0; i < rounds; ++i) {
    const std::clock_t cpu = std::clock();
    const auto start = Clock::now();
    [[maybe_unused]] const auto result = body();
    best.ms = std::min(best.ms, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    best.cpu_ms = std::min(best.cpu_ms, 1e3 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  }
  return best;
}

void line(const char* what, const Cost& cost) {
  std::printf("  %-34s %8.2f ms, %8.2f ms of processors\n", what, cost.ms, cost.cpu_ms);
}

// Rules that need what the trace lacks are not asked in a diagnosis, but may be: they find nothing.
void print_rules(const Facts& facts, int rounds) {
  std::vector<std::pair<Cost, const Rule*>> rules;
  for (const Rule* rule : all_rules()) rules.emplace_back(cost_of([&] { return rule->check(facts); }, rounds), rule);
  std::stable_sort(rules.begin(), rules.end(), [](const auto& a, const auto& b) { return a.first.ms > b.first.ms; });
  for (const auto& [cost, rule] : rules)
    if (cost.ms >= 0.01) line(std::string(rule->id).c_str(), cost);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  int rounds = 5;
  CLI::App app("From a loaded file to its findings");
  app.add_option("files", files)->required();
  app.add_option("--rounds", rounds, "the least of so many is printed")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  for (const std::string& path : files) {
    const auto loaded = load_trace(path);
    if (!loaded) {
      std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
      return 1;
    }
    const Document doc(*loaded);
    std::printf("%s: %zu slices\n", path.c_str(), doc.trace.slice_count());
    line("indexes and facts", cost_of([&] { return TraceSession(doc.trace_owner).prefetch(); }, rounds));
    const auto make_facts = [&] { return std::make_unique<const Facts>(doc.session); };
    const auto make_work = [&] { return work_table(doc.trace, doc.lanes, doc.links, concrete_inputs()); };
    line("table of work", cost_of(make_work, rounds));
    line("facts of the rules", cost_of(make_facts, rounds));
    const auto facts = make_facts();
    line("diagnosis", cost_of([&] { return diagnose(*facts); }, rounds));
    std::printf("of which\n");
    if (doc.session.account().busiest() != nullptr)
      line("time by device", cost_of([&] { return std::make_unique<const DeviceTime>(*facts); }, rounds));
    const auto make_model = [&] { return ReplayModel::make(doc.trace, doc.names, facts->ops); };
    line("model of the replay", cost_of(make_model, rounds));
    if (const auto model = make_model(); model && !model->empty())
      line("one replay", cost_of([&] { return replay(*model, {}); }, rounds));
    std::printf("rules\n");
    print_rules(*facts, rounds);
  }
}
