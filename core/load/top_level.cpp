#include "core/load/top_level.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "core/load/json_text.h"
#include "core/load/number_text.h"
#include "core/trace/tables.h"

namespace gapscope {
namespace {

struct Field {
  std::string_view key;
  std::int64_t DeviceProperties::*member;
};
constexpr std::array<Field, 13> kFields = {{
    {"id", &DeviceProperties::id},
    {"totalGlobalMem", &DeviceProperties::total_global_mem},
    {"computeMajor", &DeviceProperties::compute_major},
    {"computeMinor", &DeviceProperties::compute_minor},
    {"maxThreadsPerBlock", &DeviceProperties::max_threads_per_block},
    {"maxThreadsPerMultiprocessor", &DeviceProperties::max_threads_per_sm},
    {"regsPerBlock", &DeviceProperties::regs_per_block},
    {"regsPerMultiprocessor", &DeviceProperties::regs_per_sm},
    {"warpSize", &DeviceProperties::warp_size},
    {"sharedMemPerBlock", &DeviceProperties::shared_mem_per_block},
    {"sharedMemPerBlockOptin", &DeviceProperties::shared_mem_per_block_optin},
    {"numSms", &DeviceProperties::sms},
    {"sharedMemPerMultiprocessor", &DeviceProperties::shared_mem_per_sm},
}};

// The devices described by the JSON text of "deviceProperties"; in order of their ids; empty when it is
// no array of objects.
std::vector<DeviceProperties> parse_device_properties(std::string_view json) {
  std::vector<DeviceProperties> devices;
  simdjson::dom::parser parser;
  simdjson::dom::array array;
  const simdjson::error_code error = parser.parse(json.data(), json.size()).get(array);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error != simdjson::SUCCESS) return devices;
  for (const simdjson::dom::element element : array) {
    simdjson::dom::object object;
    if (element.get(object)) continue;
    DeviceProperties& device = devices.emplace_back();
    std::string_view name;
    if (!object["name"].get(name)) device.name = name;
    for (const Field& field : kFields) {
      std::int64_t number = 0;
      if (!object[field.key].get(number)) device.*field.member = number;
    }
    // ROCm's spelling.
    std::int64_t number = 0;
    if (device.shared_mem_per_sm == 0 && !object["maxSharedMemoryPerMultiProcessor"].get(number))
      device.shared_mem_per_sm = number;
  }
  std::ranges::stable_sort(devices, {}, &DeviceProperties::id);
  return devices;
}

constexpr std::size_t kNpos = std::string_view::npos;
constexpr std::size_t kKeptValueBytes = 64 * 1024;  // a header value longer than this is of no use in a panel
constexpr std::size_t kKeysForMessage = 8;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Position after the string that begins at `at`, or npos when it does not end here.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return kNpos;
}

}  // namespace

std::size_t TopLevel::ValueScan::end(std::string_view value) {
  while (at_ < value.size()) {
    const char c = value[at_];
    if (in_string_) {
      at_ += c == '\\' ? 2 : 1;
      in_string_ = c != '"';
      if (c == '"' && depth_ == 0) return at_;
      continue;
    }
    in_string_ = c == '"';
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && depth_ > 0 && --depth_ == 0) return at_ + 1;
    if (depth_ == 0 && (c == ',' || c == '}' || c == ']')) return at_;  // the end of a bare scalar
    ++at_;
  }
  return kNpos;
}

TopLevel::State TopLevel::feed(std::string_view text, std::uint64_t file_offset, bool is_last) {
  consumed_ = 0;
  for (;;) {
    const std::size_t before = consumed_;
    const Place place = place_;
    const State state = step(text, file_offset, is_last);
    if (state != State::need_more) return state;
    if (consumed_ == before && place_ == place) return State::need_more;
  }
}

