#pragma once
// The tables of TraceLens' NcclAnalyser, column by column, so that they can be compared cell by cell. Times in microseconds,
// of the files' axis corrected by the clocks; sizes in MB of 2^20 bytes, rates in GB/s of 2^30. As there, all is computed in
// doubles of microseconds, which at today's clocks lose up to 1.5 ns; exact figures are in waits.h.
#include <optional>
#include <string>
#include <string_view>

#include "core/ranks/run_report.h"

namespace gapscope {

enum class RunTable : std::uint8_t { sync, summary, straggler, alltoall };
std::optional<RunTable> run_table_from(std::string_view word);

std::string run_csv(const RunReport& report, RunTable table);

}  // namespace gapscope
