#include "core/load/batch_parser.h"

#include "core/load/event_repair.h"

namespace gapscope {
namespace {

constexpr std::size_t kNpos = std::string_view::npos;
constexpr std::size_t kExampleChars = 200;

// A closing bracket after which an event follows was not the end of the events. Trace files end soon after their events;
// 64 KB is far more than an event and the space before it.
constexpr std::size_t kLookAhead = 64 * 1024;

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

BatchEnd BatchParser::parse(std::string_view text, std::uint64_t file_offset, bool is_last, bool after_comma) {
  text_ = text;
  file_offset_ = file_offset;
  chunk_.clear();
  chunk_.base_offset = file_offset;
  BatchEnd end;
  begin_record();
  if (after_comma && parse_fast(end, is_last)) return end;
  chunk_.clear();
  begin_record();
  return parse_slow(is_last, after_comma);
}

bool BatchParser::parse_fast(BatchEnd& end, bool is_last) {
  if (whole_.index(text_.data(), text_.size()) != IndexState::ok) return false;
  const auto at = whole_.positions();
  events_.clear_event_offset();
  events_.set_text(text_, at, file_offset_);
  bool after_comma = true;
  for (std::size_t i = 0; i < at.size();) {
    const char c = text_[at[i]];
    if (c == ']') {
      if (!array_ends_at(at[i], is_last)) return false;
      if (after_comma && i > 0) note(Oddity::trailing_comma, at[i - 1], at[i - 1] + std::size_t{1});
      end = {BatchEnd::How::array_closed, at[i] + std::size_t{1}};
      return true;
    }
    if (!after_comma) return false;
    if (c == '{') {
      const std::size_t first = i;
      i = events_.parse(i);
      if (taken_ != nullptr && i != EventParser::kFailed) record(at[first], at[i - 1] + std::size_t{1});
    } else {
      if (c == ',' || c == ':' || c == '}') return false;
      const std::size_t first = i;
      i = events_.skip_value(i);
      if (i != EventParser::kFailed) note(Oddity::not_an_object, at[first], at[first] + events_.value_text(first, i).size());
    }
    if (i == EventParser::kFailed) return false;
    after_comma = i < at.size() && text_[at[i]] == ',';
    i += after_comma ? 1 : 0;
  }
  end = {BatchEnd::How::between_events, text_.size()};
  // A stretch is cut after a comma. One that ends otherwise stops in the middle of something, unless the file is over.
  return is_last || after_comma;
}

BatchEnd BatchParser::parse_slow(bool is_last, bool after_comma) {
  std::size_t last_comma = 0;
  std::size_t at = 0;
  for (;;) {
    while (at < text_.size() && is_space(text_[at])) ++at;
    if (at >= text_.size()) return {BatchEnd::How::between_events, text_.size(), after_comma};
    const char c = text_[at];
    if (c == ',') {
      if (after_comma && at > 0) note(Oddity::trailing_comma, at, at + 1);
      after_comma = true;
      last_comma = at++;
      continue;
    }
    if (c == ']') {
      if (!is_last && text_.size() - at < kLookAhead) return {BatchEnd::How::unfinished, at};
      if (!array_ends_at(at, is_last)) {  // a bracket that damage before it left over
        const std::size_t next = find_next_event(text_.substr(0, at + kLookAhead), at);
        note(Oddity::bad_event, at, next);
        at = next;
        after_comma = true;
        continue;
      }
      if (after_comma && last_comma > 0) note(Oddity::trailing_comma, last_comma, last_comma + 1);
      return {BatchEnd::How::array_closed, at + 1};
    }
    const std::size_t begin = at;
    if (!after_comma && c == '{') note(Oddity::missing_comma, at, at + 1);
    at = c == '{' ? slow_event(at, is_last) : skip_other_value(at, is_last);
    if (at == kNpos) return {BatchEnd::How::unfinished, begin};
    after_comma = false;
  }
}

// No event follows within reach. Nearer to the end of the text than that it cannot be told, unless the file ends there.
bool BatchParser::array_ends_at(std::size_t at, bool is_last) const {
  const std::string_view after = text_.substr(at, kLookAhead);
  return (is_last || after.size() == kLookAhead) && find_next_event(after, 0) == kNpos;
}

std::size_t BatchParser::slow_event(std::size_t at, bool is_last) {
  const EventEnd end = find_event_end(text_, at, is_last);
  if (end.balanced != 0 && parse_one(text_.substr(at, end.balanced - at), at)) {
    if (taken_ != nullptr) record(at, end.balanced);
    return end.balanced;
  }
  if (end.how == EventEnd::How::unfinished && !is_last) return kNpos;
  std::size_t consumed = 0;
  if (parse_mended(text_.substr(at, end.end - at), at, consumed)) return at + consumed;
  if (end.how == EventEnd::How::unfinished) {
    note(Oddity::truncated, at, text_.size());
    return text_.size();
  }
  note(Oddity::bad_event, at, end.end);
  // Brackets may balance by accident when a string is damaged: take up at the next event that can be recognised.
  const std::size_t next = find_next_event(text_.substr(0, end.end), at + 1);
  return next == kNpos ? end.end : next;
}

bool BatchParser::parse_one(std::string_view event, std::size_t at) {
  if (single_.index(event.data(), event.size()) != IndexState::ok) return false;
  events_.set_event_offset(file_offset_ + at);
  events_.set_text(event, single_.positions(), file_offset_ + at);
  const std::size_t after = events_.parse(0);
  return after != EventParser::kFailed;
}

bool BatchParser::parse_mended(std::string_view damaged, std::size_t at, std::size_t& consumed) {
  Repairs repairs;
  Mended mended = repair_event(damaged, repairs);
  if (!mended.closed || !repairs.any() || !parse_one(mended.text, at)) return false;
  repairs.report(chunk_.report, file_offset_ + at, text_.substr(at, std::min(mended.consumed, kExampleChars)));
  consumed = mended.consumed;
  if (taken_ != nullptr) record(at, at + consumed, std::move(mended.text));
  return true;
}

std::size_t BatchParser::skip_other_value(std::size_t at, bool is_last) {
  const char c = text_[at];
  std::size_t end = at + 1;
  if (c == '[') {
    const EventEnd nested = find_event_end(text_, at, is_last);
    if (nested.how == EventEnd::How::unfinished && !is_last) return kNpos;
    end = nested.end;
  } else if (c == '"') {
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() && !is_last) return kNpos;
    end = std::min(end + 1, text_.size());
  } else {
    while (end < text_.size() && text_[end] != ',' && text_[end] != ']' && text_[end] != '{') ++end;
    if (end >= text_.size() && !is_last) return kNpos;
  }
  std::size_t last = end;
  while (last > at + 1 && is_space(text_[last - 1])) --last;
  note(Oddity::not_an_object, at, last);
  return end;
}

// The excerpt ends with what it is about: text behind it may or may not be in this stretch.
void BatchParser::note(Oddity kind, std::size_t at, std::size_t end) {
  chunk_.report.add(kind, file_offset_ + at, text_.substr(at, std::min(end - at, kExampleChars)));
}

void BatchParser::begin_record() {
  rows_before_ = {};
  if (taken_ != nullptr) taken_->clear();
}

// What the event is shows in the table that grew.
void BatchParser::record(std::size_t at, std::size_t end, std::string mended) {
  using What = TakenEvent::What;
  const std::array<std::size_t, 5> rows = {chunk_.slices.size(), chunk_.flows.size(), chunk_.halves.size(), chunk_.instants.size(),
                                           chunk_.counters.size()};
  TakenEvent event{at, end, std::move(mended)};
  constexpr std::array<What, 5> kTables = {What::slice, What::flow, What::half, What::instant, What::counter};
  for (std::size_t t = 0; t < rows.size(); ++t)
    if (rows[t] != rows_before_[t]) event.what = kTables[t];
  if (event.what == What::instant) {
    event.time = chunk_.instants.back().time;
    event.lane = chunk_.instants.back().lane;
    event.is_global = chunk_.instants.back().is_global;
  }
  if (event.what == What::counter) {
    event.time = chunk_.counters.back().time;
    event.lane = chunk_.counters.back().lane;
  }
  rows_before_ = rows;
  taken_->push_back(std::move(event));
}

}  // namespace gapscope
