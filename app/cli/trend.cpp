#include "app/cli/trend.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "app/attach/trend.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/table/output.h"
#include "core/base/text.h"

namespace gapscope {

int trend(const TrendOptions& options) {
  const attach::Trend trend = attach::trend_of(options.folder);
  for (const std::string& problem : trend.problems) std::fprintf(stderr, "gapscope: %s\n", problem.c_str());
  if (trend.rows.empty()) {
    if (trend.problems.empty())
      std::fprintf(stderr, "gapscope: %s holds no recording that can be read, nor does a folder in it.\n",
                   printable(options.folder).c_str());
    return kBadInput;
  }
  const auto table = attach::trend_rows(trend);
  const auto rows = first_rows(table, table.rows());
  const int printed = print(options.json  ? json_text({{"recordings", json_of(table, rows)}, {"problems", trend.problems}})
                            : options.csv ? csv_of(table, rows)
                                          : text_of(table, rows));
  return printed == kOk && !trend.problems.empty() ? kBadInput : printed;
}

}  // namespace gapscope
