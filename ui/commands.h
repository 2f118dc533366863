#pragma once
// ONE table of everything a person can ask for. Menus, key handling, the help page and the command palette are loops
// over it.
#include <array>
#include <span>
#include <string>

#include "core/view/view_state.h"
#include "ui/keys.h"
#include "ui/requests.h"

namespace gapscope {

struct Document;

enum class CommandId : std::uint8_t {
  open_file,
  open_copied,
  compare_with,
  open_capture,
  swap_traces,
  close_beside,
  reload,
  close_file,
  record_program,
  record_again,
  copy_name,
  copy_json,
  save_html,
  screenshot,
  save_table,
  save_visible,
  save_range,
  copy_link,
  undo,
  redo,
  quit,
  zoom_in,
  zoom_out,
  pan_left,
  pan_right,
  focus,
  fit_all,
  mark_slice,
  mark_all,
  deselect,
  find,
  next_hit,
  previous_hit,
  find_lane,
  go_to_time,
  mark,
  keep_note,
  add_flag,
  delete_note,
  next_slice,
  previous_slice,
  parent_slice,
  child_slice,
  scroll_up,
  scroll_down,
  toggle_python,
  toggle_compact,
  only_gpu,
  pin_lane,
  collapse_all,
  expand_all,
  toggle_bottom,
  full_bottom,
  next_tab,
  previous_tab,
  pin_tab,
  toggle_findings,
  toggle_informational,
  next_finding,
  previous_finding,
  toggle_theme,
  toggle_animation,
  toggle_colours,
  editor_page,
  zoom_text_in,
  zoom_text_out,
  zoom_text_reset,
  tour,
  help,
  guide,
  palette,
  next_of_cycle,
  previous_of_cycle,
  cycle_flows,
  next_flow,
  previous_flow,
  follow_flow,
  follow_flow_back,
  back,
  forward,
  other_trace,
  list_found,
  toggle_path,
  toggle_ghost,
  clear_changes,
  largest_gap,
  next_gap_of_cause,
  slowest_kernel,
  try_chosen_finding,
  show_tried_finding,
  count_  // from here on: what shows a tab, by position in kPanels
};

enum class Menu : std::uint8_t { file, exports, view, lanes, tabs, appearance, go, help };
constexpr std::array<Menu, 8> kMenus = {Menu::file, Menu::exports,    Menu::view, Menu::lanes,
                                        Menu::tabs, Menu::appearance, Menu::go,   Menu::help};
const char* menu_title(Menu menu);
// The menu that it is in, where its first command is in the table; itself where it is in the bar.
constexpr Menu parent_of(Menu menu) {
  const bool in_view = menu == Menu::lanes || menu == Menu::tabs || menu == Menu::appearance;
  return menu == Menu::exports ? Menu::file : in_view ? Menu::view : menu;
}

// A key with exactly these modifiers (bits of Mods).
struct Chord {
  Key key = Key::none;
  unsigned char mods = kNoMods;
  friend constexpr bool operator==(const Chord&, const Chord&) = default;
};
// "Ctrl+Shift+P", "?", "F1"; empty for Key::none.
std::string chord_text(const Chord& chord);

// What a command may look at and change. `document` is null while nothing is open.
struct CommandScope {
  const Document* document = nullptr;
  TraceView& view;
  WindowState& window;
  Requests& out;
  const char* why_not = nullptr;  // set by a command that found nothing to do: "nothing encloses this slice"
  bool has_recorded = false;      // a running program, through the window
  bool has_snapshot = false;      // a memory snapshot is open, in place of a trace
};

// What must be there for a command.
struct CommandNeed {
  bool (*is_there)(const CommandScope&);
  const char* how;  // what to do about it where it is not, or why: "select a slice first"; empty where that needs no word
};
using CommandRun = void (*)(CommandScope&);

struct Panel;

struct Command {
  CommandId id;
  Menu menu;
  const char* title;                  // in menus: "Zoom in"
  const char* help;                   // one sentence, shown as tooltip and on the help page
  std::array<Chord, 2> chords;        // none where key == Key::none; the first is shown
  bool while_held = false;            // acts smoothly as long as the key is down (timeline_keys), not by press
  const CommandNeed* need = nullptr;  // null: nothing
  CommandRun run = nullptr;
  const Panel* panel = nullptr;  // that it shows, in place of `run`
};

// In menu order: the table, and among it one for each of kPanels.
std::span<const Command> commands();
const Command& command(CommandId id);
// The command with this chord, or nullptr.
const Command* command_for(const Chord& chord);
bool is_enabled(const Command& command, const CommandScope& scope);
// Why it is not, as CommandNeed::how; empty where it is.
std::string_view why_disabled(const Command& command, const CommandScope& scope);
// Runs it when it is enabled. Where nothing comes of it, WindowState::key_hint says why of `what`, the chord or the title.
void run_command(CommandId id, CommandScope& scope, std::string_view what = {});
// Runs what a key is for; of a key without a command the hint says so.
void run_press(const KeyPress& press, CommandScope& scope);
// Whether a menu has a line above it.
bool begins_group(CommandId id);
// "W", "F1 or ?"; empty without a key.
std::string chords_text(const Command& command);

// What the mouse does: rows for the help page.
struct MouseHelp {
  const char* gesture;
  const char* help;
};
std::span<const MouseHelp> mouse_help();

}  // namespace gapscope
