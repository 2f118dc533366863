#include "app/cli/ranks.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/subcommands.h"
#include "core/base/text.h"
#include "core/ranks/read_rank.h"

namespace gapscope {

namespace {

// `all_used` also says whether every path could be looked into.
RunReport read_run(const std::vector<std::string>& paths, ClockAlignment alignment, RankReader& reader) {
  const RankFiles found = find_rank_files(paths);
  RunReport report = analyze_run(found.files, reader, alignment);
  report.run.problems.insert(report.run.problems.begin(), found.problems.begin(), found.problems.end());
  if (!found.ignored.empty()) report.run.problems.push_back(found.ignored_words());
  report.run.all_used &= found.problems.empty();
  return report;
}

constexpr const char* kNoRank = "No rank could be read.";

}  // namespace

int enter_run(std::string& trace) {
  if (!holds_several_traces(trace)) return kOk;
  if (const RankFiles found = find_rank_files({trace}); found.files.size() == 1 && !says_its_rank(found.files.front())) {
    trace = found.files.front();
    return kOk;
  }
  LocalReader reader({.stated = trace_arguments().stated});
  const RunReport report = read_run({trace}, ClockAlignment::collectives, reader);
  const std::vector<std::string>& problems = report.run.problems;
  if (report.run.ranks.empty()) return complain(kBadInput, problems.empty() ? kNoRank : problems.front());
  const auto late = std::find_if(report.findings.begin(), report.findings.end(),
                                 [](const RunFinding& f) { return f.kind == RunFindingKind::straggler; });
  const RankData* shown = &report.run.ranks.front();
  for (const RankData& rank : report.run.ranks)
    if (late != report.findings.end() && rank.rank == late->rank) shown = &rank;
  trace = shown->file;
  return print(fmt::format("{}\nrank {}: ", ranks_head(report), shown->rank));
}

RanksOutput ranks_answer(const RanksOptions& options, RankReader& reader) {
  RanksOutput answer;
  const RunReport report = read_run(options.paths, options.alignment, reader);
  answer.code = report.run.all_used ? kOk : kBadInput;
  const bool nothing = report.run.ranks.empty();
  if (nothing || options.csv)  // they have no other place there
    for (const std::string& problem : report.run.problems) answer.trouble += "gapscope: " + printable(problem) + '\n';
  if (nothing && !options.json) {
    if (answer.trouble.empty()) answer.trouble = fmt::format("gapscope: {}\n", kNoRank);
    answer.code = kBadInput;
    return answer;
  }
  answer.text = options.csv ? run_csv(report, *options.csv) : options.json ? ranks_json(report) : ranks_text(report);
  if (nothing) answer.code = kBadInput;
  return answer;
}

namespace {

int ranks(const RanksOptions& options) {
  LocalReader reader({.stated = trace_arguments().stated});
  const RanksOutput answer = ranks_answer(options, reader);
  std::fputs(answer.trouble.c_str(), stderr);
  const int printed = answer.text.empty() ? kOk : print(answer.text);
  return printed == kOk ? answer.code : printed;
}

}  // namespace

std::shared_ptr<RanksOptions> declare_ranks_options(CLI::App& arguments) {
  auto options = std::make_shared<RanksOptions>();
  arguments.add_option("TRACE", options->paths, "a folder with one trace a rank, or the traces themselves")
      ->required()
      ->type_name("DIR|FILE...");
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments
      .add_option_function<std::string>(
          "--csv", [options](const std::string& word) { options->csv = run_table_from(word); },
          "print a table as TraceLens has it")
      ->check(CLI::IsMember({"sync", "summary", "straggler", "alltoall"}))
      ->excludes(json);
  arguments
      .add_option_function<std::string>(
          "--align",
          [options](const std::string& word) {
            options->alignment = alignment_from(word).value_or(ClockAlignment::collectives);
          },
          "how to align the clocks: by the ends of collectives, as the files state them, or not at all")
      ->check(CLI::IsMember({"collectives", "base", "none"}))
      ->default_str("collectives");
  return options;
}

std::function<int()> declare_ranks(CLI::App& arguments) {
  add_steps(arguments);
  return [options = declare_ranks_options(arguments)] { return ranks(*options); };
}

}  // namespace gapscope
