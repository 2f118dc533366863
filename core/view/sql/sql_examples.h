#pragma once
// Queries to begin with, and the words of the language that the editor colours and completes.
#include <span>
#include <string_view>

namespace gapscope {

struct SqlExample {
  const char* title;
  const char* explanation;  // one sentence
  const char* query;
};
std::span<const SqlExample> sql_examples();

// Keywords in lower case and functions, sorted.
std::span<const std::string_view> sql_words();
bool is_sql_keyword(std::string_view word);  // whatever the case

// The queries that give what the tabs show, for "Open as SQL".
extern const char* const kKernelsAsSql;   // GPU work by name, of the whole trace
extern const char* const kFindingsAsSql;  // in the order of the panel
extern const char* const kStepsAsSql;
extern const char* const kOperatorsAsSql;  // the profiler table's rows and calls, without shapes and stacks

}  // namespace gapscope
