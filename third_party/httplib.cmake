# The HTTP server of `gapscope serve`. How Debian compiled it decides how its classes are laid out: every includer defines that, too.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HTTPLIB REQUIRED cpp-httplib)
add_library(gapscope_httplib INTERFACE)
add_library(gapscope::httplib ALIAS gapscope_httplib)
target_compile_options(gapscope_httplib INTERFACE ${HTTPLIB_CFLAGS_OTHER})
target_link_libraries(gapscope_httplib INTERFACE ${HTTPLIB_LINK_LIBRARIES})
