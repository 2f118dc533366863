#include "core/load/unpack.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/archive.h"
#include "core/load/nsight_systems.h"
#include "core/load/rocprof.h"
#include "core/load/sqlite_file.h"

namespace gapscope {
namespace {

// Gives back the bytes that were read to find out what the file is.
class ReplaySource final : public ByteSource {
 public:
  // `is_inner`: its bytes are not those that the file's own restart points count.
  ReplaySource(std::string head, std::unique_ptr<ByteSource> rest, bool is_plain, bool is_inner)
      : head_(std::move(head)), rest_(std::move(rest)), is_plain_(is_plain), is_inner_(is_inner) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t n = std::min(size, head_.size() - at_);
    std::memcpy(into, head_.data() + at_, n);
    at_ += n;
    if (n == size) return n;
    Result<std::size_t> more = rest_->read(into + n, size - n);
    return more ? Result<std::size_t>(n + *more) : more;
  }
  bool seek(std::uint64_t offset) override {
    if (!rest_->seek(offset)) return false;
    at_ = head_.size();
    return true;
  }
  bool has_read_at() const override { return rest_->has_read_at(); }
  Result<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) const override {
    return rest_->read_at(offset, into, size);
  }
  std::uint64_t file_bytes_read() const override { return rest_->file_bytes_read(); }
  std::uint64_t file_bytes_total() const override { return rest_->file_bytes_total(); }
  bool was_cut_short() const override { return rest_->was_cut_short(); }
  bool is_plain() const override { return is_plain_; }
  std::shared_ptr<const RestartPoints> restart_points() const override { return is_inner_ ? nullptr : rest_->restart_points(); }

 private:
  std::string head_;
  std::unique_ptr<ByteSource> rest_;
  std::size_t at_ = 0;
  bool is_plain_, is_inner_;
};

// Packed traces inflate to 13 to 60 times their size. A file that claims far more is a bomb: it stops here.
constexpr std::uint64_t kLargestRatio = 400;
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{256} << 20;  // so small a text does no harm at any ratio

class LimitedSource final : public ByteSource {
 public:
  explicit LimitedSource(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    Result<std::size_t> got = packed_->read(into, size);
    if (!got) return got;
    text_bytes_ += *got;
    if (text_bytes_ <= std::max(kAlwaysAllowed, kLargestRatio * packed_->file_bytes_read())) return got;
    return Error{
        fmt::format("The file inflates to more than {} times its size, which no trace does. Reading stopped after {} of text. "
                    "If you trust the file, unpack it first.",
                    kLargestRatio, format_bytes(text_bytes_))};
  }
  std::uint64_t file_bytes_read() const override { return packed_->file_bytes_read(); }
  std::uint64_t file_bytes_total() const override { return packed_->file_bytes_total(); }
  bool was_cut_short() const override { return packed_->was_cut_short(); }
  std::shared_ptr<const RestartPoints> restart_points() const override { return packed_->restart_points(); }

 private:
  std::unique_ptr<ByteSource> packed_;
  std::uint64_t text_bytes_ = 0;
};

// UTF-8 of UTF-16, as PowerShell's ">" writes. Half a pair becomes U+FFFD, a mark at the beginning nothing.
class Utf16Source final : public ByteSource {
 public:
  Utf16Source(std::unique_ptr<ByteSource> raw, bool is_little) : raw_(std::move(raw)), is_little_(is_little) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    std::size_t done = 0;
    for (;;) {
      const std::size_t n = std::min(size - done, text_.size() - at_);
      std::memcpy(into + done, text_.data() + at_, n);
      at_ += n;
      done += n;
      if (done == size || is_over_) return done;
      if (const Result<bool> more = fill(); !more) return more.error();
    }
  }
  std::uint64_t file_bytes_read() const override { return raw_->file_bytes_read(); }
  std::uint64_t file_bytes_total() const override { return raw_->file_bytes_total(); }
  bool was_cut_short() const override { return raw_->was_cut_short(); }

 private:
  Result<bool> fill() {
    const Result<std::size_t> got = raw_->read(units_.data(), units_.size());
    if (!got) return got.error();
    is_over_ = *got < units_.size();
    text_.clear();
    at_ = 0;
    for (std::size_t i = 0; i + 1 < *got; i += 2) {
      const auto a = static_cast<unsigned char>(units_[i]), b = static_cast<unsigned char>(units_[i + 1]);
      add_unit(is_little_ ? a | b << 8 : a << 8 | b);
    }
    if (is_over_ && high_ != 0) add(0xFFFD);
    return true;
  }
  void add_unit(int unit) {
    const bool is_low = unit >= 0xDC00 && unit < 0xE000, was_high = high_ != 0;
    if (was_high) add(is_low ? 0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00) : 0xFFFD);
    high_ = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
    const bool is_mark = std::exchange(is_first_, false) && unit == 0xFEFF;
    if (high_ == 0 && !is_mark && !(was_high && is_low)) add(is_low ? 0xFFFD : unit);
  }
  void add(int code) {
    const auto put = [this](int byte) { text_ += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xC0 | code >> 6);
    } else {
      put(code < 0x10000 ? 0xE0 | code >> 12 : 0xF0 | code >> 18);
      if (code >= 0x10000) put(0x80 | (code >> 12 & 0x3F));
      put(0x80 | (code >> 6 & 0x3F));
    }
    put(0x80 | (code & 0x3F));
  }

  std::unique_ptr<ByteSource> raw_;
  bool is_little_;
  std::vector<char> units_ = std::vector<char>(std::size_t{128} << 10);
  std::string text_;
  std::size_t at_ = 0;
  int high_ = 0;  // the first half of a pair; 0: none
  bool is_first_ = true, is_over_ = false;
};

