#include "ui/compare/compare_view.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/text.h"
#include "core/view/compare/compare_model.h"
#include "core/view/timeline/time_view.h"
#include "ui/widgets/account_bar.h"
#include "ui/widgets/bars.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kHeader = 28;
constexpr float kBar = 6;  // of that: the account of the GPU
constexpr float kSplitter = 6;
constexpr float kLeastSide = 90;           // px at scale 1 of either timeline
constexpr float kLeastWithOverview = 330;  // px at scale 1; a lower timeline has better use for the room
constexpr float kLeastShare = 0.1f;        // of the height
constexpr std::array<TraceSide, 2> kSides = {TraceSide::a, TraceSide::b};

std::size_t index(TraceSide side) { return static_cast<std::size_t>(side); }
const char* letter(TraceSide side) { return side == TraceSide::a ? "A" : "B"; }

std::string file_name(const Document& document) {
  return printable(std::filesystem::path(document.trace.path).filename().string());
}

// "ProfilerStep#3: CPU 1.20 ms, GPU busy 310 us"
std::string step_words(const Side& side) {
  if (side.picked.empty()) return "";
  const auto time = [&](StepFigure figure) { return format_duration(side.picked_values[static_cast<std::size_t>(figure)]); };
  return printable(side.picked) + ":  CPU " + time(StepFigure::cpu) + ",  GPU busy " + time(StepFigure::gpu_busy);
}

// What the step choice offers, in one list for both traces.
void draw_step_choice(const ComparedTimelines& two, const Document& b, ViewState& view) {
  CompareOptions& options = view.compare.options;
  const auto offer = [&](CompareOptions choice) {
    const bool chosen = same_options(choice, options);
    if (ImGui::Selectable(options_text(choice).c_str(), chosen)) options = choice;
  };
  if (ImGui::BeginCombo("##step", options_text(options).c_str())) {
    offer({StepPick::median, 0, options.annotation});
    offer({StepPick::all, 0, options.annotation});
    for (const std::int64_t number : common_steps(two.a, b)) offer({StepPick::number, number, options.annotation});
    ImGui::EndCombo();
  }
  draw_hover("The step of both traces that is compared, and that the two are aligned on: the one of median CPU time in each, all, or "
             "one that both have.");
}

}  // namespace

Span CompareView::reach_of(TraceSide side, const ComparedTimelines& two) const {
  const Span reach = alignment_.reach(two.a.trace.span, document_->trace.span);
  const Ns way = side == TraceSide::a ? 0 : alignment_.way();
  return {reach.begin + way, reach.end + way};
}

// Does something to one side's view, whichever of the two is acted on.
template <class Do>
void CompareView::as(TraceSide side, ViewState& view, Do act) {
  const bool waits = view.compare.side != side;
  if (waits) exchange(view, waiting_);
  act();
  if (waits) exchange(view, waiting_);
}

void CompareView::act_on(TraceSide side, ViewState& view) {
  if (view.compare.side == side) return;
  exchange(view, waiting_);
  view.compare.side = side;
  ask_again(view);
}

void CompareView::part(const Document* a, ViewState& view) {
  view.compare.asked.reset();
  view.compare.answer.reset();
  view.compare.show.reset();
  view.compare.chosen = -1;
  aligned_on_.reset();
  view.linked.reset();
  waiting_.linked.reset();
  if (a && document_) alignment_ = {a->trace.span.begin, document_->trace.span.begin};
}

void CompareView::adopt(const Document* a, const Document* b, ViewState& view) {
  act_on(TraceSide::a, view);
  document_ = b;
  part(a, view);
  view.compare.open = b != nullptr;
  pointed_.reset();
  if (a && !b) view.time = within_limits(view.time, a->trace.span);
  if (!b) view.move = {};
  exchange(view, waiting_);
  forget_document(view);
  view.history.clear();
  view.folds.python_folded = waiting_.folds.python_folded;
  view.folds.compact = waiting_.folds.compact;
  timeline_->adopt(b, view);
  exchange(view, waiting_);
}

