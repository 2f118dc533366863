# The recorder itself, in a program without a GPU: a stand-in plays CUPTI.
if(TARGET gapscope_sampler)
  set(stand_in "${CMAKE_CURRENT_LIST_DIR}/stand_in")
  add_library(stand_in_cupti SHARED "${stand_in}/cupti.cpp")
  target_link_libraries(stand_in_cupti PRIVATE gapscope_flags gapscope::cupti)
  set_target_properties(stand_in_cupti PROPERTIES OUTPUT_NAME cupti SUFFIX ".so.${GAPSCOPE_CUDA_MAJOR}"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/stand_in")
  add_executable(recorded_program "${stand_in}/program.cpp")
  target_link_libraries(recorded_program PRIVATE gapscope_flags stand_in_cupti ${CMAKE_DL_LIBS})
  set_target_properties(recorded_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/stand_in" ENABLE_EXPORTS ON)
  add_test(NAME app/sampler/recorder COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/recorder_check.py"
    "$<TARGET_FILE:gapscope>" "$<TARGET_FILE:gapscope_sampler>" "$<TARGET_FILE:recorded_program>")
  set_tests_properties(app/sampler/recorder PROPERTIES TIMEOUT 180)
endif()
