find_package(glfw3 REQUIRED)
add_library(gapscope::glfw ALIAS glfw)
# OpenGL's names come from glad, which cannot stand another header with them before it.
set_property(TARGET glfw APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS GLFW_INCLUDE_NONE)
