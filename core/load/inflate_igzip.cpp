// gzip through ISA-L's igzip: see inflate_gzip.h for why. zlib reads the header of each member, which is a few bytes, and takes
// over where a member is damaged or cut short: igzip reports a wrong distance only after it copied from there, accepts code
// lengths that leave codes without a symbol, and keeps back a last symbol. So nothing is delivered of a call that met damage;
// zlib reads the member again from its beginning, skips what was delivered and says where the damage is. That costs a damaged
// file the time that every file took before.
#include "core/load/inflate_gzip.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include <isa-l.h>
#include <zlib.h>

namespace gapscope {

namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
constexpr std::size_t kSkipBytes = 256 * 1024;
constexpr std::uint64_t kPointEvery = std::uint64_t{16} << 20;  // inflating so much text takes about 10 ms
constexpr int kGzipWindow = 15 + 16;

// zlib for the header of a member: it stops before the first block.
class HeaderReader {
 public:
  enum class State { more, done, damaged };
  HeaderReader() {
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~HeaderReader() { inflateEnd(&stream_); }
  HeaderReader(const HeaderReader&) = delete;
  HeaderReader& operator=(const HeaderReader&) = delete;

  void reset() { inflateReset(&stream_); }
  // Takes what belongs to the header from the front of `in`.
  State feed(std::uint8_t*& in, std::uint32_t& size) {
    Bytef nothing = 0;
    stream_.next_in = in;
    stream_.avail_in = size;
    stream_.next_out = &nothing;
    stream_.avail_out = 1;
    const int state = ::inflate(&stream_, Z_BLOCK);
    if (state == Z_MEM_ERROR) throw std::bad_alloc();
    in = stream_.next_in;
    size = stream_.avail_in;
    if (state != Z_OK && state != Z_BUF_ERROR) return State::damaged;
    return (stream_.data_type & 128) != 0 ? State::done : State::more;
  }

 private:
  z_stream stream_{};
};

class IgzipSource final : public ByteSource {
 public:
  IgzipSource(std::unique_ptr<ByteSource> raw, std::shared_ptr<RestartPoints> points)
      : raw_(std::move(raw)), input_(kInputBytes), points_(std::move(points)) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP_NO_HDR_VER;
  }
  IgzipSource(std::unique_ptr<ByteSource> raw, const RestartPoint& point)
      : raw_(std::move(raw)),
        input_(kInputBytes),
        text_done_(point.text_offset),
        member_file_(point.member_file_offset),
        member_text_(point.member_text_offset),
        in_member_(true),
        is_first_(false) {
    std::memcpy(state_.get(), point.state.data(), point.state.size());
    state_->avail_in = 0;
  }

  Result<std::size_t> read(char* into, std::size_t size) override {
    std::size_t done = 0;
    while (done < size && !done_) {
      const Result<std::size_t> got = by_zlib_ ? read_by_zlib(into + done, size - done) : read_some(into + done, size - done);
      if (!got) return got;
      done += *got;
    }
    return done;
  }
  std::uint64_t file_bytes_read() const override { return std::max(reached_, by_zlib_ ? by_zlib_->file_bytes_read() : at()); }
  std::uint64_t file_bytes_total() const override { return file_bytes_total_; }
  bool was_cut_short() const override { return by_zlib_ ? by_zlib_->was_cut_short() : cut_short_; }
  std::shared_ptr<const RestartPoints> restart_points() const override { return points_; }

 private:
  std::uint64_t at() const { return raw_->file_bytes_read() - state_->avail_in; }

  // Some bytes, or 0 where a member begins or ends, or where zlib takes over.
  Result<std::size_t> read_some(char* into, std::size_t size) {
    if (!in_member_) return begin_member();
    if (const Result<bool> more = fill(); !more) return more.error();
    const auto room = static_cast<std::uint32_t>(std::min<std::size_t>(size, std::numeric_limits<std::int32_t>::max()));
    const std::uint32_t input = state_->avail_in;
    state_->next_out = reinterpret_cast<std::uint8_t*>(into);
    state_->avail_out = room;
    const int state = isal_inflate(state_.get());
    const std::size_t got = room - state_->avail_out;
    const bool is_over = state_->block_state == ISAL_BLOCK_FINISH;
    const bool is_stuck = got == 0 && state_->avail_in == input && !is_over;
    if (state != ISAL_DECOMP_OK || is_stuck) return take_over();
    text_done_ += got;
    in_member_ = !is_over;
    if (in_member_ && points_) note_point();
    return got;
  }

