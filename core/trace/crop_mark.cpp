#include "core/trace/crop_mark.h"

#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

struct CropMarkField {
  std::string_view key;
  Span CropMark::*span;
  Ns Span::*end;
};
constexpr std::array<CropMarkField, 4> kCropMarkFields = {{{"from_ns", &CropMark::window, &Span::begin},
                                                           {"to_ns", &CropMark::window, &Span::end},
                                                           {"of_begin_ns", &CropMark::whole, &Span::begin},
                                                           {"of_end_ns", &CropMark::whole, &Span::end}}};

std::optional<Ns> number_of(std::string_view json, std::string_view key) {
  const std::string quoted = fmt::format("\"{}\"", key);
  std::size_t at = json.find(quoted);
  if (at == json.npos) return std::nullopt;
  at = json.find_first_not_of(": \t\r\n", at + quoted.size());
  if (at == json.npos) return std::nullopt;
  Ns value = 0;
  const auto [end, error] = std::from_chars(json.data() + at, json.data() + json.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<CropMark> crop_mark(const Trace& trace) {
  const std::string_view json = trace.header.find(kCropKey);
  if (json.empty()) return std::nullopt;
  CropMark mark;
  for (const CropMarkField& field : kCropMarkFields) {
    const std::optional<Ns> value = number_of(json, field.key);
    if (!value) return std::nullopt;
    mark.*field.span.*field.end = *value;
  }
  // What another program wrote under that key is no such mark.
  Ns length = 0;
  const bool fits = mark.window.begin < mark.window.end && mark.whole.begin <= mark.window.begin &&
                    mark.window.end <= mark.whole.end && !__builtin_sub_overflow(mark.whole.end, mark.whole.begin, &length);
  return fits ? std::optional(mark) : std::nullopt;
}

std::string crop_mark_text(const CropMark& mark) {
  std::string out;
  for (const CropMarkField& field : kCropMarkFields)
    out += fmt::format("{}\"{}\": {}", out.empty() ? "{" : ", ", field.key, mark.*field.span.*field.end);
  return out + "}";
}

std::string crop_words(const CropMark& mark) {
  const std::string whole = format_duration(mark.whole.length());
  if (mark.window == mark.whole) return fmt::format("a part of a recording of {}", whole);
  return fmt::format("{} of a recording of {}", format_duration(mark.window.length()), whole);
}

std::string with_crop_sentence(const Trace& trace, const std::string& trust) {
  const std::optional<CropMark> mark = crop_mark(trace);
  if (!mark) return trust;
  return fmt::format("This is {}: steps that it cuts are not counted.{}{}", crop_words(*mark), trust.empty() ? "" : " ", trust);
}

}  // namespace gapscope
