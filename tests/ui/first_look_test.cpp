// What a first reader of the window stumbled over.
#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/rgb.h"
#include "tests/support/headless_ui.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/stand_in.h"
#include "tests/support/tiny_traces.h"
#include "ui/findings/findings_panel.h"
#include "ui/panels.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Look {
  explicit Look(const std::string& name, float width = 900, float height = 560) : document(load_once(recording(name))) {
    document.diagnose();
    h.emplace(&document, width, height, 1.0f, /*fonts=*/true);
    h->ui.view().window.tour = {};
    settle();
  }
  void settle(int frames = 8) {
    for (int i = 0; i < frames; ++i) {
      h->frame();
      answer(h->out, document, h->ui.view());
    }
  }
  std::vector<DrawnText> texts() const { return drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts); }
  std::optional<DrawnText> just(std::string_view words) const {
    for (const DrawnText& t : texts())
      if (t.text == words) return t;
    return std::nullopt;
  }
  // The tab of the ranks of these recordings.
  const RanksState& read_ranks(const std::vector<std::string>& names) {
    RanksState& ranks = h->ui.view().window.ranks;
    for (const std::string& name : names) ranks.paths.push_back(recording(name).string());
    ranks.wanted = true;
    show_panel(h->ui.view().window, "ranks");
    settle();
    return ranks;
  }
  // The last one that begins so.
  std::optional<DrawnText> text(std::string_view begin) const {
    std::optional<DrawnText> found;
    for (const DrawnText& t : texts())
      if (t.text.starts_with(begin)) found = t;
    return found;
  }

  Document document;
  std::optional<HeadlessUi> h;
};

ImVec2 middle(const Box& box) { return {(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2}; }

const ImGuiWindow* window_of(ImGuiWindowFlags flag) {
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->Active && (window->Flags & flag) != 0) return window;
  return nullptr;
}

}  // namespace

TEST_CASE("a menu opens below the bar, however low the window is") {
  Look look("matmul_add_64_warm_eager");
  for (const char* title : {"File", "View", "Go"}) {
    CAPTURE(title);
    const auto entry = look.just(title);
    REQUIRE(entry);
    look.h->click(middle(entry->box));
    look.settle(3);
    const ImGuiWindow* menu = window_of(ImGuiWindowFlags_ChildMenu);
    if (!menu) menu = window_of(ImGuiWindowFlags_Popup);
    REQUIRE(menu);
    CHECK(menu->Pos.y >= entry->box.y1);
    CHECK(menu->Pos.y + menu->Size.y <= 560);
    look.h->press(Key::escape);
    look.h->move_to({450, 300});
  }
}

TEST_CASE("the menu View shows all that it has at once in a low window, and the tabs in a menu of their own") {
  Look look("matmul_add_64_warm_eager");
  const auto open = [&](const char* title) {
    const auto entry = look.just(title);
    REQUIRE_MESSAGE(entry, title);
    look.h->click(middle(entry->box));
    look.settle(30);  // a menu inside another one waits a moment
  };
  const auto open_menus = [] {
    int menus = 0;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      if (!window->Active || (window->Flags & ImGuiWindowFlags_ChildMenu) == 0) continue;
      ++menus;
      CHECK(window->ScrollMax.y == 0);
      CHECK(window->Pos.y + window->Size.y <= 560);
    }
    return menus;
  };
  open("View");
  CHECK(open_menus() == 1);
  open("Tabs");
  CHECK(open_menus() == 2);
  CHECK(look.just("Next tab"));
}

TEST_CASE("a tab's tooltip is above it, not over its page") {
  Look look("matmul_add_64_warm_eager", 1280, 800);
  const auto tab = look.just("Kernels");
  REQUIRE(tab);
  look.h->move_to(middle(tab->box));
  look.settle(4);
  const ImGuiWindow* tooltip = window_of(ImGuiWindowFlags_Tooltip);
  REQUIRE(tooltip);
  CHECK(tooltip->Pos.y + tooltip->Size.y <= tab->box.y0);
}

