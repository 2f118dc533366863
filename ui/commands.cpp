#include "ui/commands.h"

#include <algorithm>
#include <cmath>

#include "core/view/findings_model.h"
#include "core/view/preferences.h"
#include "core/view/lane_folds.h"
#include "core/view/shown_neighbours.h"
#include "core/view/flow_choice.h"
#include "core/view/time_view.h"
#include "ui/panels.h"
#include "ui/timeline_input.h"

namespace gapscope {
namespace {

constexpr double kStepZoom = 0.7;    // one choice of "Zoom in" in the menu
constexpr double kStepPan = 0.2;     // of the visible width
constexpr double kStepScroll = 240;  // px at scale 1

constexpr float kMagnify = 1.1f;

bool has_document(const CommandScope& s) { return s.document != nullptr; }
bool has_selection(const CommandScope& s) { return s.document && s.view.selection.valid(); }
bool has_cycle(const CommandScope& s) { return s.document && !s.view.cycle.slices.empty(); }
bool has_findings(const CommandScope& s) { return s.document && s.document->diagnosis(); }
bool has_python(const CommandScope& s) { return s.document && s.document->arrangements() && s.document->arrangements()->any_python; }
bool can_go_back(const CommandScope& s) { return s.document && s.view.history.can_go_back(place_of(s.view)); }
bool can_go_forward(const CommandScope& s) { return s.document && s.view.history.can_go_forward(); }
bool can_deselect(const CommandScope& s) { return s.view.help_open || s.view.start_open || s.view.selection.valid() || s.view.range; }

void zoom(CommandScope& s, double factor) { go_to(s.view, zoomed(s.view.time, factor, 0.5, s.document->trace.span)); }
// In steps of a tenth that meet 1 again.
void magnify(CommandScope& s, float factor) {
  const float steps = std::round(std::log(s.view.zoom * factor) / std::log(kMagnify));
  s.view.zoom = std::clamp(std::pow(kMagnify, steps), kLeastZoom, kMostZoom);
}
void pan(CommandScope& s, double widths) { go_to(s.view, panned(s.view.time, widths, s.document->trace.span)); }

// Esc takes away one thing at a time, the topmost first.
void leave_topmost(CommandScope& s) {
  if (s.view.help_open) {
    s.view.help_open = false;
  } else if (s.view.start_open) {
    s.view.start_open = false;
  } else if (s.view.selection) {
    s.view.selection = {};
  } else {
    s.view.range.reset();
  }
}

void select_found(CommandScope& s, SliceId slice) {
  if (slice.valid()) select_slice(s.view, slice, true);
}


void pin_lane_of_selection(CommandScope& s) {
  const LaneId lane = s.document->trace.lane_id(s.view.selection);
  set_pinned(s.view.folds, lane, !s.view.folds.lane_pinned[lane.index()]);
}

void show_tab(CommandScope& s, std::string_view id) {
  s.view.sizes.bottom_open = true;
  const auto table = panels();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].id == id) s.view.tab = i;
  }
  s.view.select_tab = true;
}

void go_to_place(CommandScope& s, const std::optional<ViewPlace>& place) {
  if (!place) return;
  go_to(s.view, within_limits(TimeView{place->span, 0, 0}, s.document->trace.span));
  s.view.scroll_px = place->scroll_px;
}

using enum CommandId;

