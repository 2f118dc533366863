#include "core/load/arg_texts.h"

#include <doctest/doctest.h>

#include "core/load/args.h"
#include "core/load/load_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("one pass tells of each slice what reading its args alone tells, on any number of threads") {
  std::size_t compared = 0;
  for (const auto& path : real_traces()) {
    CAPTURE(path.filename().string());
    const auto loaded = load_trace(path.string());
    REQUIRE(loaded.ok());
    const Trace& trace = **loaded;
    std::vector<SliceId> slices;
    for (std::size_t i = trace.ops.size(); i-- > 0 && slices.size() < 300;) slices.push_back(trace.ops[i].slice);
    for (const int threads : {1, 4}) {
      const auto texts = read_arg(trace, slices, "Concrete Inputs", threads);
      REQUIRE(texts.ok());
      for (std::size_t i = 0; i < slices.size(); i += 37) {
        const auto args = read_args(trace, trace.slices.offset[slices[i].index()]);
        REQUIRE(args.ok());
        std::string alone;
        for (const Arg& arg : *args)
          if (arg.key == "Concrete Inputs") alone = arg.value;
        CHECK(texts->of(slices[i]) == alone);
        ++compared;
      }
    }
  }
  CHECK(compared > 0);
}
