// gzip through zlib, single and multi-member.
#include <cstring>
#include <limits>
#include <vector>

#include <zlib.h>

#include "core/load/byte_source.h"

namespace gapscope {
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
constexpr int kGzipWindow = 15 + 16;  // 32 KB window, gzip framing

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> raw) : raw_(std::move(raw)), input_(kInputBytes) {
    usable_ = inflateInit2(&stream_, kGzipWindow) == Z_OK;
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<std::size_t> read(char* into, std::size_t size) override {
    if (!usable_) return Error{"There is not enough memory to inflate the file."};
    const std::size_t asked = size;
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    while (size > 0 && !done_) {
      const auto room = static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
      if (stream_.avail_in == 0) {
        if (Result<bool> more = fill(); !more) return more.error();
        if (stream_.avail_in == 0) {
          // The file ends. Between members that is the end; inside one it was cut.
          cut_short_ = !between_members_;
          done_ = true;
          break;
        }
      }
      if (between_members_ && !begin_member()) break;
      stream_.avail_out = room;
      const int state = ::inflate(&stream_, Z_NO_FLUSH);
      size -= room - stream_.avail_out;
      if (state == Z_STREAM_END) {
        between_members_ = true;
      } else if (state != Z_OK && state != Z_BUF_ERROR) {
        cut_short_ = true;  // damaged: what came out before is good
        done_ = true;
      }
    }
    return asked - size;
  }
  std::uint64_t file_bytes_read() const override { return raw_->file_bytes_read() - stream_.avail_in; }
  std::uint64_t file_bytes_total() const override { return raw_->file_bytes_total(); }
  bool was_cut_short() const override { return cut_short_; }

 private:
  Result<bool> fill() {
    Result<std::size_t> got = raw_->read(input_.data(), input_.size());
    if (!got) return got.error();
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(*got);
    return true;
  }
  // Another member follows only if it begins like one; padding after the last is common and harmless.
  bool begin_member() {
    if (*stream_.next_in != 0x1f) {
      done_ = true;
      return false;
    }
    inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  std::unique_ptr<ByteSource> raw_;
  std::vector<char> input_;
  z_stream stream_{};
  bool usable_ = false;
  bool between_members_ = false;
  bool done_ = false;
  bool cut_short_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<ByteSource> raw) { return std::make_unique<GzipSource>(std::move(raw)); }

}  // namespace gapscope
