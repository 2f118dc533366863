# The HTTP server of `gapscope serve`. How Debian compiled it decides how its classes are laid out: whoever includes it defines that, too.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HTTPLIB REQUIRED cpp-httplib)
set(GAPSCOPE_HTTPLIB_DEFINITIONS ${HTTPLIB_CFLAGS_OTHER})
list(TRANSFORM GAPSCOPE_HTTPLIB_DEFINITIONS REPLACE "^-D" "")
add_library(gapscope_httplib INTERFACE)
add_library(gapscope::httplib ALIAS gapscope_httplib)
target_link_libraries(gapscope_httplib INTERFACE ${HTTPLIB_LINK_LIBRARIES})
