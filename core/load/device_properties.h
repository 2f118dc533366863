#pragma once
// deviceProperties of the header (KINETO 4.2).
#include <string_view>
#include <vector>

#include "core/trace/tables.h"

namespace gapscope {

// The devices described by the JSON text of "deviceProperties"; in order of their ids; empty when it is
// no array of objects.
std::vector<DeviceProperties> parse_device_properties(std::string_view json);

}  // namespace gapscope
