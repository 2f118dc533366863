#pragma once
// rocprofv3's databases (`--output-format rocpd`, its own choice since ROCm 7), in the words of its JSON for
// core/load/rocprof.h to read. Tables have a name with the run's id behind it; one file may have those of several processes.
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/load/sqlite_file.h"

namespace gapscope {

bool is_rocpd(const SqliteFile& file);

// The whole recording as JSON; an Error, a sentence about "The file", where the file is damaged.
Result<std::string> rocpd_json(SqliteFile& file);

}  // namespace gapscope
