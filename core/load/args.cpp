#include "core/load/args.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include <sys/stat.h>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/batch_parser.h"
#include "core/load/byte_source.h"
#include "core/load/json_text.h"
#include "core/load/read_again.h"
#include "core/load/restart_points.h"
#include "core/load/spilled_text.h"
#include "core/load/structural_index.h"

namespace gapscope {
namespace {

constexpr std::size_t kFirstRead = 16 * 1024;                 // most events are far smaller
constexpr std::size_t kLargestEvent = std::size_t{64} << 20;  // an event larger than this is not shown whole

// Reads `text` from the source's current place until the event that begins it is complete, and takes it as the load did:
// as it is, or mended.
Result<std::string> read_one_event(ByteSource& source, const std::string& shown, std::uint64_t offset) {
  std::string text;
  LocalTables tables;
  BatchParser parser(tables);
  std::vector<TakenEvent> taken;
  parser.record_into(&taken);
  for (std::size_t want = kFirstRead; text.size() < kLargestEvent; want *= 4) {
    const std::size_t had = text.size();
    text.resize(had + want);
    Result<std::size_t> got = source.read(text.data() + had, want);
    if (!got) return got.error();
    text.resize(had + *got);
    if (text.empty() || text.front() != '{') break;
    const BatchEnd end = parser.parse(text, offset, *got < want);
    if (!taken.empty() && taken[0].at == 0)
      return taken[0].mended.empty() ? text.substr(0, taken[0].end) : std::move(taken[0].mended);
    if (end.how != BatchEnd::How::unfinished || end.at != 0) break;
  }
  return Error{
      fmt::format("The event at byte {} of {} cannot be read any more: the file has changed since it was opened. Reload it.",
                  offset, shown)};
}

// Moves the source forward by `bytes`.
Result<bool> skip(ByteSource& source, std::uint64_t bytes) {
  std::string scratch(std::size_t{256} * 1024, '\0');
  while (bytes > 0) {
    Result<std::size_t> got =
        source.read(scratch.data(), static_cast<std::size_t>(std::min<std::uint64_t>(bytes, scratch.size())));
    if (!got) return got.error();
    if (*got == 0) return false;
    bytes -= *got;
  }
  return true;
}

class Walk {
 public:
  explicit Walk(const std::string& event) : text_(event) {
    ok_ = index_.index(event.data(), event.size()) == IndexState::ok;
    positions_ = index_.positions();
  }

  Result<std::vector<Arg>> args() {
    std::vector<Arg> out;
    if (!ok_ || at(0) != '{') return Error{"The event's text is damaged; its args cannot be shown."};
    std::size_t i = 1;
    while (at(i) == '"' && at(i + 1) == ':') {
      const std::size_t after = value_end(i + 2);
      if (token(i, i + 1) == "\"args\"" && at(i + 2) == '{') {
        out.clear();
        read_object(i + 2, out);
      }
      if (after == 0 || at(after) != ',') break;
      i = after + 1;
    }
    return out;
  }

 private:
  char at(std::size_t i) const { return i < positions_.size() ? text_[positions_[i]] : '\0'; }

  std::string_view token(std::size_t i, std::size_t after) const {
    const std::size_t begin = positions_[i];
    std::size_t end = after < positions_.size() ? positions_[after] : text_.size();
    while (end > begin && (text_[end - 1] == ' ' || text_[end - 1] == '\n' || text_[end - 1] == '\r' || text_[end - 1] == '\t'))
      --end;
    return text_.substr(begin, end - begin);
  }

  // Position after the value at i; 0 when it does not close.
  std::size_t value_end(std::size_t i) const {
    std::size_t depth = 0;
    for (; at(i) != '\0'; ++i) {
      if (at(i) == '{' || at(i) == '[') ++depth;
      if ((at(i) == '}' || at(i) == ']') && depth > 0) --depth;
      if (depth == 0) return i + 1;
    }
    return 0;
  }

  static std::string plain_text(std::string_view quoted) {
    std::string out;
    const std::string_view content = quoted.substr(1, quoted.size() - 2);
    return unescape(content, out) ? out : std::string(content);
  }

