// Damaged pieces of real recordings, from a fixed seed: a load ends in a trace or a sentence, and it is the same for any
// batches and threads.
#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "core/load/byte_source.h"
#include "tests/support/flips.h"
#include "tests/support/piecewise_load.h"
#include "tests/support/real_traces.h"
#include "tests/support/source_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr std::size_t kPiece = 2500;  // a few events; small, so that a mutation is likely to hit what matters

std::string text_of(const std::filesystem::path& path) {
  auto source = open_source(path.string());
  REQUIRE(source.ok());
  constexpr std::size_t kMore = std::size_t{1} << 20;
  std::string text;
  for (std::size_t got = kMore; got == kMore;) {
    const std::size_t size = text.size();
    text.resize(size + kMore);
    const auto more = (*source)->read(text.data() + size, kMore);
    REQUIRE(more.ok());
    text.resize(size + (got = *more));
  }
  return text;
}

// The head of a recording, its end, and events from places across it, each a file of its own.
void add_pieces(const std::string& text, std::vector<std::string>& out) {
  const std::size_t array = text.find("\"traceEvents\"");
  REQUIRE(array != std::string::npos);
  const std::size_t bracket = text.find('[', array);
  out.push_back(text.substr(0, std::min(text.size(), kPiece)));
  out.push_back(text.substr(0, std::min(bracket + 1, kPiece)) + text.substr(text.size() - kPiece));
  for (std::size_t i = 1; i <= 4; ++i) {
    const std::size_t event = text.find("{\n", bracket + (text.size() - bracket) / 5 * i);
    if (event != std::string::npos) out.push_back("{\"traceEvents\": [\n" + text.substr(event, kPiece) + "]}");
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (const auto& path : traces_in(test::source_folder() / "assets/traces")) add_pieces(text_of(path), seeds);
  seeds.push_back(R"([{"ph":"B","name":"b","pid":"x","tid":-1,"ts":"3"},{"ph":"E","ts":4,"pid":"x","tid":-1},
{"ph":"s","id":1,"cat":"c","name":"f","pid":1,"tid":1,"ts":1},{"ph":"f","bp":"e","id":1,"cat":"c","name":"f","pid":1,"tid":1,"ts":2},
{"ph":"C","name":"q","pid":1,"tid":1,"ts":1,"args":{"v":NaN}},{"ph":"b","cat":"a","id":"0x1","name":"n","pid":1,"ts":1},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"\ud83d\ude00 \"C:\\x\""}},{"ph":"e","cat":"a","id":"0x1","name":"n","pid":1,"ts":2}])");
  return seeds;
}

// What a parser may stumble over.
constexpr auto kTokens = std::to_array<std::string_view>({"\"",
                                                          "\\",
                                                          "{",
                                                          "}",
                                                          "[",
                                                          "]",
                                                          ",",
                                                          ":",
                                                          "\n",
                                                          "\r\n",
                                                          "]}",
                                                          "},\n{",
                                                          "}{",
                                                          "[[[[[[[[",
                                                          "\"ph\": \"E\",",
                                                          "\"ph\":\"X\"",
                                                          "\"ts\": 1e999,",
                                                          "\"dur\": -1,",
                                                          "\"ts\": 4367497539681.4449,",
                                                          "\"args\": {",
                                                          "\"tid\": \"a\",",
                                                          "NaN",
                                                          "-Infinity",
                                                          "null",
                                                          "true",
                                                          "\\ud83d",
                                                          "\\u0000",
                                                          "\xEF\xBB\xBF",
                                                          "\xF0\x9F\x98",
                                                          "/* */",
                                                          "9223372036854775808",
                                                          "\"traceEvents\": [",
                                                          "0.0000000000001",
                                                          "\x01"});

// Fewer bytes than an event has, more often than not.
constexpr auto kTinyBatches = std::to_array<std::size_t>({64, 16, 64, 333, 64, 1});

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutant(const std::vector<std::string>& seeds) {
    std::string text = seeds[below(seeds.size())];
    for (std::size_t n = 1 + below(4); n > 0; --n) change(text, seeds);
    return text;
  }
  // The same on every machine, which std::uniform_int_distribution is not.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

 private:
  void change(std::string& text, const std::vector<std::string>& seeds) {
    const std::size_t at = below(text.size()), length = 1 + below(below(4) == 0 ? 600 : 12);
    switch (below(8)) {
      case 0: text.resize(at); break;  // the recording was cut off
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(below(text.size()), length)); break;
      case 3: text.insert(at, seeds[below(seeds.size())].substr(0, length)); break;
      case 4: text.replace(at, std::min<std::size_t>(length, 3), kTokens[below(kTokens.size())]); break;
      case 5: text.insert(at, kTokens[below(kTokens.size())]); break;
      case 6:
        if (!text.empty()) text[at] = static_cast<char>(random_());
        break;
      default:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
    }
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("a damaged recording loads the same in any pieces and on any number of threads") {
  const std::vector<std::string> pieces = seeds();
  REQUIRE(pieces.size() > 20);
  Mutator mutator(20260214);
  const int rounds = flips(8000);  // a fixed number, whatever time it takes: some seconds
  int traces = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string text = mutator.mutant(pieces);
    CAPTURE(round);
    CAPTURE(text);
    const auto whole = load_in_pieces(text, 1, kOneBatch);
    const std::string expected = outcome_of(whole);
    traces += whole.ok();
    REQUIRE(outcome_of(load_in_pieces(text, 1, kTinyBatches[static_cast<std::size_t>(round) % kTinyBatches.size()])) ==
            expected);
    // Threads cost far more than the loads of so little text.
    if (round % 8 == 0) REQUIRE(outcome_of(load_in_pieces(text, 2, 1 + mutator.below(500))) == expected);
    if (round % 16 == 0) REQUIRE(outcome_of(load_in_pieces(text, 7, 64)) == expected);
  }
  CHECK(traces > rounds / 2);  // most mutants must get past the header
}
