# What happens where memory, threads or an answer of the file system is not available: a program whose C library fails when ordered to.
file(GLOB failure_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/failure/*.cpp")
add_executable(gapscope_failure_tests ${failure_sources} "${PROJECT_SOURCE_DIR}/tests/support/dump_trace.cpp")
target_link_libraries(gapscope_failure_tests PRIVATE gapscope_app ${CMAKE_DL_LIBS})

# Of a tiny trace every request for memory fails once, alone and with all that follow.
foreach(operation load_1 load_1_packed load_2 load_2_packed load_7 load_7_packed load_in_parts index diagnose table kernels steps search area flame args
    crop compare)
  add_test(NAME failure/memory_${operation} COMMAND gapscope_failure_tests ${operation})
  set_tests_properties(failure/memory_${operation} PROPERTIES TIMEOUT 120)
endforeach()
# The window's session waits a little each time: every seventh here, all by hand.
add_test(NAME failure/memory_session COMMAND gapscope_failure_tests session 7)
set_tests_properties(failure/memory_session PROPERTIES TIMEOUT 120)
# 20 limits here, 200 and the window by hand.
add_test(NAME failure/memory_limits COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/failure/memory_limits.py"
  "$<TARGET_FILE:gapscope>" "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz" 20)
set_tests_properties(failure/memory_limits PROPERTIES TIMEOUT 300)
foreach(scenario load_without_threads session_without_threads pipe_without_writer hung_file session_with_hung_file job_that_fails tab_of_failed_job texts_saved
    crash_without_memory)
  add_test(NAME failure/${scenario} COMMAND gapscope_failure_tests ${scenario})
  set_tests_properties(failure/${scenario} PROPERTIES TIMEOUT 120)
endforeach()
