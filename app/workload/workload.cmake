# gapscope-workload: small CUDA programs to record. What knows no CUDA is a library of its own, tested on any machine.
set(workload app/workload)
sources(workload_plain_sources ${workload} ${workload}/main.cpp$ ${workload}/gpu/ ${workload}/cases/)
layer(gapscope_workload_plain ${workload_plain_sources} NEEDS gapscope_flags gapscope::cli11 gapscope::fmt)

if(GAPSCOPE_HAVE_CUDA)
  sources(workload_gpu_sources ${workload}/gpu)
  sources(workload_case_sources ${workload}/cases)
  file(GLOB workload_kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${workload}/gpu/*.cu")
  add_executable(gapscope_workload ${workload}/main.cpp ${workload_gpu_sources} ${workload_case_sources}
    ${workload_kernels})
  set_target_properties(gapscope_workload PROPERTIES OUTPUT_NAME gapscope-workload)
  target_link_libraries(gapscope_workload PRIVATE gapscope_workload_plain CUDA::cudart_static CUDA::cublas
    CUDA::cublasLt ${CMAKE_DL_LIBS})
endif()