// Tools pack a trace once; people once more. What is deeper was made to be a burden.
constexpr int kMostLayers = 4;

bool is_archive(Packing packing) { return packing == Packing::zip || packing == Packing::tar; }

// One layer after another, until what is inside is none of those that unpack as a stream.
struct Layers {
  std::unique_ptr<ByteSource> bytes;
  Packing packing = Packing::plain;
};

Result<std::unique_ptr<ByteSource>> without_layer(std::unique_ptr<ByteSource> packed, Packing packing) {
  switch (packing) {
    case Packing::gzip: return make_gzip_source(std::move(packed));
    case Packing::xz: return make_xz_source(std::move(packed));
    case Packing::zstd: return make_zstd_source(std::move(packed));
    default: return std::unique_ptr<ByteSource>(std::make_unique<Utf16Source>(std::move(packed), packing == Packing::utf16_le));
  }
}

// The text of a trace that another profiler's file is made into; its bytes where it is no recording.
Result<Layers> translated(std::unique_ptr<ByteSource> bytes,
                          Result<std::unique_ptr<ByteSource>> (*translate)(std::unique_ptr<ByteSource>)) {
  Result<std::unique_ptr<ByteSource>> text = translate(std::move(bytes));
  if (!text) return text.error();
  return Layers{std::make_unique<LimitedSource>(std::move(*text)), Packing::plain};
}

// `outer`: layers that are off already.
Result<Layers> peeled(std::unique_ptr<ByteSource> raw, int outer, Recordings recordings = Recordings::translated) {
  for (int layers = outer;; ++layers) {
    std::string head(kPackingBytes, '\0');
    Result<std::size_t> got = raw->read(head.data(), head.size());
    if (!got) return got.error();
    head.resize(*got);
    const Packing packing = packing_of(head);
    auto whole =
        std::make_unique<ReplaySource>(std::move(head), std::move(raw), layers == 0, layers > 1 || packing != Packing::plain);
    const bool is_recording = packing == Packing::sqlite || packing == Packing::rocprof;
    if (is_recording && recordings == Recordings::refused) return Error{"The file is a recording of another profiler."};
    if (is_recording && recordings == Recordings::as_they_are) return Layers{std::move(whole), Packing::plain};
    if (packing == Packing::sqlite) return translated(std::move(whole), make_database_source);
    if (packing == Packing::rocprof) return translated(std::move(whole), make_rocprof_source);
    if (packing == Packing::plain || is_archive(packing)) return Layers{std::move(whole), packing};
    if (layers == kMostLayers)
      return Error{fmt::format("The file is packed more than {} times over. Unpack it first.", kMostLayers)};
    Result<std::unique_ptr<ByteSource>> inner = without_layer(std::move(whole), packing);
    if (!inner) return inner.error();
    raw = std::make_unique<LimitedSource>(std::move(*inner));
  }
}

Error several_traces_error(const std::vector<std::string>& names) {
  std::string listed;
  constexpr std::size_t kMost = 4;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) listed += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > kMost) listed += fmt::format(" and {} more", names.size() - kMost);
  return Error{
      fmt::format("The file is an archive of {} traces: {}. Open one, {}/{}, or compare all as ranks: gapscope ranks {}.",
                  names.size(), listed, kFileAgain, printable(names[0]), kFileAgain)};
}

