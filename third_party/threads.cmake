find_package(Threads REQUIRED)
add_library(gapscope::threads ALIAS Threads::Threads)
