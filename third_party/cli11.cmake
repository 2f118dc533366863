find_package(CLI11 REQUIRED)
add_library(gapscope::cli11 ALIAS CLI11::CLI11)