void CompareView::swap(const Document*& a, std::unique_ptr<TimelinePanel>& timeline, ViewState& view) {
  std::swap(a, document_);
  std::swap(timeline, timeline_);
  std::swap(alignment_.zero_a, alignment_.zero_b);
  view.compare.side = other(view.compare.side);
  view.compare.asked.reset();
  view.compare.answer.reset();
  view.compare.chosen = -1;
}

// A click acts on the timeline that it hits, a command's key on the one under the pointer.
void CompareView::choose_side(ViewState& view, bool keys_free, std::span<const KeyPress> presses) {
  if (std::exchange(view.compare.turn, false)) return act_on(other(view.compare.side), view);
  if (!pointed_) return;
  const bool clicked = ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1);
  const bool key = keys_free && std::any_of(presses.begin(), presses.end(), [](const KeyPress& press) {
                     const Command* found = command_for({press.key, press.mods});
                     return found && found->need && !found->while_held && found->id != CommandId::other_trace;
                   });
  if (clicked || key) act_on(*pointed_, view);
}

void CompareView::ask(const ComparedTimelines& two, ViewState& view, Requests& out) const {
  CompareState& state = view.compare;
  if (two.a.trace.is_part || !two.a.diagnosis() || !document_->diagnosis()) return;
  if (state.asked && same_options(*state.asked, state.options)) return;
  state.asked = state.options;
  view.troubles.clear(TabJob::comparison);
  out.add(MakeComparison{state.options});
}

// The steps come to lie under each other, and into view.
void CompareView::take_answer(const ComparedTimelines& two, ViewState& view) {
  const std::shared_ptr<const ComparisonAnswer>& answer = view.compare.answer;
  if (!answer || answer == aligned_on_) return;
  const bool fresh = !aligned_on_ || !same_options(aligned_on_->options, answer->options);
  const bool moved = alignment_ != answer->alignment();
  aligned_on_ = answer;
  if (!fresh && !moved) return;
  if (!answer->error.empty()) return;
  alignment_ = answer->alignment();
  link(two, view);
  const Span steps = hull(answer->step_a, {answer->step_b.begin - alignment_.way(), answer->step_b.end - alignment_.way()});
  const Ns way = view.compare.side == TraceSide::a ? 0 : alignment_.way();
  go_to(view, focused_on({steps.begin + way, steps.end + way}, view.linked->reach));
}

void CompareView::link(const ComparedTimelines& two, ViewState& view) {
  const TraceSide side = view.compare.side;
  const auto match = [&](TraceSide from, SliceId slice) {
    return view.compare.answer ? view.compare.answer->matches.of(from, slice) : SliceId{};
  };
  view.linked = {reach_of(side, two), zero_of(side), match(other(side), waiting_.selection)};
  waiting_.linked = {reach_of(other(side), two), zero_of(other(side)), match(side, view.selection)};
}

// Both pieces of work are selected and in sight, however far apart they begin.
void CompareView::show(const ComparedTimelines& two, ViewState& view, const SlicePair& pair) {
  std::optional<Span> both;  // in A's time
  for (const TraceSide side : kSides) {
    const SliceId slice = side == TraceSide::a ? pair.a : pair.b;
    const Document& document = document_of(side, two);
    as(side, view, [&] {
      select_slice(view, slice, /*reveal=*/false);
      if (slice) timeline_of(side, two).scroll_to_selection(document, view);
    });
    if (!slice) continue;
    const Span span = document.trace.span_of(slice);
    const Ns way = side == TraceSide::a ? 0 : alignment_.way();
    const Span here{span.begin - way, span.end - way};
    both = both ? hull(*both, here) : here;
  }
  if (!both) return;
  const Ns way = view.compare.side == TraceSide::a ? 0 : alignment_.way();
  go_to(view, focused_on({both->begin + way, both->end + way}, reach_of(view.compare.side, two)));
}

