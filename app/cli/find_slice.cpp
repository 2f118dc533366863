#include <algorithm>
#include <charconv>

#include "app/cli/screenshot.h"
#include "core/base/demangle.h"
#include "core/base/text.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number n{};
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (trouble != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

SliceId first_in_time(const Document& doc, StringId name) {
  const auto slices = doc.names.slices_named(name);
  return slices.empty() ? SliceId{} : slices.front();
}

// The earliest slice whose name, as in the file or readable, holds `part`.
SliceId first_holding(const Document& doc, const std::string& part) {
  SliceId best;
  for (const StringId name : doc.names.used_names()) {
    const std::string_view text = doc.trace.strings[name];
    if (!contains_ignore_case(text, part) && !contains_ignore_case(demangle(text), part)) continue;
    const SliceId slice = first_in_time(doc, name);
    if (!best || doc.trace.begin(slice) < doc.trace.begin(best)) best = slice;
  }
  return best;
}

}  // namespace

Result<std::pair<int, int>> parse_size(const std::string& text) {
  constexpr int kMaxSize = 16384;  // the largest texture that every OpenGL 3.3 driver at hand takes
  const std::size_t x = text.find('x');
  if (x != std::string::npos) {
    const auto width = whole_number<int>(std::string_view(text).substr(0, x));
    const auto height = whole_number<int>(std::string_view(text).substr(x + 1));
    if (width && height && std::min(*width, *height) >= 1 && std::max(*width, *height) <= kMaxSize)
      return std::pair(*width, *height);
  }
  return Error{"\"" + text + "\" is not a size: write WIDTHxHEIGHT in pixels, such as 1600x900, at most 16384 each."};
}

Result<SliceId> find_slice(const Document& doc, const std::string& name_or_index) {
  const StringId name = doc.trace.strings.find(name_or_index);
  if (name.valid())
    if (const SliceId slice = first_in_time(doc, name)) return slice;
  if (const auto index = whole_number<std::uint32_t>(name_or_index)) {
    if (*index < doc.trace.slice_count()) return SliceId(*index);
    return Error{"There is no slice " + name_or_index + ": this trace has " +
                 format_count(static_cast<std::int64_t>(doc.trace.slice_count())) + ", counted from 0."};
  }
  if (const SliceId slice = first_holding(doc, name_or_index)) return slice;
  return Error{"No slice of this trace is called \"" + name_or_index + "\", and none has that in its name."};
}

}  // namespace gapscope
