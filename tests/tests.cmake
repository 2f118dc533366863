# The test programs, and what ctest runs. Add a .cpp under tests/ and it is found.

set(GAPSCOPE_TESTS "" CACHE STRING "builds only the unit tests whose path under tests/ begins as this regular expression says; empty: all")
sources(test_sources tests tests/bench/ tests/fuzz/ tests/e2e/ tests/failure/ tests/app/sampler/stand_in/)
if(GAPSCOPE_TESTS)
  list(FILTER test_sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/tests/(main.cpp|support/|${GAPSCOPE_TESTS})")
endif()
if(NOT GAPSCOPE_TESTS OR GAPSCOPE_TESTS MATCHES "(^|[(|])(ui|view)|app/[(]?(cli|jobs|session|window|workload)")
  set(tested gapscope_app gapscope_workload_plain)
else()  # nothing else is compiled. Dear ImGui for its header, below
  set(tested gapscope_services gapscope_view gapscope::imgui)
  list(FILTER test_sources EXCLUDE REGEX "/tests/support/headless_ui.cpp$")
endif()
add_executable(gapscope_tests ${test_sources})
target_link_libraries(gapscope_tests PRIVATE ${tested} gapscope::doctest $<TARGET_NAME_IF_EXISTS:gapscope_cupti_records>)
target_compile_options(gapscope_tests PRIVATE $<$<CONFIG:Release>:-O1>)  # not less: the linker takes their copies of templates for the core, too
# In one file only, so that ccache serves every checkout with what another one compiled.
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/support/source_folder.cpp" PROPERTIES
  COMPILE_DEFINITIONS "GAPSCOPE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")

unity(gapscope_tests "/tests/main.cpp$")
common_headers(gapscope_tests <doctest/doctest.h> <imgui.h>)
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/main.cpp" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # it brings doctest's own code

# One ctest a folder: each recording is read once, and those of several folders run side by side. A folder of less than three files goes
# with the one above. One file: README.md.
list(TRANSFORM test_sources REPLACE "^${PROJECT_SOURCE_DIR}/tests/" "" OUTPUT_VARIABLE test_files)
list(FILTER test_files INCLUDE REGEX "_test\\.cpp$")
# Alone: libdbus asks for the address of its bus once a process; the others last as long as a folder.
set(alone app/window/portal_chooser load/crop load/damage load/mutation load/real_traces ui/monkey ui/text_fits)
foreach(file ${test_files})
  cmake_path(GET file PARENT_PATH folder)
  string(REPLACE "_test.cpp" "" name "${file}")
  if(name IN_LIST alone)
    set(folder "${name}")
  endif()
  list(APPEND files_in_${folder} "*/tests/${file}")
  list(APPEND test_folders "${folder}")
endforeach()
list(REMOVE_DUPLICATES test_folders)
foreach(folder ${test_folders})
  list(LENGTH files_in_${folder} count)
  cmake_path(GET folder PARENT_PATH above)
  if(count LESS 3 AND above AND NOT folder IN_LIST alone)
    list(APPEND files_in_${above} ${files_in_${folder}})
    list(REMOVE_ITEM test_folders "${folder}")
    list(APPEND test_folders "${above}")
  endif()
endforeach()
list(REMOVE_DUPLICATES test_folders)
set(longest_unit_test 900)
if(GAPSCOPE_SANITIZE)
  set(longest_unit_test 3600)  # with all flips, next to other work
endif()
foreach(folder ${test_folders})
  list(JOIN files_in_${folder} "," files)
  add_test(NAME ${folder} COMMAND gapscope_tests "--source-file=${files}")
  # Where no case is found no case fails.
  set_tests_properties(${folder} PROPERTIES LABELS unit TIMEOUT ${longest_unit_test} FAIL_REGULAR_EXPRESSION "test cases: +0 ")
endforeach()

# What is asked of sources.
foreach(what includes sizes threads words)
  set(check "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/check_${what}.py")
  add_test(NAME sources/${what} COMMAND ${check} "${PROJECT_SOURCE_DIR}")
  add_test(NAME sources/${what}_self_test COMMAND ${check} --self-test)
  set_tests_properties(sources/${what} sources/${what}_self_test PROPERTIES TIMEOUT 30)
endforeach()

add_test(NAME sources/plant_self_test COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/plant" --self-test)
set_tests_properties(sources/plant_self_test PROPERTIES TIMEOUT 120)  # it compiles a small program

# End to end: each drives the built program under an Xvfb of its own, side by side with all other tests. The longest come first.
file(GLOB e2e_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/e2e/*_test.py")
foreach(file ${e2e_sources})
  cmake_path(GET file STEM name)
  add_test(NAME e2e/${name} COMMAND "${Python3_EXECUTABLE}" "${file}" "$<TARGET_FILE:gapscope>")
  set_tests_properties(e2e/${name} PROPERTIES TIMEOUT 600 COST 50)
endforeach()

include(tests/cli/cli.cmake)
include(tests/failure/failure.cmake)
include(tests/app/sampler/sampler.cmake)
include(tests/app/workload/workload.cmake)

# Graphics drivers leak a little and are unloaded before LeakSanitizer could name them, so it cannot judge a test that
# opens a window. Sessions and documents are judged by the tests that do without one.
if(GAPSCOPE_SANITIZE STREQUAL "address")
  get_directory_property(all_tests TESTS)
  list(FILTER all_tests INCLUDE REGEX "^(app/window|e2e|cli)/")
  set_tests_properties(${all_tests} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endif()

# Benchmarks: a program each, built with the rest so that they keep compiling, run by hand.
file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/bench/*.cpp")
foreach(file ${bench_sources})
  cmake_path(GET file STEM name)
  add_executable(bench_${name} "${file}")
  set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bench")
  target_link_libraries(bench_${name} PRIVATE gapscope_view gapscope_allocator gapscope::cli11)
  if(name MATCHES "^frame")
    target_link_libraries(bench_${name} PRIVATE gapscope_ui)
    target_sources(bench_${name} PRIVATE tests/support/headless_ui.cpp)
  endif()
endforeach()

# The floor in bench_load is simdjson On-Demand at its best; it runs by hand on machines that have AVX2.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/bench/load.cpp" PROPERTIES COMPILE_OPTIONS -march=x86-64-v3)
endif()

# libFuzzer, by tests/fuzz/run, next to the unit tests and of the same objects.
if(GAPSCOPE_FUZZ)
  foreach(target load crop diagnose recorder_text sql state mcp nsight ranks replay rocprof serve snapshot)
    add_executable(fuzz_${target} EXCLUDE_FROM_ALL tests/fuzz/${target}.cpp)
    target_compile_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_${target} PRIVATE gapscope_core)
  endforeach()
  foreach(target load crop diagnose replay)
    target_sources(fuzz_${target} PRIVATE tests/support/dump_trace.cpp)
  endforeach()
  target_link_libraries(fuzz_recorder_text PRIVATE gapscope_recording)
  target_link_libraries(fuzz_mcp PRIVATE gapscope_services)
  target_sources(fuzz_ranks PRIVATE app/cli/ranks_json.cpp app/cli/ranks_text.cpp app/cli/in_and_out.cpp app/session/captured_trace.cpp)
  target_sources(fuzz_serve PRIVATE app/serve/access.cpp app/serve/address.cpp app/serve/byte_range.cpp app/serve/request_head.cpp)
  target_sources(fuzz_state PRIVATE app/state/exported_report.cpp app/state/kept_files.cpp app/state/settings.cpp app/state/state_files.cpp
    core/view/preferences.cpp)
endif()
