#include "core/load/args_pass.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "core/base/column.h"
#include "core/load/byte_source.h"
#include "core/load/event_bounds.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostReadBytes = std::size_t{1} << 20;
// So far an event's text is looked at without having met its end: the args of the rare longer ones are read by themselves.
constexpr std::size_t kLongestEvent = kBalanceBytes;
// So much of one is read at first where nothing else is asked of what follows it.
constexpr std::size_t kUsualEvent = 4 * 1024;
// Of a plain file, longer stretches without a requested event are not read. After one the next reads are as short, too.
constexpr std::size_t kLeastSkipped = 2 * kUsualEvent;

class Pass {
 public:
  Pass(const TextAccess& access, const ArgsPass& pass, std::unique_ptr<ByteSource> source, std::uint64_t at)
      : access_(access),
        pass_(pass),
        source_(std::move(source)),
        is_plain_(access.is_plain && !access.spilled),
        text_offset_(at) {}

  std::optional<Error> run() {
    for (std::size_t i = 0; i < pass_.offsets.size(); ++i) {
      if (pass_.cancel != nullptr && *pass_.cancel) return Error{"Cancelled."};
      const std::uint64_t offset = pass_.offsets[i];
      const std::uint64_t next = i + 1 < pass_.offsets.size() ? pass_.offsets[i + 1] : ~std::uint64_t{0};
      const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(next - offset, kLongestEvent));
      if (auto error = reach(offset, std::min(length, kUsualEvent))) return error;
      if (length > kUsualEvent && !ends_within(offset, length))
        if (auto error = reach(offset, length)) return error;
      bool go_on = true;
      if (auto error = look(i, length, go_on)) return error;
      if (!go_on) break;
    }
    return std::nullopt;
  }

 private:
  // Makes the text hold `offset` and so many bytes from there on, as far as the file goes.
  std::optional<Error> reach(std::uint64_t offset, std::size_t length) {
    if (is_plain_ && !at_end_ && offset > text_offset_ + text_.size() + kLeastSkipped && source_->seek(offset)) {
      text_.clear();
      text_offset_ = offset;
      read_bytes_ = kLeastSkipped;
    }
    while (!at_end_ && text_offset_ + text_.size() < offset + length) {
      const std::uint64_t before = offset > text_offset_ ? offset - text_offset_ : 0;
      const auto done = static_cast<std::size_t>(std::min<std::uint64_t>(before, text_.size()));
      text_.erase(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(done));
      text_offset_ += done;
      const std::size_t had = text_.size();
      text_.resize(had + read_bytes_);
      const Result<std::size_t> got = source_->read(text_.data() + had, read_bytes_);
      if (!got) return got.error();
      text_.resize(had + *got);
      at_end_ = *got < read_bytes_;
      read_bytes_ = std::min(2 * read_bytes_, kMostReadBytes);
      if (pass_.cancel != nullptr && *pass_.cancel) return Error{"Cancelled."};
    }
    return std::nullopt;
  }

  std::string_view text_from(std::uint64_t offset) const {
    const auto at = static_cast<std::size_t>(std::min<std::uint64_t>(offset - text_offset_, text_.size()));
    return std::string_view(text_.data(), text_.size()).substr(at);
  }
  bool ends_within(std::uint64_t offset, std::size_t length) const {
    const std::string_view text = text_from(offset).substr(0, length);
    const Brackets brackets = text.starts_with('{') ? follow_brackets(text, 0) : Brackets{};
    return brackets.end != 0 && !brackets.odd;
  }

  // At an event: `length` bytes of it are at hand, or all of it.
  std::optional<Error> look(std::size_t i, std::size_t length, bool& go_on) {
    const std::uint64_t offset = pass_.offsets[i];
    const std::string_view near = text_from(offset).substr(0, length);
    if (length < kLongestEvent && !pass_.may_matter(i, near)) return std::nullopt;
    const Brackets brackets = near.starts_with('{') ? follow_brackets(near, 0) : Brackets{};
    const bool whole = brackets.end != 0 && !brackets.odd && !brackets.cut_off;
    Result<std::vector<Arg>> args = whole ? args_of_event(std::string(near.substr(0, brackets.end))) : Error{};
    if (!args) args = read_args(access_, offset);  // damaged or long: as the load took it
    if (!args) return args.error();
    go_on = pass_.take(i, *args);
    return std::nullopt;
  }

  const TextAccess& access_;
  const ArgsPass& pass_;
  std::unique_ptr<ByteSource> source_;
  const bool is_plain_;  // bytes of the file are bytes of the text
  std::size_t read_bytes_ = kLeastSkipped;
  Column<char> text_;
  std::uint64_t text_offset_;
  bool at_end_ = false;
};

}  // namespace

std::optional<Error> read_args_in_order(const TextAccess& text, const ArgsPass& pass) {
  if (pass.offsets.empty()) return std::nullopt;
  std::uint64_t begin = 0;
  Result<std::unique_ptr<ByteSource>> source = open_text_before(text, pass.offsets.front(), begin);
  if (!source) return source.error();
  return Pass(text, pass, std::move(*source), begin).run();
}

}  // namespace gapscope
