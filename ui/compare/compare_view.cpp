#include "ui/compare/compare_view.h"

#include <algorithm>
#include <cmath>

#include "core/view/compare/compare_model.h"
#include "core/view/document.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/search/search_field.h"
#include "ui/widgets/bars.h"

namespace gapscope {
namespace {

constexpr float kStrip = 24;  // px at scale 1 of the heights, here and below
constexpr float kHeader = 28;
constexpr float kSplitter = 6;
constexpr float kLeastRest = 26;     // of the lanes below either's GPUs: a process
constexpr float kLeastShare = 0.1f;  // of the height
constexpr std::array<TraceSide, 2> kSides = {TraceSide::a, TraceSide::b};

std::size_t index(TraceSide side) { return static_cast<std::size_t>(side); }
const char* letter(TraceSide side) { return side == TraceSide::a ? "A" : "B"; }

// Hands out a box from top to bottom, row by row, until nothing is left.
class Rows {
 public:
  explicit Rows(const Box& box) : box_(box) {}
  Box take(float height) {
    const float y0 = box_.y0;
    box_.y0 = std::min(box_.y1, y0 + std::max(0.0f, std::round(height)));
    return {box_.x0, y0, box_.x1, box_.y0};
  }
  float left() const { return box_.height(); }

 private:
  Box box_;
};

float least_rest(const TimelinePanel::Heights& heights, float scale) {
  return std::min(heights.rest, std::round(kLeastRest * scale));
}

// In px.
float ruler_of_both(ViewState& view) {
  const bool has_notes = !view.of(TraceSide::a).notes.notes.empty() || !view.of(TraceSide::b).notes.notes.empty();
  return std::round(ruler_height(has_notes) * view.window.frame.scale);
}

}  // namespace

Span CompareView::reach_of(TraceSide side, const ComparedTimelines& two) const {
  const Span reach = alignment_.reach(two.a.trace.span, document_->trace.span);
  const Ns way = side == TraceSide::a ? 0 : alignment_.way();
  return {reach.begin + way, reach.end + way};
}

void CompareView::restart(const Document* a, ViewState& view) {
  view.window.compare.asked.reset();
  view.window.compare.answer.reset();
  view.window.compare.show.reset();
  view.window.compare.chosen = -1;
  aligned_on_.reset();
  for (TraceView& of : view.traces) of.linked.reset();
  partners_ = {};
  shared_range_.reset();
  if (a && document_) alignment_ = {a->trace.span.begin, document_->trace.span.begin};
}

void CompareView::adopt(const Document* a, const Document* b, ViewState& view) {
  view.window.compare.side = TraceSide::a;
  document_ = b;
  restart(a, view);
  view.window.compare.open = b != nullptr;
  pointed_.reset();
  TraceView &of_a = view.of(TraceSide::a), &of_b = view.of(TraceSide::b);
  if (!b) {
    if (a) of_a.time = within_limits(of_a.time, a->trace.span);
    of_a.move = {};
    unfold_after_comparison(of_a.folds);
  }
  if (b && a)
    show_panel(view.window, "compare");
  else if (is_panel_shown(view.window, "compare"))
    show_panel(view.window, "overview");
  view.window.box = {};
  of_b = view_of_next(of_b);
  of_b.folds.python_folded = of_a.folds.python_folded;
  of_b.folds.compact = of_a.folds.compact;
  timeline_->adopt(b, of_b);
}

void CompareView::swap(const Document*& a, std::unique_ptr<TimelinePanel>& timeline, ViewState& view) {
  std::swap(a, document_);
  std::swap(timeline, timeline_);
  std::swap(alignment_.zero_a, alignment_.zero_b);
  std::swap(partners_[0], partners_[1]);
  std::swap(folds_seen_[0], folds_seen_[1]);
  shared_range_.reset();
  std::swap(view.traces[0], view.traces[1]);
  view.window.compare.side = other(view.window.compare.side);
  view.window.compare.asked.reset();
  view.window.compare.answer.reset();
  view.window.compare.chosen = -1;
}

// A click acts on the timeline that it hits, a command's key on the one under the pointer.
void CompareView::choose_side(ViewState& view, bool keys_free, std::span<const KeyPress> presses) {
  if (std::exchange(view.window.compare.turn, false)) return void(view.window.compare.side = other(view.window.compare.side));
  if (!pointed_) return;
  const bool clicked = ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1);
  const bool key = keys_free && std::any_of(presses.begin(), presses.end(), [](const KeyPress& press) {
                     const Command* found = command_for({press.key, press.mods});
                     return found && found->need && !found->while_held && found->id != CommandId::other_trace;
                   });
  if (clicked || key) view.window.compare.side = *pointed_;
}

