#pragma once
// The tabs of the bottom area: one table. A panel is a small function that draws into the current ImGui window.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope {

struct Document;

using DrawPanel = void (*)(const Document&, TraceView&, WindowState&, Requests&);

struct Panel {
  const char* id;       // stable word: "details"
  const char* title;    // on the tab, and of the command that shows it
  const char* tooltip;  // one sentence
  DrawPanel draw;
};

// The first of the table are always in the row of tabs, the others once they were opened. Compare and Ranks only where there is
// something to compare.
constexpr std::size_t kMainPanels = 7;
bool is_main(std::size_t panel, const Document& document, const TraceView& view, const WindowState& window);
// What would fill a tab that has nothing to show; empty where it has something.
std::string_view what_would_fill(const Panel& panel, const Document& document, const TraceView& view,
                                 const WindowState& window);
// Whether the panel at the right is there: it is open, and leaves the lanes enough width. In a narrower window it is the tab
// "Answer".
bool is_inspector_shown(const WindowState& window);
// Shows the findings where this window has them, or hides them.
void toggle_findings(WindowState& window);
// Before a frame is drawn: in a narrow window that tab is the first one, and comes up for a finding that is to be seen.
void choose_answer_tab(const TraceView& view, WindowState& window);
// All of the height for the panels, or as before.
void toggle_full(WindowState& window);

// Opens the bottom area at this tab.
void show_panel(WindowState& window, std::string_view id);
// The same as a jump: Back leads to the tab that was open before.
void jump_to_panel(TraceView& view, WindowState& window, std::string_view id);
bool is_panel_shown(const WindowState& window, std::string_view id);
// Shows these places in the tab "List".
void open_list(TraceView& view, WindowState& window, ResultList list);
// Shows this query in the tab "SQL" and runs it.
void open_as_sql(WindowState& window, const char* query);
// After an area was marked: the tab "Selection" comes up in place of the details; other tabs stay.
void show_area_tab(WindowState& window);
// After a slice or a gap was selected: the details come up, unless the tab in front is pinned or there is no room for panels.
void show_details_of_selection(const TraceView& view, WindowState& window);

void draw_details(const Document& document, TraceView& view, WindowState& window, Requests& out);
// What Details shows of the chosen gap; and of no selection, where there is an account.
void draw_gap_details(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_account_details(const Document& document, TraceView& view, const WindowState& window);
bool has_account(const Document& document);
void draw_selection(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_answer(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_list(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_table(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_kernels(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_steps(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_gap_owners(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_gpu(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_memory(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_overview(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_modules(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_compile(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_ranks(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_sql(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_counters_panel(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_roofline_tab(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_what_if(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_flame(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_compare(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_notes_panel(const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_report(const Document& document, TraceView& view, WindowState& window, Requests& out);

// The tabs, from left to right.
inline constexpr auto kPanels = std::to_array<Panel>({
    {"overview", "Overview", "How the run is: where the time goes, how well the GPU is used, what to do first.", draw_overview},
    {"kernels", "Kernels", "GPU work by name: how often, how long, how even, and what limits it.", draw_kernels},
    {"modules", "Modules", "Where the time goes by nn.Module.", draw_modules},
    {"gaps", "Gaps", "The idle gaps of the GPU by what the GPU waited for: lines of your code first.", draw_gap_owners},
    {"compare", "Compare", "What changed from one trace to another.", draw_compare},
    {"ranks", "Ranks", "The other ranks of this run: which one is late, and what the others wait for.", draw_ranks},
    {"sql", "SQL", "Ask anything: queries over every slice, kernel, gap and finding.", draw_sql},
    {"details", "Details", "Everything known about the selected slice.", draw_details},
    {"selection", "Selection", "What is in the marked area: times by name, category and lane.", draw_selection},
    {"list", "List", "Lists of places: search hits, the places of a finding, the slices of a table's row.", draw_list},
    {"answer", "Answer", "What costs most and what to do about it, with every finding.", draw_answer},
    {"whatif", "What if", "What a change would save: the recording replayed with it.", draw_what_if},
    {"gpu", "GPU", "How busy each GPU was, and why it was idle.", draw_gpu},
    {"memory", "Memory", "Memory over time, its peak, and what allocated it.", draw_memory},
    {"steps", "Steps", "Where the time of each step went.", draw_steps},
    {"table", "Table", "PyTorch's profiler table: time of every operator, call and kernel.", draw_table},
    {"flame", "Flame", "Where the time went by call path, of the marked area or of all.", draw_flame},
    {"counters", "Counters", "What the GPU's own counters say: how well it is used, and what bounds each kernel.",
     draw_counters_panel},
    {"roofline", "Roofline", "The least time of each operator for its shapes, the share reached, the headroom.",
     draw_roofline_tab},
    {"compile", "Compile", "torch.compile's functions: graph breaks, guards, recompilations, generated kernels.", draw_compile},
    {"notes", "Notes", "Notes and flags of this trace.", draw_notes_panel},
    {"report", "Report", "What was odd about the file, and how it was read.", draw_report},
});

inline std::span<const Panel> panels() { return kPanels; }

}  // namespace gapscope
