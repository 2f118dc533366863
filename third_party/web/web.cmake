# What the window in a browser is made of: Debian 12's source packages, compiled as they are, and emscripten's own GLFW and OpenGL.
# GAPSCOPE_SOURCES is the folder that app/web/build unpacked them in, each in a folder of its package's name.
set(GAPSCOPE_SOURCES "" CACHE PATH "Debian's source packages")
set(sources "${GAPSCOPE_SOURCES}")
set(shims "${PROJECT_SOURCE_DIR}/third_party/web/include")

# compiled(NAME SOURCES... [INCLUDE folders...] [PRIVATE folders...] [DEFINE definitions...]): gapscope::NAME.
function(compiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "INCLUDE;PRIVATE;DEFINE")
  add_library(gapscope_${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  add_library(gapscope::${name} ALIAS gapscope_${name})
  target_include_directories(gapscope_${name} SYSTEM PUBLIC ${arg_INCLUDE} PRIVATE ${arg_PRIVATE})
  target_compile_definitions(gapscope_${name} PRIVATE ${arg_DEFINE})
  target_compile_options(gapscope_${name} PRIVATE -w)
endfunction()
function(headers name)
  add_library(gapscope_${name} INTERFACE)
  add_library(gapscope::${name} ALIAS gapscope_${name})
  target_include_directories(gapscope_${name} SYSTEM INTERFACE ${ARGN})
endfunction()

find_package(Threads REQUIRED)
add_library(gapscope::threads ALIAS Threads::Threads)

# std::from_chars of floating point; before the C++ library's own <charconv>, so for every file.
file(COPY /usr/include/fast_float DESTINATION "${PROJECT_BINARY_DIR}/include")
include_directories(BEFORE SYSTEM "${shims}" "${PROJECT_BINARY_DIR}/include")

compiled(fmt "${sources}/fmtlib/src/format.cc" "${sources}/fmtlib/src/os.cc" INCLUDE "${sources}/fmtlib/include")
compiled(simdjson "${PROJECT_SOURCE_DIR}/third_party/web/simdjson_kernel.cpp" INCLUDE "${sources}/simdjson/include" PRIVATE "${sources}/simdjson/src")
target_compile_options(gapscope_simdjson PRIVATE -O3 -msse4.2)
headers(nlohmann_json "${sources}/nlohmann-json3/single_include")

file(GLOB re2_sources "${sources}/re2/re2/*.cc")
compiled(re2 ${re2_sources} "${sources}/re2/util/rune.cc" "${sources}/re2/util/strutil.cc" INCLUDE "${sources}/re2")

# Of libiberty the demangler alone. Its C functions are left by an exception of ours (core/base/demangle.cpp).
set(iberty "${PROJECT_BINARY_DIR}/include/libiberty")
file(COPY "${sources}/libiberty/include/demangle.h" "${sources}/libiberty/include/libiberty.h" "${sources}/libiberty/include/ansidecl.h" DESTINATION "${iberty}")
compiled(demangler "${sources}/libiberty/libiberty/cp-demangle.c" INCLUDE "${PROJECT_BINARY_DIR}/include"
  PRIVATE "${iberty}" "${sources}/libiberty/libiberty" DEFINE HAVE_STDLIB_H HAVE_STRING_H HAVE_LIMITS_H HAVE_ALLOCA_H HAVE_DECL_BASENAME=1)

file(GLOB zlib_sources "${sources}/zlib/*.c")
compiled(zlib ${zlib_sources} INCLUDE "${sources}/zlib" DEFINE HAVE_UNISTD_H HAVE_STDARG_H)
add_library(ZLIB::ZLIB ALIAS gapscope_zlib)

set(isal "${sources}/libisal")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/include/isa-l.h" CONTENT "#include \"igzip_lib.h\"\n")
# Of igzip what inflates: what the rest of the aliases represents is never called, and so never linked.
set(igzip hufftables_c igzip igzip_base_aliases igzip_inflate)
list(TRANSFORM igzip REPLACE "(.+)" "${isal}/igzip/\\1.c")
compiled(igzip ${igzip} "${PROJECT_SOURCE_DIR}/third_party/web/adler32_base.c" "${isal}/crc/crc_base.c" "${isal}/crc/crc_base_aliases.c" "${isal}/crc/crc64_base.c"
  INCLUDE "${isal}/include" "${PROJECT_BINARY_DIR}/include" PRIVATE "${isal}/igzip" "${sources}/zlib" DEFINE NDEBUG)

file(GLOB zstd_sources "${sources}/libzstd/lib/common/*.c" "${sources}/libzstd/lib/decompress/*.c")
compiled(zstd ${zstd_sources} INCLUDE "${sources}/libzstd/lib" DEFINE ZSTD_DISABLE_ASM)

# Of liblzma the decoders of .xz, by threads; filters for code of processors are left out, as are the encoders.
set(xz "${sources}/xz-utils/src")
foreach(part common/alone_decoder common/block_decoder common/block_header_decoder common/block_util common/common common/filter_common
    common/filter_decoder common/filter_flags_decoder common/hardware_physmem common/index common/index_decoder common/index_hash common/outqueue
    common/stream_decoder common/stream_decoder_mt common/stream_flags_common common/stream_flags_decoder common/vli_decoder common/vli_size
    check/check check/crc32_fast check/crc32_table check/crc64_fast check/crc64_table check/sha256
    delta/delta_common delta/delta_decoder lz/lz_decoder lzma/lzma_decoder lzma/lzma2_decoder lzma/lzma_encoder_presets)
  list(APPEND xz_sources "${xz}/liblzma/${part}.c")
endforeach()
foreach(folder common liblzma/common liblzma/check liblzma/delta liblzma/lz liblzma/lzma liblzma/rangecoder liblzma/simple)
  list(APPEND xz_folders "${xz}/${folder}")
endforeach()
compiled(lzma ${xz_sources} "${xz}/common/tuklib_physmem.c" INCLUDE "${xz}/liblzma/api" PRIVATE ${xz_folders}
  DEFINE HAVE_STDBOOL_H HAVE__BOOL HAVE_STDINT_H HAVE_INTTYPES_H HAVE_STRING_H HAVE_LIMITS_H SIZEOF_SIZE_T=4 ASSUME_RAM=1024 TUKLIB_SYMBOL_PREFIX=lzma_
  HAVE_DECODERS HAVE_DECODER_LZMA1 HAVE_DECODER_LZMA2 HAVE_DECODER_DELTA HAVE_CHECK_CRC32 HAVE_CHECK_CRC64 HAVE_CHECK_SHA256
  MYTHREAD_POSIX HAVE_CLOCK_GETTIME HAVE_DECL_CLOCK_MONOTONIC=1 HAVE_PTHREAD_CONDATTR_SETCLOCK TUKLIB_PHYSMEM_SYSCONF)

add_library(gapscope_compression INTERFACE)
add_library(gapscope::compression ALIAS gapscope_compression)
target_link_libraries(gapscope_compression INTERFACE gapscope_zlib gapscope_igzip gapscope_zstd gapscope_lzma)
target_compile_definitions(gapscope_compression INTERFACE GAPSCOPE_HAVE_ZSTD=1 GAPSCOPE_HAVE_LZMA=1)

# One file, that SQLite's own Makefile made of its sources (app/web/build).
compiled(sqlite "${sources}/sqlite3/sqlite3.c" INCLUDE "${sources}/sqlite3"
  DEFINE SQLITE_THREADSAFE=1 SQLITE_OMIT_LOAD_EXTENSION SQLITE_ENABLE_MATH_FUNCTIONS SQLITE_ENABLE_COLUMN_METADATA SQLITE_USE_URI=1 SQLITE_SOUNDEX=1)

file(GLOB png_sources "${sources}/libpng1.6/*.c")
list(FILTER png_sources EXCLUDE REGEX "/(pngtest|example)\\.c$")
configure_file("${sources}/libpng1.6/scripts/pnglibconf.h.prebuilt" "${PROJECT_BINARY_DIR}/include/pnglibconf.h" COPYONLY)
compiled(png ${png_sources} INCLUDE "${sources}/libpng1.6" "${PROJECT_BINARY_DIR}/include" PRIVATE "${sources}/zlib")

headers(glfw)
headers(glad "${shims}")
set(imgui "${sources}/imgui")
file(GLOB imgui_sources "${imgui}/imgui*.cpp")
compiled(imgui ${imgui_sources} INCLUDE "${imgui}" "${imgui}/backends")
compiled(imgui_backends "${imgui}/backends/imgui_impl_glfw.cpp" "${imgui}/backends/imgui_impl_opengl3.cpp" DEFINE IMGUI_IMPL_OPENGL_ES3)
target_link_libraries(gapscope_imgui_backends PUBLIC gapscope_imgui)
target_compile_definitions(gapscope_imgui PUBLIC IMGUI_DISABLE_DEFAULT_SHELL_FUNCTIONS)
include(third_party/fonts.cmake)
