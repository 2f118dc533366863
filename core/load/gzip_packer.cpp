#include "core/load/gzip_packer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include <zlib.h>

namespace gapscope {

struct GzipPacker::Stream {
  Stream() {
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  }
  ~Stream() { deflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int deflate_some(int flush, const std::function<void(std::string_view)>& sink) {
    z.next_out = out.data();
    z.avail_out = static_cast<uInt>(out.size());
    const int state = deflate(&z, flush);
    sink({reinterpret_cast<const char*>(out.data()), out.size() - z.avail_out});
    return state;
  }

  static constexpr int kGzip = 15 + 16;  // 32 KB window, gzip framing
  static constexpr int kMemory = 8;      // zlib's default
  z_stream z{};
  std::array<Bytef, std::size_t{64} * 1024> out{};
};

GzipPacker::GzipPacker(std::function<void(std::string_view)> sink)
    : sink_(std::move(sink)), stream_(std::make_unique<Stream>()) {}
GzipPacker::~GzipPacker() = default;

void GzipPacker::write(std::string_view text) {
  z_stream& z = stream_->z;
  while (!text.empty()) {
    const std::size_t piece = std::min<std::size_t>(text.size(), std::size_t{1} << 30);  // zlib counts in 32 bits
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(piece);
    while (z.avail_in > 0) stream_->deflate_some(Z_NO_FLUSH, sink_);
    text.remove_prefix(piece);
  }
}

void GzipPacker::finish() {
  stream_->z.avail_in = 0;
  while (stream_->deflate_some(Z_FINISH, sink_) == Z_OK) {
  }
}

}  // namespace gapscope
