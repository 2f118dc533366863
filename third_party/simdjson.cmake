find_package(simdjson REQUIRED)
add_library(gapscope::simdjson ALIAS simdjson::simdjson)
