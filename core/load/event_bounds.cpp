#include "core/load/event_bounds.h"

#include <algorithm>
#include <array>

#include "core/load/json_text.h"

namespace gapscope {
namespace {

constexpr std::size_t kNpos = std::string_view::npos;

// Keys that stand first in events of known writers, sorted ones included.
constexpr std::array<std::string_view, 13> kEventKeys = {"ph",   "cat", "name", "pid", "tid", "ts",   "dur",
                                                         "args", "id",  "bp",   "s",   "tts", "cname"};
constexpr std::size_t kLongestKey = 64;  // of those that count as keys where any will do

enum class Match : std::uint8_t { no, event_key, other_key, cut_off };

// What kind of key follows the '{' at `at`. `key` becomes it.
Match key_after(std::string_view text, std::size_t at, std::string_view& key) {
  std::size_t i = skip_json_space(text, at + 1);
  if (i == text.size()) return Match::cut_off;
  if (text[i] != '"') return Match::no;
  const std::string_view rest = text.substr(i + 1);
  const std::size_t length = rest.substr(0, kLongestKey).find('"');
  if (length == kNpos) return rest.size() < kLongestKey ? Match::cut_off : Match::no;
  key = rest.substr(0, length);
  i = skip_json_space(rest, length + 1);
  if (i == rest.size()) return Match::cut_off;
  if (rest[i] != ':') return Match::no;
  return std::find(kEventKeys.begin(), kEventKeys.end(), key) != kEventKeys.end() ? Match::event_key : Match::other_key;
}

// The position after the last character before `at` that is no space.
std::size_t before(std::string_view text, std::size_t at) {
  while (at > 0 && is_json_space(text[at - 1])) --at;
  return at;
}

bool follows(std::string_view text, std::size_t at, char c) {
  at = before(text, at);
  return at > 0 && text[at - 1] == c;
}

// Is the '{' at `at` preceded by "}" and ","?
bool follows_event(std::string_view text, std::size_t at) {
  return follows(text, at, ',') && follows(text, before(text, at) - 1, '}');
}

// What numbers, literals (true, null, NaN, Infinity, N/A) and the space between values are made of. When a quote is
// missing, inside and outside change places, and the letters of keys soon show it.
constexpr auto kMayStandOutside = [] {
  std::array<bool, 256> may{};
  for (const char c : std::string_view("0123456789+-.eEtrufalsnNIiyA/,: \n\r\t")) may[static_cast<unsigned char>(c)] = true;
  return may;
}();

// Follows brackets and strings from `at`. Strings begin and end as simdjson sees them, to which a backslash takes the quote
// after it away outside strings too.
class BracketWalk {
 public:
  BracketWalk(std::string_view text, std::size_t at) : text_(text), begin_(at), at_(at) {}

  // From now on as if inside an object.
  void enter_object() { open('{'); }

  void run_to(std::size_t end) {
    end = std::min(end, text_.size());
    while (at_ < end && !stopped()) step(text_[at_++]);
  }

  bool closed() const { return closed_; }
  bool odd() const { return odd_ || broken_; }
  // It makes no sense to continue.
  bool stopped() const { return closed_ || broken_ || (odd_ && at_ - begin_ > kBalanceBytes); }
  std::size_t at() const { return std::min(at_, text_.size()); }

 private:
  static constexpr std::uint64_t kDeepest = 64;

  void step(char c) {
    if (is_json_space(c)) return;
    switch (c) {
      case '"': skip_string(); break;
      case '{':
      case '[': open(c); break;
      case '}':
      case ']': close(c); break;
      case '\\': at_ += at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\\') ? 1 : 0; [[fallthrough]];
      default: odd_ = odd_ || !kMayStandOutside[static_cast<unsigned char>(c)];
    }
    before_ = c;
  }

  void skip_string() {
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    // JSON forbids a raw newline inside: a quote is missing or one too many.
    broken_ = at_ < text_.size() && text_[at_] == '\n';
    ++at_;
  }

  // In an object a '{' cannot follow a comma: in the outermost, the next event is there. Deeper than kDeepest nothing is
  // remembered, and nothing sound goes.
  void open(char c) {
    const bool in_object = depth_ > 0 && (objects_ & 1) != 0;
    broken_ = c == '{' && before_ == ',' && in_object && depth_ == 1;
    odd_ = odd_ || (c == '{' && before_ == ',' && in_object) || depth_ >= kDeepest;
    objects_ = objects_ << 1 | (c == '{' ? 1 : 0);
    ++depth_;
  }

