// What Details shows of a gap, and while nothing is selected: where the time of the GPU went, in all and step by step.
#include <algorithm>
#include <cmath>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/gpu/gap_owners.h"
#include "ui/commands.h"
#include "ui/panels.h"
#include "ui/widgets/account_bar.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kAccountWidth = 420;
constexpr float kCauseWidth = 420, kLeastReasons = 260;
constexpr std::size_t kAllParts = 16;
constexpr std::size_t kMostOwners = 8, kMostInner = 4;  // lines
constexpr std::size_t kMostSteps = 200;                 // rows of the list of steps
constexpr float kStepBar = 12;
constexpr float kMostNameChars = 80;

// A column of its own next to what was drawn before; to be ended.
bool begin_column(const char* id, float width, const WindowState& window) {
  const float wide = width > 0 ? std::min(std::round(width * window.frame.scale), ImGui::GetContentRegionAvail().x) : 0;
  return ImGui::BeginChild(id, {wide, 0});
}

// As much of its name as the line has room for.
void name_link(const Document& document, TraceView& view, const WindowState& window, SliceId slice) {
  const float room = ImGui::GetContentRegionAvail().x / text_width(Face::mono, "0");
  const auto chars = static_cast<std::size_t>(std::clamp(room, 1.0f, kMostNameChars));
  const std::string name = elide_middle(printable(shown_name(document.trace, slice)), chars);
  if (draw_link(Face::mono, theme_of(window).accent, name)) select_slice(view, slice, /*reveal=*/true);
}

void slice_line(const Document& document, TraceView& view, const WindowState& window, const char* what, SliceId slice) {
  draw_text(Face::sans, theme_of(window).muted, what);
  ImGui::SameLine(0, 6 * window.frame.scale);
  ImGui::PushID(what);
  name_link(document, view, window, slice);
  ImGui::PopID();
}

// A time and what had it, which a click selects.
void time_line(TraceView& view, const WindowState& window, Ns time, const std::string& words, SliceId slice, float indent) {
  const Theme& theme = theme_of(window);
  const float left = ImGui::GetCursorPosX();
  const std::string length = format_duration(time);
  const float column = text_width(Face::mono, "000.00 ms");
  ImGui::SetCursorPosX(left + std::max(0.0f, column - text_width(Face::mono, length)));
  draw_text(Face::mono, theme.muted, length);
  ImGui::SameLine(0, 8 * window.frame.scale + indent);
  const float room = ImGui::GetContentRegionAvail().x / text_width(Face::mono, "0");
  const std::string shown = elide_middle(words, static_cast<std::size_t>(std::clamp(room, 1.0f, kMostNameChars)));
  if (!slice)
    draw_text(Face::mono, theme.text, shown);
  else if (draw_link(Face::mono, indent > 0 ? theme.muted : theme.accent, shown))
    select_slice(view, slice, /*reveal=*/true);
  draw_hover(shown == words ? "" : words);
}

void draw_owners(TraceView& view, const WindowState& window, const GapStory& story) {
  draw_text(Face::bold, theme_of(window).muted, "The host meanwhile");
  std::size_t drawn = 0;
  for (const OwnerTime& owner : story.owners) {
    if (drawn++ == kMostOwners) break;
    ImGui::PushID(static_cast<int>(drawn));
    const std::string& place = owner.words.place;
    time_line(view, window, owner.time, owner.words.name + (place.empty() ? "" : "  " + place.substr(place.rfind('/') + 1)),
              owner.slice, 0);
    std::size_t inner_drawn = 0;
    for (const OwnerTime::Inner& inner : owner.inner) {
      if (inner_drawn++ == kMostInner) break;
      ImGui::PushID(static_cast<int>(inner_drawn));
      const std::string times = inner.count > 1 ? " x " + format_count(static_cast<std::int64_t>(inner.count)) : "";
      time_line(view, window, inner.time, inner.name + times, inner.slice, 12 * window.frame.scale);
      ImGui::PopID();
    }
    ImGui::PopID();
  }
  if (story.owners.size() > kMostOwners)
    draw_text(Face::sans, theme_of(window).muted,
              "and " + format_count(static_cast<std::int64_t>(story.owners.size() - kMostOwners)) + " more");
}

// "2nd of 12 gaps of this cause, 1.20 s in all", and the ways to the others.
void draw_alike(const Document& document, TraceView& view, WindowState& window, Requests& out, const GapStory& story) {
  const Theme& theme = theme_of(window);
  const auto count = [](std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); };
  draw_text(Face::sans, theme.muted,
            "Gap " + count(story.place) + " of " + count(story.alike) + " of this cause by length, " +
                format_duration(story.alike_time) + " in all.",
            /*wrap=*/true);
  CommandScope scope{&document, view, window, out};
  for (const CommandId id : {CommandId::next_gap_of_cause, CommandId::largest_gap}) {
    const Command& c = command(id);
    if (ImGui::Button(c.title)) run_command(id, scope);
    draw_hover(std::string(c.help) + " (" + chords_text(c) + ")");
    ImGui::SameLine(0, 8 * window.frame.scale);
  }
  ImGui::NewLine();
}

