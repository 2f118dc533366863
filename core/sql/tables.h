#pragma once
// Every table and function there is, by the files that make them.
#include <memory>
#include <vector>

#include "core/sql/virtual_table.h"
#include "core/sql/world.h"

namespace gapscope::sql {

using TableList = std::vector<std::unique_ptr<Table>>;

void add_slice_tables(World& world, TableList& out);  // slice, instant, ancestor_slice, descendant_slice
void add_track_tables(World& world, TableList& out);
void add_flow_tables(World& world, TableList& out);  // flow, following_flow, preceding_flow, directly_connected_flow
void add_args_table(World& world, TableList& out);
void add_counter_table(World& world, TableList& out);
void add_info_tables(World& world, TableList& out);  // trace_bounds, stats, metadata, device
void add_gpu_tables(World& world, TableList& out);   // those of kernels, gpu_gap, account, device, memory_event
void add_kernel_tables(World& world, TableList& out);
void add_work_tables(World& world, TableList& out);  // step, op, finding
void add_run_tables(World& world, TableList& out);   // rank, collective

// The functions that Perfetto's users know, beyond SQLite's own (core/sql/README.md). `world` must outlive the connection.
void add_functions(sqlite3* db, World& world);
void add_whatif_function(sqlite3* db, World& world);  // whatif(changes); called by the above
// instr, replace, trim, like and glob in SQLite's place, which end soon whatever they are given; called by the above.
void add_text_functions(sqlite3* db);

}  // namespace gapscope::sql
