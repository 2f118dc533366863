#include "core/analyze/compiled/compile_id.h"

#include <charconv>

#include <fmt/format.h>

namespace gapscope {
namespace {

std::optional<std::uint32_t> number_at(std::string_view text, std::size_t& at) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  at = static_cast<std::size_t>(end - text.data());
  return value;
}

}  // namespace

std::string to_text(const CompileId& id) { return fmt::format("{}/{}", id.frame, id.version); }

std::optional<CompileId> compile_id_of(std::string_view name) {
  constexpr std::string_view kRegion = "Torch-Compiled Region: ", kData = "compile_id=";
  std::size_t at = name.starts_with(kRegion) ? kRegion.size() : name.find(kData);
  if (at == std::string_view::npos) return std::nullopt;
  if (!name.starts_with(kRegion)) at += kData.size();
  CompileId id;
  const auto frame = number_at(name, at);
  if (!frame || at >= name.size() || name[at] != '/') return std::nullopt;
  const auto version = number_at(name, ++at);
  if (!version) return std::nullopt;
  id.frame = *frame, id.version = *version;
  return id;
}

}  // namespace gapscope
