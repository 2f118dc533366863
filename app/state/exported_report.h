#pragma once
// The reports of Nsight Systems that --export has written temporary files of: what is remembered of such a trace, or saved next
// to it, belongs to the report, which stays.
#include <cstdint>
#include <string>

namespace gapscope {

struct ExportedReport {
  std::string path;  // absolute
  std::uint64_t bytes = 0;
};

// Before there is a second thread.
void add_export(const std::string& path, ExportedReport report);
// Null where `path` is no such export.
const ExportedReport* report_of_export(const std::string& path);

}  // namespace gapscope
