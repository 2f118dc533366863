#include "core/load/event_parser.h"

#include <array>
#include <cstring>

#include "core/base/same_text.h"
#include "core/load/json_text.h"

namespace gapscope {
namespace {

// What a character at the beginning of a value says.
enum class First : std::uint8_t { scalar, string, open, none };

constexpr std::array<First, 256> kFirst = [] {
  std::array<First, 256> table{};
  table['"'] = First::string;
  table['{'] = table['['] = First::open;
  for (const char c : {'\0', ',', '}', ']', ':'}) table[static_cast<unsigned char>(c)] = First::none;
  return table;
}();

// How a structural character changes the depth.
constexpr std::array<std::int8_t, 256> kDepth = [] {
  std::array<std::int8_t, 256> table{};
  table['{'] = table['['] = 1;
  table['}'] = table[']'] = -1;
  return table;
}();

First first_of(char c) { return kFirst[static_cast<unsigned char>(c)]; }

bool is_closed(std::string_view string) { return string.size() >= 2 && string.back() == '"'; }

}  // namespace

void EventParser::set_text(std::string_view text, std::span<const std::uint32_t> at, std::uint64_t text_offset) {
  text_ = text;
  at_ = at;
  text_offset_ = text_offset;
  look_for_backslash(text.data());
}

void EventParser::look_for_backslash(const char* from) const {
  const void* const found = from == limit() ? nullptr : std::memchr(from, '\\', static_cast<std::size_t>(limit() - from));
  looked_from_ = from;
  next_backslash_ = found != nullptr ? static_cast<const char*>(found) : limit();
}

bool EventParser::has_escape(std::string_view t) const {
  if (t.data() < looked_from_) return t.find('\\') != std::string_view::npos;
  if (t.data() > next_backslash_) look_for_backslash(t.data());
  return next_backslash_ < t.data() + t.size();
}

std::string_view EventParser::text_of(std::string_view t) {
  if (!is_quoted(t)) return t;
  if (!has_escape(t)) return bare(t);
  unescape(bare(t), scratch_);
  return scratch_;
}

[[gnu::always_inline]] inline EventParser::Position EventParser::skip_nested(Position at) const {
  const char* const text = text_.data();
  const Position end = at_.data() + at_.size();
  const auto step = [&](Position p) { return int{kDepth[static_cast<unsigned char>(text[*p])]}; };
  int depth = 1;
  ++at;
  // Four at a time: one decision for most short lists.
  for (; end - at >= 4; at += 4) {
    const int a = depth + step(at);
    const int b = a + step(at + 1);
    const int c = b + step(at + 2);
    const int d = c + step(at + 3);
    if (a == 0 || b == 0 || c == 0 || d == 0) return at + (a == 0 ? 1 : b == 0 ? 2 : c == 0 ? 3 : 4);
    depth = d;
  }
  for (; at != end; ++at) {
    depth += step(at);
    if (depth == 0) return at + 1;
  }
  return nullptr;
}

std::size_t EventParser::parse(std::size_t i) {
  fields_.begin_event();
  Position after = parse_known(at_.data() + i);
  without_escapes_ = after != nullptr;
  if (after == nullptr) {
    fields_.begin_event();
    after = parse_fields(at_.data() + i);
    if (after != nullptr && !fields_.duplicate) learn_shape(at_.data() + i);
  }
  if (after == nullptr) return kFailed;
  event_begin_ = i;
  event_after_ = static_cast<std::size_t>(after - at_.data());
  event_offset_ = forced_offset_ != kNoOffset ? forced_offset_ : text_offset_ + at_[i];
  put();
  return event_after_;
}

// A member needs four places: its key, a colon, its value and what ends it, since every object of the text is closed.
[[gnu::always_inline]] inline bool EventParser::read_member(Position at, Member& m) const {
  if (at_.data() + at_.size() - at < 4) return false;
  const char* const text = text_.data();
  const char* const key = text + at[0];
  const char* const colon = text + at[1];
  if (*key != '"' || *colon != ':') return false;
  m.key = trimmed(key, colon);
  if (!is_closed(m.key)) return false;
  m.key = {key + 1, m.key.size() - 2};
  m.value = at + 2;
  const First first = first_of(text[at[2]]);
  if (first == First::none) return false;
  m.is_scalar = first != First::open;
  if (!m.is_scalar) return true;
  m.after = at + 3;
  m.token = trimmed(text + at[2], text + at[3]);
  return first != First::string || is_closed(m.token);
}

// Where an object or an array ends.
[[gnu::always_inline]] inline bool EventParser::read_nested(Member& m) const {
  m.after = skip_nested(m.value);
  return m.after != nullptr && m.after != at_.data() + at_.size();
}

[[gnu::always_inline]] inline bool EventParser::escapes_are_sound(const Member& m) {
  return m.token.front() != '"' || !has_escape(m.token) || unescape(bare(m.token), scratch_);
}

// An event whose keys come as those of one before. Null when there is none, and then it is read member by member.
EventParser::Position EventParser::parse_known(Position at) {
  const char* const text = text_.data();
  const Position end = at_.data() + at_.size();
  const KeyOrder* const shape = shapes_.find(text, limit(), at + 1, end);
  if (shape == nullptr) return nullptr;
  ++at;
  const std::uint32_t whole = shape->has_args ? shape->members : shape->members - 1;
  // Texts with escapes have to be looked at one by one.
  if (text + at[0] < looked_from_ || text + at[4 * whole] > next_backslash_) return nullptr;
  EventFields& f = fields_;
  f.present = shape->present;
  for (std::uint32_t i = 0; i < whole; ++i, at += 4) {
    f.tokens[static_cast<std::size_t>(shape->keys[i])] = {text + at[2], at[3] - at[2]};
  }
  if (!shape->has_args) {
    Member m;
    if (!read_member(at, m) || !m.is_scalar || text[*m.after] != '}' || has_escape(m.token)) return nullptr;
    f.tokens[static_cast<std::size_t>(shape->keys[whole])] = m.token;
    return m.after + 1;
  }
  const Position after = same_text(f[EventKey::cat], "\"python_function\"") ? skip_args(at + 2) : parse_args(at + 2);
  return after != nullptr && after != end && text[*after] == '}' ? after + 1 : nullptr;
}

// Remembers the order of this event's keys, which is known to be sound.
void EventParser::learn_shape(Position at) {
  KeyOrder shape;
  for (++at;; at += 4) {
    Member m;
    if (shape.members == KeyOrder::kMost || !read_member(at, m)) return;
    const std::string_view text = text_.substr(at[0], at[1] + 1 - at[0]);
    if (text.size() > 8) return;
    shape.words[shape.members] = word_of(text);
    shape.masks[shape.members] = text.size() == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * text.size())) - 1;
    const EventKey key = kEventKeyTable.find(m.key.data(), m.key.size(), limit(), EventKey::other);
    if (!m.is_scalar) {
      if (key != EventKey::args) return;
      shape.has_args = true;
      break;
    }
    shape.keys[shape.members++] = key;
    shape.present |= EventFields::bit(key);
    if (text_[*m.after] == '}') break;
  }
  if (std::endian::native == std::endian::little) shapes_.learn(shape);
}

