# The desktop's bus, for the file chooser of its portal.
find_package(PkgConfig REQUIRED)
pkg_check_modules(DBUS REQUIRED IMPORTED_TARGET dbus-1)
add_library(gapscope::dbus ALIAS PkgConfig::DBUS)
