#pragma once
// The gaps of a GPU as the timeline shows them: which pixels, what label, what the host was in; and the way from gap to gap.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/view/timeline/idle_look.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {

struct Document;

// The account of a document, null while there is none.
const TimeAccount* account_of(const Document& document);
// The gap that is chosen, with its device; null where none is, or the document has no such gap.
struct GapPlace {
  const DeviceAccount* device = nullptr;
  const DeviceGap* gap = nullptr;
};
GapPlace chosen_gap(const Document& document, const TraceView& view);

// What the account is about: the marked range, the selected step, or all of the window; cut to the window.
struct AccountStretch {
  Span span;
  enum class Of : std::uint8_t { window, range, step } of = Of::window;
};
AccountStretch account_stretch(const Document& document, const TraceView& view);

// What was added up for the window's panels, cached from frame to frame.
struct AccountSums {
  const TimeAccount* of = nullptr;
  std::int32_t device = 0;
  Span stretch;
  AccountTimes times;               // of the stretch
  std::vector<AccountTimes> steps;  // of TimeAccount::steps()
};
// Of `device` over the stretch above. Made anew only when one of them changes.
const AccountSums& account_sums(const Document& document, const DeviceAccount& device, TraceView& view);

// What helps against a part of the account of a stretch, as this trace and what was measured ask for; empty where nothing does.
// Cached from frame to frame.
struct PartAdvices {
  const TimeAccount* of = nullptr;
  std::map<std::tuple<std::int32_t, Ns, Ns, AccountPart::Kind, IdleCause>, std::string> texts;
};
const std::string& part_advice(const Document& document, const DeviceAccount& device, Span stretch, const AccountPart& part,
                               TraceView& view);

// A gap that covers whole columns of pixels, those without a kernel between them. At most one a column, however many there are.
struct GapRect {
  int x0 = 0, x1 = 0;
  std::size_t gap = 0;  // position in DeviceAccount::gaps
};
void paint_gaps(const DeviceAccount& device, const PixelGrid& grid, std::vector<GapRect>& out);

// What the host was in during a gap, the longest first.
struct GapSlice {
  SliceId slice;
  IdleCause cause = IdleCause::op;
  Ns time = 0;  // of the gap
  Span in_gap;  // first to last moment
};
std::vector<GapSlice> host_slices(const TimeAccount& account, const DeviceGap& gap, std::size_t most);
// Those of the chosen gap, cached from frame to frame; empty where none is chosen.
struct ChosenSlices {
  const DeviceGap* gap = nullptr;
  std::vector<GapSlice> slices;
};
const std::vector<GapSlice>& chosen_slices(const Document& document, TraceView& view);
// What a gap is put down to, and how much of it: its main cause, "host: aten::addmm" where one slice has half of the gap or
// more, unless looking for that would take too long for a frame. Then how long the shorter word for it, "host", was at fault.
struct GapLabel {
  std::string words;
  Ns time = 0, time_of_word = 0;
};
GapLabel gap_label(const Document& document, const DeviceAccount& device, std::size_t gap);
// What can stand in a gap, the first of them that has room: "host: aten::addmm 534 us", "host 600 us", "host", and the gap's
// length, which says the least. Parts are whole, none is cut.
std::vector<std::string> gap_texts(const DeviceAccount& device, std::size_t gap, const GapLabel& label);
// Of a gap with several causes one after the other: a stretch for each, in order, the host's own causes as one. A stretch
// shorter than 1/16 of the gap counts for the one before it. Empty where one cause has all of it, or where reading what the
// host did would take too long for a frame.
struct GapPart {
  Span span;
  IdleCause cause = IdleCause::op;  // the one with most of it
  std::vector<std::string> texts;   // as gap_texts()
};
std::vector<GapPart> gap_parts(const Document& document, const DeviceAccount& device, std::size_t gap);
// "8.61 s of 13.3 s"; the gap's length alone where the cause has nearly all of it.
std::string gap_time_words(Ns time, Ns gap);

// Of the gaps that begin in `within` and whose main cause this is, the longest; behind the gap `after` the next shorter one,
// and after the shortest the longest again. Where it is the main cause of none, of those that it has a part in.
std::optional<std::size_t> next_gap(const DeviceAccount& device, IdleCause cause, Span within,
                                    std::optional<std::size_t> after = std::nullopt);
// The longest gap that begins in `within`, whatever its cause; the first of equal ones.
std::optional<std::size_t> longest_gap(const DeviceAccount& device, Span within);
// Selects a gap and brings it into view.
void choose_gap(const Document& document, TraceView& view, const WindowState& window, std::int32_t device, std::size_t gap,
                bool go_there);

}  // namespace gapscope
