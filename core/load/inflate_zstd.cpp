// .zst through libzstd, where it was found at build time.
#include <new>
#include <vector>

#include "core/load/byte_source.h"

#if GAPSCOPE_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

namespace gapscope {

#if GAPSCOPE_HAVE_ZSTD
namespace {

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> raw)
      : raw_(std::move(raw)), stream_(ZSTD_createDStream(), &ZSTD_freeDStream), input_(ZSTD_DStreamInSize()) {
    if (!stream_) throw std::bad_alloc();
  }

  Result<std::size_t> read(char* into, std::size_t size) override {
    ZSTD_outBuffer out{into, size, 0};
    while (out.pos < out.size && !done_) {
      if (in_.pos == in_.size) {
        Result<std::size_t> got = raw_->read(input_.data(), input_.size());
        if (!got) return got.error();
        in_ = {input_.data(), *got, 0};
        if (*got == 0) {
          cut_short_ = !frame_done_;
          done_ = true;
          break;
        }
      }
      const std::size_t state = ZSTD_decompressStream(stream_.get(), &out, &in_);
      frame_done_ = state == 0;
      if (ZSTD_isError(state)) {
        if (ZSTD_getErrorCode(state) == ZSTD_error_memory_allocation) throw std::bad_alloc();
        if (ZSTD_getErrorCode(state) == ZSTD_error_frameParameter_windowTooLarge) {
          return Error{
              "Unpacking the file takes more than 128 MB of memory. If you trust it, unpack it first: zstd "
              "-d --long=31 FILE."};
        }
        cut_short_ = true;
        done_ = true;
      }
    }
    return out.pos;
  }
  std::uint64_t file_bytes_read() const override { return raw_->file_bytes_read() - (in_.size - in_.pos); }
  std::uint64_t file_bytes_total() const override { return raw_->file_bytes_total(); }
  bool was_cut_short() const override { return cut_short_; }

 private:
  std::unique_ptr<ByteSource> raw_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  std::vector<char> input_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool frame_done_ = false;
  bool done_ = false;
  bool cut_short_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> make_zstd_source(std::unique_ptr<ByteSource> raw) {
  return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(raw)));
}
#else
Result<std::unique_ptr<ByteSource>> make_zstd_source(std::unique_ptr<ByteSource>) {
  return Error{"The file is packed with zstd and this build has no libzstd. Unpack it first: zstd -dk FILE."};
}
#endif

}  // namespace gapscope