  void close(char c) {
    odd_ = odd_ || (c == '}') != ((objects_ & 1) != 0);
    objects_ >>= 1;
    closed_ = --depth_ == 0;
  }

  std::string_view text_;
  std::size_t begin_, at_;
  std::size_t depth_ = 0;
  std::uint64_t objects_ = 0;  // a bit for each open bracket, the innermost lowest: is it a '{'
  char before_ = '\0';
  bool odd_ = false;     // perhaps a quote is missing, perhaps it is just an odd number
  bool broken_ = false;  // it cannot be read, wherever it closes
  bool closed_ = false;
};

// The first '{' in [from, end) followed by an event's key, whatever is before it: in a sound string the quotes of
// a key are escaped. The end of the text when that is not known, npos when there is none.
std::size_t find_event_key(std::string_view text, std::size_t from, std::size_t end) {
  const std::string_view value = text.substr(0, end);
  for (std::size_t at = value.find('{', from); at != kNpos; at = value.find('{', at + 1)) {
    std::string_view key;
    const Match match = key_after(text, at, key);
    if (match == Match::event_key) return at;
    if (match == Match::cut_off) return text.size();
  }
  return kNpos;
}

// Where the value's own text says that it ends. The size of the text, and `cut_off`, when that is not in it.
std::size_t own_end(std::string_view text, std::size_t at, bool& cut_off) {
  std::size_t end = at + 1;
  if (text[at] == '[') {
    BracketWalk walk(text, at);
    walk.run_to(at + kBalanceBytes);
    cut_off = !walk.stopped() && walk.at() == text.size();
    return walk.at();
  }
  if (text[at] == '"') {
    while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
    cut_off = end >= text.size();
    return std::min(end + 1, text.size());
  }
  while (end < text.size() && text[end] != ',' && text[end] != ']' && text[end] != '{') ++end;
  cut_off = end == text.size();
  return end;
}

// Do members of the top-level object follow the ']', up to its '}' and the end of the file, or further than an event's
// own text could continue? `after`: the text behind the ']'.
bool members_follow(std::string_view after) {
  std::size_t i = skip_json_space(after, 0);
  if (i == after.size()) return true;
  if (after[i] == '}') return skip_json_space(after, i + 1) == after.size();
  if (after[i] != ',') return false;
  i = skip_json_space(after, i + 1);
  if (i == after.size() || after[i] != '"') return false;
  BracketWalk walk(after, i);
  walk.enter_object();
  walk.run_to(after.size());
  return !walk.odd() && (!walk.closed() || skip_json_space(after, walk.at()) == after.size());
}

}  // namespace

Brackets follow_brackets(std::string_view text, std::size_t at) {
  BracketWalk walk(text, at);
  walk.run_to(at + kTrustedBytes);
  if (!walk.stopped() && walk.at() < text.size()) {
    const std::size_t next = find_next_event(text, at + 1);
    walk.run_to(next);
    if (!walk.stopped() && next != kNpos) return {0, true, false};
  }
  return {walk.closed() ? walk.at() : 0, walk.odd(), !walk.stopped()};
}

std::size_t find_next_event(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('{', from); at != kNpos; at = text.find('{', at + 1)) {
    std::string_view key;
    if (key_after(text, at, key) == Match::event_key && (key == "ph" || follows(text, at, ','))) return at;
  }
  return kNpos;
}

std::size_t find_last_event(std::string_view text, bool any_key) {
  for (std::size_t at = text.rfind('{'); at != kNpos && at > 0; at = text.rfind('{', at - 1)) {
    if (!follows_event(text, at)) continue;
    std::string_view key;
    const Match match = key_after(text, at, key);
    if (match == Match::event_key || (any_key && match == Match::other_key)) return at;
  }
  return kNpos;
}

std::size_t find_other_end(std::string_view text, std::size_t at, bool is_last) {
  bool cut_off = false;
  const std::size_t end = own_end(text, at, cut_off);
  const std::size_t event = find_event_key(text, at + 1, end);
  if (event < text.size()) return event;
  if ((cut_off || event == text.size()) && !is_last) return kNpos;
  return end;
}

Closes what_closes(std::string_view text, std::size_t at, bool is_last) {
  const std::string_view after = text.substr(at + 1, kLookAhead);
  if (after.size() < kLookAhead && !is_last) return Closes::needs_more_text;
  return members_follow(after) || find_next_event(after, 0) == kNpos ? Closes::events : Closes::nothing;
}

}  // namespace gapscope
