find_package(SQLite3 3.38 REQUIRED)
add_library(gapscope::sqlite ALIAS SQLite::SQLite3)
