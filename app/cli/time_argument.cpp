#include "app/cli/time_argument.h"

#include <charconv>
#include <string>
#include <tuple>

#include <fmt/format.h>

namespace gapscope {
namespace {

struct Unit {
  std::string_view name;
  int digits;  // of a nanosecond after the decimal point
};
constexpr Unit kUnits[] = {{"ns", 0}, {"us", 3}, {"\xC2\xB5s", 3}, {"ms", 6}, {"s", 9}};  // "s" last: the others end in it

std::optional<Ns> parse_whole(std::string_view digits) {
  Ns value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// "1.25" with three digits of a nanosecond: 1250.
std::optional<Ns> parse_decimal(std::string_view text, int digits) {
  const std::size_t point = text.find('.');
  std::string whole(text.substr(0, point));
  std::string rest(point == std::string_view::npos ? "" : text.substr(point + 1));
  if (whole.empty() || rest.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  rest.resize(static_cast<std::size_t>(digits), '0');
  return parse_whole(whole + rest);
}

}  // namespace

std::optional<Ns> parse_time_argument(std::string_view text, Ns origin) {
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    std::string_view number = text.substr(0, text.size() - unit.name.size());
    while (number.ends_with(' ')) number.remove_suffix(1);
    const std::optional<Ns> after = parse_decimal(number, unit.digits);
    Ns time = 0;
    if (!after || __builtin_add_overflow(origin, *after, &time)) return std::nullopt;
    return time;
  }
  return parse_whole(text);
}

Result<Span> parse_window(const std::string& from, const std::string& to, Span whole) {
  Span window = whole;
  for (const auto& [text, into, name] : {std::tuple(&from, &window.begin, "--from"), std::tuple(&to, &window.end, "--to")}) {
    if (text->empty()) continue;
    const std::optional<Ns> time = parse_time_argument(*text, whole.begin);
    if (!time)
      return Error{fmt::format(
          "{}: \"{}\" is not a time: write nanoseconds as `gapscope info` counts, or 1.2ms after the start.", name, *text)};
    *into = *time;
  }
  if (window.empty())
    return Error{fmt::format("The window is empty: --from ({} ns) must be before --to ({} ns).", window.begin, window.end)};
  return window;
}

}  // namespace gapscope
