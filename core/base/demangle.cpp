#include "core/base/demangle.h"

#include <array>
#include <cstddef>

#include <libiberty/demangle.h>

namespace gapscope {
namespace {

constexpr std::size_t kMaxMangledChars = 8 * 1024;    // the longest kernel names seen in real traces are below 4 KB
constexpr std::size_t kMaxReadableChars = 64 * 1024;  // eight times that, and still quick to draw

struct TooLong {};

// The library knows no 16-bit floats (DF16b, DF16_). No GPU has the two types whose letters stand in for them, and like
// these they are never referred back to, so that the rest of the name keeps its meaning.
struct StandIn {
  std::string_view mangled, letter, spelled, means;
};
constexpr std::array<StandIn, 2> kStandIns = {
    {{"DF16b", "g", "__float128", "__bf16"}, {"DF16_", "e", "long double", "_Float16"}}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// A mangled name of 400 bytes can represent gigabytes (each substitution may double what came before), so the text is taken
// piece by piece and given up once it is too long: by an exception, the only way out of the library before its end. Its frames
// own nothing.
void append_piece(const char* text, std::size_t size, void* opaque) {
  auto& out = *static_cast<std::string*>(opaque);
  if (out.size() + size > kMaxReadableChars) throw TooLong{};
  out.append(text, size);
}

// Empty where it is no mangled name, or the readable one is too long.
std::string demangled(const std::string& name) {
  std::string readable;
  try {
    if (cplus_demangle_v3_callback(name.c_str(), DMGL_PARAMS | DMGL_TYPES, append_piece, &readable) != 0) return readable;
  } catch (const TooLong&) {
    // The name stays as it is in the file.
  }
  return {};
}

}  // namespace

std::string demangle(std::string_view name) {
  std::string plain(name);
  if (!name.starts_with("_Z") || name.size() > kMaxMangledChars) return plain;
  if (std::string readable = demangled(plain); !readable.empty()) return readable;
  std::string known = plain;
  for (const StandIn& s : kStandIns) replace_all(known, s.mangled, s.letter);
  if (known == plain) return plain;
  std::string readable = demangled(known);
  for (const StandIn& s : kStandIns) replace_all(readable, s.spelled, s.means);
  return readable.empty() ? plain : readable;
}

}  // namespace gapscope