  void read_object(std::size_t i, std::vector<Arg>& out) const {
    ++i;
    while (at(i) == '"' && at(i + 1) == ':') {
      const std::size_t after = value_end(i + 2);
      if (after == 0) return;
      Arg arg;
      arg.key = plain_text(token(i, i + 1));
      const std::string_view value = token(i + 2, after);
      arg.is_text = value.size() >= 2 && value.front() == '"';
      arg.value = arg.is_text ? plain_text(value) : std::string(value);
      out.push_back(std::move(arg));
      if (at(after) != ',') return;
      i = after + 1;
    }
  }

  std::string_view text_;
  StructuralIndex index_;
  std::span<const std::uint32_t> positions_;
  bool ok_ = false;
};

}  // namespace

bool is_pipe(const std::string& path) {
  struct stat info {};
  return path == "-" || (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

TextAccess::TextAccess(const Trace& trace)
    : path(trace.path), is_plain(trace.is_plain_text), restart_points(trace.restart_points), spilled(trace.spilled_text) {}

std::optional<Error> spill(TextAccess& text, const std::string& folder, const std::atomic<bool>* cancel) {
  if (text.is_plain || text.spilled || text.path == "-") return std::nullopt;
  Result<std::shared_ptr<SpilledText>> copy = SpilledText::create(folder);
  if (!copy) return std::nullopt;
  Result<std::unique_ptr<ByteSource>> source = open_source(text.path, cancel);
  if (!source) return source.error();
  std::string piece(std::size_t{1} << 20, '\0');
  for (;;) {
    if (cancel != nullptr && *cancel) return Error{"Cancelled."};
    const Result<std::size_t> got = (*source)->read(piece.data(), piece.size());
    if (!got) return got.error();
    if ((*copy)->append(piece.data(), *got)) return std::nullopt;
    if (*got < piece.size()) break;
  }
  text.spilled = std::move(*copy);
  return std::nullopt;
}

Result<std::unique_ptr<ByteSource>> open_text_before(const TextAccess& text, std::uint64_t offset, std::uint64_t& begin) {
  if (!text.spilled && text.path != "-" && is_pipe(text.path)) {
    return Error{fmt::format("{} is a pipe, so its args cannot be read again. Open the trace from a file to see them.",
                             printable(text.path))};
  }
  if (text.path == "-" && !text.spilled)
    return Error{"The trace came through standard input, so its args cannot be read again. Open it from a file to see them."};
  if (text.spilled) {
    begin = offset;
    return text.spilled->open_at(offset);
  }
  const RestartPoint* point = text.restart_points ? text.restart_points->before(offset) : nullptr;
  if (point != nullptr) {
    begin = point->text_offset;
    return open_gzip_at(text.path, *point);
  }
  begin = 0;
  if (text.is_plain) {
    begin = offset;
    return open_packed(text.path, offset);
  }
  return open_source(text.path);
}

Result<std::vector<Arg>> args_of_event(const std::string& event) { return Walk(event).args(); }

namespace {

Result<std::string> event_text(const TextAccess& text, std::uint64_t offset) {
  const std::string shown = printable(text.path);
  std::uint64_t begin = 0;
  Result<std::unique_ptr<ByteSource>> source = open_text_before(text, offset, begin);
  if (!source) return source.error();
  const Result<bool> there = skip(**source, offset - begin);
  if (!there) return there.error();
  if (!*there) return Error{fmt::format("{} is shorter than when it was opened: byte {} is gone. Reload it.", shown, offset)};
  return read_one_event(**source, shown, offset);
}

}  // namespace

Result<std::string> read_event_text(const Trace& trace, std::uint64_t offset) { return event_text(TextAccess(trace), offset); }

Result<std::vector<Arg>> read_args(const TextAccess& text, std::uint64_t offset) {
  if (offset == kNoOffset) return std::vector<Arg>{};
  const Result<std::string> event = event_text(text, offset);
  if (!event) return event.error();
  return args_of_event(*event);
}

Result<std::vector<Arg>> read_args(const Trace& trace, std::uint64_t offset) { return read_args(TextAccess(trace), offset); }

}  // namespace gapscope