TEST_CASE("the tooltips of what a page is switched by stand above it, not over its rows") {
  Look look("transformer_baseline", 1280, 800);
  show_panel(look.h->ui.view().window, "memory");
  look.settle();
  for (const char* words : {"Allocated", "Total", "Copy CSV"}) {
    CAPTURE(words);
    const auto control = look.just(words);
    REQUIRE(control);
    look.h->move_to(middle(control->box));
    look.settle(4);
    const ImGuiWindow* tooltip = window_of(ImGuiWindowFlags_Tooltip);
    REQUIRE(tooltip);
    CHECK(tooltip->Pos.y + tooltip->Size.y <= control->box.y0);
  }
}

TEST_CASE("a name of a table that is in sight whole has no tooltip over the rows below, one that is cut has") {
  Look look("transformer_baseline");
  show_panel(look.h->ui.view().window, "memory");
  look.settle();
  for (const bool cut : {false, true}) {
    const auto name = look.text(cut ? "Multihe" : "aten::sum");
    REQUIRE(name);
    look.h->move_to(middle(name->box));
    look.settle(4);
    CHECK((window_of(ImGuiWindowFlags_Tooltip) != nullptr) == cut);
  }
}

TEST_CASE("who holds the memory at its peak, and how much that is, are in sight in a small window") {
  Look look("transformer_baseline");
  show_panel(look.h->ui.view().window, "memory");
  look.settle();
  const auto peak = look.text("peak 1.09 GB at "), row = look.text("from before the recording");
  REQUIRE(peak);
  REQUIRE(row);
  CHECK_FALSE(peak->clipped);
  CHECK(peak->box.y1 <= row->box.y0);
  CHECK(row->box.x0 < 450);  // the table comes first
}

TEST_CASE("what the axis of the memory begins and ends with is next to the chart, not in it") {
  for (const auto shape : {MemoryState::Shape::stack, MemoryState::Shape::total}) {
    Look look("transformer_baseline");
    look.h->ui.view().active().memory.shape = shape;
    show_panel(look.h->ui.view().window, "memory");
    look.settle();
    const Theme& theme = theme_of(look.h->ui.view().window);
    const float drawer = look.h->ui.timeline().areas().lanes.y1;
    std::size_t seen = 0;
    const bool stacked = shape == MemoryState::Shape::stack;
    const std::string most = stacked ? "1.09 GB" : "1.18 GB", least = stacked ? "916 MB" : "0";
    for (const DrawnText& t : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, /*with_grounds=*/true)) {
      if (t.box.x0 < 550 || t.box.y0 < drawer || (t.text != most && t.text != least)) continue;
      CAPTURE(t.text);
      CHECK(t.ground == theme.surface);
      ++seen;
    }
    CHECK(seen == 2);
  }
}

TEST_CASE("the tab of the ranks is dimmed until some are read, also of one rank") {
  const auto file = [](const char* name) { return (recordings_folder() / "ranks" / name).string(); };
  const std::string first = file("ddp_rank0.json.gz");
  const Document document(load_once(first));
  document.diagnose();
  HeadlessUi h(&document, 900, 560, 1, /*fonts=*/true);
  ViewState& view = h.ui.view();
  const auto missing = [&] {
    for (const Panel& panel : panels())
      if (std::string_view(panel.id) == "ranks")
        return std::string(what_would_fill(panel, document, view.active(), view.window));
    return std::string("no such tab");
  };
  CHECK(missing() == "Open the recordings of several ranks at once, or their folder.");
  view.window.ranks.paths = {first, file("ddp_rank1.json.gz")};
  view.window.ranks.wanted = true;
  show_panel(view.window, "ranks");
  for (int i = 0; i < 8; ++i) {
    h.frame();
    answer(h.out, document, view);
  }
  CHECK_FALSE(view.window.ranks.wanted);
  CHECK(missing().empty());
}

