# What needs the program of app/workload, and so the CUDA toolkit.
if(GAPSCOPE_HAVE_CUDA)
  set(workload_check "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/workload_check.py")
  set(workload_program "$<TARGET_FILE:gapscope_workload>")
  add_test(NAME app/workload/without_gpu COMMAND ${workload_check} without-gpu "${workload_program}")
  add_test(NAME app/workload/every_case COMMAND ${workload_check} every-case "${workload_program}")
  set_tests_properties(app/workload/without_gpu app/workload/every_case PROPERTIES TIMEOUT 600
    SKIP_RETURN_CODE 77)
endif()
