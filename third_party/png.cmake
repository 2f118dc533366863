find_package(PNG REQUIRED)
add_library(gapscope::png ALIAS PNG::PNG)
