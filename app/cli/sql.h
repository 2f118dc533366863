#pragma once
// `gapscope sql TRACE [QUERY | --file Q.sql | -] [--csv|--json]`: SQL over a trace, read only, the rows on stdout.
#include <string>

namespace gapscope {

enum class SqlFormat { text, csv, json };

struct SqlOptions {
  std::string trace;  // "-" is standard input
  std::string query;  // "-": from standard input; empty: from `file`, or a prompt where standard input is a terminal
  std::string file;
  SqlFormat format = SqlFormat::text;
  double time_limit_s = 300;  // 0: none
};

// The exit code; an error is one sentence on stderr.
int run_sql(const SqlOptions& options);

}  // namespace gapscope
