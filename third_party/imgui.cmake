# gapscope::imgui (the library, no window) and gapscope::imgui_backends (GLFW and OpenGL 3), from Debian's libimgui-dev
# or, with -DGAPSCOPE_IMGUI_DIR=<source tree>, compiled from any Dear ImGui 1.86 to 1.92.
add_library(gapscope_imgui_backends INTERFACE)

if(GAPSCOPE_IMGUI_DIR)
  set(dir "${GAPSCOPE_IMGUI_DIR}")
  if(NOT EXISTS "${dir}/imgui.h" OR NOT EXISTS "${dir}/backends/imgui_impl_glfw.cpp")
    message(FATAL_ERROR "GAPSCOPE_IMGUI_DIR is ${dir}, which has no imgui.h and backends/: give Dear ImGui's source tree.")
  endif()
  file(GLOB imgui_sources "${dir}/imgui*.cpp")
  add_library(gapscope_imgui STATIC ${imgui_sources})
  target_include_directories(gapscope_imgui SYSTEM PUBLIC "${dir}" "${dir}/backends")

  add_library(gapscope_imgui_backends_built STATIC
    "${dir}/backends/imgui_impl_glfw.cpp" "${dir}/backends/imgui_impl_opengl3.cpp")
  target_link_libraries(gapscope_imgui_backends_built PUBLIC gapscope_imgui gapscope::glfw ${CMAKE_DL_LIBS})
  target_link_libraries(gapscope_imgui_backends INTERFACE gapscope_imgui_backends_built)
else()
  # Debian's one archive holds library and backends, and leaves stb_truetype to libstb. imgui.pc says no more than this.
  find_library(imgui_archive imgui REQUIRED)
  find_library(stb_library stb REQUIRED)
  find_path(imgui_include imgui.h PATH_SUFFIXES imgui REQUIRED)
  add_library(gapscope_imgui INTERFACE)
  target_include_directories(gapscope_imgui SYSTEM INTERFACE "${imgui_include}" "${imgui_include}/backends")
  target_link_libraries(gapscope_imgui INTERFACE "${imgui_archive}" "${stb_library}")
  # After the archive on the link line, since the archive calls GLFW and dlopen.
  target_link_libraries(gapscope_imgui_backends INTERFACE gapscope_imgui gapscope::glfw ${CMAKE_DL_LIBS})
endif()

add_library(gapscope::imgui ALIAS gapscope_imgui)
add_library(gapscope::imgui_backends ALIAS gapscope_imgui_backends)