  Result<bool> fill() {
    if (state_->avail_in != 0) return true;
    const Result<std::size_t> got = raw_->read(input_.data(), input_.size());
    if (!got) return got.error();
    state_->next_in = reinterpret_cast<std::uint8_t*>(input_.data());
    state_->avail_in = static_cast<std::uint32_t>(*got);
    return *got != 0;
  }

  // Another member follows only if it begins like one; padding after the last is common and harmless.
  Result<std::size_t> begin_member() {
    const Result<bool> more = fill();
    if (!more) return more.error();
    done_ = !*more || (!is_first_ && *state_->next_in != 0x1f);
    if (done_) return std::size_t{0};
    member_file_ = at();
    member_text_ = text_done_;
    if (const Result<bool> header = skip_header(); !header) return header.error();
    if (done_) return std::size_t{0};
    std::uint8_t* const in = state_->next_in;
    isal_inflate_reset(state_.get());
    state_->next_in = in;
    in_member_ = true;
    is_first_ = false;
    return std::size_t{0};
  }

  Result<bool> skip_header() {
    header_.reset();
    for (;;) {
      const Result<bool> more = fill();
      if (!more) return more;
      const HeaderReader::State state = *more ? header_.feed(state_->next_in, state_->avail_in) : HeaderReader::State::damaged;
      if (state == HeaderReader::State::done) return true;
      cut_short_ = done_ = state == HeaderReader::State::damaged;
      if (done_) return true;
    }
  }

  void note_point() {
    if (text_done_ < next_point_) return;
    next_point_ = text_done_ + kPointEvery;
    RestartPoint point;
    point.text_offset = text_done_;
    point.file_offset = at();
    point.member_text_offset = member_text_;
    point.member_file_offset = member_file_;
    const std::size_t bytes = offsetof(inflate_state, tmp_out_buffer) + static_cast<std::size_t>(state_->tmp_out_valid);
    point.state.assign(reinterpret_cast<const char*>(state_.get()), bytes);
    points_->add(std::move(point));
  }

  Result<std::size_t> take_over() {
    reached_ = at();
    if (!raw_->seek(member_file_)) {
      cut_short_ = done_ = true;
      return std::size_t{0};
    }
    by_zlib_ = make_zlib_source(std::move(raw_), points_, member_text_, next_point_);
    std::vector<char> skipped(kSkipBytes);
    for (std::uint64_t left = text_done_ - member_text_; left > 0 && !done_;) {
      const Result<std::size_t> got = read_by_zlib(skipped.data(), std::min<std::uint64_t>(left, skipped.size()));
      if (!got) return got;
      left -= *got;
    }
    return std::size_t{0};
  }

  Result<std::size_t> read_by_zlib(char* into, std::size_t size) {
    Result<std::size_t> got = by_zlib_->read(into, size);
    done_ = got.ok() && *got < size;
    return got;
  }

  std::unique_ptr<ByteSource> raw_;  // moved on to by_zlib_
  std::uint64_t file_bytes_total_ = raw_->file_bytes_total();
  std::vector<char> input_;
  std::shared_ptr<RestartPoints> points_;  // null when not requested
  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
  HeaderReader header_;
  std::unique_ptr<ByteSource> by_zlib_;  // once damage was met
  std::uint64_t text_done_ = 0;
  std::uint64_t next_point_ = kPointEvery;
  std::uint64_t member_file_ = 0, member_text_ = 0;  // where the member begins
  std::uint64_t reached_ = 0;                        // in the file, before zlib went back
  bool in_member_ = false;
  bool is_first_ = true;
  bool done_ = false;
  bool cut_short_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_igzip_source(std::unique_ptr<ByteSource> raw, std::shared_ptr<RestartPoints> points) {
  return std::make_unique<IgzipSource>(std::move(raw), std::move(points));
}

std::unique_ptr<ByteSource> make_igzip_source_at(std::unique_ptr<ByteSource> raw, const RestartPoint& point) {
  return std::make_unique<IgzipSource>(std::move(raw), point);
}

}  // namespace gapscope