EventParser::Position EventParser::parse_fields(Position at) {
  const char* const text = text_.data();
  EventFields& f = fields_;
  ++at;
  if (at == at_.data() + at_.size()) return nullptr;
  if (text[*at] == '}') return at + 1;
  for (;; ++at) {
    Member m;
    if (!read_member(at, m)) return nullptr;
    const EventKey key = kEventKeyTable.find(m.key.data(), m.key.size(), limit(), EventKey::other);
    const std::uint32_t bit = key == EventKey::other ? 0 : EventFields::bit(key);
    f.duplicate = f.duplicate || (f.seen & bit) != 0;
    f.seen |= bit;
    if (m.is_scalar) {
      // Times hold no escapes; other texts may, and then they must be ones that can be read.
      if (key != EventKey::ph && key != EventKey::ts && key != EventKey::dur && !escapes_are_sound(m)) return nullptr;
      f.tokens[static_cast<std::size_t>(key)] = m.token;
      f.present |= EventFields::bit(key);
    } else if (key == EventKey::args && text[*m.value] == '{') {
      // Nothing in a Python frame's args is joined on, and half of all events are Python frames.
      m.after = same_text(f[EventKey::cat], "\"python_function\"") ? skip_args(m.value) : parse_args(m.value);
      if (m.after == nullptr || m.after == at_.data() + at_.size()) return nullptr;
    } else if (!read_nested(m)) {
      return nullptr;
    }
    at = m.after;
    if (text[*at] == '}') return at + 1;
    if (text[*at] != ',') return nullptr;
  }
}