void CompareView::begin_frame(const ComparedTimelines& two, ViewState& view, bool keys_free, std::span<const KeyPress> presses,
                              Requests& out) {
  choose_side(view, keys_free, presses);
  ask(two, view, out);
  take_answer(two, view);
  link(two, view);
  if (const std::optional<SlicePair> pair = std::exchange(view.compare.show, std::nullopt)) {
    show(two, view, *pair);
    link(two, view);
  }
}

void CompareView::draw_header(TraceSide side, const ComparedTimelines& two, ViewState& view, Box box, Requests& out) {
  const Theme& theme = theme_of(view.theme);
  Painter p(*ImGui::GetWindowDrawList(), view.scale);
  const bool acts = view.compare.side == side;
  p.fill(box, colour(theme.raised));
  const TimeAccount* account = account_of(document_of(side, two));
  const Box bar{box.x0, box.y1 - p.px(kBar), box.x1, box.y1};
  if (account && account->busiest()) {
    const std::optional<AccountPart> part = draw_account_bar(bar, account->busiest()->times, view);
    if (part) as(side, view, [&] { go_to_part(document_of(side, two), view, *account->busiest(), *part); });
  }
  box.y1 = bar.y0;
  const Box badge{box.x0 + p.px(8), box.y0 + p.px(4), box.x0 + p.px(26), box.y1 - p.px(4)};
  p.fill_rounded(badge, colour(acts ? theme.accent : theme.muted, acts ? 1.0f : 0.35f), p.px(3));
  const float letter_width = p.text_width(Face::bold, letter(side));
  p.text_in(Face::bold, {badge.x0 + (badge.width() - letter_width) / 2, badge.y0, badge.x1, badge.y1},
            colour(acts ? theme.background : theme.text), letter(side));

  // Controls at the right end, words up to them.
  const float buttons = p.text_width(Face::sans, "SwapClose") + p.px(4 * 6 + 4 + 8);
  const float controls = side == TraceSide::a ? p.px(196) : buttons;
  const std::string name = file_name(document_of(side, two));
  const float x = badge.x1 + p.px(8), x1 = box.x1 - controls - p.px(8);
  p.text_in(Face::bold, {x, box.y0, x1, box.y1}, colour(theme.text), name);
  const float after = x + p.text_width(Face::bold, name) + p.px(16);
  if (view.compare.answer && after < x1) {
    const Comparison& c = view.compare.answer->comparison;
    p.text_in(Face::sans, {after, box.y0, x1, box.y1}, colour(theme.muted), step_words(side == TraceSide::a ? c.a : c.b));
  }
  ImGui::SetCursorScreenPos({badge.x0, box.y0});
  ImGui::InvisibleButton("header", {std::max(1.0f, x1 - badge.x0), box.height()});
  if (ImGui::IsItemClicked() && !acts) view.compare.turn = true;
  draw_hover(printable(document_of(side, two).trace.path) + (acts ? "\nKeys and panels are about this trace." : "\nClick: let keys and panels be about this trace (X)."));

  ImGui::SetCursorScreenPos({box.x1 - controls, box.y0 + p.px(2)});
  ImGui::PushStyleColor(ImGuiCol_Button, colour(theme.line));  // the strip has the colour of usual buttons
  ImGui::PushStyleColor(ImGuiCol_FrameBg, colour(theme.line));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {p.px(6), std::max(0.0f, std::floor((box.height() - p.px(4) - ImGui::GetFontSize()) / 2))});
  if (side == TraceSide::a) {
    p.text_in(Face::sans, {box.x1 - controls, box.y0, box.x1, box.y1}, colour(theme.muted), "Aligned on");
    ImGui::SetCursorScreenPos({box.x1 - controls + p.px(74), box.y0 + p.px(2)});
    ImGui::SetNextItemWidth(p.px(114));
    draw_step_choice(two, *document_, view);
  } else {
    if (ImGui::Button("Swap")) out.add(SwapTraces{});
    draw_hover(command(CommandId::swap_traces).help);
    ImGui::SameLine(0, p.px(4));
    if (ImGui::Button("Close")) out.add(CloseBeside{});
    draw_hover(command(CommandId::close_beside).help);
  }
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(2);
}

