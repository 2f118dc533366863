#include "app/cli/number_option.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

std::string digits(std::int64_t number) { return format_count(number); }
std::string digits(double number) {
  const bool whole = std::floor(number) == number && std::fabs(number) < 9e18;
  return whole ? format_count(static_cast<std::int64_t>(number)) : fmt::format("{}", number);
}

template <class Number>
CLI::Validator validator(const char* what, Number least, Number most) {
  const std::string range = fmt::format("{} to {}", digits(least), digits(most));
  const auto trouble_of = [=](std::string& text) -> std::string {
    Number number = 0;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole_text = trouble == std::errc() && end == text.data() + text.size();
    if (is_whole_text && number >= least && number <= most) return {};  // nan is neither
    return fmt::format("\"{}\" is no {} from {}.", text, what, range);
  };
  return {trouble_of, range};
}

}  // namespace

CLI::Validator number_between(double least, double most) { return validator("number", least, most); }
CLI::Validator whole_number(std::int64_t least, std::int64_t most) { return validator("whole number", least, most); }

}  // namespace gapscope
