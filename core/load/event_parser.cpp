#include "core/load/event_parser.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/load/event_fields.h"

namespace gapscope {
namespace {

constexpr std::size_t kExampleChars = 200;

enum Key : std::uint32_t { kPh = 1, kCat = 2, kName = 4, kPid = 8, kTid = 16, kTs = 32, kDur = 64, kId = 128, kArgs = 256, kScope = 512, kOther = 0 };

// Compares with a literal of known length, which compilers turn into one or two instructions.
template <std::size_t N>
bool is(std::string_view text, const char (&literal)[N]) {
  return text.size() == N - 1 && __builtin_memcmp(text.data(), literal, N - 1) == 0;
}

Key key_of(std::string_view key) {
  switch (key.size()) {
    case 1: return is(key, "s") ? kScope : kOther;
    case 2: return is(key, "ph") ? kPh : is(key, "ts") ? kTs : is(key, "id") ? kId : kOther;
    case 3: return is(key, "cat") ? kCat : is(key, "pid") ? kPid : is(key, "tid") ? kTid : is(key, "dur") ? kDur : kOther;
    case 4: return is(key, "name") ? kName : is(key, "args") ? kArgs : kOther;
    default: return kOther;
  }
}

inline bool is_quoted(std::string_view token) { return token.size() >= 2 && token.front() == '"'; }

[[gnu::always_inline]] inline std::string_view bare(std::string_view token) { return is_quoted(token) ? token.substr(1, token.size() - 2) : token; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool parse_hex4(std::string_view text, std::size_t at, std::uint32_t& code) {
  if (at + 4 > text.size()) return false;
  code = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = hex_value(text[i]);
    if (digit < 0) return false;
    code = code * 16 + static_cast<std::uint32_t>(digit);
  }
  return true;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// The code point of the \u escape whose hex digits start at `at`; moves `at` behind it. Lone surrogates become U+FFFD.
bool take_unicode_escape(std::string_view text, std::size_t& at, std::uint32_t& code) {
  if (!parse_hex4(text, at, code)) return false;
  at += 4;
  if (code < 0xD800 || code > 0xDFFF) return true;
  std::uint32_t low = 0;
  const bool pair = code < 0xDC00 && at + 6 <= text.size() && text[at] == '\\' && text[at + 1] == 'u' &&
                    parse_hex4(text, at + 2, low) && low >= 0xDC00 && low <= 0xDFFF;
  if (!pair) {
    code = 0xFFFD;
    return true;
  }
  at += 6;
  code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  return true;
}

}  // namespace

bool unescape(std::string_view content, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < content.size();) {
    if (content[i] != '\\') {
      const std::size_t next = std::min(content.find('\\', i), content.size());
      out.append(content, i, next - i);
      i = next;
      continue;
    }
    if (i + 1 == content.size()) return false;
    const char c = content[i + 1];
    i += 2;
    switch (c) {
      case '"': case '\\': case '/': out += c; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        std::uint32_t code = 0;
        if (!take_unicode_escape(content, i, code)) return false;
        append_utf8(code, out);
        break;
      }
      default: return false;
    }
  }
  return true;
}

void EventParser::set_text(std::string_view text, std::span<const std::uint32_t> at, std::uint64_t text_offset) {
  text_ = text;
  at_ = at;
  text_offset_ = text_offset;
  text_has_backslash_ = text.find('\\') != std::string_view::npos;
}

std::string_view EventParser::text_of(std::string_view t) {
  if (!is_quoted(t)) return t;
  const std::string_view content = t.substr(1, t.size() - 2);
  if (!has_escape(content)) return content;
  unescape(content, scratch_);
  return scratch_;
}

std::uint32_t EventParser::text_id(std::string_view t) { return tables_.strings.intern(text_of(t)).value; }

