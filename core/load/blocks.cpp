#include "core/load/blocks.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/load/event_bounds.h"

namespace gapscope {
namespace {

using Clock = std::chrono::steady_clock;

// Where an event begins is looked for in the last bytes of a block; where none is so short the block is read first.
constexpr std::size_t kWindow = 8 * 1024;
// A crashed machine or a sparse file leaves such runs: no text follows them.
constexpr std::size_t kMostZeros = std::size_t{16} << 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

BlockReader::BlockReader(ByteSource& source, std::string head, std::uint64_t file_offset, std::size_t block_bytes, int blocks,
                         std::atomic<bool>* cancel, std::atomic<std::uint64_t>* bytes_done, LoadTimeline* timeline)
    : source_(source),
      tail_(std::move(head)),
      offset_(file_offset),
      after_head_(file_offset + tail_.size()),
      block_bytes_(block_bytes),
      cancel_(cancel),
      bytes_done_(bytes_done),
      timeline_(timeline) {
  free_.reserve(static_cast<std::size_t>(blocks));
  for (int i = 0; i < blocks; ++i) free_.push_back(std::make_unique<Block>());
}

// Puts one more block at the end of ready_; finished_ says when none comes after it.
void BlockReader::read_block() {
  std::unique_ptr<Block> block = free_block();
  bool ok = false;
  const auto start = Clock::now();
  if (block) {
    block->number = next_number_++;
    const Timed timed(timeline_, source_.is_plain() ? LoadTimeline::Stage::reading : LoadTimeline::Stage::inflating);
    block->is_planned = plan(*block);
    ok = block->is_planned || fill(*block);
  }
  const std::lock_guard lock(mutex_);
  read_seconds_ += seconds_since(start);
  finished_ = !ok || block->is_last;
  if (ok) ready_.push_back(std::move(block));
}

// Reads until only this thread waits for a block.
void BlockReader::read_for_all() {
  for (bool again = true; again;) {
    read_block();
    const std::lock_guard lock(mutex_);
    again = !finished_ && !stopped_ && ready_.size() < waiting_;
    reading_ = again;
    changed_.notify_all();
  }
}

void BlockReader::note_read_until(std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  if (error_) return;
  text_bytes_ = beyond_head(offset);
  if (bytes_done_ != nullptr)
    bytes_done_->store(source_.is_plain() ? offset : source_.file_bytes_read(), std::memory_order_relaxed);
}

// Of several the one that comes first in the file counts: what is before it was given.
void BlockReader::fail(const Block& block, const Error& error) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t before = beyond_head(block.file_offset);
  if (error_ && text_bytes_ <= before) return;
  error_ = error;
  text_bytes_ = before;
}

// Where it begins and ends. False, with nothing done, where it has to be read for that: near the end of the file, or where its
// last event is larger than what is looked at.
bool BlockReader::plan(Block& block) {
  if (!source_.has_read_at()) return false;
  window_.resize(std::min(kWindow, block_bytes_));
  const std::uint64_t from = offset_ + block_bytes_ - window_.size();
  const Result<std::size_t> got = source_.read_at(from, window_.data(), window_.size());
  if (!got || *got < window_.size()) return false;
  const std::size_t at = find_last_event(window_, false);
  if (at == std::string_view::npos || from + at == offset_) return false;
  block.file_offset = offset_;
  block.size = static_cast<std::size_t>(from + at - offset_);
  block.is_last = false;
  offset_ = from + at;
  tail_.clear();
  is_at_offset_ = false;
  note_read_until(offset_);
  return true;
}

// Any thread.
bool BlockReader::read_planned(Block& block) {
  const auto start = Clock::now();
  const Timed timed(timeline_, LoadTimeline::Stage::reading);
  block.buffer.resize(std::max(block.buffer.size(), block_bytes_));  // of any that may come later
  const Result<std::size_t> got = source_.read_at(block.file_offset, block.buffer.data(), block.size);
  if (!got) return fail(block, got.error()), false;
  if (*got < block.size) return fail(block, Error{"The file became shorter while it was read."}), false;
  const std::lock_guard lock(mutex_);
  read_seconds_ += seconds_since(start);
  return true;
}

bool BlockReader::fill(Block& block) {
  block.file_offset = offset_;
  block.is_last = false;
  if (!is_at_offset_ && !source_.seek(offset_))
    return fail(block, Error{"The file cannot be read from where it was read before."}), false;
  is_at_offset_ = true;
  block.buffer.resize(std::max(block.buffer.size(), std::max(block_bytes_, tail_.size() + block_bytes_ / 2 + 1)));
  std::memcpy(block.buffer.data(), tail_.data(), tail_.size());
  block.size = tail_.size();
  tail_.clear();
  for (;;) {
    const std::size_t room = block.buffer.size() - block.size;
    Result<std::size_t> got = source_.read(block.buffer.data() + block.size, room);
    if (!got) return fail(block, got.error()), false;
    block.size += *got;
    note_read_until(block.file_offset + block.size);
    if (*got < room) {
      block.is_last = true;
      offset_ += block.size;
      return true;
    }
    cut(block);
    if (!tail_.empty()) return true;
    if (cancel_ != nullptr && cancel_->load()) return true;
    if (ends_with_zeros(block)) return true;
    block.buffer.resize(block.buffer.size() * 2);  // one event is larger than the block
  }
}

// Leaves whole events in the block, as far as a look at the last bytes shows, and the rest in tail_.
void BlockReader::cut(Block& block) {
  std::size_t at = find_last_event(block.text(), false);
  if (at == std::string_view::npos || at == 0) at = find_last_event(block.text(), true);
  if (at == std::string_view::npos || at == 0) return;
  tail_.assign(block.buffer.data() + at, block.size - at);
  block.size = at;
  offset_ += at;
}

// Takes them away, and nothing is read behind them.
bool BlockReader::ends_with_zeros(Block& block) {
  const std::size_t text = block.text().find_last_not_of('\0') + 1;  // npos is one before 0
  if (block.size - text < kMostZeros) return false;
  block.size = text;
  block.is_last = true;
  offset_ += text;
  note_read_until(offset_);
  const std::lock_guard lock(mutex_);
  zeros_ = offset_;
  return true;
}

std::unique_ptr<Block> BlockReader::free_block() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || !free_.empty(); });
  if (stopped_ || (cancel_ != nullptr && cancel_->load())) return nullptr;
  std::unique_ptr<Block> block = std::move(free_.back());
  free_.pop_back();
  return block;
}

