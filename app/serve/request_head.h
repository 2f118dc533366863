#pragma once
// The lines of a request before it is parsed: where they end, and what the library is not to see of them.
#include <string>
#include <string_view>

namespace gapscope {

inline constexpr std::size_t kMostHeadBytes = std::size_t{16} << 10;

// How long the first request in `text` is, with the empty line; npos: it has not come whole.
std::size_t head_bytes(std::string_view text);

struct RequestHead {
  std::string text;
  // What was behind these names, letter by letter: the library decodes %41, and cuts at %00.
  std::string range, host, origin, cookie;
  std::size_t hosts = 0;
  bool has_body = false;
  // Its lines end as HTTP has it, hold no other control character than the tab, and have names. One origin at most.
  bool is_plain = true;
};

// Range is taken out of it: of a range beyond the end cpp-httplib 0.11 sends bytes that the file does not have, and it refuses
// a unit that it does not know, where all of the file is to be sent. So is Accept-Encoding: it packs by brotli's slowest way.
// What is not plain the library must not see: it takes a bare line feed for an end, and finds lines that were not taken out.
RequestHead prepared_head(std::string_view text);

}  // namespace gapscope
