# Writing JSON only; reading is simdjson's.
find_package(nlohmann_json REQUIRED)
add_library(gapscope::nlohmann_json ALIAS nlohmann_json::nlohmann_json)
