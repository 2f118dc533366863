#pragma once
// Nsight Systems' reports as `nsys export --type sqlite` writes them, as the text of a trace. Tables and columns differ from
// version to version: each is looked for, and what is not there is absent.
#include <memory>

#include "core/base/result.h"
#include "core/load/byte_source.h"

namespace gapscope {

// The text of an export; of any other SQLite file its bytes as they are. What is damaged ends early with an Error, a sentence
// about "The file".
Result<std::unique_ptr<ByteSource>> make_nsight_source(std::unique_ptr<ByteSource> database);

}  // namespace gapscope
