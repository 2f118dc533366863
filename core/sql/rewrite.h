#pragma once
// The same query in words that SQLite finds a faster plan for.
#include <string>
#include <string_view>

namespace gapscope::sql {

// extract_arg(s.arg_set_id, 'args.correlation') and 'args.External id' become hidden columns of `slice`, which joins find rows
// by, where their arg_set_id can only be that of `slice`. A WITH whose body asks for other args is worked out once. Empty:
// nothing to change. What comes out may fail to compile; the query as it was is then the one to run.
std::string rewritten(std::string_view statement);

}  // namespace gapscope::sql
