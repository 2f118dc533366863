// .zst through libzstd, where it was found at build time. A file of several frames (`pzstd` writes such, and whoever appends)
// is inflated by all cores, since no frame needs another.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "core/base/parallel.h"
#include "core/load/byte_source.h"

#if GAPSCOPE_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

namespace gapscope {

#if GAPSCOPE_HAVE_ZSTD
namespace {

constexpr int kMostThreads = 8;
// What is inflated at once, at most.
constexpr std::size_t kGroupPacked = std::size_t{48} << 20;
constexpr std::size_t kGroupText = std::size_t{48} << 20;

// A frame that was read as a whole.
struct Frame {
  std::size_t packed_bytes = 0;
  std::size_t text_bytes = 0;
  std::unique_ptr<char[]> text;
  bool is_sound = false;

  void inflate(const char* packed) {
    text = std::make_unique_for_overwrite<char[]>(text_bytes);
    is_sound = ZSTD_decompress(text.get(), text_bytes, packed, packed_bytes) == text_bytes;
  }
};

// The bytes go through a stream as they come. From the second frame on, frames that are read as a whole are inflated side by
// side in groups; a frame that is too large for that, does not say its size or is damaged is left to the stream, which alone
// judges damage: what is read is the same either way.
class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> raw)
      : raw_(std::move(raw)),
        stream_(ZSTD_createDStream(), &ZSTD_freeDStream),
        threads_(std::min(hardware_threads(), kMostThreads)) {
    if (!stream_) throw std::bad_alloc();
  }

  Result<std::size_t> read(char* into, std::size_t size) override {
    ZSTD_outBuffer out{into, size, 0};
    while (out.pos < out.size && !done_) {
      if (given_frames_ < group_.size()) {
        give(out);
      } else if (Result<bool> went = is_group_next_ && threads_ > 1 ? inflate_group() : stream_on(out); !went) {
        return went.error();
      }
    }
    return out.pos;
  }
  std::uint64_t file_bytes_read() const override { return raw_->file_bytes_read() - (input_.size() - at_); }
  std::uint64_t file_bytes_total() const override { return raw_->file_bytes_total(); }
  bool was_cut_short() const override { return cut_short_; }

 private:
  // Up to `size` bytes more behind what was read; false at the end of the file.
  Result<bool> read_more(std::size_t size) {
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    const std::size_t before = input_.size();
    input_.resize(before + size);
    Result<std::size_t> got = raw_->read(input_.data() + before, size);
    input_.resize(before + (got ? *got : 0));
    if (!got) return got.error();
    return *got > 0;
  }

  // Text of the group that fits.
  void give(ZSTD_outBuffer& out) {
    const Frame& frame = group_[given_frames_];
    const std::size_t n = std::min(out.size - out.pos, frame.text_bytes - given_bytes_);
    std::memcpy(static_cast<char*>(out.dst) + out.pos, frame.text.get() + given_bytes_, n);
    out.pos += n;
    given_bytes_ += n;
    if (given_bytes_ < frame.text_bytes) return;
    given_bytes_ = 0;
    if (++given_frames_ < group_.size()) return;
    given_frames_ = 0;
    group_.clear();
  }

  // The frame at `offset` of what was read, which is read on as far as it goes; of no bytes where it must be left to the
  // stream.
  Result<Frame> whole_frame(std::size_t offset) {
    for (;;) {
      const char* packed = input_.data() + at_ + offset;
      const std::size_t left = input_.size() - at_ - offset;
      const unsigned long long text_bytes = ZSTD_getFrameContentSize(packed, left);
      const bool is_told = text_bytes != ZSTD_CONTENTSIZE_ERROR;  // else its header is damaged, or was not read as a whole
      if (is_told && text_bytes > kGroupText) return Frame{};     // or of a size that the header does not say
      const std::size_t packed_bytes = ZSTD_findFrameCompressedSize(packed, left);
      if (!ZSTD_isError(packed_bytes))
        return is_told ? Frame{packed_bytes, static_cast<std::size_t>(text_bytes), nullptr, false} : Frame{};
      if (ZSTD_getErrorCode(packed_bytes) != ZSTD_error_srcSize_wrong || left >= kGroupPacked) return Frame{};
      Result<bool> more = read_more(std::max(left, ZSTD_DStreamInSize()));  // as much again: looked at seldom
      if (!more) return more.error();
      if (!*more) return Frame{};
    }
  }

  // The whole frames that come next, up to the first that is left to the stream.
  Result<bool> inflate_group() {
    is_group_next_ = false;
    std::vector<Frame> frames;
    std::vector<std::size_t> offsets;
    std::size_t packed_bytes = 0, text_bytes = 0;
    while (packed_bytes < kGroupPacked) {
      Result<Frame> frame = whole_frame(packed_bytes);
      if (!frame) return frame.error();
      if (frame->packed_bytes == 0 || text_bytes + frame->text_bytes > kGroupText) break;
      offsets.push_back(packed_bytes);
      packed_bytes += frame->packed_bytes;
      text_bytes += frame->text_bytes;
      frames.push_back(std::move(*frame));
    }
    parallel_for(threads_, frames.size(), [&](std::size_t i) { frames[i].inflate(input_.data() + at_ + offsets[i]); });
    for (Frame& frame : frames) {
      if (!frame.is_sound) return true;
      at_ += frame.packed_bytes;
      group_.push_back(std::move(frame));
      is_group_next_ = true;
    }
    return true;
  }

  // Text of the stream that fits, and a step on.
  Result<bool> stream_on(ZSTD_outBuffer& out) {
    if (at_ == input_.size()) {
      Result<bool> more = read_more(ZSTD_DStreamInSize());
      if (!more) return more.error();
      if (!*more) {
        cut_short_ = !frame_done_;
        done_ = true;
        return true;
      }
    }
    ZSTD_inBuffer in{input_.data(), input_.size(), at_};
    const std::size_t state = ZSTD_decompressStream(stream_.get(), &out, &in);
    at_ = in.pos;
    frame_done_ = is_group_next_ = state == 0;
    if (!ZSTD_isError(state)) return true;
    if (ZSTD_getErrorCode(state) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_getErrorCode(state) == ZSTD_error_frameParameter_windowTooLarge) {
      return Error{
          "The file is packed so that unpacking it takes more than 128 MB of memory. If it is sound, unpack it first: zstd "
          "-d --long=31 FILE."};
    }
    cut_short_ = true;
    done_ = true;
    return true;
  }

  std::unique_ptr<ByteSource> raw_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  int threads_;
  std::vector<char> input_;  // read of the file; used up to `at_`
  std::size_t at_ = 0;
  std::vector<Frame> group_;
  std::size_t given_frames_ = 0, given_bytes_ = 0;  // of the group, and of its next frame
  bool is_group_next_ = false;                      // the last frame was whole
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
