# zlib and ISA-L are needed, for .gz; a missing liblzma or zstd only means that .xz or .zst files are refused. Code asks with
# #if GAPSCOPE_HAVE_LZMA and #if GAPSCOPE_HAVE_ZSTD, which are always 0 or 1.
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(liblzma IMPORTED_TARGET liblzma)
pkg_check_modules(libzstd IMPORTED_TARGET libzstd)
pkg_check_modules(libisal REQUIRED IMPORTED_TARGET libisal)

add_library(gapscope_compression INTERFACE)
add_library(gapscope::compression ALIAS gapscope_compression)
target_link_libraries(gapscope_compression INTERFACE ZLIB::ZLIB PkgConfig::libisal)
foreach(format lzma zstd)
  string(TOUPPER ${format} upper)
  set(have 0)
  if(TARGET PkgConfig::lib${format})
    set(have 1)
    target_link_libraries(gapscope_compression INTERFACE PkgConfig::lib${format})
  endif()
  target_compile_definitions(gapscope_compression INTERFACE GAPSCOPE_HAVE_${upper}=${have})
endforeach()

# For .zip and .tar, where it is found: code asks with #if __has_include(<archive.h>). Its static library where that links: the
# shared one brings libxml2 and ICU along, which costs every start 2 ms.
include(CheckCXXSourceCompiles)
pkg_check_modules(libarchive IMPORTED_TARGET libarchive)
if(TARGET PkgConfig::libarchive)
  set(CMAKE_REQUIRED_LIBRARIES -l:libarchive.a -lz -lbz2 -llzma -lzstd -lnettle)
  check_cxx_source_compiles("#include <archive.h>
    int main() { auto* a = archive_read_new(); archive_read_support_format_zip(a); return archive_read_support_format_tar(a); }"
    GAPSCOPE_ARCHIVE_IS_STATIC)
  if(GAPSCOPE_ARCHIVE_IS_STATIC)
    target_link_libraries(gapscope_compression INTERFACE ${CMAKE_REQUIRED_LIBRARIES})
  else()
    target_link_libraries(gapscope_compression INTERFACE PkgConfig::libarchive)
  endif()
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
