#pragma once
// Nsight Systems' reports as `nsys export --type sqlite` writes them, as the text of a trace. Tables and columns differ from
// version to version: each is looked for, and what is not there is absent.
#include <atomic>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/load/byte_source.h"
#include "core/load/sqlite_file.h"

namespace gapscope {

// The text of an export, or of a database of rocprofv3 (rocpd.h); of any other SQLite file its bytes as they are. What is
// damaged ends early with an Error, a sentence about "The file".
Result<std::unique_ptr<ByteSource>> make_database_source(std::unique_ptr<ByteSource> database);

// The tables of the export at `path`, which may be packed as traces are. An Error, a sentence about "The file" or about the
// path, where it cannot be read again or is no export any more.
Result<std::unique_ptr<SqliteFile>> open_nsight_tables(const std::string& path, const std::atomic<bool>* cancel);

}  // namespace gapscope
