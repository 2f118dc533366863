#include <doctest/doctest.h>

#include "app/cli/screenshot.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;

TEST_CASE("a slice is found by its whole name, a part of it, readable or as in the file, and its index") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  const SliceId kernel = test::slice_named(*doc, "_ZN2at6native13reduce_kernelILi512EfEEvT0_");
  CHECK(*find_slice(*doc, "aten::add") == test::slice_named(*doc, "aten::add"));
  CHECK(*find_slice(*doc, "REDUCE_kernel") == kernel);
  CHECK(*find_slice(*doc, "at::native::reduce_kernel<512") == kernel);
  CHECK(*find_slice(*doc, "3") == SliceId(std::size_t{3}));
}

TEST_CASE("of names that hold a part the earliest slice is taken") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  CHECK(*find_slice(*doc, "cuda") == test::slice_named(*doc, "cudaLaunchKernel"));
}

TEST_CASE("a slice that is not there is a sentence") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  CHECK(find_slice(*doc, "nothing").error().message.find("\"nothing\"") != std::string::npos);
  CHECK(find_slice(*doc, "9").error().message == "There is no slice 9: this trace has 9, counted from 0.");
}

TEST_CASE("a size is two whole numbers of pixels") {
  CHECK(*parse_size("1600x900") == std::pair(1600, 900));
  for (const char* text : {"", "x", "1600", "1600x", "x900", "0x9", "-1x9", "16x9x2", "1600x99999", "1e3x2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text).ok());
  }
}