void CompareView::ask(const ComparedTimelines& two, WindowState& window, Requests& out) const {
  CompareState& state = window.compare;
  if (two.a.trace.is_part || !two.a.diagnosis() || !document_->diagnosis()) return;
  if (state.asked && same_options(*state.asked, state.options)) return;
  state.asked = state.options;
  window.compare.trouble.clear();
  out.add(MakeComparison{state.options});
}

// The steps come to lie under each other, and into view.
void CompareView::take_answer(const ComparedTimelines& two, ViewState& view) {
  const std::shared_ptr<const ComparisonAnswer>& answer = view.window.compare.answer;
  if (!answer || answer == aligned_on_) return;
  const bool fresh = !aligned_on_ || !same_options(aligned_on_->options, answer->options);
  const bool moved = alignment_ != answer->alignment();
  aligned_on_ = answer;
  if (!fresh && !moved) return;
  if (!answer->error.empty()) return;
  alignment_ = answer->alignment();
  link(two, view);
  const Span steps = hull(answer->step_a, {answer->step_b.begin - alignment_.way(), answer->step_b.end - alignment_.way()});
  const Ns way = view.window.compare.side == TraceSide::a ? 0 : alignment_.way();
  const Span steps_here{steps.begin + way, steps.end + way};
  go_to(view.of(view.window.compare.side), view.window, focused_on(steps_here, reach_of(view.window.compare.side, two)));
}

void CompareView::link(const ComparedTimelines& two, ViewState& view) {
  const auto match = [&](TraceSide from, SliceId slice) {
    return view.window.compare.answer ? view.window.compare.answer->matches.of(from, slice) : SliceId{};
  };
  const std::shared_ptr<const ComparisonAnswer>& answer = view.window.compare.answer;
  const auto marks = [&](TraceSide of) {
    const KernelMarks* its =
        answer && view.window.compare.colour_changes ? of == TraceSide::a ? &answer->marks_a : &answer->marks_b : nullptr;
    return std::shared_ptr<const KernelMarks>(answer, its && (answer->marks_a.any() || answer->marks_b.any()) ? its : nullptr);
  };
  for (const TraceSide side : kSides)
    view.of(side).linked = {reach_of(side, two), zero_of(side), match(other(side), view.of(other(side)).selection), marks(side),
                            side == TraceSide::a};
}

// Both pieces of work are selected and in sight, however far apart they begin.
void CompareView::show(const ComparedTimelines& two, ViewState& view, const SlicePair& pair) {
  std::optional<Span> both;  // in A's time
  for (const TraceSide side : kSides) {
    const SliceId slice = side == TraceSide::a ? pair.a : pair.b;
    const Document& document = document_of(side, two);
    select_slice(view.of(side), slice, /*reveal=*/false);
    if (slice) timeline_of(side, two).scroll_to_selection(document, view.of(side), view.window);
    if (!slice) continue;
    const Span span = document.trace.span_of(slice);
    const Ns way = side == TraceSide::a ? 0 : alignment_.way();
    const Span here{span.begin - way, span.end - way};
    both = both ? hull(*both, here) : here;
  }
  if (!both) return;
  const Ns way = view.window.compare.side == TraceSide::a ? 0 : alignment_.way();
  go_to(view.of(view.window.compare.side), view.window,
        focused_on({both->begin + way, both->end + way}, reach_of(view.window.compare.side, two)));
}

void CompareView::begin_frame(const ComparedTimelines& two, ViewState& view, bool keys_free, std::span<const KeyPress> presses,
                              Requests& out) {
  choose_side(view, keys_free, presses);
  keep_alike(two, view);
  share_search(two, view, out);
  ask(two, view.window, out);
  take_answer(two, view);
  link(two, view);
  if (const std::optional<SlicePair> pair = std::exchange(view.window.compare.show, std::nullopt)) {
    show(two, view, *pair);
    link(two, view);
  }
}

// What was folded, pinned or hidden in the one since the last frame is done to the other.
void CompareView::keep_alike(const ComparedTimelines& two, ViewState& view) {
  if (two.a.trace.is_part) return;
  for (const TraceSide side : kSides) fold_for_comparison(view.of(side).folds, document_of(side, two).trace);
  LaneFolds &a = view.of(TraceSide::a).folds, &b = view.of(TraceSide::b).folds;
  if (partners_[0].lane.size() != two.a.trace.lanes.size() || partners_[1].lane.size() != document_->trace.lanes.size()) {
    partners_ = {partners_of(two.a.trace, a, document_->trace, b), partners_of(document_->trace, b, two.a.trace, a)};
    folds_seen_ = {a, b};
  }
  for (const TraceSide side : {view.window.compare.side, other(view.window.compare.side)}) {
    const std::size_t i = index(side);
    LaneFolds& now = view.of(side).folds;
    if (now.revision == folds_seen_[i].revision) continue;
    mirror_folds(folds_seen_[i], now, partners_[i], view.of(other(side)).folds);
    folds_seen_ = {a, b};
  }
}