std::unique_ptr<Block> BlockReader::next() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  const auto can_go_on = [&] { return stopped_ || finished_ || !ready_.empty() || !reading_; };
  while (!stopped_ && ready_.empty() && !finished_) {
    if (!reading_) {
      reading_ = true;
      lock.unlock();
      try {
        read_for_all();
      } catch (...) {
        stop();
        throw;
      }
      lock.lock();
    } else {
      changed_.wait(lock, can_go_on);
    }
  }
  --waiting_;
  if (stopped_ || ready_.empty()) return nullptr;
  std::unique_ptr<Block> block = std::move(ready_.front());
  ready_.pop_front();
  lock.unlock();
  if (!block->is_planned) return block;
  bool is_read = false;
  try {
    is_read = read_planned(*block);
  } catch (...) {
    stop();
    throw;
  }
  if (is_read) return block;
  stop();  // the blocks before it are delivered; readers that wait for this one would deadlock
  return nullptr;
}

void BlockReader::recycle(std::unique_ptr<Block> block) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(block));
  }
  changed_.notify_all();
}

void BlockReader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

std::optional<std::uint64_t> BlockReader::zeros() const {
  const std::lock_guard lock(mutex_);
  return zeros_;
}

std::uint64_t BlockReader::text_bytes() const {
  const std::lock_guard lock(mutex_);
  return text_bytes_;
}

std::optional<Error> BlockReader::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace gapscope
