#include "core/view/timeline/slice_label.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/analyze/kernel_name/shown_name.h"

namespace gapscope {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr float kFactsFromWidths = 14;  // with room for fewer digits than this, one beginning shows more than two
constexpr float kHeadShare = 0.55f;     // of the room goes to the first
constexpr float kShortFacts = 0.45f;    // of it may be taken by facts that are short, whatever the room
constexpr std::size_t kLeastHead = 3;   // letters before an ellipsis; fewer say nothing
constexpr std::size_t kLeastFacts = 8;  // of them, that stand behind a whole function

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

float advance(const GlyphWidths& widths, char c) {
  if (is_continuation(c)) return 0;
  const auto byte = static_cast<unsigned char>(c);
  return byte < 128 ? widths.ascii[byte < ' ' ? ' ' : byte] : widths.other;
}

// Bytes of the longest beginning that fits `room`, whole code points.
std::size_t head_that_fits(std::string_view text, float room, const GlyphWidths& widths) {
  float used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    used += advance(widths, text[i]);
    if (used > room && !is_continuation(text[i])) return i;
  }
  return text.size();
}

bool is_of_word(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Where the part begins that distinguishes a name from others of its function: "<add, bf16, 4>", "MmBackward0" of
// "evaluate_function: MmBackward0", "#5" of a step. Its length where there is none soon.
std::size_t begin_of_facts(std::string_view name) {
  constexpr std::size_t kSoon = 256;
  for (std::size_t i = 1; i + 1 < std::min(name.size(), kSoon); ++i) {
    if (name[i] == '<' || (name[i] == '#' && is_of_word(name[i - 1]) && is_of_word(name[i + 1]))) return i;
    if (name[i] == ':' && name[i + 1] == ' ') return i + 2;
  }
  return name.size();
}

void append_clean(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<unsigned char>(c) < ' ' || c == 127 ? ' ' : c;
}

}  // namespace

float GlyphWidths::of(std::string_view text) const {
  float sum = 0;
  for (const char c : text) sum += advance(*this, c);
  return sum;
}

std::string_view without_namespaces(std::string_view name) {
  const std::size_t line = name.find(".py(");
  if (line != std::string_view::npos) {
    const std::size_t slash = name.rfind('/', line);
    return slash == std::string_view::npos ? name : name.substr(slash + 1);
  }
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with("void ")) name.remove_prefix(5);
  for (;;) {
    if (name.starts_with(kAnonymous)) {
      name.remove_prefix(kAnonymous.size());
      continue;
    }
    const std::size_t stop = name.find_first_of("<( ");
    const std::size_t colons = name.find("::");
    if (colons == std::string_view::npos || colons > stop || colons + 2 >= name.size()) return name;
    name.remove_prefix(colons + 2);
  }
}

std::string_view without_place(std::string_view name) {
  constexpr std::string_view kModule = "nn.Module: ";
  if (name.starts_with(kModule)) return name.substr(kModule.size());
  const std::size_t place = name.find(".py(");
  if (place == std::string_view::npos) return name;
  const std::size_t colon = name.find("): ", place);
  return colon == std::string_view::npos || colon + 3 >= name.size() ? name : name.substr(colon + 3);
}

// Labels are made on the UI thread only.
std::string_view label_text(const Trace& trace, SliceId slice) {
  const std::string_view name = trace.name(slice);
  if (trace.kind(slice) != Kind::kernel && !name.starts_with("_Z")) return name;
  constexpr std::size_t kMostNames = 10'000;
  static std::map<std::string, std::string, std::less<>> known;
  auto at = known.find(name);
  if (at == known.end()) {
    if (known.size() >= kMostNames) known.clear();
    at = known.emplace(name, shown_name(trace, slice)).first;
  }
  return at->second;
}

void fit_label(std::string_view name, float room_px, const GlyphWidths& widths, std::string& out) {
  out.clear();
  // A name longer than the screen is not measured to its end.
  if (head_that_fits(name, room_px, widths) == name.size()) return append_clean(out, name);
  for (const auto shorter : {without_namespaces, without_place}) {
    name = shorter(name);
    if (head_that_fits(name, room_px, widths) == name.size()) return append_clean(out, name);
  }
  const float room = room_px - widths.ellipsis;
  const std::size_t head = head_that_fits(name, room, widths), facts = begin_of_facts(name);
  const std::string_view rest = name.substr(facts);
  const bool is_short = head_that_fits(rest, room * kShortFacts, widths) == rest.size();
  const bool has_room = is_short || room_px >= kFactsFromWidths * widths.ascii['0'];
  const bool apart = !rest.empty() && head < facts + kLeastFacts && has_room;
  const float for_first = is_short ? room - widths.of(rest) : room * kHeadShare;
  const std::size_t first = apart ? head_that_fits(name, for_first, widths) : head;
  if (first < kLeastHead) return;
  append_clean(out, name.substr(0, first));
  out += kEllipsis;
  if (!apart) return;
  const float left = room - widths.of(name.substr(0, first));
  if (head_that_fits(rest, left, widths) == rest.size()) return append_clean(out, rest);
  append_clean(out, rest.substr(0, head_that_fits(rest, left - widths.ellipsis, widths)));
  out += kEllipsis;
}

}  // namespace gapscope
