#pragma once
// `gapscope sql TRACE... [QUERY | --file Q.sql | -] [--csv|--json]`: SQL over a trace, read only, the rows on stdout. Of a
// folder or several files, the ranks of one run, the lowest rank is the trace, and the tables rank and collective tell of all.
#include <string>
#include <vector>

namespace gapscope {

enum class SqlFormat { text, csv, json };

struct SqlOptions {
  std::vector<std::string> traces;  // one, "-" being standard input; or several, folders too
  std::string query;  // "-": from standard input; empty: from `file`, or a prompt where standard input is a terminal
  std::string file;
  SqlFormat format = SqlFormat::text;
  double time_limit_s = 300;  // 0: none
};

// Traces and a query as they were typed one after the other: the last is the query, unless a file or folder is called so, or it
// is the only one, or the query was given otherwise.
void take_words(std::vector<std::string> words, SqlOptions& options);

// The exit code; an error is one sentence on stderr.
int run_sql(const SqlOptions& options);

}  // namespace gapscope
