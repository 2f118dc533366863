#pragma once
// The functions that Perfetto's users know, beside SQLite's own: see core/sql/README.md.
struct sqlite3;

namespace gapscope::sql {

class World;
// `world` must outlive the connection.
void add_functions(sqlite3* db, World& world);
// whatif(changes): whatif_function.cpp; called by the above.
void add_whatif_function(sqlite3* db, World& world);

}  // namespace gapscope::sql
