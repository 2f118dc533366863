#include "core/base/demangle.h"

#include <cstddef>

// libstdc++'s streaming twin of abi::__cxa_demangle. A mangled name of 400 bytes can stand for gigabytes (each
// substitution may double what came before), so the text is taken piece by piece and given up once it is too long.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled, void (*piece)(const char*, std::size_t, void*),
                                             void* opaque);

namespace gapscope {
namespace {

constexpr std::size_t kMaxMangledChars = 8 * 1024;    // the longest kernel names seen in real traces are below 4 KB
constexpr std::size_t kMaxReadableChars = 64 * 1024;  // eight times that, and still quick to draw

struct TooLong {};

void append_piece(const char* text, std::size_t size, void* opaque) {
  auto& out = *static_cast<std::string*>(opaque);
  if (out.size() + size > kMaxReadableChars) throw TooLong{};
  out.append(text, size);
}

}  // namespace

std::string demangle(std::string_view name) {
  std::string plain(name);
  if (!name.starts_with("_Z") || name.size() > kMaxMangledChars) return plain;
  std::string readable;
  try {
    if (__gcclibcxx_demangle_callback(plain.c_str(), append_piece, &readable) == 0 && !readable.empty())
      return readable;
  } catch (const TooLong&) {
    // The name stays as it is in the file.
  }
  return plain;
}

}  // namespace gapscope
