#pragma once
#include <memory>

#include "core/sql/list_table.h"
#include "core/sql/world.h"

namespace gapscope::sql {

std::unique_ptr<Table> kernel_table(World& world);
std::unique_ptr<Table> kernel_summary_table(World& world);
std::unique_ptr<Table> roofline_sql_table(World& world);

}  // namespace gapscope::sql
