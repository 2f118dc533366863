#pragma once
// Packs text as .xz and .zst for tests, where the libraries were found at build time.
#include <stdexcept>
#include <string>
#include <string_view>

#if GAPSCOPE_HAVE_LZMA
#include <lzma.h>
#endif
#if GAPSCOPE_HAVE_ZSTD
#include <zstd.h>
#endif

namespace gapscope::test {

#if GAPSCOPE_HAVE_LZMA
inline std::string xz_text(std::string_view text, unsigned preset = 0) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  if (lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                              text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) != LZMA_OK) {
    throw std::runtime_error("lzma_easy_buffer_encode");
  }
  out.resize(size);
  return out;
}
#endif

#if GAPSCOPE_HAVE_ZSTD
inline std::string zstd_text(std::string_view text, int level = 1) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level);
  if (ZSTD_isError(size)) throw std::runtime_error("ZSTD_compress");
  out.resize(size);
  return out;
}
#endif

}  // namespace gapscope::test
