// .xz through liblzma, where it was found at build time. Blocks that say how large they are (`xz -T0` writes such) are inflated
// side by side, by threads of liblzma's own, from its version 5.4 on.
#include <algorithm>
#include <new>
#include <vector>

#include "core/base/parallel.h"
#include "core/load/byte_source.h"

#if GAPSCOPE_HAVE_LZMA
#include <lzma.h>
#endif

namespace gapscope {

#if GAPSCOPE_HAVE_LZMA
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
constexpr std::uint64_t kMemoryLimit = std::uint64_t{512} << 20;  // the largest preset needs 65 MB; a bomb must not take all

constexpr std::uint64_t kMemoryOfThreads = std::uint64_t{192} << 20;  // what several threads may take; one may take more
constexpr int kMostThreads = 8;

lzma_ret begin(lzma_stream& stream) {
#if LZMA_VERSION >= UINT32_C(50040002)
  lzma_mt how{};
  how.flags = LZMA_CONCATENATED;
  how.threads = static_cast<std::uint32_t>(std::min(hardware_threads(), kMostThreads));
  how.memlimit_threading = kMemoryOfThreads;
  how.memlimit_stop = kMemoryLimit;
  return lzma_stream_decoder_mt(&stream, &how);
#else
  return lzma_stream_decoder(&stream, kMemoryLimit, LZMA_CONCATENATED);
#endif
}

class XzSource final : public ByteSource {
 public:
  explicit XzSource(std::unique_ptr<ByteSource> raw) : raw_(std::move(raw)), input_(kInputBytes) {
    if (begin(stream_) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzSource() override { lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;

  Result<std::size_t> read(char* into, std::size_t size) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(into);
    stream_.avail_out = size;
    while (stream_.avail_out > 0 && !done_) {
      if (stream_.avail_in == 0 && !input_over_) {
        Result<std::size_t> got = raw_->read(input_.data(), input_.size());
        if (!got) return got.error();
        input_over_ = *got == 0;
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
        stream_.avail_in = *got;
      }
      const lzma_ret state = lzma_code(&stream_, input_over_ ? LZMA_FINISH : LZMA_RUN);
      if (state == LZMA_MEM_ERROR) throw std::bad_alloc();
      if (state == LZMA_MEMLIMIT_ERROR) {
        return Error{
            "Unpacking the file takes more than 512 MB of memory. If you trust it, unpack it first: xz -dk "
            "FILE."};
      }
      done_ = state != LZMA_OK;
      cut_short_ = done_ && state != LZMA_STREAM_END;
    }
    return size - stream_.avail_out;
  }
  std::uint64_t file_bytes_read() const override { return raw_->file_bytes_read() - stream_.avail_in; }
  std::uint64_t file_bytes_total() const override { return raw_->file_bytes_total(); }
  bool was_cut_short() const override { return cut_short_; }

 private:
  std::unique_ptr<ByteSource> raw_;
  std::vector<char> input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool input_over_ = false;
  bool done_ = false;
  bool cut_short_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> make_xz_source(std::unique_ptr<ByteSource> raw) {
  return std::unique_ptr<ByteSource>(std::make_unique<XzSource>(std::move(raw)));
}
#else
Result<std::unique_ptr<ByteSource>> make_xz_source(std::unique_ptr<ByteSource>) {
  return Error{"The file is packed with xz and this build has no liblzma. Unpack it first: xz -dk FILE."};
}
#endif

}  // namespace gapscope
