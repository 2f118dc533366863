find_package(doctest REQUIRED)
add_library(gapscope::doctest ALIAS doctest::doctest)
