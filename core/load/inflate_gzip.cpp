// gzip through zlib, single and multi-member, and the choice between it and igzip (inflate_gzip.h). Restart points work as in
// zlib's example zran.c: between two deflate blocks the 32 KB before, the place in the file and up to seven left-over bits are
// all that is needed to continue.
#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include <zlib.h>

#include "core/load/inflate_gzip.h"

namespace gapscope {
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
constexpr int kGzipWindow = 15 + 16;  // 32 KB window, gzip framing
constexpr int kRawWindow = -15;       // 32 KB window, no framing: where one takes up inside a member
constexpr std::size_t kWindowBytes = 32 * 1024;
constexpr std::uint64_t kPointEvery = std::uint64_t{8} << 20;  // inflating so much text takes about 20 ms
constexpr std::size_t kTrailerBytes = 8;                       // CRC and length after a member

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> raw, std::shared_ptr<RestartPoints> points, std::uint64_t text_begin,
             std::uint64_t points_from)
      : raw_(std::move(raw)),
        input_(kInputBytes),
        points_(std::move(points)),
        text_done_(text_begin),
        next_point_(std::max(points_from, text_begin + kPointEvery)) {
    begin(kGzipWindow);
  }
  // Continues at a restart point; `raw` begins with the byte that holds the left-over bits, if there are any.
  GzipSource(std::unique_ptr<ByteSource> raw, const RestartPoint& point)
      : raw_(std::move(raw)), input_(kInputBytes), inside_(true) {
    begin(kRawWindow);
    char byte = 0;
    if (point.bits != 0) {
      const Result<std::size_t> got = raw_->read(&byte, 1);
      usable_ = got.ok() && *got == 1;
      const int value = static_cast<unsigned char>(byte) >> (8 - point.bits);
      usable_ = usable_ && inflatePrime(&stream_, point.bits, value) == Z_OK;
    }
    usable_ = usable_ && inflateSetDictionary(&stream_, reinterpret_cast<const Bytef*>(point.window.data()),
                                              static_cast<uInt>(point.window.size())) == Z_OK;
  }
  Result<std::size_t> read(char* into, std::size_t size) override {
    if (!usable_)
      return Error{"The file cannot be unpacked from where it could before: it has changed since it was opened. Reload it."};
    const std::size_t asked = size;
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    while (size > 0 && !done_) {
      const auto room = static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
      if (stream_.avail_in == 0) {
        if (Result<bool> more = fill(); !more) return more.error();
        if (stream_.avail_in == 0 && between_members_) {
          done_ = true;
          break;
        }
      }
      const bool is_over = stream_.avail_in == 0;  // the file ends inside a member; zlib may still hold bytes back
      if (between_members_ && !begin_member()) break;
      stream_.avail_out = room;
      const int state = ::inflate(&stream_, points_ ? Z_BLOCK : Z_NO_FLUSH);
      size -= room - stream_.avail_out;
      text_done_ += room - stream_.avail_out;
      if (is_over && room == stream_.avail_out && state != Z_STREAM_END) {
        cut_short_ = done_ = true;
        break;
      }
      if (state == Z_STREAM_END) {
        if (inside_ && !leave_member()) break;
        between_members_ = true;
      } else if (state == Z_OK && points_) {
        note_point();
      }
      if (state == Z_STREAM_END) continue;
      if (state == Z_OK || state == Z_BUF_ERROR) continue;
      if (state == Z_MEM_ERROR) throw std::bad_alloc();
      cut_short_ = true;  // damaged: what came out before is good
      done_ = true;
    }
    return asked - size;
  }
  std::uint64_t file_bytes_read() const override { return raw_->file_bytes_read() - stream_.avail_in; }
  std::uint64_t file_bytes_total() const override { return raw_->file_bytes_total(); }
  bool was_cut_short() const override { return cut_short_; }
  std::shared_ptr<const RestartPoints> restart_points() const override { return points_; }

 private:
  void begin(int window) {
    if (inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
  }

  // zlib says in data_type when it is between two blocks (128) that are not the last (64).
  void note_point() {
    const bool between_blocks = (stream_.data_type & 128) != 0 && (stream_.data_type & 64) == 0;
    if (!between_blocks || text_done_ < next_point_) return;
    next_point_ = text_done_ + kPointEvery;
    RestartPoint point;
    point.text_offset = text_done_;
    point.file_offset = raw_->file_bytes_read() - stream_.avail_in;
    point.bits = stream_.data_type & 7;
    point.window.resize(kWindowBytes);
    uInt length = 0;
    if (inflateGetDictionary(&stream_, reinterpret_cast<Bytef*>(point.window.data()), &length) != Z_OK) return;
    point.window.resize(length);
    points_->add(std::move(point));
  }

  // Skips the trailer that raw inflating does not know and expects framing again.
  bool leave_member() {
    inside_ = false;
    for (std::size_t left = kTrailerBytes; left > 0;) {
      if (stream_.avail_in == 0) {
        if (Result<bool> more = fill(); !more || stream_.avail_in == 0) {
          done_ = true;
          return false;
        }
      }
      const uInt n = std::min<uInt>(stream_.avail_in, static_cast<uInt>(left));
      stream_.next_in += n;
      stream_.avail_in -= n;
      left -= n;
    }
    return inflateReset2(&stream_, kGzipWindow) == Z_OK;
  }

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
  std::shared_ptr<RestartPoints> points_;  // null when not requested
  std::uint64_t text_done_ = 0;
  std::uint64_t next_point_ = kPointEvery;
  struct Stream : z_stream {
    Stream() : z_stream{} {}
    ~Stream() { inflateEnd(this); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
  };
  Stream stream_;
  bool inside_ = false;  // taken up inside a member: no framing until it ends
  bool usable_ = true;
  bool between_members_ = false;
  bool done_ = false;
  bool cut_short_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_zlib_source(std::unique_ptr<ByteSource> raw, std::shared_ptr<RestartPoints> points,
                                             std::uint64_t text_begin, std::uint64_t points_from) {
  return std::make_unique<GzipSource>(std::move(raw), std::move(points), text_begin, points_from);
}

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<ByteSource> raw) {
  auto points = std::make_shared<RestartPoints>();
  if (raw->seek(0)) return make_igzip_source(std::move(raw), std::move(points));
  return make_zlib_source(std::move(raw), std::move(points));
}

Result<std::unique_ptr<ByteSource>> open_gzip_at(const std::string& path, const RestartPoint& point) {
  Result<std::unique_ptr<ByteSource>> raw = open_packed(path, point.file_offset - (point.bits != 0 ? 1 : 0));
  if (!raw) return raw;
  if (!point.state.empty()) return make_igzip_source_at(std::move(*raw), point);
  return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(*raw), point));
}

const RestartPoint* RestartPoints::before(std::uint64_t text_offset) const {
  const auto after = std::upper_bound(points_.begin(), points_.end(), text_offset,
                                      [](std::uint64_t t, const RestartPoint& p) { return t < p.text_offset; });
  return after == points_.begin() ? nullptr : &*(after - 1);
}

}  // namespace gapscope