TEST_CASE("the account's list has the order of its bar") {
  Look look("transformer_baseline", 1600, 900);
  const TimeAccount& account = *account_of(look.document);
  const AccountTimes& times = account.busiest()->times;
  std::vector<AccountPart> parts = parts_of(times);
  const Box column = look.just("What to do first") ? look.just("What to do first")->box : Box{};
  float above = 0;
  std::size_t seen = 0;
  for (const AccountPart& part : parts) {
    const auto line = look.just(part_words(part, program_kind(look.document.trace)));
    if (!line || line->box.y0 < column.y0) continue;
    CHECK(line->box.y0 > above);
    above = line->box.y0;
    ++seen;
  }
  CHECK(seen > 2);
}

TEST_CASE("which tabs are empty does not depend on the size of the window") {
  for (const ImVec2 size : {ImVec2{900, 560}, ImVec2{1600, 900}}) {
    CAPTURE(size.x);
    Look look("needless_sync", size.x, size.y);
    for (const Panel& panel : panels())
      if (std::string_view(panel.id) == "compile")
        CHECK_FALSE(what_would_fill(panel, look.document, look.h->ui.view().active(), look.h->ui.view().window).empty());
  }
}

TEST_CASE("of a recording without a GPU every tab about one is dimmed") {
  const auto trace = document_from_text(events(slice("ProfilerStep#1", "0", "50") + "," + slice("ProfilerStep#2", "50", "50")));
  trace->diagnose();
  HeadlessUi h(trace.get(), 900, 560, 1, /*fonts=*/true);
  for (const Panel& panel : panels()) {
    const std::string_view id = panel.id;
    if (id != "kernels" && id != "gpu" && id != "whatif" && id != "roofline") continue;
    CAPTURE(panel.title);
    CHECK_FALSE(what_would_fill(panel, *trace, h.ui.view().active(), h.ui.view().window).empty());
  }
}

TEST_CASE("with a marked range the GPU's line shows it, and the range's length is elsewhere") {
  Look look("transformer_baseline");
  TraceView& view = look.h->ui.view().active();
  const Span whole = look.document.trace.span;
  view.range = Span{whole.begin + whole.length() / 4, whole.begin + whole.length() / 2};
  look.settle(3);
  const std::string length = format_duration(view.range->length());
  const auto line = look.text("of the marked " + length);
  REQUIRE(line);
  const TimeAccount* account = account_of(look.document);
  const AccountTimes times = account->times_in(*account->busiest(), *view.range);
  CHECK(line->text.find(format_percent(static_cast<double>(times.compute) / static_cast<double>(times.window))) !=
        std::string::npos);
  const auto pill = look.text(length);
  REQUIRE(pill);
  CHECK(pill->box.y0 > line->box.y1);
  // What is outside is dimmed, but not that line.
  view.range = Span{whole.end - whole.length() / 10, whole.end};
  look.settle(3);
  bool seen = false;
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, /*with_grounds=*/true)) {
    if (!text.text.starts_with("of the marked")) continue;
    seen = true;
    CHECK(contrast(text.ink, text.ground) >= 4.5);
  }
  CHECK(seen);
  view.range.reset();
  look.settle(2);
  CHECK_FALSE(look.text("of the marked"));
}

TEST_CASE("what cannot be said of the ranks in the room that there is, is not said by half") {
  Look look("pp_rank0", 1000);
  look.h->ui.view().window.settings.sizes.bottom_px = 260;
  look.read_ranks({"pp_rank0", "pp_rank1"});
  CHECK(look.text("rank 0"));
  CHECK_FALSE(look.text("The ranks' clocks"));
  CHECK(look.text("1 note on the files that were read"));
}

