# __gcclibcxx_demangle_callback, the piecewise demangler of GCC's C++ library: only its archive exports it. The linker takes
# that one object out of it; everything else of the library stays shared.
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libstdc++.a
  OUTPUT_VARIABLE libstdcxx_archive OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS "${libstdcxx_archive}")
  message(FATAL_ERROR "libstdc++.a not found: install libstdc++-12-dev (it comes with g++).")
endif()
add_library(gapscope_demangler INTERFACE)
add_library(gapscope::demangler ALIAS gapscope_demangler)
target_link_libraries(gapscope_demangler INTERFACE "${libstdcxx_archive}")
