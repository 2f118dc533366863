// Every text of the window fits where it is: read back from what was drawn, for every panel, at four sizes. ctest walks a
// choice of recordings; GAPSCOPE_ALL_TRACES=1 walks all that are at hand.
#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "core/view/compare/compare_model.h"
#include "core/view/document.h"
#include "core/view/findings/findings_model.h"
#include "core/view/timeline/gap_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/real_traces.h"
#include "tests/support/stand_in.h"
#include "ui/panels.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Size {
  float width, height, scale;
};
constexpr std::array<Size, 4> kSizes = {{{900, 560, 1}, {1280, 720, 1}, {1600, 900, 1}, {3840, 2160, 2}}};

constexpr std::array kChoice = {"transformer_baseline", "cold_process_64", "recorded_streams", "hta_ddp_ns_resolution",
                                "kineto_2021_resnet50"};

// Letters are lower than their line, and lines may stand close.
constexpr float kLeastOverlapX = 1.5f, kLeastOverlapY = 0.34f;  // px; of the lower of two lines
constexpr int kFramesToSettle = 8;                              // as `gapscope screenshot` draws
constexpr float kNear = 2;                                      // px between an edge and a text that it cuts

bool inside(const Box& box, const Box& other) {
  return other.x0 <= box.x0 + kNear && other.y0 <= box.y0 + kNear && box.x1 <= other.x1 + kNear && box.y1 <= other.y1 + kNear;
}

// What scrolls up and down may end in the middle of a line.
std::vector<Box> scrolled_parts(const AppUi& ui) {
  std::vector<Box> parts;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    const ImRect& r = window->InnerClipRect;
    if (window->Active && window->ScrollMax.y > 0) parts.push_back({r.Min.x, r.Min.y, r.Max.x, r.Max.y});
  }
  const auto add_lanes = [&](const TimelinePanel& timeline) {
    const TimelineAreas& areas = timeline.areas();
    if (timeline.layout().height() > areas.lanes.height())
      parts.push_back({areas.titles.x0, areas.lanes.y0, areas.lanes.x1, areas.lanes.y1});
  };
  if (ui.document_a()) add_lanes(ui.timeline_a());
  return parts;
}

bool slides(const ImGuiWindow& window) {
  return window.Active && window.ScrollMax.x > 0 && (window.Flags & ImGuiWindowFlags_HorizontalScrollbar) != 0;
}

// Grids scroll to the side where they do not fit.
std::vector<Box> parts_that_slide(const ImGuiContext& context) {
  std::vector<Box> parts;
  for (const ImGuiWindow* window : context.Windows) {
    const ImRect& r = window->OuterRectClipped;
    if (slides(*window)) parts.push_back({r.Min.x, r.Min.y, r.Max.x, r.Max.y});
  }
  return parts;
}

// Tables whose columns do not fit side by side.
std::vector<std::string> tables_that_slide() {
  std::vector<std::string> names;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (slides(*window)) names.emplace_back(window->Name);
  return names;
}

std::string words(const DrawnText& text) {
  const auto px = [](float v) { return std::to_string(static_cast<int>(v)); };
  return "\"" + text.text + "\" at " + px(text.box.x0) + "," + px(text.box.y0) + " to " + px(text.box.x1) + "," +
         px(text.box.y1);
}

bool overlap(const Box& a, const Box& b) {
  const float x = std::min(a.x1, b.x1) - std::max(a.x0, b.x0), y = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  return x > kLeastOverlapX && y > kLeastOverlapY * std::min(a.height(), b.height());
}

// A sentence for each text that does not fit.
std::vector<std::string> misfits(const AppUi& ui) {
  const std::vector<DrawnText> texts = drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
  const std::vector<Box> scrolled = scrolled_parts(ui), sliding = parts_that_slide(*ImGui::GetCurrentContext());
  const auto in_any = [](const DrawnText& text, const std::vector<Box>& parts) {
    return std::any_of(parts.begin(), parts.end(), [&](const Box& part) { return inside(text.box, part); });
  };
  std::vector<std::string> found;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const DrawnText& text = texts[i];
    if (text.clipped && !in_any(text, text.sideways ? sliding : scrolled)) found.push_back("clipped: " + words(text));
    for (std::size_t j = i + 1; j < texts.size(); ++j)
      if (overlap(text.box, texts[j].box) && texts[j].plate < text.drawn)
        found.push_back("over each other: " + words(text) + " and " + words(texts[j]));
  }
  return found;
}

std::shared_ptr<const Document> analyzed(const std::filesystem::path& path) {
  auto document = std::make_shared<const Document>(load_once(path));
  document->diagnose();
  return document;
}

class Walk {
 public:
  Walk(std::string trace, const Document& document, const Size& size, ThemeName theme)
      : where_(std::move(trace) + ", " + std::to_string(static_cast<int>(size.width)) + "x" +
               std::to_string(static_cast<int>(size.height))),
        document_(document),
        ui_(&document, size.width, size.height, size.scale, /*fonts=*/true) {
    ui_.ui.view().window.settings.theme = theme;
    ui_.ui.view().window.tour = {};
  }

  void all() {
    look("at first");
    for (std::size_t tab = 0; tab < panels().size(); ++tab) {
      show_panel(ui_.ui.view().window, panels()[tab].id);
      look(std::string("tab ") + panels()[tab].title);
    }
    details();
    findings();
    zooms();
  }
  const std::set<std::string>& found() const { return found_; }