TEST_CASE("a finding's title is whole where its figure leaves the room") {
  Look look("needless_sync", 1280, 1200);
  CHECK(look.just("The host cannot feed the"));  // "GPU" is in the next line
  CHECK(look.just("The GPU is idle most of the time"));
  CHECK(look.text("then \u2265"));
  Look narrow("muladd_compile_cold", 1280, 1200);  // of no plan
  CHECK(narrow.just("torch.compile ran during the"));
  for (const DrawnText& text : narrow.texts())
    CHECK_FALSE((text.box.x0 > 1280 - 310 && text.box.y1 < 700 && text.text.ends_with("\u2026")));
}

TEST_CASE("of two traces the findings say whose they are") {
  Look look("matmul_add_64_warm_eager");
  look.h->ui.view().window.compare.open = true;
  CHECK(part_of_what_is_open(look.document, look.h->ui.view().window) == "Trace A alone");
  look.h->ui.view().window.compare.side = TraceSide::b;
  CHECK(part_of_what_is_open(look.document, look.h->ui.view().window) == "Trace B alone");
  look.h->ui.view().window.compare.open = false;
  CHECK(part_of_what_is_open(look.document, look.h->ui.view().window).empty());
}

TEST_CASE("a replay that begins later than the account says how much it leaves out") {
  Look look("muladd_compile_cold");
  show_panel(look.h->ui.view().window, "whatif");
  look.settle();
  const auto length = look.text("68.");
  REQUIRE(length);
  CHECK(length->text.ends_with("from the first call to the last work"));
  CHECK(look.just("The 227 ms of the window before that call are not part of it."));
}

TEST_CASE("the tabs Steps and Compile of a serving engine's replayed graph show what there is") {
  if (recording_or_none("tracelens_mi300_graph_execution").empty()) return;
  Look look("tracelens_mi300_graph_execution");
  show_panel(look.h->ui.view().window, "steps");
  look.settle();
  CHECK(look.just("passes"));
  CHECK_FALSE(look.just("ProfilerStep#N"));
  show_panel(look.h->ui.view().window, "compile");
  look.settle();
  CHECK_FALSE(look.text("No compiled function ran"));
  CHECK(look.text("triton_"));
}

TEST_CASE("how long others waited for a rank is the same in the sentence, the bands and the table") {
  Look look("ddp_delayed_rank0", 1600, 900);
  const RanksState& ranks = look.read_ranks({"ddp_delayed_rank0", "ddp_delayed_rank1"});
  REQUIRE(ranks.last);
  const std::string wait = format_duration(ranks.last->report.waited_for(1)), number = wait.substr(0, wait.find(' '));
  CHECK(look.text("Rank 1 is late: rank 0 waits " + wait));
  const auto head = look.text("Others idled");
  REQUIRE(head);
  const auto alone = [&] { return look.text("Rank 0 alone"); };
  REQUIRE(alone());  // of the findings
  const auto of_run = [&](const DrawnText& text) { return text.text.starts_with("Rank 1 is late: rank 0 waits"); };
  const auto texts = look.texts();
  CHECK(std::count_if(texts.begin(), texts.end(), of_run) == 1);  // once, and before what is said of the rank alone
  CHECK(look.text("Rank 1 is late: rank 0 waits " + wait)->box.y1 <= alone()->box.y0);
  show_panel(look.h->ui.view().window, "overview");
  look.settle();
  const auto all = look.text("Rank 1 is late: rank 0 waits " + wait);
  REQUIRE(all);
  REQUIRE(alone());
  show_panel(look.h->ui.view().window, "steps");
  look.settle();
  CHECK(look.just("Kernel, also of communication"));
  show_panel(look.h->ui.view().window, "ranks");
  look.settle();
  std::size_t below = 0;
  for (const DrawnText& text : look.texts())
    below +=
        text.box.y0 > head->box.y1 && text.box.x1 > head->box.x0 && text.box.x0 < head->box.x1 && text.text.starts_with(number);
  CHECK(below == 1);
}
