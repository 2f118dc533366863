// `gapscope trend FOLDER [--json | --csv]`: how step time and GPU use went over the recordings of `gapscope attach --watch`.
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/attach/trend.h"
#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "app/cli/subcommands.h"
#include "core/base/table/output.h"

namespace gapscope {
namespace {

struct TrendOptions {
  std::string folder;
  bool json = false, csv = false;
};

nlohmann::ordered_json trend_json(const attach::Trend& trend) {
  const auto table = attach::trend_rows(trend);
  nlohmann::ordered_json recordings = json_of(table, first_rows(table, table.rows()));
  for (std::size_t i = 0; i < trend.rows.size(); ++i)
    recordings[i] = with_doubts(std::move(recordings[i]), trend.rows[i].doubts);
  return {{"recordings", std::move(recordings)}, {"problems", trend.problems}};
}

int trend(const TrendOptions& options) {
  const attach::Trend trend = attach::trend_of(options.folder);
  for (const std::string& problem : trend.problems) complain(kBadInput, problem);
  if (trend.rows.empty()) {
    if (trend.problems.empty()) complain(kBadInput, options.folder + " and its folders hold no readable recording.");
    return kBadInput;
  }
  const auto table = attach::trend_rows(trend);
  const auto rows = first_rows(table, table.rows());
  std::string doubts;
  for (const attach::TrendRow& row : trend.rows) doubts += doubts_line(row.doubts, row.name);
  const int printed = print(options.json  ? json_text(trend_json(trend))
                            : options.csv ? csv_of(table, rows)
                                          : doubts + text_of(table, rows));
  return printed == kOk && !trend.problems.empty() ? kBadInput : printed;
}

}  // namespace

std::function<int()> declare_trend(CLI::App& arguments) {
  auto options = std::make_shared<TrendOptions>();
  arguments.add_option("FOLDER", options->folder, "a folder of recordings, as --watch of gapscope attach makes it")->required();
  auto* json = arguments.add_flag("--json", options->json, "print JSON: nanoseconds");
  arguments.add_flag("--csv", options->csv, "print CSV: nanoseconds")->excludes(json);
  return [options] { return trend(*options); };
}

}  // namespace gapscope