std::uint32_t EventParser::category_id(std::string_view cat) {
  if (cat != last_category_text_ || !has_last_category_) {
    last_category_text_.assign(cat);
    last_category_ = text_id(cat);
    has_last_category_ = true;
  }
  return last_category_;
}

std::uint32_t EventParser::lane_id(std::string_view pid, std::string_view tid) {
  if (has_last_lane_ && pid == last_pid_ && tid == last_tid_) return last_lane_;
  last_pid_.assign(pid);
  last_tid_.assign(tid);
  const std::string process(text_of(pid));
  last_lane_ = tables_.lane(process, text_of(tid));
  has_last_lane_ = true;
  return last_lane_;
}

std::size_t EventParser::skip_value(std::size_t i) const {
  std::size_t depth = 0;
  for (; i < at_.size(); ++i) {
    const char c = text_[at_[i]];
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return kFailed;
      --depth;
    }
    if (depth == 0) return i + 1;
  }
  return kFailed;
}

std::size_t EventParser::parse(std::size_t i) {
  thread_local std::vector<std::pair<std::string_view, std::string_view>> series;
  series.clear();
  Fields f;
  f.series = &series;
  const std::size_t after = parse_fields(i, f);
  if (after == kFailed) return kFailed;
  event_offset_ = forced_offset_ != kNoOffset ? forced_offset_ : text_offset_ + at_[i];
  event_text_ = value_text(i, after).substr(0, kExampleChars);
  put(f);
  return after;
}

std::size_t EventParser::parse_fields(std::size_t i, Fields& f) {
  ++i;
  if (char_at(i) == '}') return i + 1;
  for (;;) {
    if (char_at(i) != '"' || char_at(i + 1) != ':') return kFailed;
    const std::string_view key_token = token(i);
    if (key_token.size() < 2 || key_token.back() != '"') return kFailed;
    const Key key = key_of(bare(key_token));
    const std::size_t value = i + 2;
    const char first = char_at(value);
    if (first == '\0' || first == ',' || first == '}' || first == ']' || first == ':') return kFailed;
    if (key != kOther) {
      f.duplicate = f.duplicate || (f.seen & key) != 0;
      f.seen |= key;
    }
    std::size_t after = value + 1;
    if (key == kArgs && first == '{') {
      // Nothing in a Python frame's args is joined on, and half of all events are Python frames.
      after = is(f.cat, "\"python_function\"") ? skip_value(value) : parse_args(value, f);
    } else if (first == '{' || first == '[') {
      after = skip_value(value);
    } else {
      const std::string_view t = token(value);
      if (first == '"' && (t.size() < 2 || t.back() != '"')) return kFailed;
      // Times and ids hold no escapes; a name may, and then it must be one that can be read.
      const bool may_escape = first == '"' && key != kPh && key != kTs && key != kDur;
      if (may_escape && has_escape(t) && !unescape(bare(t), scratch_)) return kFailed;
      switch (key) {
        case kPh: f.ph = bare(t); break;
        case kCat: f.cat = t; break;
        case kName: f.name = t; break;
        case kPid: f.pid = t; break;
        case kTid: f.tid = t; break;
        case kTs: f.ts = t; break;
        case kDur: f.dur = t; break;
        case kId: f.id = t; break;
        case kScope: f.scope = bare(t); break;
        case kArgs: case kOther: break;
      }
    }
    if (after == kFailed) return kFailed;
    if (char_at(after) == '}') return after + 1;
    if (char_at(after) != ',') return kFailed;
    i = after + 1;
  }
}

