#pragma once
// Arguments of `gapscope screenshot`.
#include <string>
#include <utility>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace gapscope {

struct Document;

// "1600x900" -> width and height, each 1 to 16384.
Result<std::pair<int, int>> parse_size(const std::string& text);

// The first slice in time with this whole name, else of a name that holds it (letters without case), else the index.
Result<SliceId> find_slice(const Document& doc, const std::string& name_or_index);

}  // namespace gapscope
