#include "core/load/cpu_samples.h"

#include <string_view>

#include "core/load/nsight_systems.h"

namespace gapscope {

std::uint64_t cpu_samples_of_export(const Trace& trace) {
  if (trace.producer->id != std::string_view("nsight_systems")) return 0;
  const Result<std::unique_ptr<SqliteFile>> file = open_nsight_tables(trace.path, nullptr);
  std::uint64_t samples = 0;
  if (!file) return samples;
  SqliteFile::Rows rows = (*file)->rows("COMPOSITE_EVENTS", {"start"});
  while (rows.next()) ++samples;
  return samples;
}

}  // namespace gapscope
