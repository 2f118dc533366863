// The one test program: every tests/**/*_test.cpp is linked in; ctest runs it once a folder.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
