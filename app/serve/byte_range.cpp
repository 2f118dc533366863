#include "app/serve/byte_range.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/text.h"

namespace gapscope {
namespace {

// A number of any length: what is beyond 64 bits is beyond every file, too.
std::optional<std::uint64_t> number(std::string_view digits) {
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return {};
  std::uint64_t value = 0;
  const auto got = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return got.ec == std::errc() ? value : UINT64_MAX;
}

ByteRange suffix(std::uint64_t bytes, std::uint64_t size) {
  if (bytes == 0 || size == 0) return {ByteRange::Kind::none, 0, 0};
  bytes = std::min(bytes, size);
  return {ByteRange::Kind::part, size - bytes, bytes};
}

}  // namespace

ByteRange byte_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  while (header.starts_with(' ')) header.remove_prefix(1);
  while (header.ends_with(' ')) header.remove_suffix(1);
  if (!std::equal(kUnit.begin(), kUnit.end(), header.begin(), header.begin() + std::min(kUnit.size(), header.size()),
                  [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); }))
    return {};
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view from = header.substr(0, dash), to = header.substr(dash + 1);
  const auto last = number(to);
  if (from.empty()) return last ? suffix(*last, size) : ByteRange{};
  const auto first = number(from);
  if (!first || (!last && !to.empty()) || (last && *last < *first)) return {};
  if (*first >= size) return {ByteRange::Kind::none, 0, 0};
  const std::uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return {ByteRange::Kind::part, *first, end - *first + 1};
}

}  // namespace gapscope