void CompareView::draw_side(TraceSide side, const ComparedTimelines& two, ViewState& view, const TimelineKeys& keys, double delta_s,
                            bool with_overview) {
  ImGui::PushID(letter(side));
  timeline_of(side, two).draw(document_of(side, two), view, boxes_[index(side)], keys, delta_s, with_overview);
  ImGui::PopID();
}

// The time under the pointer, in the other timeline too.
void CompareView::draw_guide_beside(const ComparedTimelines& two, const ViewState& view) {
  if (!pointed_) return;
  const Box& from = timeline_of(*pointed_, two).areas().lanes;
  const Box& to = timeline_of(other(*pointed_), two).areas().lanes;
  const float x = std::floor(ImGui::GetIO().MousePos.x);
  if (x < from.x0 || x >= from.x1 || to.height() < 1) return;
  Painter p(*ImGui::GetWindowDrawList(), view.scale);
  p.line_y(x, to.y0, to.y1, colour(theme_of(view.theme).accent, 0.45f));
}

float CompareView::least_height(const ComparedTimelines& two, const ViewState& view) const {
  const float side = std::round(kHeader * view.scale) + std::max(two.timeline_a.least_height(), timeline_->least_height());
  return 2 * side + std::round(kSplitter * view.scale);
}

void CompareView::draw(const ComparedTimelines& two, ViewState& view, const Box& box, const TimelineKeys& keys, double delta_s,
                       Requests& out) {
  const float header = std::round(kHeader * view.scale), bar = std::round(kSplitter * view.scale);
  const float least = header + kLeastSide * view.scale;
  const float room = box.height() - bar;
  const float upper = std::round(std::clamp(room * view.compare.share, std::min(least, room / 2), std::max(room - least, room / 2)));
  const Box a{box.x0, box.y0, box.x1, box.y0 + upper}, b{box.x0, a.y1 + bar, box.x1, box.y1};
  if (box.width() >= 1 && room >= 1) {
    for (const TraceSide side : kSides) {
      const Box& whole = side == TraceSide::a ? a : b;
      ImGui::PushID(letter(side));
      draw_header(side, two, view, {whole.x0, whole.y0, whole.x1, whole.y0 + header}, out);
      ImGui::PopID();
    }
    const float dragged = draw_splitter("two timelines", {box.x0, a.y1, box.x1, b.y0}, view);
    if (dragged != 0) view.compare.share = std::clamp((upper + dragged * view.scale) / room, kLeastShare, 1 - kLeastShare);
  }
  boxes_ = {Box{a.x0, a.y0 + header, a.x1, a.y1}, Box{b.x0, b.y0 + header, b.x1, b.y1}};

  const ImVec2 pointer = ImGui::GetIO().MousePos;
  pointed_.reset();
  for (const TraceSide side : kSides) {
    if (ImGui::IsWindowHovered() && boxes_[index(side)].holds(pointer)) pointed_ = side;
  }
  // What moves the axis goes first, and the other one follows within the frame.
  const TraceSide active = view.compare.side, leader = pointed_.value_or(active);
  const bool with_overview = std::min(boxes_[0].height(), boxes_[1].height()) >= kLeastWithOverview * view.scale;
  const Ns way = zero_of(other(active)) - zero_of(active);
  waiting_.time = moved_by(view.time, way);
  waiting_.move = moved_by(view.move, way);
  const auto follow = [&](TraceSide from) {
    if (from == active) {
      waiting_.time = moved_by(view.time, way);
      waiting_.move = moved_by(view.move, way);
    } else {
      view.time = moved_by(waiting_.time, -way);
      view.move = moved_by(waiting_.move, -way);
    }
  };
  TimelineKeys none = keys;
  none.listen = false;
  as(leader, view, [&] { draw_side(leader, two, view, keys, delta_s, with_overview); });
  follow(leader);
  timeline_of(other(leader), two).rest();
  as(other(leader), view, [&] { draw_side(other(leader), two, view, none, 0, with_overview); });
  follow(other(leader));
  draw_guide_beside(two, view);
}

}  // namespace gapscope
