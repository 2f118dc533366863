find_package(fmt REQUIRED)
add_library(gapscope::fmt ALIAS fmt::fmt)
