find_package(PkgConfig REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
add_library(gapscope::re2 ALIAS PkgConfig::re2)
