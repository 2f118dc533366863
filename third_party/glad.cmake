# The OpenGL 3.3 core loader, written at configure time by Debian's python3-glad (glad 2) from the specification that
# the package ships: --reproducible keeps it from asking the network.
# /usr/bin first: a python3 or glad of a virtual environment would not be that package.
find_program(GLAD glad PATHS /usr/bin NO_DEFAULT_PATH)
find_program(GLAD glad REQUIRED)
set(glad_dir "${PROJECT_BINARY_DIR}/glad")
if(NOT EXISTS "${glad_dir}/src/gl.c")
  execute_process(
    COMMAND "${GLAD}" --quiet --reproducible --api gl:core=3.3 --extensions "" --out-path "${glad_dir}" c
    RESULT_VARIABLE status ERROR_VARIABLE trouble)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "glad 2 did not write the OpenGL loader; install python3-glad. It said: ${trouble}")
  endif()
endif()

add_library(gapscope_glad STATIC "${glad_dir}/src/gl.c")
add_library(gapscope::glad ALIAS gapscope_glad)
target_include_directories(gapscope_glad SYSTEM PUBLIC "${glad_dir}/include")