// clang-format off
constexpr auto kCommands = std::to_array<Command>({
  {open_file, Menu::file, "Open...", "Open a trace: type a path, browse, or take a recent one or a sample.",
   {{{Key::o, kCtrl}}}, false, nullptr, [](CommandScope& s) { s.view.start_open = true; }},
  {reload, Menu::file, "Reload", "Read the file again from disk.",
   {{{Key::f5}, {Key::r, kCtrl}}}, false, has_document, [](CommandScope& s) { s.out.add(ReloadFile{}); }},
  {close_file, Menu::file, "Close", "Close the trace and go back to the start screen.",
   {{{Key::w, kCtrl}}}, false, has_document, [](CommandScope& s) { s.out.add(CloseFile{}); }},
  {screenshot, Menu::file, "Save a screenshot", "Save this window as a PNG beside the trace.",
   {{{Key::f12}}}, false, nullptr, [](CommandScope& s) { s.out.add(TakeScreenshot{}); }},
  {copy_name, Menu::file, "Copy name", "Copy the whole name of the selected slice.",
   {{{Key::c, kCtrl}}}, false, has_selection,
   [](CommandScope& s) { s.out.add(CopyText{std::string(s.document->trace.name(s.view.selection))}); }},
  {quit, Menu::file, "Quit", "Close the window.",
   {{{Key::q, kCtrl}}}, false, nullptr, [](CommandScope& s) { s.out.add(Quit{}); }},

  {toggle_python, Menu::view, "Python frames", "Show threads with the Python frames that called, or without.",
   {{{Key::y}}}, false, has_python, [](CommandScope& s) { gapscope::toggle_python(s.view.folds); }},
  {toggle_compact, Menu::view, "Thin lanes", "Draw every depth thin and without labels, so that more lanes fit.",
   {{{Key::c}}}, false, has_document, [](CommandScope& s) { gapscope::toggle_compact(s.view.folds); }},
  {only_gpu, Menu::view, "Fold all but GPU", "Fold every lane that is no GPU stream; once more opens all.",
   {{{Key::l}}}, false, has_document, [](CommandScope& s) { toggle_all_but_gpu(s.view.folds, s.document->trace); }},
  {pin_lane, Menu::view, "Pin the lane", "Keep the selected slice's lane at the top, or let it go back.",
   {{{Key::t}}}, false, has_selection, pin_lane_of_selection},
  {collapse_all, Menu::view, "Fold all lanes", "Show only the outermost slices of every lane.",
   {}, false, has_document, [](CommandScope& s) { set_all_lanes(s.view.folds, true); }},
  {expand_all, Menu::view, "Open all lanes", "Show every depth of every lane.",
   {}, false, has_document, [](CommandScope& s) { set_all_lanes(s.view.folds, false); }},
  {toggle_bottom, Menu::view, "Panels below", "Show or hide the panels below the lanes.",
   {{{Key::q}}}, false, has_document, [](CommandScope& s) { s.view.sizes.bottom_open = !s.view.sizes.bottom_open; }},
  {toggle_findings, Menu::view, "Findings", "Show or hide what costs time, what proves it and what to do.",
   {{{Key::b}}}, false, has_document, [](CommandScope& s) { s.view.findings.open = !s.view.findings.open; }},
  {toggle_informational, Menu::view, "Informational findings", "Show or hide findings that are no problem.",
   {{{Key::i}}}, false, has_document, [](CommandScope& s) { s.view.findings.quiet = !s.view.findings.quiet; }},
  {details, Menu::view, "Details", "Show what is known about the selected slice.",
   {}, false, has_document, [](CommandScope& s) { show_tab(s, "details"); }},
  {table, Menu::view, "Table", "Show the profiler table.",
   {}, false, has_document, [](CommandScope& s) { show_tab(s, "table"); }},
  {kernels, Menu::view, "Kernels", "Show GPU work by name.",
   {}, false, has_document, [](CommandScope& s) { show_tab(s, "kernels"); }},
  {steps, Menu::view, "Steps", "Show what each step's time went into.",
   {}, false, has_document, [](CommandScope& s) { show_tab(s, "steps"); }},
  {gpu, Menu::view, "GPU", "Show how busy each GPU was, and its idle gaps.",
   {}, false, has_document, [](CommandScope& s) { show_tab(s, "gpu"); }},
  {memory, Menu::view, "Memory", "Show memory over time and who asked for it.",
   {}, false, has_document, [](CommandScope& s) { show_tab(s, "memory"); }},
  {report, Menu::view, "Load report", "Show what was odd about the file.",
   {}, false, has_document, [](CommandScope& s) { show_tab(s, "report"); }},
  {cycle_flows, Menu::view, "Arrows", "Arrows of the selection, of all launches, from forward to backward, or all.",
   {{{Key::f, kShift}}}, false, has_document, [](CommandScope& s) { s.view.flows.show = next_flow_show(s.view.flows.show); }},
  {toggle_theme, Menu::view, "Light or dark", "Change between the light and the dark theme.",
   {}, false, nullptr,
   [](CommandScope& s) { s.view.theme = s.view.theme == ThemeName::dark ? ThemeName::light : ThemeName::dark; }},
  {toggle_animation, Menu::view, "Smooth jumps", "Let jumps glide for a moment, or not.",
   {}, false, nullptr, [](CommandScope& s) { s.view.animate = !s.view.animate; }},
  {toggle_colours, Menu::view, "Colour-blind safe", "Draw slices in colours that any colour vision tells apart, or in the usual ones.",
   {}, false, nullptr,
   [](CommandScope& s) { s.view.slice_colours = s.view.slice_colours == Palette::usual ? Palette::colour_blind : Palette::usual; }},
  {zoom_text_in, Menu::view, "Larger", "Make everything in the window larger.",
   {{{Key::plus, kCtrl}, {Key::equal, kCtrl}}}, false, nullptr, [](CommandScope& s) { magnify(s, kMagnify); }},
  {zoom_text_out, Menu::view, "Smaller", "Make everything in the window smaller.",
   {{{Key::minus, kCtrl}}}, false, nullptr, [](CommandScope& s) { magnify(s, 1 / kMagnify); }},
  {zoom_text_reset, Menu::view, "Usual size", "Give everything in the window its usual size.",
   {{{Key::digit_0, kCtrl}}}, false, nullptr, [](CommandScope& s) { s.view.zoom = 1; }},

  {zoom_in, Menu::go, "Zoom in", "Zoom in about the pointer; hold to go faster.",
   {{{Key::w}}}, true, has_document, [](CommandScope& s) { zoom(s, kStepZoom); }},
  {zoom_out, Menu::go, "Zoom out", "Zoom out about the pointer; hold to go faster.",
   {{{Key::s}}}, true, has_document, [](CommandScope& s) { zoom(s, 1 / kStepZoom); }},
  {pan_left, Menu::go, "Pan left", "Move to earlier times; hold to go faster.",
   {{{Key::a}, {Key::left}}}, true, has_document, [](CommandScope& s) { pan(s, -kStepPan); }},
  {pan_right, Menu::go, "Pan right", "Move to later times; hold to go faster.",
   {{{Key::d}, {Key::right}}}, true, has_document, [](CommandScope& s) { pan(s, kStepPan); }},
  {scroll_up, Menu::go, "Scroll up", "Move the lanes down.",
   {{{Key::page_up}}}, false, has_document, [](CommandScope& s) { s.view.scroll_px -= kStepScroll; }},
  {scroll_down, Menu::go, "Scroll down", "Move the lanes up.",
   {{{Key::page_down}}}, false, has_document, [](CommandScope& s) { s.view.scroll_px += kStepScroll; }},
  {focus, Menu::go, "Focus", "Zoom to the selected slice; once more, or without one, to the whole trace.",
   {{{Key::f}}}, false, has_document, [](CommandScope& s) { focus_or_fit(*s.document, s.view); }},
  {fit_all, Menu::go, "Whole trace", "Zoom out to the whole trace.",
   {{{Key::home}, {Key::digit_0}}}, false, has_document, [](CommandScope& s) { go_to(s.view, fit(s.document->trace.span)); }},
  {next_slice, Menu::go, "Next slice", "Select the next slice of the same lane and depth.",
   {{{Key::period}}}, false, has_selection,
   [](CommandScope& s) { select_found(s, shown_next(*s.document, s.view.folds, s.view.selection)); }},
  {previous_slice, Menu::go, "Previous slice", "Select the previous slice of the same lane and depth.",
   {{{Key::comma}}}, false, has_selection,
   [](CommandScope& s) { select_found(s, shown_previous(*s.document, s.view.folds, s.view.selection)); }},
  {parent_slice, Menu::go, "Parent", "Select the slice that encloses the selected one.",
   {{{Key::up}}}, false, has_selection,
   [](CommandScope& s) { select_found(s, shown_parent(*s.document, s.view.folds, s.view.selection)); }},
  {child_slice, Menu::go, "First child", "Select the first slice inside the selected one.",
   {{{Key::down}}}, false, has_selection,
   [](CommandScope& s) { select_found(s, shown_child(*s.document, s.view.folds, s.view.selection)); }},
  {next_flow, Menu::go, "Next arrow", "Choose the next arrow of the selected slice.",
   {{{Key::right_bracket}}}, false, has_selection, [](CommandScope& s) { walk_arrows(*s.document, s.view, 1); }},
  {previous_flow, Menu::go, "Previous arrow", "Choose the previous arrow of the selected slice.",
   {{{Key::left_bracket}}}, false, has_selection, [](CommandScope& s) { walk_arrows(*s.document, s.view, -1); }},
  {follow_flow, Menu::go, "Along the arrow", "Go where the chosen arrow, or the first that leaves the selected slice, leads.",
   {{{Key::right_bracket, kCtrl}}}, false, has_selection,
   [](CommandScope& s) { select_found(s, end_of_arrow(*s.document, s.view, true)); }},
  {follow_flow_back, Menu::go, "Against the arrow", "Go where the chosen arrow, or the first that arrives at the selected slice, comes from.",
   {{{Key::left_bracket, kCtrl}}}, false, has_selection,
   [](CommandScope& s) { select_found(s, end_of_arrow(*s.document, s.view, false)); }},
  {back, Menu::go, "Back", "Go back to where the timeline stood before.",
   {{{Key::left, kAlt}}}, false, can_go_back, [](CommandScope& s) { go_to_place(s, s.view.history.back(place_of(s.view))); }},
  {forward, Menu::go, "Forward", "Go where the timeline stood before going back.",
   {{{Key::right, kAlt}}}, false, can_go_forward, [](CommandScope& s) { go_to_place(s, s.view.history.forward(place_of(s.view))); }},
  {next_of_cycle, Menu::go, "Next of its kind", "Select the next slice of the row chosen in a table.",
   {{{Key::enter}}}, false, has_cycle,
   [](CommandScope& s) { select_found(s, s.view.cycle.next(s.view.selection)); }},
  {previous_of_cycle, Menu::go, "Previous of its kind", "Select the slice before, of the row chosen in a table.",
   {{{Key::enter, kShift}}}, false, has_cycle,
   [](CommandScope& s) { select_found(s, s.view.cycle.previous(s.view.selection)); }},
  {next_finding, Menu::go, "Next finding", "Go to the next finding.",
   {{{Key::n}}}, false, has_findings, [](CommandScope& s) { walk_findings(*s.document, s.view, 1); }},
  {previous_finding, Menu::go, "Previous finding", "Go to the finding before.",
   {{{Key::p}}}, false, has_findings, [](CommandScope& s) { walk_findings(*s.document, s.view, -1); }},
  {deselect, Menu::go, "Deselect", "Close what is on top, or select nothing.",
   {{{Key::escape}}}, false, can_deselect, leave_topmost},

  {help, Menu::help, "Keys and mouse", "Show every command with its key, and what the mouse does.",
   {{{Key::question}, {Key::f1}}}, false, nullptr, [](CommandScope& s) { s.view.help_open = !s.view.help_open; }},
  {tour, Menu::help, "First hints", "Show the five hints of the first run again.",
   {}, false, has_document, [](CommandScope& s) { s.view.tour = {true, true, 0}; }},
});
// clang-format on