void draw_causes(const Document& document, TraceView& view, const WindowState& window, const GapPlace& chosen) {
  const Theme& theme = theme_of(window);
  const DeviceGap& gap = *chosen.gap;
  const auto at = static_cast<std::size_t>(chosen.gap - chosen.device->gaps.data());
  draw_text(Face::bold, theme.text,
            "GPU " + std::to_string(chosen.device->device) + " is idle for " + format_duration(gap.span.length()));
  AccountTimes times;
  times.window = gap.span.length();
  for (const DeviceAccount::CauseTime& cause : chosen.device->causes(at)) times.idle[index_of(cause.cause)] = cause.time;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = std::round(14 * window.frame.scale);
  const std::optional<AccountPart> clicked = draw_account_bar({from.x, from.y, from.x + width, from.y + height},
                                                              {document, *chosen.device, gap.span, times}, view, window);
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({width, height});
  for (const AccountPart& part : parts_of(times)) {
    draw_text(Face::sans, theme.text, part_words(part, program_kind(document.trace)));
    ImGui::SameLine(0, 6 * window.frame.scale);
    draw_text_right(Face::mono, theme.muted, format_part(part.time, times.window) + " " + format_duration(part.time));
  }
  const AccountPart main{AccountPart::Kind::idle, gap.main, 0};
  ImGui::Spacing();
  draw_text(Face::sans, theme.text, part_advice(document, *chosen.device, gap.span, main, view), /*wrap=*/true);
  if (clicked) go_to_part(document, view, window, *chosen.device, *clicked);
}

void draw_reasons(const Document& document, TraceView& view, const WindowState& window) {
  const std::shared_ptr<const GapStory> story = view.gaps.story;  // a click below lets go of it
  const DeviceGap gap = *story->gap;
  draw_owners(view, window, *story);
  ImGui::Spacing();
  if (gap.ended_by) slice_line(document, view, window, "Next on the GPU", gap.ended_by);
  if (gap.launch) slice_line(document, view, window, "launched by", gap.launch);
  for (const std::string& sentence : story->sooner) draw_text(Face::sans, theme_of(window).muted, sentence, /*wrap=*/true);
}

void draw_steps_list(const Document& document, TraceView& view, const WindowState& window, const DeviceAccount& device) {
  const TimeAccount& account = *account_of(document);
  const Theme& theme = theme_of(window);
  draw_text(Face::bold, theme.muted, "Step by step");
  const AccountSums& sums = account_sums(document, device, view);
  const std::vector<AccountTimes> times = sums.steps;  // a click below makes them anew
  for (std::size_t i = 0; i < times.size() && i < kMostSteps; ++i) {
    const TimeAccount::StepWindow& step = account.steps()[i];
    ImGui::PushID(static_cast<int>(i));
    if (draw_link(Face::mono, theme.accent, printable(document.trace.name(step.step)))) {
      select_slice(view, step.step, /*reveal=*/false);
      go_to(view, window, focused_on(step.span, axis_reach(view, document.trace.span)));
    }
    ImGui::SameLine(0, 8 * window.frame.scale);
    draw_text(Face::mono, theme.muted, format_duration(times[i].window));
    ImGui::SameLine(150 * window.frame.scale + ImGui::GetFontSize() * 4);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x,
                top = std::floor((ImGui::GetTextLineHeight() - kStepBar * window.frame.scale) / 2);
    const std::optional<AccountPart> clicked =
        draw_account_bar({at.x, at.y + top, at.x + width, at.y + top + std::round(kStepBar * window.frame.scale)},
                         {document, device, step.span, times[i]}, view, window);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width, ImGui::GetTextLineHeight()});
    if (clicked && clicked->kind == AccountPart::Kind::idle)
      if (const auto gap = next_gap(device, clicked->cause, step.span))
        choose_gap(document, view, window, device.device, *gap, /*go_there=*/true);
    ImGui::PopID();
  }
  if (times.size() > kMostSteps)
    draw_text(Face::sans, theme.muted, "The tab Steps has all " + format_count(static_cast<std::int64_t>(times.size())) + ".");
}

// Letters hang a little below their line: where all just fits, those of the last one would be cut off.
void end_column(bool open) {
  if (open) ImGui::Dummy({0, 1});
  ImGui::EndChild();
}

}  // namespace

bool has_account(const Document& document) {
  const TimeAccount* account = account_of(document);
  return account && account->busiest();
}

void draw_gap_details(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const GapStory* story = gap_story(document, view);
  if (!story) return;
  const GapPlace chosen = chosen_gap(document, view);
  const auto draw_left = [&] {
    draw_causes(document, view, window, chosen);
    if (view.gaps.story.get() == story) draw_alike(document, view, window, out, *story);
  };
  // One below the other where there is no room for two columns.
  if (ImGui::GetContentRegionAvail().x < (kCauseWidth + kLeastReasons) * window.frame.scale) {
    draw_left();
    ImGui::Spacing();
    return draw_reasons(document, view, window);
  }
  const bool open_causes = begin_column("causes", kCauseWidth, window);
  if (open_causes) draw_left();
  end_column(open_causes);
  ImGui::SameLine(0, 24 * window.frame.scale);
  const bool open_reasons = begin_column("reasons", 0, window);
  if (open_reasons) draw_reasons(document, view, window);
  end_column(open_reasons);
}

void draw_account_details(const Document& document, TraceView& view, const WindowState& window) {
  const TimeAccount* account = account_of(document);
  const bool steps = !account->steps().empty();
  const bool open_account = begin_column("account", kAccountWidth, window);
  if (open_account) draw_account(document, view, window, kAllParts);
  end_column(open_account);
  if (!steps) return;
  ImGui::SameLine(0, 24 * window.frame.scale);
  const bool open_steps = begin_column("steps", 0, window);
  if (open_steps) draw_steps_list(document, view, window, *account->busiest());
  end_column(open_steps);
}

}  // namespace gapscope
