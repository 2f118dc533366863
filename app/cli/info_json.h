#pragma once
// What `gapscope info` says, for programs and for people. Pure functions of a document.
#include <string>

#include "core/view/document.h"

namespace gapscope {

// Indented JSON with a line break at the end; always valid UTF-8, whatever bytes the names in the trace hold.
std::string info_json(const Document& doc);

}  // namespace gapscope
