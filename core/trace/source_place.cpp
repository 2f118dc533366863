#include "core/trace/source_place.h"

#include <charconv>
#include <system_error>

namespace gapscope {

std::optional<SourcePlace> source_place(std::string_view name) {
  const bool is_jax = name.starts_with('$');
  if (is_jax) name.remove_prefix(1);
  const std::string_view ending = is_jax ? ".py:" : ".py(";
  const std::size_t at = name.find(ending);
  if (at == name.npos) return std::nullopt;
  const std::string_view digits = name.substr(at + ending.size());
  std::int64_t line = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  if (error != std::errc() || line < 1 || end == digits.data() + digits.size() || *end != (is_jax ? ' ' : ')'))
    return std::nullopt;
  return SourcePlace{std::string(name.substr(0, at + 3)), line};
}

std::string_view function_of_frame(std::string_view name) {
  if (!source_place(name)) return name;
  const std::string_view before = name.starts_with('$') ? " " : "): ";
  const std::size_t at = name.find(before);
  return at == name.npos ? name : name.substr(at + before.size());
}

std::string place_text(const SourcePlace& place) { return place.file + ":" + std::to_string(place.line); }

}  // namespace gapscope