constexpr auto kMouseHelp = std::to_array<MouseHelp>({
    {"Wheel", "Scroll the lanes."},
    {"Ctrl + wheel", "Zoom about the pointer."},
    {"Shift + wheel", "Pan."},
    {"Shift + drag, middle drag", "Pan and scroll."},
    {"Click", "Select a slice, fold a lane by its title, follow an arrow by its end; on empty space: deselect."},
    {"Double click", "Zoom to the slice."},
    {"Drag in the ruler", "Restrict the tables to that time; a click in the ruler gives all of it back."},
    {"Drag in the overview", "Move the visible window, or one of its edges."},
    {"Drag a lane's title", "Move the lane to another place; its right click pins or hides it."},
    {"Drag the edge of a column or panel", "Change its size."},
});

constexpr std::array<const char*, 4> kMenuTitles = {"File", "View", "Go", "Help"};

}  // namespace

const char* menu_title(Menu menu) { return kMenuTitles[static_cast<std::size_t>(menu)]; }

std::string chord_text(const Chord& chord) {
  std::string text;
  if (chord.key == Key::none) return text;
  if (chord.mods & kCtrl) text += "Ctrl+";
  if (chord.mods & kAlt) text += "Alt+";
  if (chord.mods & kShift) text += "Shift+";
  return text.append(key_name(chord.key));
}

std::span<const Command> commands() { return kCommands; }

const Command& command(CommandId id) {
  for (const Command& c : kCommands) {
    if (c.id == id) return c;
  }
  return kCommands.front();  // a test walks the enum and finds every id in the table
}

const Command* command_for(const Chord& chord) {
  for (const Command& c : kCommands) {
    for (const Chord& own : c.chords) {
      if (own.key != Key::none && own == chord) return &c;
    }
  }
  return nullptr;
}

bool is_enabled(const Command& c, const CommandScope& scope) { return !c.enabled || c.enabled(scope); }

void run_command(CommandId id, CommandScope& scope) {
  const Command& c = command(id);
  if (is_enabled(c, scope)) c.run(scope);
}

std::string chords_text(const Command& c) {
  std::string text = chord_text(c.chords[0]);
  if (c.chords[1].key != Key::none) text += " or " + chord_text(c.chords[1]);
  return text;
}

std::span<const MouseHelp> mouse_help() { return kMouseHelp; }

}  // namespace gapscope
