#pragma once
// Packs text as .xz and .zst for tests, where the libraries were found at build time.
#include <cstdint>
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

// One stream in blocks of `block_bytes` of text that say how large they are, as `xz -T0` writes.
inline std::string xz_blocks(std::string_view text, std::uint64_t block_bytes) {
  lzma_mt how{};
  how.threads = 2;
  how.block_size = block_bytes;
  how.check = LZMA_CHECK_CRC32;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_encoder_mt(&stream, &how) != LZMA_OK) throw std::runtime_error("lzma_stream_encoder_mt");
  std::string out(2 * text.size() + 4096, '\0');
  stream.next_in = reinterpret_cast<const std::uint8_t*>(text.data());
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = out.size();
  const lzma_ret state = lzma_code(&stream, LZMA_FINISH);
  out.resize(out.size() - stream.avail_out);
  lzma_end(&stream);
  if (state != LZMA_STREAM_END) throw std::runtime_error("lzma_code");
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

// A frame whose header does not say how long the text is, as a program writes that does not know it yet.
inline std::string zstd_text_of_unsaid_size(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_CStream* stream = ZSTD_createCStream();
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  const bool is_done = !ZSTD_isError(ZSTD_compressStream2(stream, &to, &in, ZSTD_e_continue)) && in.pos == in.size &&
                       ZSTD_compressStream2(stream, &to, &in, ZSTD_e_end) == 0;
  ZSTD_freeCStream(stream);
  if (!is_done) throw std::runtime_error("ZSTD_compressStream2");
  out.resize(to.pos);
  return out;
}
#endif

}  // namespace gapscope::test
