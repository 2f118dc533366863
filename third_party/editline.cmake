# Line editing and history at the prompt of `gapscope sql`: libedit, whose interface is readline's.
find_path(EDITLINE_INCLUDE_DIR editline/readline.h REQUIRED)
find_library(EDITLINE_LIBRARY edit REQUIRED)
add_library(gapscope::editline UNKNOWN IMPORTED)
set_target_properties(gapscope::editline PROPERTIES IMPORTED_LOCATION "${EDITLINE_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${EDITLINE_INCLUDE_DIR}")