// A .zip is read from its end.
bool can_be_read(Layers& layers) { return layers.packing != Packing::zip || layers.bytes->seek(0); }

constexpr const char* kPipedArchive = "The file is an archive that comes through a pipe. Save it first.";
constexpr const char* kPackedArchive = "The file is a packed archive, which must be unpacked whole to be listed.";
constexpr const char* kZipInside = "The file is a packed .zip. Unpack it once, then open it.";
constexpr const char* kArchiveInside = "The file is an archive in another one. Unpack the outer one first.";

}  // namespace

Packing packing_of(std::string_view b) {
  using namespace std::string_view_literals;
  if (b.starts_with("\x1f\x8b")) return Packing::gzip;
  if (b.starts_with("\xfd"
                    "7zXZ\0"sv))
    return Packing::xz;
  if (b.starts_with("\x28\xb5\x2f\xfd")) return Packing::zstd;
  // A frame to skip comes first in what pzstd writes (RFC 8878, 3.1.2).
  if (b.size() >= 4 && (b[0] & '\xf0') == '\x50' && b.substr(1, 3) == "\x2a\x4d\x18") return Packing::zstd;
  if (b.starts_with("PK\3\4") || b.starts_with("PK\5\6")) return Packing::zip;
  if (b.size() > 262 && b.substr(257, 5) == "ustar") return Packing::tar;
  if (is_sqlite(b)) return Packing::sqlite;
  if (is_rocprof(b)) return Packing::rocprof;
  if (b.starts_with("\xff\xfe")) return Packing::utf16_le;
  if (b.starts_with("\xfe\xff")) return Packing::utf16_be;
  // Without a mark: JSON begins with two characters below 128.
  if (b.size() >= 4 && b[0] != 0 && b[1] == 0 && b[2] != 0 && b[3] == 0 && "{[ \t\r\n"sv.find(b[0]) != b.npos)
    return Packing::utf16_le;
  if (b.size() >= 4 && b[0] == 0 && b[1] != 0 && b[2] == 0 && b[3] != 0 && "{[ \t\r\n"sv.find(b[1]) != b.npos)
    return Packing::utf16_be;
  return Packing::plain;
}

Result<std::unique_ptr<ByteSource>> unpacked(const OpenSource& open, std::string member, Recordings recordings) {
  Result<std::unique_ptr<ByteSource>> raw = open();
  if (!raw) return raw;
  const bool is_pipe = !(*raw)->has_read_at();
  Result<Layers> layers = peeled(std::move(*raw), 0, recordings);
  if (!layers) return layers.error();
  if (layers->packing == Packing::plain && member.empty()) return std::move(layers->bytes);
  if (layers->packing == Packing::plain)
    return Error{fmt::format("The file is not an archive: {} is not in it.", printable(member))};
  if (is_pipe) return Error{kPipedArchive};
  if (!can_be_read(*layers)) return Error{kZipInside};
  if (member.empty() && recordings == Recordings::refused && !layers->bytes->has_read_at()) return Error{kPackedArchive};
  if (member.empty()) {
    Result<std::vector<std::string>> names = traces_in_archive(std::move(layers->bytes));
    if (!names) return names.error();
    if (names->size() > 1) return several_traces_error(*names);
    member = names->front();
    if (raw = open(); !raw) return raw;
    if (layers = peeled(std::move(*raw), 0, recordings); !layers) return layers.error();
  }
  Result<std::unique_ptr<ByteSource>> inner = make_member_source(std::move(layers->bytes), member);
  if (!inner) return inner;
  layers = peeled(std::make_unique<LimitedSource>(std::move(*inner)), 1, recordings);
  if (!layers) return layers.error();
  if (layers->packing != Packing::plain) return Error{kArchiveInside};
  return std::move(layers->bytes);
}

Result<std::vector<std::string>> traces_within(const OpenSource& open) {
  Result<std::unique_ptr<ByteSource>> raw = open();
  if (!raw) return raw.error();
  if (!(*raw)->has_read_at()) return Error{kPipedArchive};
  Result<Layers> layers = peeled(std::move(*raw), 0);
  if (!layers) return layers.error();
  if (layers->packing == Packing::plain) return std::vector<std::string>{};
  if (!can_be_read(*layers)) return Error{kZipInside};
  return traces_in_archive(std::move(layers->bytes));
}

}  // namespace gapscope