TopLevel::State TopLevel::step(std::string_view text, std::uint64_t file_offset, bool is_last) {
  if (place_ == Place::start && text.substr(consumed_).starts_with(kByteOrderMark)) consumed_ += kByteOrderMark.size();
  consumed_ = skip_json_space(text, consumed_);
  if (consumed_ == text.size()) return place_ == Place::end && is_last ? State::finished : State::need_more;
  const char c = text[consumed_];
  switch (place_) {
    case Place::start:
      if (c != '{' && c != '[') return State::not_json;
      if (c == '{') {
        const std::optional<bool> is_event = begins_with_event(text.substr(consumed_), is_last);
        if (!is_event) return State::need_more;
        if (*is_event) {
          is_lines_ = true;
          return State::events_begin;
        }
      }
      ++consumed_;
      is_object_ = c == '{';
      place_ = Place::before_key;
      return is_object_ ? State::need_more : State::events_begin;
    case Place::before_key:
      if (c == '}') {
        ++consumed_;
        place_ = Place::end;
        return State::need_more;
      }
      if (c != '"') return State::not_json;
      return take_member(text, consumed_, file_offset, is_last);
    case Place::after_value:
      if (c != ',' && c != '}') return State::not_json;
      ++consumed_;
      place_ = c == ',' ? Place::before_key : Place::end;
      return State::need_more;
    case Place::end:
      if (report_.count(ImportIssue::text_after_end) == 0)
        report_.add(ImportIssue::text_after_end, file_offset + consumed_, "");
      consumed_ = text.size();
      return State::finished;
  }
  return State::not_json;
}

// Nothing where that takes more text. What begins with a key of headers is no event, and most files do.
std::optional<bool> TopLevel::begins_with_event(std::string_view text, bool is_last) {
  constexpr std::array<std::string_view, 11> kKeys = {"\"ph\"",  "\"name\"", "\"cat\"",  "\"pid\"", "\"tid\"", "\"ts\"",
                                                      "\"dur\"", "\"id\"",   "\"args\"", "\"s\"",   "\"tts\""};
  constexpr std::size_t kLargestEvent = std::size_t{1} << 20;
  const std::size_t key = skip_json_space(text, 1);
  const std::size_t key_end = key < text.size() && text[key] == '"' ? string_end(text, key) : kNpos;
  if (key_end == kNpos) return is_last || (key < text.size() && text[key] != '"') ? std::optional(false) : std::nullopt;
  const std::string_view first = text.substr(key, key_end - key);
  if (std::find(kKeys.begin(), kKeys.end(), first) == kKeys.end()) return false;
  const std::size_t end = scan_.end(text);
  if (end == kNpos && !is_last && text.size() < kLargestEvent) return std::nullopt;
  scan_ = {};
  const std::string_view event = text.substr(0, std::min(end, text.size()));
  const bool is_event = end != kNpos && event.find("\"ph\"") != kNpos && event.find("\"traceEvents\"") == kNpos;
  return is_event;
}

TopLevel::State TopLevel::take_member(std::string_view text, std::size_t at, std::uint64_t file_offset, bool is_last) {
  const std::size_t key_end = string_end(text, at);
  if (key_end == kNpos) return State::need_more;
  std::string key;
  if (!unescape(text.substr(at + 1, key_end - at - 2), key)) key = text.substr(at + 1, key_end - at - 2);
  const std::size_t colon = skip_json_space(text, key_end);
  if (colon == text.size()) return State::need_more;
  if (text[colon] != ':') return State::not_json;
  const std::size_t value = skip_json_space(text, colon + 1);
  if (value == text.size()) return State::need_more;
  if (key == "traceEvents" && text[value] == '[' && !events_seen_) {
    consumed_ = value + 1;
    return State::events_begin;
  }
  std::size_t end = scan_.end(text.substr(value));
  if (end == kNpos && !is_last) return State::need_more;
  end = std::min(end, text.size() - value) + value;
  scan_ = {};
  keep(std::move(key), text.substr(value, end - value), file_offset + at);
  consumed_ = end;
  place_ = Place::after_value;
  return State::need_more;
}

void TopLevel::keep(std::string key, std::string_view value, std::uint64_t file_offset) {
  while (!value.empty() && is_json_space(value.back())) value.remove_suffix(1);
  if (events_seen_ && members_after_events_++ == 0) first_after_events_ = file_offset;
  if (keys_.size() < kKeysForMessage) keys_.push_back(key);
  const auto [same, is_new] = place_of_key_.try_emplace(key, header_.metadata.size());
  if (!is_new) report_.add(ImportIssue::duplicate_key, file_offset, key);
  if (key == "deviceProperties") header_.devices = parse_device_properties(value);
  if (key == "baseTimeNanoseconds") {
    if (const auto ns = parse_integer(value)) {
      header_.base_time = *ns;
      header_.has_base_time = true;
    }
  }
  if (is_new) header_.metadata.emplace_back(std::move(key), std::string());
  header_.metadata[same->second].second = value.substr(0, kKeptValueBytes);
}

}  // namespace gapscope
