# What needs the programs of app/sampler, and so the CUDA toolkit.
if(GAPSCOPE_HAVE_CUDA)
  set(workload_check "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/workload/workload_check.py")
  set(workload_program "$<TARGET_FILE:gapscope_workload>")
  add_test(NAME app/sampler/workload_without_gpu COMMAND ${workload_check} without-gpu "${workload_program}")
  add_test(NAME app/sampler/workload_every_case COMMAND ${workload_check} every-case "${workload_program}")
  set_tests_properties(app/sampler/workload_without_gpu app/sampler/workload_every_case PROPERTIES TIMEOUT 600
    SKIP_RETURN_CODE 77)
endif()
