// `gapscope screenshot [TRACE...] -o FILE.png`: the real interface, rendered off screen.
#include "app/cli/screenshot.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/picture_json.h"
#include "app/cli/subcommands.h"
#include "app/cli/time_argument.h"
#include "app/session/captured_trace.h"
#include "app/session/samples.h"
#include "app/window/folder_listing.h"
#include "app/window/window.h"
#include "core/base/output_file.h"
#include "core/base/text.h"
#include "core/ranks/rank_head.h"
#include "core/ranks/run_report.h"
#include "core/snapshot/opened_snapshot.h"
#include "core/view/compare/compare_model.h"
#include "core/view/document.h"
#include "core/view/editor_settings.h"
#include "core/view/findings/findings_model.h"
#include "core/view/timeline/time_view.h"
#include "core/view/whatif/whatif_model.h"
#include "ui/app_ui.h"
#include "ui/compare/compare_view.h"
#include "ui/panels.h"
#include "ui/snapshot/snapshot_page.h"
#include "ui/widgets/picture_layout.h"
#include "ui/widgets/theme.h"

namespace gapscope {
namespace {

struct ScreenshotOptions {
  std::vector<std::string> traces;  // none: the start screen; several, or a folder: as the window opens them
  std::string compare;              // a second trace below it; empty: none
  std::string output;               // a PNG
  std::string layout;               // a JSON file: what the picture shows as data; empty: none
  int width = 1600;
  int height = 900;
  float scale = 1;
  std::string from, to;  // of the visible time, as parse_window() reads them; empty: all
  std::string select;    // a slice's whole name, a part of it, or its index
  std::string tab;       // id or title of a panel below the lanes, in any case; empty: the first
  std::string finding;   // id of a rule: its costliest finding is chosen and brought into view; empty: none
  std::string what_if;   // changes of the tab What if, as read_what_if() has them
  bool path = false;     // the critical path is shown
  ThemeName theme = ThemeName::dark;
  std::vector<std::string> sources{};  // EditorSettings::paths
};

// Tables and tabs find their sizes from the frame before, and args come one frame after they were asked for.
constexpr int kFramesToSettle = 8;

std::optional<Error> set_tab(const std::string& id, WindowState& window) {
  if (id.empty()) return std::nullopt;
  const auto table = panels();
  const auto same = [&](std::string_view word) { return word.size() == id.size() && contains_ignore_case(word, id); };
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Panel& panel) { return same(panel.id) || same(panel.title); });
  if (found == table.end()) {
    std::string tabs;
    for (const Panel& panel : table) tabs += (tabs.empty() ? "" : ", ") + std::string(panel.id);
    return Error{"There is no tab \"" + id + "\"; there are " + tabs + "."};
  }
  show_panel(window, found->id);
  return std::nullopt;
}

bool has_window(const ScreenshotOptions& options) { return !options.from.empty() || !options.to.empty(); }

std::optional<Error> set_time(const ScreenshotOptions& options, const Trace& trace, TraceView& view) {
  if (!has_window(options)) return std::nullopt;
  const Result<Span> wanted = parse_window(options.from, options.to, trace.span);
  if (!wanted) return wanted.error();
  if (!wanted->overlaps(trace.span)) {
    return Error{
        fmt::format("Nothing of the trace is between --from and --to: it goes from {} to {} ns. A time after its start is "
                    "written with a unit: 1.2ms.",
                    trace.span.begin, trace.span.end)};
  }
  view.time = within_limits(TimeView{*wanted, 0, 0}, trace.span);
  return std::nullopt;
}

// Findings are ranked by what they cost: the first of a rule is its costliest.
std::optional<Error> set_finding(const std::string& rule, const Document& doc, TraceView& view, WindowState& window) {
  if (rule.empty()) return std::nullopt;
  const std::vector<RankedFinding>& findings = doc.diagnosis()->findings;
  const auto found =
      std::find_if(findings.begin(), findings.end(), [&](const RankedFinding& f) { return f.finding.rule->id == rule; });
  if (found == findings.end()) {
    std::string rules;
    for (const RankedFinding& f : findings)
      if (rules.find(f.finding.rule->id) == rules.npos) rules += (rules.empty() ? "" : ", ") + std::string(f.finding.rule->id);
    return Error{"No finding of the rule \"" + rule + "\" in this trace; there are findings of " +
                 (rules.empty() ? "none" : rules) + "."};
  }
  window.settings.findings.explain = !found->brief;  // the notes that teach are listed only where they are asked for
  show_finding(doc, view, window, static_cast<std::uint32_t>(found - findings.begin()));
  return std::nullopt;
}

// What the window would open.
struct Opened {
  std::string trace;             // the first; empty: the start screen
  std::string second;            // compared with it; empty: none
  std::vector<std::string> run;  // further ranks of its run: files, or their folder
};