// As skip_nested(), in long steps as long as members are scalars.
EventParser::Position EventParser::skip_args(Position begin) const {
  const char* const text = text_.data();
  const Position last = at_.data() + at_.size() - 3;
  for (Position at = begin + 1; at < last && text[at[0]] == '"' && text[at[1]] == ':' && first_of(text[at[2]]) <= First::string;
       at += 4) {
    if (text[at[3]] == '}') return at + 4;
    if (text[at[3]] != ',') break;
  }
  return skip_nested(begin);
}

EventParser::Position EventParser::parse_args(Position at) {
  const char* const text = text_.data();
  EventFields& f = fields_;
  f.forget_args();  // the later args count
  f.has_args = true;
  // A counter's args are its series. The phase may come after the args, so only events that already said they are
  // something else are spared.
  const std::string_view phase = bare(f[EventKey::ph]);
  const bool may_be_counter = phase.empty() || phase == "C";
  const auto ended = [&](Position brace) {
    f.args.end = text + *brace;
    return brace + 1;
  };
  ++at;
  if (at == at_.data() + at_.size()) return nullptr;
  if (text[*at] == '}') return at + 1;
  ArgStretch stretch;
  std::uint64_t present = 0;
  for (;; ++at) {
    Member m;
    if (!read_member(at, m)) return nullptr;
    const ArgKey key = kArgKeyTable.find(m.key.data(), m.key.size(), limit(), ArgKey::not_kept);
    const bool repeats = (!m.is_scalar || ArgsCache::may_hold(key)) && !may_be_counter;
    if (repeats && stretch.begin == nullptr) {
      if (const CachedArgs* const run = find_run(at); run != nullptr && (run->present & present) == 0) {
        take_run(*run);
        present |= run->present;
        at += run->positions;
        if (text[*at] == '}') return ended(at);
        continue;
      }
      stretch = {at, 0, present, f.non_finite};
    } else if (!repeats && stretch.begin != nullptr) {
      learn_run(stretch, at - 1);
      stretch.begin = nullptr;
    }
    stretch.present |= arg_bit(key);
    present |= arg_bit(key);
    if (!m.is_scalar) {
      if (!read_nested(m)) return nullptr;
    } else {
      const char c = m.token.front();
      if (!escapes_are_sound(m)) return nullptr;
      if (c != '"' && c != 't' && c != 'f' && (c > '9' || c == '-') && is_non_finite(m.token)) ++f.non_finite;
    }
    if (key != ArgKey::not_kept) take_arg(key, m);
    if (may_be_counter) f.series.emplace_back(m.key, m.is_scalar ? m.token : std::string_view());
    at = m.after;
    if (text[*at] == '}') break;
    if (text[*at] != ',') return nullptr;
  }
  if (stretch.begin != nullptr) learn_run(stretch, at);
  return ended(at);
}

const CachedArgs* EventParser::find_run(Position at) {
  const CachedArgs* const run = runs_.find(fields_[EventKey::name], text_.substr(*at));
  return run != nullptr && at_.data() + at_.size() - at > run->positions ? run : nullptr;
}

}  // namespace gapscope
