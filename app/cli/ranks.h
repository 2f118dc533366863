#pragma once
// `gapscope ranks`: the recordings of many ranks of one run together.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/ranks/csv_tables.h"

namespace CLI {
class App;
}

namespace gapscope {

struct RanksOptions {
  std::vector<std::string> paths;  // folders and files
  bool json = false;
  std::optional<RunTable> csv{};
  ClockAlignment alignment = ClockAlignment::collectives;
};

// The arguments of `ranks`.
std::shared_ptr<RanksOptions> declare_ranks_options(CLI::App& arguments);
// What is printed, and the exit code: kOk where every file was used whole and no rank is missing. Shared with gapscope-mpi.
struct RanksOutput {
  std::string text;     // to stdout
  std::string trouble;  // to stderr, a sentence a line
  int code = 0;
};
RanksOutput ranks_answer(const RanksOptions& options, RankReader& reader);

std::string ranks_json(const RunReport& report);
// What mending a finding would give: the run before and after, and who is late then; null where that is not known.
nlohmann::ordered_json run_gain_json(const RunReport& report, const RunFinding& finding);
std::string ranks_text(const RunReport& report);

// Of a folder of ranks in place of a trace: prints what `ranks` says first, and `trace` is from then on the file of the rank to
// look into: the one that the others wait for, or else the first. The exit code.
int enter_run(std::string& trace);
std::string ranks_head(const RunReport& report);  // the first lines of ranks_text()

}  // namespace gapscope
