# What an installation holds, and the packages of it: `app/package` makes gapscope_VERSION_amd64.deb (and gapscope-mpi_..., where MPI
# was there, and gapscope-web_..., where app/web/build has run), whose dependencies dpkg-shlibdeps finds, and gapscope-VERSION-linux-amd64.tar.gz, which brings its libraries along
# and runs wherever it is unpacked.
include(GNUInstallDirs)

install(TARGETS gapscope COMPONENT viewer)
install(TARGETS gapscope_serve LIBRARY DESTINATION lib/gapscope COMPONENT viewer)
if(TARGET gapscope_workload)
  install(TARGETS gapscope_workload COMPONENT viewer)
endif()
if(TARGET gapscope_sampler)
  install(TARGETS gapscope_sampler LIBRARY DESTINATION lib/gapscope COMPONENT viewer)
endif()
if(TARGET gapscope-mpi)
  install(TARGETS gapscope-mpi COMPONENT mpi)
endif()
# What find_assets looks for next to bin/, and what a desktop needs to list the program.
install(DIRECTORY assets/traces DESTINATION share/gapscope/assets COMPONENT viewer)
install(FILES assets/icon.png DESTINATION share/gapscope/assets COMPONENT viewer)
install(FILES assets/icon.svg DESTINATION share/icons/hicolor/scalable/apps RENAME gapscope.svg COMPONENT viewer)
install(FILES assets/gapscope.desktop DESTINATION share/applications COMPONENT viewer)
install(FILES assets/gapscope-mime.xml DESTINATION share/mime/packages RENAME gapscope.xml COMPONENT viewer)

# The window for browsers, where `gapscope serve` looks for it.
set(CPACK_GAPSCOPE_WEB "${PROJECT_BINARY_DIR}/web")
install(DIRECTORY "${CPACK_GAPSCOPE_WEB}" DESTINATION share/gapscope COMPONENT web OPTIONAL
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
install(FILES "${CPACK_GAPSCOPE_WEB}/licences.txt" DESTINATION share/doc/gapscope-web RENAME copyright COMPONENT web OPTIONAL)

# Man pages and completions, by the program itself from the table of its commands.
install(CODE "
  set(manual \"${PROJECT_BINARY_DIR}/manual\")
  file(REMOVE_RECURSE \"\${manual}\")
  execute_process(COMMAND \"$<TARGET_FILE:gapscope>\" --write-manual \"\${manual}\" COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB pages \"\${manual}/man/man1/*.1\")
  foreach(page \${pages})
    execute_process(COMMAND gzip -9n \"\${page}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(INSTALL \"\${manual}/\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/share\")
" COMPONENT viewer)

# What it is made of, and the guide, whose page on security says how to report faults.
install(CODE "
  execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/app/sbom.py\" \"${PROJECT_BINARY_DIR}/gapscope.spdx.json\" ${PROJECT_VERSION}
    \"$<TARGET_FILE:gapscope>\" \"$<TARGET_FILE:gapscope_serve>\" COMMAND_ERROR_IS_FATAL ANY)
" COMPONENT viewer)
install(FILES "${PROJECT_BINARY_DIR}/gapscope.spdx.json" README.md DESTINATION share/doc/gapscope COMPONENT viewer)
install(DIRECTORY assets/guide DESTINATION share/doc/gapscope COMPONENT viewer)

# The libraries of the tar. Not libc's own, nor what belongs to the machine's graphics driver: those come from the machine.
set_target_properties(gapscope PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/gapscope")
set_target_properties(gapscope_serve PROPERTIES INSTALL_RPATH "$ORIGIN")
target_link_options(gapscope PRIVATE -Wl,--disable-new-dtags)  # so that it holds for the libraries of the libraries too
install(CODE "
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES \"$<TARGET_FILE:gapscope>\" MODULES \"$<TARGET_FILE:gapscope_serve>\" RESOLVED_DEPENDENCIES_VAR libraries
    POST_EXCLUDE_REGEXES \"/(libc|libm|ld-linux-x86-64|libpthread|libdl|librt|libstdc\\\\+\\\\+|libgcc_s)\\\\.so\")
  file(INSTALL \${libraries} DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/gapscope\" FOLLOW_SYMLINK_CHAIN)
" COMPONENT bundle EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME gapscope)
set(CPACK_PACKAGE_VENDOR Gapscope)
set(CPACK_PACKAGE_CONTACT "Gapscope <gapscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "viewer for PyTorch and CUDA profiler traces: why is my GPU idle?")
set(CPACK_PACKAGE_DESCRIPTION "Opens what torch.profiler exports, draws CPU and GPU lanes, ties every kernel to the call that launched it, and says
where the GPU's time went and why. Also without a window: gapscope --help.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_COMPONENTS_ALL viewer bundle web)
if(TARGET gapscope-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/app/package_times.cmake")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/app/package_kinds.cmake")

set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_VIEWER_PACKAGE_NAME gapscope)
set(CPACK_DEBIAN_VIEWER_PACKAGE_DEPENDS libgl1)  # opened when the window is, not linked
set(CPACK_DEBIAN_VIEWER_PACKAGE_RECOMMENDS "fonts-inter, fonts-jetbrains-mono")  # without them Dear ImGui's own font
set(CPACK_DEBIAN_VIEWER_PACKAGE_SUGGESTS "xvfb, gapscope-web")  # for `gapscope screenshot` without a display, and for `gapscope serve`
set(CPACK_DEBIAN_WEB_PACKAGE_NAME gapscope-web)
set(CPACK_DEBIAN_WEB_DESCRIPTION "The window in a browser: static files, which an installed `gapscope serve` has behind each recording.")
set(CPACK_DEBIAN_WEB_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_WEB_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME gapscope-mpi)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)

# cpack would build everything first, tests included.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(packaged gapscope)
foreach(target gapscope-mpi gapscope_sampler gapscope_serve gapscope_workload)
  if(TARGET ${target})
    list(APPEND packaged ${target})
  endif()
endforeach()
add_custom_target(packages COMMAND "${CMAKE_COMMAND}" -E rm -rf packages COMMAND "${CMAKE_CPACK_COMMAND}" --config CPackConfig.cmake
  WORKING_DIRECTORY "${PROJECT_BINARY_DIR}" USES_TERMINAL VERBATIM)
add_dependencies(packages ${packaged})
