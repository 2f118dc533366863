#include "core/view/source_place.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("a Python frame says its file and line, other names none") {
  CHECK(source_place("/home/a b/train.py(12): step") == SourcePlace{"/home/a b/train.py", 12});
  CHECK(place_text(*source_place("model.py(1783): _call_impl")) == "model.py:1783");
  for (const char* name : {"", "aten::mm", "x.py", "x.py(", "x.py(12", "x.py(a): f", "x.py(-3): f",
                           "x.py(99999999999999999999): f", "<built-in method add>", "nn.Module: Linear_0"})
    CHECK_FALSE(source_place(name));
}
