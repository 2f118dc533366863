#include "core/load/event_stream.h"

#include <utility>

#include "core/base/parallel.h"

namespace gapscope {

EventStream::EventStream(TopLevel& top, int threads, LoadProgress& progress, LoadTimeline* timeline)
    : top_(top), threads_(threads), progress_(progress), timeline_(timeline) {
  for (int i = 0; i <= threads; ++i) tables_.push_back(std::make_unique<LocalTables>());
}

bool EventStream::run(BlockReader& reader, std::uint64_t until_bytes) {
  until_bytes_ = until_bytes;
  run_workers(threads_, [&](int worker) { work(reader, worker); });
  return !progress_.cancel.load();
}

// A thread that fails stops the reader: the others wait for blocks that would never come.
void EventStream::work(BlockReader& reader, int worker) {
  try {
    parse_blocks(reader, worker);
  } catch (...) {
    reader.stop();
    throw;
  }
}

void EventStream::parse_blocks(BlockReader& reader, int worker) {
  BatchParser parser(*tables_[static_cast<std::size_t>(worker)]);
  for (;;) {
    if (progress_.cancel.load() || progress_.bytes_done.load(std::memory_order_relaxed) >= until_bytes_) break;
    std::unique_ptr<Block> block = reader.next();
    if (!block) {
      at_end_ = true;
      break;
    }
    Parsed parsed;
    bool events_are_over = false;
    {
      const std::lock_guard lock(mutex_);
      events_are_over = array_closed_;
    }
    if (!events_are_over) {
      const Timed timed(timeline_, LoadTimeline::Stage::parsing);
      parsed.end = parser.parse(block->text(), block->file_offset, block->is_last);
    }
    parsed.block = std::move(block);
    add(std::move(parsed), parser.chunk(), reader);
  }
  if (progress_.cancel.load()) reader.stop();
}

// Commits the block when it is its turn, and those that waited for it. Rows are freed after the lock is
// released. `chunk` is the parser's own, which gets another one where this one has to wait.
void EventStream::add(Parsed parsed, RawChunk& chunk, BlockReader& reader) {
  const Timed timed(timeline_, LoadTimeline::Stage::storing);
  ClaimedChunks claimed;
  {
    const std::lock_guard lock(mutex_);
    if (parsed.block->number == next_) {
      commit(*parsed.block, parsed.end, {}, &chunk, claimed);
      reader.recycle(std::move(parsed.block));
      ++next_;
      commit_ready(reader, claimed);
    } else {
      parsed.chunk = std::exchange(chunk, take_spare());
      waiting_.emplace(parsed.block->number, std::move(parsed));
    }
  }
  for (const Claimed& c : claimed) RowStore::fill(c.claim, c.chunk != nullptr ? *c.chunk : c.own);
  const std::lock_guard lock(mutex_);
  for (Claimed& c : claimed) {
    if (c.chunk == nullptr) spare_.push_back(std::move(c.own));
  }
}

RawChunk EventStream::take_spare() {
  if (spare_.empty()) return {};
  RawChunk chunk = std::move(spare_.back());
  spare_.pop_back();
  return chunk;
}

void EventStream::commit_ready(BlockReader& reader, ClaimedChunks& claimed) {
  for (auto at = waiting_.find(next_); at != waiting_.end(); at = waiting_.find(next_)) {
    commit(*at->second.block, at->second.end, std::move(at->second.chunk), nullptr, claimed);
    reader.recycle(std::move(at->second.block));
    waiting_.erase(at);
    ++next_;
  }
}

void EventStream::commit(const Block& block, const BatchEnd& end, RawChunk own, const RawChunk* chunk, ClaimedChunks& claimed) {
  if (array_closed_) {
    feed_rest(block.text(), block.file_offset, block.is_last);
  } else if (!carry_.empty() || !after_comma_) {
    commit_again(block, claimed);
  } else {
    keep(std::move(own), chunk, claimed);
    take_end(end, block.text(), block.file_offset, block.is_last);
  }
}

// The block before ended in the middle of an event, so that this one's parse began in the wrong place, or it ended without
// the comma that this one's parse took for granted.
void EventStream::commit_again(const Block& block, ClaimedChunks& claimed) {
  std::string text = std::move(carry_);
  carry_.clear();
  text += block.text();
  const bool begins_inside = text.size() > block.text().size();
  const std::uint64_t offset = begins_inside ? carry_offset_ : block.file_offset;
  BatchParser parser(*tables_.back());
  const BatchEnd end = parser.parse(text, offset, block.is_last, begins_inside || after_comma_);
  keep(std::move(parser.chunk()), nullptr, claimed);
  take_end(end, text, offset, block.is_last);
}

void EventStream::take_end(const BatchEnd& end, std::string_view text, std::uint64_t file_offset, bool is_last) {
  after_comma_ = end.after_comma;
  switch (end.how) {
    case BatchEnd::How::between_events: return;
    case BatchEnd::How::array_closed:
      array_closed_ = true;
      top_.events_ended();
      feed_rest(text.substr(end.at), file_offset + end.at, is_last);
      return;
    case BatchEnd::How::unfinished:
      carry_.assign(text.substr(end.at));
      carry_offset_ = file_offset + end.at;
      return;
  }
}

void EventStream::feed_rest(std::string_view text, std::uint64_t file_offset, bool is_last) {
  if (object_closed_ && top_.report().count(ImportIssue::text_after_end) != 0) return;  // said once, for all that follows
  if (rest_.empty()) rest_offset_ = file_offset;
  rest_ += text;
  const TopLevel::State state = top_.feed(rest_, rest_offset_, is_last);
  rest_.erase(0, top_.consumed());
  rest_offset_ += top_.consumed();
  if (state == TopLevel::State::finished) object_closed_ = true;
  if (state == TopLevel::State::not_json) {
    if (!object_closed_) top_.report().add(ImportIssue::text_after_end, rest_offset_, "");
    rest_.clear();
    object_closed_ = true;
  }
}

void EventStream::keep(RawChunk own, const RawChunk* chunk, ClaimedChunks& claimed) {
  const RawChunk& rows = chunk != nullptr ? *chunk : own;
  truncated_ = truncated_ || rows.report.count(ImportIssue::truncated) != 0;
  progress_.events.fetch_add(rows.events, std::memory_order_relaxed);
  RowStore::Claim claim = store_.claim(rows);
  claimed.push_back({std::move(own), chunk, std::move(claim)});
}

}  // namespace gapscope
