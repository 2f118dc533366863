#include "app/mcp/line_reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

using namespace gapscope;

namespace {

// Read `piece` bytes at a time; "..." for a line that is too long.
std::vector<std::string> lines_of(std::string_view text, std::size_t piece, std::size_t most) {
  LineReader reader(
      [&](char* into, std::size_t size) {
        const std::size_t now = std::min({size, piece, text.size()});
        std::memcpy(into, text.data(), now);
        text.remove_prefix(now);
        return static_cast<std::ptrdiff_t>(now);
      },
      most);
  std::vector<std::string> lines;
  std::string line;
  for (auto got = reader.next(line); got != LineReader::Got::end; got = reader.next(line)) {
    CHECK((got == LineReader::Got::line || line.empty()));
    lines.push_back(got == LineReader::Got::too_long ? "..." : line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("lines come as they were written, however many bytes there are at a time") {
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 1000u}) {
    CHECK(lines_of("", piece, 4) == Lines{});
    CHECK(lines_of("\n", piece, 4) == Lines{""});
    CHECK(lines_of("a\n\nbcde\nf", piece, 4) == Lines{"a", "", "bcde", "f"});
    CHECK(lines_of("abcde\nf\n", piece, 4) == Lines{"...", "f"});
    CHECK(lines_of("a\nbcdefghijklm\nn\nopqrst", piece, 4) == Lines{"a", "...", "n", "..."});
  }
}

TEST_CASE("an input that cannot be read any more is at its end") {
  LineReader reader([](char*, std::size_t) { return std::ptrdiff_t{-1}; }, 4);
  std::string line;
  CHECK(reader.next(line) == LineReader::Got::end);
}