std::size_t EventParser::parse_args(std::size_t i, Fields& f) {
  if (f.has_args) {  // the later args count: forget what the earlier ones said
    const Fields fresh;
    f.gpu = fresh.gpu;
    f.op = fresh.op;
    f.external_id = 0;
    f.series->clear();
  }
  f.has_args = true;
  ++i;
  if (char_at(i) == '}') return i + 1;
  for (;;) {
    if (char_at(i) != '"' || char_at(i + 1) != ':') return kFailed;
    const std::string_view key = token(i);
    if (key.size() < 2 || key.back() != '"') return kFailed;
    const std::size_t value = i + 2;
    const char first = char_at(value);
    if (first == '\0' || first == ',' || first == '}' || first == ']' || first == ':') return kFailed;
    std::size_t after = value + 1;
    if (first == '{' || first == '[') {
      after = skip_value(value);
      if (after == kFailed) return kFailed;
    } else if (first == '"') {
      const std::string_view t = token(value);
      if (t.size() < 2 || t.back() != '"') return kFailed;
      if (has_escape(t) && !unescape(bare(t), scratch_)) return kFailed;
    } else if (first != 't' && first != 'f' && (first > '9' || first == '-') && is_non_finite(token(value))) {
      ++f.non_finite;
    }
    take_arg(bare(key), value, after, f);
    if (char_at(after) == '}') return after + 1;
    if (char_at(after) != ',') return kFailed;
    i = after + 1;
  }
}

bool EventParser::take_time(std::string_view t, ParsedTime& out) const {
  out = t.empty() ? ParsedTime{} : parse_us(t);
  return out.state == NumberState::ok;
}

namespace {

std::uint64_t flow_id(std::string_view token) {
  if (const auto number = parse_unsigned(token)) return *number;
  const std::string_view text = bare(token);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    std::uint64_t value = 0;
    bool ok = text.size() <= 18;
    for (const char c : text.substr(2)) {
      ok = ok && hex_value(c) >= 0;
      value = value * 16 + static_cast<std::uint64_t>(std::max(0, hex_value(c)));
    }
    if (ok) return value;
  }
  return hash_text(text) | (std::uint64_t{1} << 63);  // text ids do not meet small numbers
}

}  // namespace

void EventParser::put(const Fields& f) {
  ++out_.events;
  const char phase = f.ph.size() == 1 ? f.ph[0] : '\0';
  ++out_.phases[static_cast<unsigned char>(phase)];
  if (f.duplicate) note(Oddity::duplicate_key);
  if (f.non_finite != 0) out_.report.add(Oddity::non_finite_number, event_offset_, event_text_, f.non_finite);
  if (phase == 'M') return put_names(f);

  constexpr std::string_view kDrawn = "XBEiIstfCbne";
  if (phase == '\0' || kDrawn.find(phase) == std::string_view::npos) return note(Oddity::unknown_phase);
  ParsedTime ts;
  if (!take_time(f.ts, ts)) return note(Oddity::no_timestamp);
  if (ts.was_text) note(Oddity::number_as_text);
  switch (phase) {
    case 'X': return put_slice(f, ts.ns);
    case 'i': case 'I': return put_instant(f, ts.ns);
    case 'C': return put_counter(f, ts.ns);
    case 's': case 't': case 'f':
      out_.flows.push_back({ts.ns, flow_id(f.id), event_offset_, lane_id(f.pid, f.tid), text_id(f.cat), text_id(f.name), kUnbound, phase, false});
      return;
    default:
      out_.halves.push_back({ts.ns, flow_id(f.id), event_offset_, f.external_id, lane_id(f.pid, f.tid), text_id(f.name), text_id(f.cat), phase});
  }
}

