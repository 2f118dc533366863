#include "core/load/batch_parser.h"

#include <algorithm>

#include "core/load/event_bounds.h"
#include "core/load/event_repair.h"
#include "core/load/json_text.h"

namespace gapscope {
namespace {

constexpr std::size_t kNpos = std::string_view::npos;
constexpr std::size_t kExampleChars = 200;

// Damage may take the comma before an event along, or leave it.
bool follows_comma(std::string_view text, std::size_t at) {
  while (at > 0 && is_json_space(text[at - 1])) --at;
  return at > 0 && (text[at - 1] == ',' || text[at - 1] == '[');
}

}  // namespace

BatchEnd BatchParser::parse(std::string_view text, std::uint64_t file_offset, bool is_last, bool after_comma) {
  text_ = text;
  file_offset_ = file_offset;
  clear_chunk();
  chunk_.base_offset = file_offset;
  BatchEnd end;
  begin_record();
  if (after_comma && parse_fast(end, is_last)) return end;
  clear_chunk();
  begin_record();
  return parse_slow(is_last, after_comma);
}

void BatchParser::clear_chunk() {
  chunk_.clear();
  events_.begin_chunk();
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
      if (what_closes(text_, at[i], is_last) != Closes::events) return false;
      if (after_comma && i > 0) note(ImportIssue::trailing_comma, at[i - 1], at[i - 1] + std::size_t{1});
      end = {BatchEnd::How::array_closed, at[i] + std::size_t{1}};
      return true;
    }
    if (!after_comma || c != '{') return false;
    const std::size_t begin = at[i];
    i = events_.parse(i);
    if (i == EventParser::kFailed) return false;
    const std::size_t event_end = at[i - 1] + std::size_t{1};
    // So large an event may have taken others with it.
    if (event_end - begin > kBalanceBytes && follow_brackets(text_, begin).end != event_end) return false;
    if (taken_ != nullptr) record(begin, event_end);
    after_comma = i < at.size() && text_[at[i]] == ',';
    i += after_comma ? 1 : 0;
  }
  end = {BatchEnd::How::between_events, text_.size()};
  // A stretch is cut after a comma. One that ends otherwise stops in the middle of something, unless the file is over.
  return is_last || after_comma;
}

BatchEnd BatchParser::parse_slow(bool is_last, bool after_comma) {
  std::size_t comma = kNpos;  // the one between the last event and `at`, where it is known
  std::size_t at = 0;
  for (;;) {
    while (at < text_.size() && is_json_space(text_[at])) ++at;
    if (at >= text_.size()) return {BatchEnd::How::between_events, text_.size(), after_comma};
    const char c = text_[at];
    if (c == ',') {
      if (comma != kNpos) note(ImportIssue::trailing_comma, at, at + 1);
      after_comma = true;
      comma = at++;
      continue;
    }
    if (c == ']') {
      const Closes closes = what_closes(text_, at, is_last);
      if (closes == Closes::needs_more_text) return {BatchEnd::How::unfinished, std::min(at, comma)};
      if (closes == Closes::events) {
        if (comma != kNpos) note(ImportIssue::trailing_comma, comma, comma + 1);
        return {BatchEnd::How::array_closed, at + 1};
      }
    }
    const std::size_t begin = at;
    if (!after_comma && c == '{') note(ImportIssue::missing_comma, at, at + 1);
    at = c == '{' ? slow_event(at, is_last) : c == ']' ? skip_leftover(at) : skip_other_value(at, is_last);
    if (at == kNpos) return {BatchEnd::How::unfinished, begin};
    after_comma = follows_comma(text_, at);
    comma = kNpos;
  }
}

std::size_t BatchParser::slow_event(std::size_t at, bool is_last) {
  const Brackets brackets = follow_brackets(text_, at);
  if (brackets.end != 0 && parse_one(text_.substr(at, brackets.end - at), at)) {
    if (taken_ != nullptr) record(at, brackets.end);
    return brackets.end;
  }
  if (brackets.cut_off && !is_last) return kNpos;
  // Brackets that look sound may close by accident when a string is damaged. Those that do not are not asked at all.
  const bool is_closed = brackets.end != 0 && !brackets.odd;
  const std::size_t next = find_next_event(is_closed ? text_.substr(0, brackets.end) : text_, at + 1);
  if (!is_closed && next == kNpos && !is_last) return kNpos;
  std::size_t consumed = 0;
  const std::size_t furthest = is_closed ? brackets.end : std::min(next, text_.size());
  if (parse_mended(text_.substr(at, furthest - at), at, consumed)) return at + consumed;
  const bool is_truncated = brackets.end == 0 && next == kNpos;
  const std::size_t end = next != kNpos ? next : brackets.end != 0 ? brackets.end : text_.size();
  note(is_truncated ? ImportIssue::truncated : ImportIssue::bad_event, at, end);
  return end;
}

// A bracket that damage before it left over costs what is between it and the next event, which what_closes() saw.
std::size_t BatchParser::skip_leftover(std::size_t at) {
  const std::size_t next = find_next_event(text_, at + 1);
  note(ImportIssue::bad_event, at, next);
  return next;
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
  const std::size_t end = find_other_end(text_, at, is_last);
  if (end == kNpos) return kNpos;
  std::size_t last = end;
  while (last > at + 1 && is_json_space(text_[last - 1])) --last;
  note(ImportIssue::not_an_object, at, last);
  return end;
}

// The excerpt ends with what it is about: text behind it may or may not be in this stretch.
void BatchParser::note(ImportIssue kind, std::size_t at, std::size_t end) {
  chunk_.report.add(kind, file_offset_ + at, text_.substr(at, std::min(end - at, kExampleChars)));
}

void BatchParser::begin_record() {
  rows_before_ = {};
  if (taken_ != nullptr) taken_->clear();
}

// What the event is shows in the table that grew.
void BatchParser::record(std::size_t at, std::size_t end, std::string mended) {
  using What = TakenEvent::What;
  const std::array<std::size_t, 5> rows = {chunk_.slices.size(), chunk_.flows.size(), chunk_.halves.size(),
                                           chunk_.instants.size(), chunk_.counters.size()};
  TakenEvent event{at, end, std::move(mended)};
  constexpr std::array<What, 5> kTables = {What::slice, What::flow, What::half, What::instant, What::counter};
  for (std::size_t t = 0; t < rows.size(); ++t)
    if (rows[t] != rows_before_[t] && event.what != What::slice) event.what = kTables[t];  // slices may have flows of their own
  if (event.what == What::instant) {
    event.time = chunk_.instants.back().time;
    event.lane = chunk_.instants.back().lane;
    event.is_global = chunk_.instants.back().is_global;
  }
  if (event.what == What::counter) {
    event.time = chunk_.counters.back().time;
    event.lane = chunk_.counters.back().lane;
    event.name = chunk_.counters.back().name;
  }
  rows_before_ = rows;
  taken_->push_back(std::move(event));
}

}  // namespace gapscope
