#include "core/load/event_walk.h"

#include <algorithm>

namespace gapscope {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr int kBlocks = 3;  // one is parsed; of packed text one is inflated meanwhile and one waits
constexpr std::size_t kLargestTail = std::size_t{16} << 20;  // headers are a few KB; what else follows is no trace's

}  // namespace

std::optional<Error> EventWalk::find_events() {
  std::size_t want = kReadBytes;
  for (;;) {
    if (cancelled()) return Error{"Cancelled."};
    const std::size_t had = first_.size();
    first_.resize(had + want);
    Result<std::size_t> got = source_.read(first_.data() + had, want);
    if (!got) return got.error();
    first_.resize(had + *got);
    const bool is_last = *got < want;
    const TopLevel::State state = top_.feed(first_, offset_, is_last);
    head_.append(first_, 0, top_.consumed());
    first_.erase(0, top_.consumed());
    offset_ += top_.consumed();
    if (state == TopLevel::State::events_begin) {
      if (top_.is_lines()) {
        lines_.emplace(source_).put_commas(first_.data(), first_.size());
        head_ = "[";
      }
      return std::nullopt;
    }
    if (state != TopLevel::State::need_more || is_last)
      return Error{"The file holds no events any more: it has changed since it was opened. Reload it."};
    want = std::max(want, first_.size());
  }
}

std::optional<Error> EventWalk::run(const std::function<void(const Stretch&)>& take) {
  if (auto error = find_events()) return error;
  parser_.record_into(&taken_);
  BlockReader reader(lines_ ? *lines_ : source_, std::move(first_), offset_, kBlockBytes, kBlocks, cancel_, bytes_done_);
  while (std::unique_ptr<Block> block = reader.next()) {
    take_block(*block, take);
    reader.recycle(std::move(block));
    if (cancelled()) reader.stop();
  }
  if (cancelled()) return Error{"Cancelled."};
  read_error_ = reader.error();
  return std::nullopt;
}

// As EventStream commits its blocks.
void EventWalk::take_block(const Block& block, const std::function<void(const Stretch&)>& take) {
  if (array_closed_) {
    tail_ += block.text().substr(0, kLargestTail - std::min(kLargestTail, tail_.size()));
    return;
  }
  if (carry_.empty()) return parse(block.text(), block.file_offset, block.is_last, after_comma_, take);
  std::string text = std::exchange(carry_, {});
  text += block.text();
  parse(text, carry_offset_, block.is_last, true, take);
}

// Ids that hold for all stretches instead of those of one.
void EventWalk::use_table_ids() {
  RawChunk& chunk = parser_.chunk();
  const auto translate = [&](auto& row) {
    row.lane = chunk.lanes[row.lane].id;
    row.category = chunk.texts[chunk.categories[row.category]].id;
    row.name = chunk.texts[row.name].id;
  };
  for (RawFlow& flow : chunk.flows) translate(flow);
  for (RawHalf& half : chunk.halves) translate(half);
  for (TakenEvent& event : taken_) {
    if (event.what == TakenEvent::What::instant || event.what == TakenEvent::What::counter)
      event.lane = chunk.lanes[event.lane].id;
    if (event.what == TakenEvent::What::counter) event.name = chunk.texts[event.name].id;
  }
}

void EventWalk::parse(std::string_view text, std::uint64_t offset, bool is_last, bool after_comma,
                      const std::function<void(const Stretch&)>& take) {
  const BatchEnd end = parser_.parse(text, offset, is_last, after_comma);
  use_table_ids();
  take({text, parser_.chunk(), taken_});
  after_comma_ = end.after_comma;
  if (end.how == BatchEnd::How::array_closed) {
    array_closed_ = true;
    tail_ = text.substr(end.at, kLargestTail);
  }
  if (end.how == BatchEnd::How::unfinished) {
    carry_ = text.substr(end.at);
    carry_offset_ = offset + end.at;
  }
}

}  // namespace gapscope
