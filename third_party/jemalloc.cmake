# The programs' allocator; app/allocator.cpp says why, and how it is set.
find_package(PkgConfig REQUIRED)
pkg_check_modules(jemalloc REQUIRED IMPORTED_TARGET jemalloc)
add_library(gapscope_jemalloc INTERFACE)
add_library(gapscope::jemalloc ALIAS gapscope_jemalloc)
target_link_libraries(gapscope_jemalloc INTERFACE PkgConfig::jemalloc)