// One question for both.
void CompareView::share_search(const ComparedTimelines& two, ViewState& view, Requests& out) {
  const SearchQuestion& typed = view.of(view.window.compare.side).search.typed;
  view.of(other(view.window.compare.side)).search.typed = typed;
  const Document& there = document_of(other(view.window.compare.side), two);
  ask_search(there, typed, out);
  const std::shared_ptr<const SearchAnswer>& found = answer_to<SearchQuestion>(there);
  const bool known = found && found->question == typed;
  view.window.compare.hits_of_other = known ? std::optional(found->hits.size()) : std::nullopt;
}

// A time marked in the ruler is marked in both, and given up in both.
void CompareView::share_range(ViewState& view, const std::optional<Span>& range_before_of_a) {
  std::optional<Span>&a = view.of(TraceSide::a).range, &b = view.of(TraceSide::b).range;
  const Ns way = alignment_.way();
  const auto in_b = [&](const Span& span) { return Span{span.begin + way, span.end + way}; };
  if (places_.ruler.holds(ImGui::GetIO().MouseClickedPos[0]) && a != range_before_of_a) {
    shared_range_ = a;
    b = a ? std::optional(in_b(*a)) : std::nullopt;
    return;
  }
  if (!shared_range_) return;
  const bool kept_a = a == shared_range_, kept_b = b == in_b(*shared_range_);
  if (kept_a && kept_b) return;
  if (kept_a) a.reset();
  if (kept_b) b.reset();
  shared_range_.reset();
}

CompareView::BothHeights CompareView::measure(const ComparedTimelines& two, ViewState& view) {
  BothHeights heights;
  for (const TraceSide side : kSides)
    heights[index(side)] = timeline_of(side, two).measure(document_of(side, two), view.of(side), view.window);
  return heights;
}

float CompareView::least_height(const ComparedTimelines& two, ViewState& view) {
  const float s = view.window.frame.scale;
  float height = std::round(kStrip * s) + std::round(kTimelineOverview * s) + ruler_of_both(view) + std::round(kSplitter * s);
  for (const TimelinePanel::Heights& of : measure(two, view))
    height += std::round(kHeader * s) + of.least_top + least_rest(of, s);
  return height;
}

// The GPUs get their height first, as low as need be; then the overview; then the other lanes get up to a half of it all, and
// the GPUs' counters what is left.
CompareView::Places CompareView::lay_out(const BothHeights& h, const WindowState& window, const Box& box, float ruler) const {
  const float s = window.frame.scale;
  Places at;
  Rows rows(box);
  at.strip = rows.take(kStrip * s);
  const float rests = least_rest(h[0], s) + least_rest(h[1], s) + std::round(kSplitter * s);
  const float room = rows.left() - ruler - 2 * std::round(kHeader * s);
  const float least = h[0].least_top + h[1].least_top;
  const bool with_overview = room - std::round(kTimelineOverview * s) >= least + rests;
  if (with_overview) at.overview = rows.take(kTimelineOverview * s);
  at.ruler = rows.take(ruler);
  float for_tops = room - (with_overview ? std::round(kTimelineOverview * s) : 0) - rests;
  if (for_tops < least) for_tops += rests;
  const bool usual = h[0].top + h[1].top <= for_tops;
  std::array<float, 2> top = {usual ? h[0].top : h[0].least_top, usual ? h[1].top : h[1].least_top};
  if (top[0] + top[1] > for_tops) {  // each what it needs up to a half, and what the other leaves
    const float half = std::max(0.0f, std::floor(for_tops / 2));
    const float a = std::min(top[0], std::max(half, for_tops - top[1]));
    top = {a, std::min(top[1], std::max(0.0f, for_tops - a))};
  } else if (usual) {
    const float wanted = std::min(h[0].rest + h[1].rest + std::round(kSplitter * s), std::max(rests, std::floor(room / 2)));
    const float spare = std::max(0.0f, std::min(for_tops, for_tops + rests - wanted) - top[0] - top[1]);
    const float more_a = h[0].whole - top[0], more_b = h[1].whole - top[1];
    const float a = std::min(more_a, std::max(std::floor(spare / 2), spare - more_b));
    top = {top[0] + a, top[1] + std::min(more_b, spare - a)};
  }
  for (const TraceSide side : kSides) {
    at.header[index(side)] = rows.take(kHeader * s);
    at.top[index(side)] = rows.take(top[index(side)]);
  }
  const float left = rows.left(), bar = std::round(kSplitter * s);
  float rest = h[0].rest;
  const bool crowded = h[0].rest + h[1].rest + bar > left;
  if (crowded) {
    const float most = std::max(0.0f, left - bar);
    const float wanted = std::clamp(most * window.compare.share, std::min(least_rest(h[0], s), most / 2),
                                    std::max(most - least_rest(h[1], s), most / 2));
    rest = std::clamp(wanted, std::min(h[0].rest, most - h[1].rest), h[0].rest);
  }
  at.rest[0] = rows.take(rest);
  if (crowded) at.splitter = rows.take(bar);
  at.rest[1] = rows.take(rows.left());
  return at;
}

