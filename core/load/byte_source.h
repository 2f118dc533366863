#pragma once
// The text of a trace as a stream of bytes, plain or inflated on the way. One reader at a time, but for read_at().
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace gapscope {

// Replaces the file's path in an Error that says "The file" first.
inline constexpr char kFileAgain = '\1';

class RestartPoints;
class SpilledText;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `size` bytes into `into`; 0 at the end. Less than asked only at the end.
  virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
  // Bytes of the file consumed so far, and its size (0 when unknown): the same as the text for a plain file.
  virtual std::uint64_t file_bytes_read() const = 0;
  virtual std::uint64_t file_bytes_total() const = 0;
  // Continues reading at this byte of the file. False, with nothing done, where that is impossible: a pipe, packed text.
  virtual bool seek(std::uint64_t /*file_offset*/) { return false; }
  // Whether several threads may read anywhere at the same time: a plain file, plain text in memory.
  virtual bool has_read_at() const { return false; }
  // As read(), but from this byte of the file on, and without changing where read() continues. Only where has_read_at().
  virtual Result<std::size_t> read_at(std::uint64_t /*file_offset*/, char* /*into*/, std::size_t /*size*/) const {
    return std::size_t{0};
  }
  // True when the compressed stream ended before its end mark; the text up to there was delivered.
  virtual bool was_cut_short() const { return false; }
  // True when text and file are the same bytes.
  virtual bool is_plain() const { return false; }
  // Places from which packed text can be read again, complete once everything was read; null where there are none.
  virtual std::shared_ptr<const RestartPoints> restart_points() const { return nullptr; }
  // The text saved elsewhere, complete once everything was read; null if it was not asked for or where it found no
  // room: then spill_trouble() is a sentence.
  virtual std::shared_ptr<const SpilledText> spilled_text() const { return nullptr; }
  virtual std::string spill_trouble() const { return {}; }
};

// JSON lines, an event each, as the items of an array: the end of a line behind an event becomes a comma, so that all others
// bytes keep their places.
class LineSource final : public ByteSource {
 public:
  explicit LineSource(ByteSource& lines) : lines_(lines) {}
  Result<std::size_t> read(char* into, std::size_t size) override;
  std::uint64_t file_bytes_read() const override { return lines_.file_bytes_read(); }
  std::uint64_t file_bytes_total() const override { return lines_.file_bytes_total(); }
  // Of text that was read before, in its order.
  void put_commas(char* text, std::size_t size);

 private:
  ByteSource& lines_;
  bool is_behind_event_ = false;  // so far the last character but space is '}'
};

// The bytes of a file as they lie on disk, from `offset` on.
Result<std::unique_ptr<ByteSource>> open_packed(const std::string& path, std::uint64_t offset);

// "-" is standard input; everything but a folder can be read, pipes too, and "ARCHIVE/NAME" of what is in a .zip or .tar. A
// read that waits for a pipe's writer ends with an Error soon after `cancel` (may be null; must outlive the source) is set.
// With a `spill_folder` the text of what can only be read from its start is saved there.
Result<std::unique_ptr<ByteSource>> open_source(const std::string& path, const std::atomic<bool>* cancel = nullptr,
                                                const std::string& spill_folder = {});
// Text that the caller owns and keeps alive; packed bytes are inflated too.
Result<std::unique_ptr<ByteSource>> open_memory(std::string_view bytes);
// These bytes as they are, owned by the source.
std::unique_ptr<ByteSource> make_text_source(std::string text);

// Inflating wrappers; each takes the raw source over.
std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<ByteSource> raw);
Result<std::unique_ptr<ByteSource>> make_xz_source(std::unique_ptr<ByteSource> raw);
Result<std::unique_ptr<ByteSource>> make_zstd_source(std::unique_ptr<ByteSource> raw);

}  // namespace gapscope
