#include "core/analyze/compiled/compile_id.h"

#include <algorithm>
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

std::string rest_of(std::string_view name, std::string_view head) {
  name.remove_prefix(std::min(head.size(), name.size()));
  while (!name.empty() && (name.front() == ' ' || name.front() == ':')) name.remove_prefix(1);
  while (!name.empty() && (name.back() == ' ' || name.back() == '#')) name.remove_suffix(1);
  return std::string(name);
}

std::string path_of_frame(std::string_view frame) {
  const std::size_t bracket = frame.rfind('(');
  return std::string(frame.substr(0, bracket == std::string_view::npos ? 0 : bracket));
}

std::string cache_root(std::string_view path) {
  for (int up = 0; up < 2; ++up) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return {};
    path = path.substr(0, slash);
  }
  return std::string(path);
}

std::string break_place(std::string_view frame) {
  const std::size_t bracket = frame.find('('), resume = frame.find(kResume);
  if (resume == std::string_view::npos || bracket == std::string_view::npos || bracket > resume) return {};
  const std::string_view rest = frame.substr(resume + kResume.size());
  const std::size_t at = rest.rfind("_at_");
  if (at == std::string_view::npos || at == 0) return {};
  std::string_view line = rest.substr(at + 4);
  line = line.substr(0, line.find_first_not_of("0123456789"));
  if (line.empty()) return {};
  return fmt::format("{}, line {} of {}", rest.substr(0, at), line, frame.substr(0, bracket));
}

}  // namespace gapscope
