#include "app/cli/ranks.h"

#include <algorithm>
#include <cstdio>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/text.h"

namespace gapscope {

RanksOutput ranks_answer(const RanksOptions& options, RankReader& reader) {
  RanksOutput answer;
  RankFiles found = find_rank_files(options.paths);
  RunReport report = analyze_run(found.files, reader, options.alignment);
  report.run.problems.insert(report.run.problems.begin(), found.problems.begin(), found.problems.end());
  answer.code = report.run.all_used && found.problems.empty() ? kOk : kBadInput;
  const bool nothing = report.run.ranks.empty();
  if (nothing || options.csv)  // they have no other place there
    for (const std::string& problem : report.run.problems) answer.trouble += "gapscope: " + printable(problem) + '\n';
  if (nothing && !options.json) {
    if (answer.trouble.empty()) answer.trouble = "gapscope: No rank could be read.\n";
    answer.code = kBadInput;
    return answer;
  }
  answer.text = options.csv ? run_csv(report, *options.csv) : options.json ? ranks_json(report) : ranks_text(report);
  if (nothing) answer.code = kBadInput;
  return answer;
}

int ranks(const RanksOptions& options) {
  LocalReader reader;
  const RanksOutput answer = ranks_answer(options, reader);
  std::fputs(answer.trouble.c_str(), stderr);
  const int printed = answer.text.empty() ? kOk : print(answer.text);
  return printed == kOk ? answer.code : printed;
}

}  // namespace gapscope
