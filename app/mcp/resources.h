#pragma once
// What assistants may read beside the traces: the guide, whole and by its sections, and SQL's tables.
#include <string>

#include <nlohmann/json.hpp>

namespace gapscope {

// For resources/list.
nlohmann::ordered_json mcp_resources();
// For resources/read: its contents; null where there is none of this name.
nlohmann::ordered_json mcp_resource(const std::string& uri);

}  // namespace gapscope
