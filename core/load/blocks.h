#pragma once
// Text of the events array in blocks, handed to parsers in order. A block ends where an event seems to begin; whether that
// guess was right is decided by those who parse the block before it.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/column.h"
#include "core/base/result.h"
#include "core/load/byte_source.h"
#include "core/load/load_timeline.h"

namespace gapscope {

struct Block {
  Column<char> buffer;            // of small files most is never touched
  std::size_t size = 0;           // bytes of text in buffer
  std::uint64_t file_offset = 0;  // of the text in the inflated file
  std::size_t number = 0;         // 0, 1, 2, ... in file order
  bool is_last = false;
  bool is_planned = false;  // its text is still in the file

  std::string_view text() const { return {buffer.data(), size}; }
};

class BlockReader {
 public:
  // Of a plain file one thread looks where blocks may end, and the thread that gets a block reads it: in the cache of the core
  // that parses it, and side by side (`info` of 458 MB on 16 cores: 0.165 -> 0.126 s, on 2 the same). Inflating is one thread's
  // at a time: it continues for those who wait meanwhile, so that neither they nor the inflating is idle, on two cores or on
  // sixteen. `head` is text already read (it comes first), at `file_offset`. At most `blocks` blocks exist at a time; each
  // holds about `block_bytes`, more where an event is larger.
  BlockReader(ByteSource& source, std::string head, std::uint64_t file_offset, std::size_t block_bytes, int blocks,
              std::atomic<bool>* cancel, std::atomic<std::uint64_t>* bytes_done, LoadTimeline* timeline = nullptr);

  // The next block in order, or null at the end, after an error and after stop(). Any thread. An exception met while reading
  // stops all, and is thrown to the thread that met it.
  std::unique_ptr<Block> next();
  // Gives a block back for further reading.
  void recycle(std::unique_ptr<Block> block);
  // Ends reading early; next() returns null from now on.
  void stop();
  // The error that ended reading, if one did. Valid after next() returned null.
  std::optional<Error> error() const;
  // Where so many zero bytes begin that the rest was not read. Valid like error().
  std::optional<std::uint64_t> zeros() const;
  // Beyond the head; after an error those before the block that could not be read.
  std::uint64_t text_bytes() const;
  // Added up over those who read side by side.
  double read_seconds() const { return read_seconds_; }

 private:
  void read_for_all();
  void read_block();
  bool plan(Block& block);
  bool fill(Block& block);
  bool read_planned(Block& block);
  void fail(const Block& block, const Error& error);
  void note_read_until(std::uint64_t offset);
  std::uint64_t beyond_head(std::uint64_t offset) const { return offset < after_head_ ? 0 : offset - after_head_; }
  void cut(Block& block);
  bool ends_with_zeros(Block& block);
  std::unique_ptr<Block> free_block();

  ByteSource& source_;
  std::string tail_;      // text read beyond the last cut
  std::uint64_t offset_;  // of the next block
  std::uint64_t after_head_;
  bool is_at_offset_ = true;  // the source continues behind the tail
  std::string window_;        // the last bytes of what may be a block
  std::size_t block_bytes_;
  std::atomic<bool>* cancel_;
  std::atomic<std::uint64_t>* bytes_done_;
  LoadTimeline* timeline_;

  std::size_t next_number_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Block>> ready_;
  std::vector<std::unique_ptr<Block>> free_;
  bool reading_ = false;     // a thread is about it: what is above the mutex is its own
  std::size_t waiting_ = 0;  // threads that want a block
  bool finished_ = false;
  bool stopped_ = false;
  std::optional<Error> error_;
  std::optional<std::uint64_t> zeros_;
  std::uint64_t text_bytes_ = 0;
  double read_seconds_ = 0;
};

}  // namespace gapscope
