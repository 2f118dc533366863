#include "core/base/demangle.h"

#include <doctest/doctest.h>

using gapscope::demangle;

namespace {

// The n-th substitution of the Itanium ABI: S_, S0_, .. S9_, SA_, ..
std::string substitution(int n) {
  if (n == 0) return "S_";
  std::string digits;
  for (int i = n - 1;; i = i / 36 - 1) {
    const int d = i % 36;
    digits.insert(digits.begin(), static_cast<char>(d < 10 ? '0' + d : 'A' + d - 10));
    if (i < 36) break;
  }
  return "S" + digits + "_";
}

}  // namespace

TEST_CASE("a mangled kernel name reads as C++") {
  CHECK(demangle("_ZN2at6native13reduce_kernelILi512EfEEvT0_") == "void at::native::reduce_kernel<512, float>(float)");
}

TEST_CASE("names that are not mangled stay as they are") {
  CHECK(demangle("") == "");
  CHECK(demangle("aten::mm") == "aten::mm");
  CHECK(demangle("void at::native::reduce<4>(int)") == "void at::native::reduce<4>(int)");
  CHECK(demangle("_Znonsense") == "_Znonsense");
  CHECK(demangle("_Z") == "_Z");
}

TEST_CASE("a short mangled name that expands to gigabytes is given up quickly") {
  std::string bomb = "_Z1f1AI1BS0_E";
  for (int last = 1; last < 36; ++last) bomb += "S_I" + substitution(last) + substitution(last) + "E";
  CHECK(bomb.size() < 1000);
  CHECK(demangle(bomb) == bomb);
}