TimelinePlace CompareView::place_of(TraceSide side) const {
  const bool is_a = side == TraceSide::a;
  return {is_a ? places_.overview : Box{}, places_.ruler, places_.top[index(side)], places_.rest[index(side)], !is_a};
}

// What moves the axis.
TraceSide CompareView::leader(const ViewState& view) const {
  return over_shared_ ? TraceSide::a : pointed_.value_or(view.window.compare.side);
}

void CompareView::follow(TraceSide from, ViewState& view) {
  const TraceView& leading = view.of(from);
  TraceView& following = view.of(other(from));
  const Ns way = zero_of(other(from)) - zero_of(from);
  following.time = moved_by(leading.time, way);
  following.move = moved_by(leading.move, way);
}

// The leader goes first, and the other one follows within the frame.
void CompareView::move_both(const ComparedTimelines& two, ViewState& view, const TimelineKeys& keys, double delta_s) {
  const TraceSide first = leader(view), second = other(first);
  const std::optional<Span> range = view.of(TraceSide::a).range;
  TimelineKeys none = keys;
  none.listen = false;
  const auto move = [&](TraceSide side, const TimelineKeys& its_keys, double its_delta_s) {
    ImGui::PushID(letter(side));
    timeline_of(side, two).move(document_of(side, two), view.of(side), view.window, place_of(side), its_keys, its_delta_s);
    ImGui::PopID();
    follow(side, view);
  };
  move(first, keys, delta_s);
  timeline_of(second, two).rest();
  move(second, none, 0);
  share_range(view, range);
}

// B last: its notes and its guide lie over the ruler, which is A's to draw.
void CompareView::paint_both(const ComparedTimelines& two, ViewState& view) {
  const TraceSide first = leader(view);
  const OverviewBelow below{*timeline_, *document_, answer_to<SearchQuestion>(*document_), alignment_.way()};
  for (const TraceSide side : kSides) {
    ImGui::PushID(letter(side));
    timeline_of(side, two).paint(document_of(side, two), view.of(side), view.window,
                                 side == first ? view.window.frame.elapsed_s : 0, side == TraceSide::a ? &below : nullptr);
    ImGui::PopID();
  }
  follow(first, view);
}

// The time under the pointer, in the other timeline too.
void CompareView::draw_other_guide(const ComparedTimelines& two, const WindowState& window) {
  if (!pointed_) return;
  const Box from = timeline_of(*pointed_, two).window().hull();
  const float x = std::floor(ImGui::GetIO().MousePos.x);
  if (x < from.x0 || x >= from.x1) return;
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  timeline_of(other(*pointed_), two).window().each_part([&](const Box& part) {
    p.line_y(x, part.y0, part.y1, colour(theme_of(window).accent, 0.45f));
  });
}

void CompareView::draw_headers(const ComparedTimelines& two, ViewState& view, Requests& out) {
  draw_strip(two, view.window, places_.strip, out);
  for (const TraceSide side : kSides) {
    ImGui::PushID(letter(side));
    draw_header(side, two, view, places_.header[index(side)]);
    ImGui::PopID();
  }
  const Box& bar = places_.splitter;
  if (bar.height() < 1) return;
  const float dragged = draw_splitter("two timelines", bar, view.window),
              room = places_.rest[0].height() + places_.rest[1].height();
  if (dragged != 0 && room >= 1)
    view.window.compare.share =
        std::clamp((places_.rest[0].height() + dragged * view.window.frame.scale) / room, kLeastShare, 1 - kLeastShare);
}

void CompareView::draw(const ComparedTimelines& two, ViewState& view, const Box& box, const TimelineKeys& keys, double delta_s,
                       Requests& out) {
  places_ = lay_out(measure(two, view), view.window, box, ruler_of_both(view));
  draw_headers(two, view, out);
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  const bool free = ImGui::IsWindowHovered();
  pointed_.reset();
  for (const TraceSide side : kSides)
    if (free && (places_.top[index(side)].holds(pointer) || places_.rest[index(side)].holds(pointer))) pointed_ = side;
  over_shared_ = free && (places_.overview.holds(pointer) || places_.ruler.holds(pointer));
  move_both(two, view, keys, delta_s);
  paint_both(two, view);
  draw_other_guide(two, view.window);
}

}  // namespace gapscope