std::optional<Error> set_view(const ScreenshotOptions& options, const Opened& opened, const Document* doc, TraceView& view,
                              WindowState& window) {
  window.settings.theme = options.theme;
  window.settings.animate = false;
  if (!doc) return std::nullopt;
  if (!opened.run.empty()) {
    window.ranks.paths = opened.run;
    window.ranks.wanted = true;
    show_panel(window, "ranks");
  }
  if (std::optional<Error> trouble = set_tab(options.tab, window)) return trouble;
  window.tab_pinned = !options.tab.empty() && !options.select.empty();  // the slice would bring the details up
  if (!options.select.empty()) {
    const Result<SliceId> slice = find_slice(*doc, options.select);
    if (!slice.ok()) return slice.error();
    select_slice(view, *slice, /*reveal=*/!has_window(options));
  }
  if (std::optional<Error> trouble = set_finding(options.finding, *doc, view, window)) return trouble;
  const Result<WhatIfChanges> changes = read_what_if(*doc, options.what_if);
  if (!changes.ok()) return changes.error();
  view.what_if.changes = *changes;
  view.what_if.path = options.path;
  return set_time(options, doc->trace, view);
}

// What is in the picture.
struct Scene {
  const Document* doc = nullptr;
  const Document* second = nullptr;
  const OpenedSnapshot* snapshot = nullptr;
  std::shared_ptr<const SnapshotMoment> moment{};
};

// What panels may ask for that shows in a picture; here a file may be waited for.
void carry_out(const Requests& requests, const Scene& scene, WindowState& window, FolderView& folder) {
  const Document* doc = scene.doc;
  for (const Request& request : requests.list) {
    if (const auto* ask = std::get_if<MakeComparison>(&request); ask && doc && scene.second)
      window.compare.answer = answer_comparison(*doc, *scene.second, ask->options);
    if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
    if (const auto* ask = std::get_if<ListFolder>(&request)) folder = list_folder(ask->path, "");
  }
}

void draw_until_settled(Window& window, AppUi& ui, Scene scene, const std::vector<std::string>& sources) {
  FolderView folder;
  const EditorSettings editor{"", sources, /*asks=*/false};
  double frame_ms = 0;
  for (int i = 0; i < kFramesToSettle; ++i) {
    const WindowInput input = window.begin_frame();
    const auto begin = std::chrono::steady_clock::now();
    FrameInput in;
    in.width_px = input.width_px;
    in.height_px = input.height_px;
    in.scale = input.scale;
    in.delta_s = input.seconds;
    in.frame_ms = frame_ms;
    in.document = scene.doc;
    in.second = scene.second;
    in.snapshot = scene.snapshot;
    in.moment = scene.moment.get();
    in.samples = samples();
    in.editor = editor;
    in.folder = folder.path.empty() ? nullptr : &folder;
    Requests requests;
    ui.frame(in, requests);
    frame_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    window.end_frame(background_of(ui.view().window.settings.theme));
    carry_out(requests, scene, ui.view().window, folder);
    if (const auto ask = ui.snapshot_page().take_question()) scene.moment = moment_of(*scene.snapshot, ask->device, ask->event);
  }
}

// Opened first, before anybody waits in vain.
struct Files {
  std::unique_ptr<OutputFile> picture;
  std::unique_ptr<OutputFile> layout;  // null: none is wanted
};

std::optional<Error> open_files(const ScreenshotOptions& options, Files& files) {
  std::vector<std::string> inputs = options.traces;
  inputs.push_back(options.compare);
  Result<std::unique_ptr<OutputFile>> picture = OutputFile::create(options.output, {.inputs = inputs});
  if (!picture.ok()) return picture.error();
  files.picture = std::move(*picture);
  if (options.layout.empty()) return std::nullopt;
  Result<std::unique_ptr<OutputFile>> layout = OutputFile::create(options.layout, {.inputs = inputs});
  if (!layout.ok()) return layout.error();
  files.layout = std::move(*layout);
  return std::nullopt;
}

std::optional<Error> render(const ScreenshotOptions& options, const Opened& opened, const Scene& scene, const Files& files) {
  AppUi ui;
  ui.adopt(scene.doc, scene.second);
  if (scene.snapshot && !options.tab.empty()) {
    const std::optional<SnapshotPage::Tab> tab = SnapshotPage::tab_of(options.tab);
    if (!tab)
      return Error{fmt::format("A memory snapshot has no tab \"{}\"; there are flame, lines, segments, grows and compare.",
                               printable(options.tab))};
    ui.snapshot_page().show(*tab);
  }
  if (std::optional<Error> trouble = set_view(options, opened, scene.doc, ui.view().of(TraceSide::a), ui.view().window))
    return trouble;
  WindowOptions window_options;
  window_options.width = options.width;
  window_options.height = options.height;
  window_options.scale = options.scale;
  window_options.off_screen = true;
  Result<std::unique_ptr<Window>> window = Window::create(window_options);
  if (!window.ok()) return window.error();
  draw_until_settled(**window, ui, scene, options.sources);
  const Result<std::string> bytes = png_bytes((*window)->screenshot());
  if (!bytes.ok()) return bytes.error();
  if (files.layout) {
    files.layout->write(picture_json(picture_layout(ui)));
    if (std::optional<Error> trouble = files.layout->finish()) return trouble;
  }
  files.picture->write(*bytes);
  return files.picture->finish();
}

