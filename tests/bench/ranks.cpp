// bench_ranks DIR [--one FILE]: how long the ranks take that bench_make_ranks made, and whether what was planted in them is
// found, all of it and no more. --one: a single trace to read first, of the same bytes, say.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/load/load_trace.h"
#include "core/ranks/run_report.h"

namespace {

using namespace gapscope;
using Json = nlohmann::ordered_json;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e3;
}

// What is retained of the ranks and of what they did together, without file names and other texts that are there once a rank.
std::size_t kept_bytes(const RunReport& report) {
  const auto bytes = [](const auto& all) { return all.capacity() * sizeof(all[0]); };
  const auto text = [](const std::string& s) { return s.capacity() > std::string().capacity() ? s.capacity() + 1 : 0; };
  std::size_t sum = bytes(report.run.ranks) + bytes(report.matches.all) + bytes(report.matches.members) +
                    bytes(report.waits.collectives) + bytes(report.waits.ranks) + bytes(report.clocks.ranks);
  std::set<const CollectiveWhat*> whats;
  for (const RankData& r : report.run.ranks) {
    sum += bytes(r.collectives) + bytes(r.seqs) + bytes(r.file_order) + bytes(r.exposed_communication.bytes) + bytes(r.steps) +
           bytes(r.whats);
    for (const auto& what : r.whats) whats.insert(what.get());
  }
  for (const CollectiveWhat* what : whats) {
    sum += sizeof *what;
    for (const std::string* s :
         {&what->name, &what->dtype, &what->group, &what->description, &what->members, &what->in_split, &what->out_split})
      sum += text(*s);
  }
  for (const auto& of_rank : report.waits.matched_of) sum += bytes(of_rank);
  for (const RankNumbers& n : report.waits.ranks) sum += bytes(n.waiting);
  for (const LateRank& late : report.waits.late) sum += bytes(late.meanwhile);
  return sum;
}

// What was planted and not found, or found and not planted.
std::vector<std::string> faults(const RunReport& report, const Json& truth) {
  std::vector<std::string> out;
  std::vector<std::int64_t> stragglers;
  std::vector<std::string> links;
  for (const RunFinding& f : report.findings) {
    if (f.kind == RunFindingKind::straggler) stragglers.push_back(f.rank);
    if (f.kind == RunFindingKind::slow_link) links.push_back(f.group);
  }
  std::vector<std::int64_t> planted;
  std::vector<std::string> planted_links;
  if (!truth["straggler"].is_null()) planted.push_back(truth["straggler"]["rank"]);
  if (!truth["slow_link"].is_null()) planted_links.push_back(list_of(truth["slow_link"].get<std::vector<std::int64_t>>()));
  if (stragglers != planted)
    out.push_back(fmt::format("stragglers: planted {}, found {}", list_of(planted), list_of(stragglers)));
  if (links != planted_links)
    out.push_back(fmt::format("slow links: {} planted, {} found", planted_links.size(), links.size()));
  if (!planted.empty()) {
    Ns lost = 0;
    for (const RunFinding& f : report.findings)
      if (f.kind == RunFindingKind::straggler && f.rank == planted[0]) lost = f.cost;
    const auto expected = truth["straggler"]["lost_ns"].get<Ns>();
    if (std::abs(lost - expected) > expected / 10)
      out.push_back(fmt::format("lost by the straggler: planted {} ns, found {} ns", expected, lost));
    bool named = false;
    for (std::size_t i = 0; i < report.waits.late.size(); ++i)
      for (const Doing& d : report.doing[i].doing) named = named || d.name.find("planted_straggler") != std::string::npos;
    if (!named) out.push_back("what the straggler was doing is not told");
  }
  std::size_t off = 0;
  for (std::size_t r = 0; r < report.run.ranks.size(); ++r)
    if (std::abs(report.clocks.ranks[r].offset -
                 truth["offsets_ns"][static_cast<std::size_t>(report.run.ranks[r].rank)].get<Ns>()) > 12 * kNsPerUs)
      ++off;
  if (off > 0) out.push_back(fmt::format("{} clocks are off by more than 12 us", off));
  if (!report.run.problems.empty()) out.push_back("problems: " + report.run.problems.front());
  return out;
}

int measure(const std::string& folder, const std::string& one) {
  if (!one.empty()) {
    const double seconds = seconds_of([&] {
      const auto loaded = load_trace(one);
      if (!loaded.ok()) stop(loaded.error().message);
    });
    fmt::print("one trace of {:.1f} MB: {:.2f} s, peak {:.0f} MB\n", static_cast<double>(std::filesystem::file_size(one)) / 1e6,
               seconds, peak_mb());
    if (folder.empty()) return 0;
  }
  const RankFiles found = find_rank_files({folder});
  std::uintmax_t bytes = 0, largest = 0;
  for (const std::string& file : found.files)
    bytes += std::filesystem::file_size(file), largest = std::max(largest, std::filesystem::file_size(file));
  RunReport report;
  LocalReader reader;
  const double seconds = seconds_of([&] { report = analyze_run(found.files, reader, ClockAlignment::collectives); });
  std::size_t collectives = 0;
  for (const RankData& r : report.run.ranks) collectives += r.collectives.size();
  fmt::print(
      "{} ranks, {:.1f} MB, the largest {:.1f} MB, {} collectives on ranks: {:.2f} s; peak {:.0f} MB, kept {:.0f} bytes a "
      "collective and rank\n",
      report.run.ranks.size(), static_cast<double>(bytes) / 1e6, static_cast<double>(largest) / 1e6, collectives, seconds,
      peak_mb(), static_cast<double>(kept_bytes(report)) / static_cast<double>(std::max<std::size_t>(1, collectives)));
  fmt::print("{}\n", first_sentence(report));
  std::ifstream file(folder + "/truth");
  const std::vector<std::string> wrong = faults(report, Json::parse(file));
  for (const std::string& fault : wrong) fmt::print("WRONG: {}\n", fault);
  if (wrong.empty()) fmt::print("what was planted is found, and no more\n");
  return wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How long many ranks take, and whether what was planted in them is found");
  std::string folder, one;
  app.add_option("DIR", folder);
  app.add_option("--one", one, "a single trace to read first");
  CLI11_PARSE(app, argc, argv);
  return measure(folder, one);
}
