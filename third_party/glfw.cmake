find_package(glfw3 REQUIRED)
add_library(gapscope::glfw ALIAS glfw)