void EventParser::put_slice(const Fields& f, Ns begin) {
  ParsedTime dur;
  if (!take_time(f.dur, dur)) {
    note(dur.state == NumberState::non_finite ? Oddity::non_finite_number : Oddity::missing_duration);
    dur.ns = 0;
  }
  if (dur.was_text) note(Oddity::number_as_text);
  if (dur.ns < 0) {
    note(Oddity::negative_duration);
    dur.ns = 0;
  }
  Ns end = 0;
  if (__builtin_add_overflow(begin, dur.ns, &end)) {
    note(Oddity::missing_duration);
    end = begin;
  }
  RawSlices& s = out_.slices;
  const std::size_t position = s.size();
  s.begin.push_back(begin);
  s.end.push_back(end);
  s.name.push_back(text_id(f.name));
  s.category.push_back(category_id(f.cat));
  s.lane.push_back(lane_id(f.pid, f.tid));
  s.offset.push_back(static_cast<std::uint32_t>(event_offset_ - out_.base_offset));
  s.external_id.push_back(f.external_id);
  if (!f.has_gpu_arg && !f.has_op_arg) return;
  const Kind kind = kind_from_category(text_of(f.cat));
  if (is_gpu_work(kind) || kind == Kind::sync) {
    s.gpu.push_back(f.gpu);
    s.gpu.back().slice = SliceId(position);
    if (!f.annotated_stream.empty()) s.gpu.back().annotated_stream = StringId(text_id(f.annotated_stream));
    if (f.bytes > 0) s.gpu.back().bytes = static_cast<std::uint64_t>(f.bytes);
  } else if (f.gpu.correlation != 0 && is_call(kind)) {
    s.calls.push_back({SliceId(position), f.gpu.correlation});
  } else if (f.has_op_arg && kind == Kind::op) {
    s.ops.push_back(f.op);
    OpRow& op = s.ops.back();
    op.slice = SliceId(position);
    const auto keep = [&](std::string_view json) { return json.empty() ? StringId{} : tables_.strings.intern(json); };
    op.input_dims = keep(f.input_dims);
    op.input_types = keep(f.input_types);
    op.collective = f.collective.empty() ? StringId{} : StringId(text_id(f.collective));
  }
}

void EventParser::put_instant(const Fields& f, Ns time) {
  const std::uint32_t lane = lane_id(f.pid, f.tid);
  out_.instants.push_back({time, event_offset_, lane, text_id(f.name), text_id(f.cat), f.scope == "g"});
  const std::string_view name = bare(f.name);
  const bool out_of_memory = name == "[OutOfMemory]";
  if (name != "[memory]" && !out_of_memory) return;
  MemoryRow row;
  row.time = time;
  row.lane = LaneId(lane);
  row.bytes = f.bytes;
  row.address = f.address;
  row.total_allocated = f.total_allocated;
  row.total_reserved = f.total_reserved;
  row.device_type = static_cast<std::int16_t>(f.device_type);
  row.device = static_cast<std::int16_t>(f.device_id);
  row.out_of_memory = out_of_memory;
  out_.memory.push_back(row);
}

void EventParser::put_counter(const Fields& f, Ns time) {
  const std::uint32_t lane = lane_id(f.pid, {});
  const std::uint32_t name = text_id(f.name);
  for (const auto& [key, value] : *f.series) {
    if (const auto number = parse_double(value)) {
      const std::uint32_t series = text_id(key);
      out_.counters.push_back({time, *number, lane, name, series});
    }
  }
}

void EventParser::put_names(const Fields& f) {
  const std::string_view what = bare(f.name);
  const auto number = [&] { return parse_integer(f.meta_sort).value_or(0); };
  if (what == "process_name") {
    out_.names.push_back({RawName::What::process_name, lane_id(f.pid, {}), text_id(f.meta_name), 0});
  } else if (what == "process_labels") {
    out_.names.push_back({RawName::What::process_labels, lane_id(f.pid, {}), text_id(f.meta_labels), 0});
  } else if (what == "process_sort_index") {
    out_.names.push_back({RawName::What::process_sort_index, lane_id(f.pid, {}), 0, number()});
  } else if (what == "thread_name") {
    out_.names.push_back({RawName::What::thread_name, lane_id(f.pid, f.tid), text_id(f.meta_name), 0});
  } else if (what == "thread_sort_index") {
    out_.names.push_back({RawName::What::thread_sort_index, lane_id(f.pid, f.tid), 0, number()});
  }
}

}  // namespace gapscope
