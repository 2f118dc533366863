#pragma once
// What `rocprofv3 --output-format json` writes, as the text of a trace.
#include <memory>
#include <string_view>

#include "core/base/result.h"
#include "core/load/byte_source.h"

namespace gapscope {

bool is_rocprof(std::string_view first_bytes);

// The text of a recording; an Error, a sentence about "The file", where its JSON is damaged or it has no events.
Result<std::unique_ptr<ByteSource>> make_rocprof_source(std::unique_ptr<ByteSource> json);

}  // namespace gapscope