 private:
  void look(const std::string& what) {
    for (int i = 0; i < kFramesToSettle; ++i) {
      ui_.frame();
      answer(ui_.out, document_, ui_.ui.view());
    }
    for (const std::string& misfit : misfits(ui_.ui)) found_.insert(where_ + ", " + what + ": " + misfit);
    if (is_panel_shown(ui_.ui.view().window, "sql")) return;  // who asks for many columns gets them
    for (const std::string& table : tables_that_slide()) found_.insert(where_ + ", " + what + ": scrolls sideways: " + table);
  }

  // Of a kernel, of an operator, and of a gap.
  void details() {
    ViewState& view = ui_.ui.view();
    const Trace& trace = document_.trace;
    if (!trace.gpu.empty()) {
      select_slice(view.active(), trace.gpu[trace.gpu.size() / 2].slice, /*reveal=*/true);
      look("a kernel's details");
      show_panel(view.window, "kernels");
      look("the kernel in the tab Kernels");
    }
    select_slice(view.active(), SliceId(trace.slice_count() / 2), /*reveal=*/true);
    look("a slice's details");
    view.active().selection = {};
    const TimeAccount* account = account_of(document_);
    const DeviceAccount* device = account ? account->busiest() : nullptr;
    if (device && !device->gaps.empty()) {
      choose_gap(document_, view.active(), view.window, device->device, device->gaps.size() / 2, /*go_there=*/false);
      show_panel(view.window, "details");
      look("a gap's details");
    }
    view.active().gaps.chosen.reset();
    view.active().range = Span{trace.span.begin + trace.span.length() / 4, trace.span.end - trace.span.length() / 4};
    for (const char* tab : {"kernels", "gpu", "steps", "memory"}) {
      show_panel(view.window, tab);
      look(std::string("a range, tab ") + tab);
    }
    view.active().range.reset();
  }

  void findings() {
    ViewState& view = ui_.ui.view();
    view.window.settings.findings.open = true;
    look("findings");
    for (std::size_t i = 0; i < std::min<std::size_t>(document_.diagnosis()->findings.size(), 3); ++i) {
      view.active().signals.reveal_finding = true;
      go_to_finding(document_, view.active(), view.window, static_cast<std::uint32_t>(i), 0);
      look("finding " + std::to_string(i));
    }
    view.window.settings.findings.open = false;
  }

  void zooms() {
    ViewState& view = ui_.ui.view();
    const Span whole = document_.trace.span;
    for (const double share : {0.3, 0.03, 0.003}) {
      const auto half = static_cast<Ns>(static_cast<double>(whole.length()) * share / 2);
      const Ns middle = document_.trace.gpu.empty()
                            ? whole.begin + whole.length() / 2
                            : document_.trace.begin(document_.trace.gpu[document_.trace.gpu.size() / 2].slice);
      view.active().time = within_limits({{middle - half, middle + half}, 0, 0}, whole);
      look("zoomed to " + std::to_string(share));
    }
  }

  std::string where_;
  const Document& document_;
  HeadlessUi ui_;
  std::set<std::string> found_;
};

std::vector<std::filesystem::path> traces_to_walk() {
  if (std::getenv("GAPSCOPE_ALL_TRACES")) return real_traces();
  std::vector<std::filesystem::path> paths;
  for (const char* name : kChoice)
    if (const auto path = recording_or_none(name); !path.empty()) paths.push_back(path);
  return paths;
}

}  // namespace

TEST_CASE("every text of every panel fits where it is, and none lies over another") {
  const bool all = std::getenv("GAPSCOPE_ALL_TRACES") != nullptr;
  std::size_t turn = 0;
  for (const auto& path : traces_to_walk()) {
    const auto document = analyzed(path);
    if (!document) continue;
    for (const Size& size : kSizes) {
      // A theme moves no text: where time is short they take turns.
      const std::array themes = {ThemeName::dark, ThemeName::light};
      for (const ThemeName theme : all ? std::span(themes) : std::span(themes).subspan(turn++ % 2, 1)) {
        Walk walk(path.filename().string(), *document, size, theme);
        walk.all();
        for (const std::string& misfit : walk.found()) MESSAGE(misfit);
        CHECK(walk.found().empty());
      }
    }
  }
}

TEST_CASE("the start screen's texts fit") {
  for (const Size& size : kSizes) {
    HeadlessUi h(nullptr, size.width, size.height, size.scale, /*fonts=*/true);
    const std::vector<Sample> samples = {
        {"recorded_matmul_add_64_cold",
         "The first two steps of a cold process: where a minute of milliseconds goes before anything is computed."},
        {"transformer_baseline",
         "A transformer's training step: many small kernels that one thread cannot launch fast enough."}};
    const std::vector<std::string> recent = {"/home/somebody/traces/a/resnet50_rank0.pt.trace.json.gz",
                                             "/home/somebody/traces/b/resnet50_rank0.pt.trace.json.gz"};
    FolderView folder{
        "/home/somebody/traces",
        "",
        {{"a", true, 0}, {"resnet50_with_a_name_that_is_long_enough_to_be_cut.pt.trace.json.gz", false, 123'456'789}},
        ""};
    h.input.samples = samples;
    h.input.recent = recent;
    h.input.folder = &folder;
    h.input.can_browse = true;
    for (const std::string message : {"",
                                      "The file ends in the middle of an event: it was cut off while it was being written, at "
                                      "12.5 MB of 30 MB, so nothing after 1.2 s is shown."}) {
      h.input.message = message;
      h.frames(4);
      const std::vector<std::string> found = misfits(h.ui);
      for (const std::string& misfit : found) MESSAGE(static_cast<int>(size.width) << ": " << misfit);
      CHECK(found.empty());
    }
  }
}
