// The one test program: every tests/**/*_test.cpp is linked in; ctest runs it once per file.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
