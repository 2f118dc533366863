# The window in a browser: web/index.html with what it needs, built by app/web/build.
file(GLOB web_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/app/web/*.cpp" "${PROJECT_SOURCE_DIR}/app/window/*.cpp"
  "${PROJECT_SOURCE_DIR}/app/window/web/*.cpp" "${PROJECT_SOURCE_DIR}/app/session/*.cpp" "${PROJECT_SOURCE_DIR}/app/session/web/*.cpp"
  "${PROJECT_SOURCE_DIR}/app/jobs/*.cpp" "${PROJECT_SOURCE_DIR}/app/state/*.cpp")
list(APPEND web_sources app/cli/info_json.cpp app/cli/overview_json.cpp app/cli/gains_json.cpp app/cli/in_and_out.cpp)  # what it answers
add_executable(gapscope_web ${web_sources})
set_target_properties(gapscope_web PROPERTIES OUTPUT_NAME gapscope RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/web")
set_source_files_properties(app/session/samples.cpp PROPERTIES COMPILE_DEFINITIONS "GAPSCOPE_ASSETS_DIR=\"/\"")
# The page's own file system is emscripten's; what app/web/url_files.cpp adds to it is written against its sources.
set_source_files_properties(app/web/url_files.cpp PROPERTIES INCLUDE_DIRECTORIES "${EMSCRIPTEN_ROOT_PATH}/system/lib/wasmfs")
target_link_libraries(gapscope_web PRIVATE gapscope_ui gapscope::imgui_backends gapscope::glfw gapscope::glad gapscope::png)
target_link_options(gapscope_web PRIVATE
  -sWASMFS -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=128MB -sSTACK_SIZE=2MB -sDEFAULT_PTHREAD_STACK_SIZE=2MB
  -sPTHREAD_POOL_SIZE=navigator.hardwareConcurrency+5 -sPTHREAD_POOL_SIZE_STRICT=0
  -sUSE_GLFW=3 -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2 -sENVIRONMENT=web,worker -sDYNAMIC_EXECUTION=0 -sEXIT_RUNTIME=0 -sWASM_BIGINT
  -sEXPORTED_RUNTIME_METHODS=ccall,UTF8ToString,stringToNewUTF8 -sFILESYSTEM=1 -Wno-pthreads-mem-growth -Wl,--wrap=pthread_create
  -O2)  # of the whole program, whatever its files were compiled with; mimalloc read no faster, and took 600 MB where this takes 330
foreach(font GAPSCOPE_FONT_SANS GAPSCOPE_FONT_SANS_BOLD GAPSCOPE_FONT_MONO)
  if(${font})
    target_link_options(gapscope_web PRIVATE "SHELL:--preload-file ${${font}}@${${font}}")
  endif()
endforeach()
unity(gapscope_web)
if(GAPSCOPE_UNITY)
  target_precompile_headers(gapscope_web REUSE_FROM gapscope_ui)
endif()
foreach(file index.html page.js service_worker.js)
  configure_file(app/web/${file} "${PROJECT_BINARY_DIR}/web/${file}" COPYONLY)
endforeach()
