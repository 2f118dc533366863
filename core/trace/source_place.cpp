#include "core/trace/source_place.h"

#include <charconv>
#include <system_error>

namespace gapscope {

std::optional<SourcePlace> source_place(std::string_view name) {
  constexpr std::string_view kEnding = ".py(";
  const std::size_t at = name.find(kEnding);
  if (at == name.npos) return std::nullopt;
  const std::string_view digits = name.substr(at + kEnding.size());
  std::int64_t line = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  if (error != std::errc() || line < 1 || end == digits.data() + digits.size() || *end != ')') return std::nullopt;
  return SourcePlace{std::string(name.substr(0, at + 3)), line};
}

std::string place_text(const SourcePlace& place) { return place.file + ":" + std::to_string(place.line); }

}  // namespace gapscope
