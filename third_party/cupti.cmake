# CUPTI's and the driver's headers, for the recorder alone. The libraries are found when it runs, so nothing is linked, and
# no compiler for CUDA is needed. Without them gapscope is whole but for `gapscope record`; GAPSCOPE_CUDA=OFF leaves it out.
set(GAPSCOPE_HAVE_CUPTI OFF)
if(GAPSCOPE_CUDA)
  set(cuda_folders $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda /opt/cuda)
  find_path(GAPSCOPE_CUPTI_INCLUDE cupti.h HINTS ${cuda_folders} PATH_SUFFIXES include extras/CUPTI/include)
  find_path(GAPSCOPE_CUDA_INCLUDE cuda.h HINTS ${cuda_folders} PATH_SUFFIXES include)
  if(GAPSCOPE_CUPTI_INCLUDE AND GAPSCOPE_CUDA_INCLUDE)
    set(GAPSCOPE_HAVE_CUPTI ON)
    file(STRINGS "${GAPSCOPE_CUDA_INCLUDE}/cuda.h" version REGEX "^#define CUDA_VERSION [0-9]+$")
    string(REGEX REPLACE ".* ([0-9]+)[0-9][0-9][0-9]$" "\\1" GAPSCOPE_CUDA_MAJOR "${version}")
    find_library(GAPSCOPE_CUPTI_LIBRARY cupti HINTS ${cuda_folders} PATH_SUFFIXES lib64 lib extras/CUPTI/lib64)
    add_library(gapscope_cupti INTERFACE)
    add_library(gapscope::cupti ALIAS gapscope_cupti)
    target_include_directories(gapscope_cupti SYSTEM INTERFACE "${GAPSCOPE_CUPTI_INCLUDE}" "${GAPSCOPE_CUDA_INCLUDE}")
    # Where to look last when the recorder runs: what this was built with.
    target_compile_definitions(gapscope_cupti INTERFACE GAPSCOPE_CUDA_MAJOR="${GAPSCOPE_CUDA_MAJOR}"
      GAPSCOPE_CUPTI_LIBRARY="${GAPSCOPE_CUPTI_LIBRARY}")
  endif()
endif()
