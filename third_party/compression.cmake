# zlib is needed; a missing liblzma or zstd only means that .xz or .zst files are refused.
# Code asks with #if GAPSCOPE_HAVE_LZMA and #if GAPSCOPE_HAVE_ZSTD; both are always 0 or 1.
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(liblzma IMPORTED_TARGET liblzma)
pkg_check_modules(libzstd IMPORTED_TARGET libzstd)

add_library(gapscope_compression INTERFACE)
add_library(gapscope::compression ALIAS gapscope_compression)
target_link_libraries(gapscope_compression INTERFACE ZLIB::ZLIB)
foreach(format lzma zstd)
  string(TOUPPER ${format} upper)
  set(have 0)
  if(TARGET PkgConfig::lib${format})
    set(have 1)
    target_link_libraries(gapscope_compression INTERFACE PkgConfig::lib${format})
  endif()
  target_compile_definitions(gapscope_compression INTERFACE GAPSCOPE_HAVE_${upper}=${have})
endforeach()