// Of a folder of ranks the first is open, and the others are read with it; so of several files, unless the second is to be
// compared with the first.
Result<Opened> opened_of(const ScreenshotOptions& options) {
  Opened opened{"", options.compare, {}};
  if (options.traces.empty()) return opened;
  opened.trace = options.traces.front();
  if (holds_several_traces(opened.trace)) {
    const RankFiles found = find_rank_files({opened.trace});
    if (found.files.empty()) return Error{found.problems.front()};
    opened.run = options.traces;
    opened.trace = found.files.front();
  } else if (options.traces.size() > 1 && are_ranks_of_a_run(options.traces)) {
    opened.run = options.traces;
  } else if (options.traces.size() > 1) {
    opened.second = options.traces[1];
  }
  if (options.traces.size() > 1 && !options.compare.empty()) return Error{"--compare needs exactly one TRACE."};
  return opened;
}

std::optional<Error> load_and_render(const ScreenshotOptions& options) {
  Files files;
  if (std::optional<Error> trouble = open_files(options, files)) return trouble;
  const Result<Opened> opened = opened_of(options);
  if (!opened.ok()) return opened.error();
  if (opened->trace.empty()) return render(options, *opened, {}, files);
  if (is_pickle(opened->trace)) {
    const bool compares = !opened->second.empty();
    const auto snapshot = open_snapshot(compares ? opened->second : opened->trace, compares ? opened->trace : "");
    if (!snapshot.ok()) return snapshot.error();
    return render(options, *opened, {nullptr, nullptr, snapshot->get(), nullptr}, files);
  }
  const Result<std::shared_ptr<const Trace>> trace =
      load_captured_trace(opened->trace, load_options(), trace_arguments().capture);
  if (!trace.ok()) return trace.error();
  const Document doc(*trace);
  doc.diagnose();
  if (opened->second.empty()) return render(options, *opened, {&doc}, files);
  LoadOptions of_second = load_options();
  of_second.stated.step_time.reset();  // what is stated is of the first
  const Result<std::shared_ptr<const Trace>> compared = load_captured_trace(opened->second, of_second);
  if (!compared.ok()) return compared.error();
  const Document second(*compared);
  second.diagnose();
  return render(options, *opened, {&doc, &second}, files);
}

int screenshot(const ScreenshotOptions& options) {
  const std::optional<Error> trouble = load_and_render(options);
  return trouble ? complain(kBadInput, trouble->message) : kOk;
}

}  // namespace

std::function<int()> declare_screenshot(CLI::App& arguments) {
  auto options = std::make_shared<ScreenshotOptions>();
  auto* trace = arguments.add_option("TRACE", options->traces,
                                     "the trace, a folder of ranks, or several files; without one, the start screen");
  arguments.add_option("--compare", options->compare, "a second trace, shown below it and compared with it")
      ->type_name("TRACE")
      ->needs(trace);
  add_capture(arguments);
  add_steps(arguments);
  add_roofs(arguments);
  add_plain(arguments);
  add_sources(arguments, options->sources);
  arguments.add_option("-o,--output", options->output, "the PNG to write")->required();
  arguments
      .add_option_function<std::string>(
          "--size",
          [options](const std::string& text) {
            const auto size = parse_size(text);
            if (!size.ok()) throw CLI::ValidationError("--size", size.error().message);
            std::tie(options->width, options->height) = *size;
          },
          "of the picture in pixels")
      ->type_name("WxH")
      ->default_str("1600x900");
  arguments.add_option("--scale", options->scale, "pixels per pixel of the design, as a display of that density")
      ->check(number_between(0.5, 4));
  arguments.add_option("--from", options->from, std::string("start of the visible time: ") + kTimeHelp)->type_name("T");
  arguments.add_option("--to", options->to, "end of the visible time, likewise")->type_name("T");
  arguments.add_option("--select", options->select, "a slice's name, part of one, or its index");
  arguments.add_option("--tab", options->tab, "the panel to show below the lanes");
  arguments
      .add_option("--what-if", options->what_if,
                  "replay the trace with changes and show the GPUs as they would be: gpu F, host F, no-wait, graph, "
                  "overlap-copies, roofline, remove NAME, plan (its first remedy), separated by ;")
      ->type_name("CHANGES")
      ->needs(trace);
  arguments.add_flag("--path", options->path, "show the critical path")->needs(trace);
  arguments
      .add_option("--layout", options->layout, "write what the picture shows as JSON: rows, texts and panels with their boxes")
      ->type_name("FILE");
  arguments.add_option("--finding", options->finding, "a rule's id (see diagnose): show its costliest finding")
      ->type_name("RULE");
  arguments
      .add_option_function<std::string>(
          "--theme",
          [options](const std::string& text) {
            if (text != "dark" && text != "light")
              throw CLI::ValidationError("--theme", "\"" + text + "\" is not a theme: write dark or light.");
            options->theme = text == "light" ? ThemeName::light : ThemeName::dark;
          },
          "dark or light")
      ->default_str("dark");
  return [options] { return screenshot(*options); };
}

}  // namespace gapscope
