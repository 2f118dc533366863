#include "core/load/arg_texts.h"

#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/load/args.h"
#include "core/load/load_trace.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("one pass reads of each slice what reading its args alone gives, on any number of threads") {
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

TEST_CASE(
    "values are the same however far apart their events lie and however long they are, where what is between is not read") {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    const std::size_t apart = i % 3 == 0 ? 10 : i % 3 == 1 ? 40'000 : 300'000;
    const std::size_t inside =
        std::array<std::size_t, 4>{0, 3'900, 5'000, 20'000}[static_cast<std::size_t>(i % 4)];  // before the value
    text += (i == 0 ? "" : ",\n") + slice("op", std::to_string(10 * i), "5",
                                          ", \"args\": {\"y\": \"" + std::string(inside, 'y') + "\", \"Concrete Inputs\": [\"" +
                                              std::to_string(i) + "\"], \"Input Dims\": [[1]]}");
    text += ",\n" + slice("between", std::to_string(10 * i + 6), "1", ", \"x\": \"" + std::string(apart, 'x') + '"');
  }
  const TempFolder folder;
  const auto loaded = load_trace(folder.write("far.json", events(text)));
  REQUIRE(loaded.ok());
  std::vector<SliceId> slices;
  for (std::size_t i = 0; i < (*loaded)->slice_count(); ++i)
    if ((*loaded)->name(SliceId(i)) == "op") slices.push_back(SliceId(i));
  REQUIRE(slices.size() == 60);
  const auto texts = read_arg(**loaded, slices, "Concrete Inputs", 1);
  REQUIRE(texts.ok());
  for (std::size_t i = 0; i < slices.size(); ++i) CHECK(texts->of(slices[i]) == "[\"" + std::to_string(i) + "\"]");
}

TEST_CASE("a quote that closes the brackets of an event early hides no value that lies far behind it") {
  const auto op = [](const std::string& name, int ts, std::size_t inside) {
    return slice(name, std::to_string(ts), "5",
                 ", \"y\": \"" + std::string(inside, 'y') + "\", \"args\": {\"Concrete Inputs\": [\"" + std::to_string(ts) +
                     "\"], \"Input Dims\": [[1]]}");
  };
  const TempFolder folder;
  const auto loaded = load_trace(
      folder.write("odd.json", events(op("a", 0, 10) + ",\n" + op("odd\"b}c", 10, 13'000) + ",\n" + op("z", 20, 10))));
  REQUIRE(loaded.ok());
  std::vector<SliceId> slices;
  for (std::size_t i = 0; i < (*loaded)->slice_count(); ++i) slices.push_back(SliceId(i));
  REQUIRE(slices.size() == 3);
  const auto texts = read_arg(**loaded, slices, "Concrete Inputs", 1);
  REQUIRE(texts.ok());
  for (const SliceId s : slices) CHECK(texts->of(s) == "[\"" + std::to_string((*loaded)->begin(s) / 1000) + "\"]");
}
