#include "core/load/event_stream.h"

#include "core/base/parallel.h"

namespace gapscope {

EventStream::EventStream(TopLevel& top, int threads, LoadProgress& progress) : top_(top), threads_(threads), progress_(progress) {
  for (int i = 0; i <= threads; ++i) tables_.push_back(std::make_unique<LocalTables>());
}

bool EventStream::run(BlockReader& reader, std::uint64_t until_bytes) {
  until_bytes_ = until_bytes;
  run_workers(threads_, [&](int worker) { work(reader, worker); });
  return !progress_.cancel.load();
}

void EventStream::work(BlockReader& reader, int worker) {
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
      parsed.end = parser.parse(block->text(), block->file_offset, block->is_last);
      parsed.chunk = parser.chunk();  // a copy of exactly the needed size; the parser keeps its room
      parsed.chunk.table = worker;
    }
    parsed.block = std::move(block);
    const std::lock_guard lock(mutex_);
    waiting_.emplace(parsed.block->number, std::move(parsed));
    commit_ready(reader);
  }
  if (progress_.cancel.load()) reader.stop();
}

void EventStream::copy_to(BuildInput& input) const {
  // Texts and lanes put in again in the order of their ids get the same ids.
  input.tables.resize(tables_.size());
  parallel_for(threads_, tables_.size(), [&](std::size_t t) {
    auto copy = std::make_unique<LocalTables>();
    for (std::size_t i = 0; i < tables_[t]->strings.size(); ++i) copy->strings.intern(tables_[t]->strings[StringId(i)]);
    for (const LaneKey& lane : tables_[t]->lanes()) copy->lane(lane.process, lane.thread);
    input.tables[t] = std::move(copy);
  });
  input.chunks.resize(chunks_.size());
  parallel_for(threads_, chunks_.size(), [&](std::size_t c) { input.chunks[c] = chunks_[c]; });
}

void EventStream::commit_ready(BlockReader& reader) {
  for (auto at = waiting_.find(next_); at != waiting_.end(); at = waiting_.find(next_)) {
    commit(at->second);
    reader.recycle(std::move(at->second.block));
    waiting_.erase(at);
    ++next_;
  }
}

void EventStream::commit(Parsed& parsed) {
  const Block& block = *parsed.block;
  if (array_closed_) {
    feed_rest(block.text(), block.file_offset, block.is_last);
  } else if (!carry_.empty() || !after_comma_) {
    commit_again(block);
  } else {
    keep(std::move(parsed.chunk));
    take_end(parsed.end, block.text(), block.file_offset, block.is_last);
  }
}

// The block before ended in the middle of an event, so that this one's parse began in the wrong place, or it ended without
// the comma that this one's parse took for granted.
void EventStream::commit_again(const Block& block) {
  std::string text = std::move(carry_);
  carry_.clear();
  text += block.text();
  const bool begins_inside = text.size() > block.text().size();
  const std::uint64_t offset = begins_inside ? carry_offset_ : block.file_offset;
  BatchParser parser(*tables_.back());
  const BatchEnd end = parser.parse(text, offset, block.is_last, begins_inside || after_comma_);
  parser.chunk().table = threads_;
  keep(std::move(parser.chunk()));
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
  if (object_closed_ && top_.report().count(Oddity::text_after_end) != 0) return;  // said once, for all that follows
  if (rest_.empty()) rest_offset_ = file_offset;
  rest_ += text;
  const TopLevel::State state = top_.feed(rest_, rest_offset_, is_last);
  rest_.erase(0, top_.consumed());
  rest_offset_ += top_.consumed();
  if (state == TopLevel::State::finished) object_closed_ = true;
  if (state == TopLevel::State::not_json) {
    if (!object_closed_) top_.report().add(Oddity::text_after_end, rest_offset_, "");
    rest_.clear();
    object_closed_ = true;
  }
}

void EventStream::keep(RawChunk chunk) {
  truncated_ = truncated_ || chunk.report.count(Oddity::truncated) != 0;
  progress_.events.fetch_add(chunk.events, std::memory_order_relaxed);
  chunks_.push_back(std::move(chunk));
}

}  // namespace gapscope
