#include "app/state/state_file.h"

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/output_file.h"
#include "core/view/compare/compare_headline.h"
#include "core/view/compare/compare_model.h"
#include "core/view/document.h"
#include "core/view/ranks/ranks_model.h"
#include "ui/compare/compare_view.h"
#include "ui/panels.h"
#include "ui/snapshot/snapshot_page.h"
#include "ui/start/path_completion.h"
#include "ui/timeline/timeline_panel.h"
#include "ui/widgets/drawn_text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxSlices = 500;  // on screen; a test clicks one of a few

// Where slices are on the screen, so that a test can point at them.
Json slices_json(const Trace& trace, const Zones& zones) {
  Json list = Json::array();
  for (const Zone& zone : zones.all()) {
    if (zone.kind != ZoneKind::slice || list.size() == kMaxSlices) continue;
    list.push_back({{"name", trace.name(zone.slice)},
                    {"kind", kind_name(trace.kind(zone.slice))},
                    {"x0", zone.x0},
                    {"y0", zone.y0},
                    {"x1", zone.x1},
                    {"y1", zone.y1}});
  }
  return list;
}

Json details_json(const DetailsModel& details) {
  const bool is_read = details.args && details.args->slice == details.slice;
  const std::string error = is_read ? details.args->error : "";
  Json keys = Json::array();
  if (is_read)
    for (const Arg& arg : details.args->args) keys.push_back(arg.key);
  return {{"name", details.name},
          {"args", !is_read        ? "reading"
                   : error.empty() ? "ready"
                                   : "failed"},
          {"args_error", error},
          {"arg_keys", std::move(keys)}};
}

// The chosen finding, how many rules are silenced, and where badges are.
Json findings_json(const Diagnosis& diagnosis, const TraceView& view, const WindowState& window, const Zones& zones) {
  const auto rule_of = [&](std::size_t finding) { return diagnosis.findings[finding].finding.rule->id; };
  Json badges = Json::array();
  for (const Zone& zone : zones.all()) {
    if (zone.kind != ZoneKind::badge || badges.size() == kMaxSlices || zone.first >= diagnosis.findings.size()) continue;
    badges.push_back({{"rule", rule_of(zone.first)},
                      {"count", zone.count},
                      {"x0", zone.x0},
                      {"y0", zone.y0},
                      {"x1", zone.x1},
                      {"y1", zone.y1}});
  }
  return {{"open", window.settings.findings.open},
          {"quiet", window.settings.findings.quiet},
          {"muted", window.settings.findings.muted},
          {"count", diagnosis.findings.size()},
          {"chosen", view.finding.chosen < 0 ? Json(nullptr) : Json(rule_of(static_cast<std::size_t>(view.finding.chosen)))},
          {"place", view.finding.place},
          {"badges", std::move(badges)}};
}

std::size_t list_column(const Trace& trace, const ListState& list) {
  return order_of(place_rows(trace, list.of->places), list.look).column;
}

Json search_json(const Document& document, const TraceView& view) {
  const SearchAnswer* answer = answer_to<SearchQuestion>(document).get();
  Json json = {
      {"text", view.search.typed.text}, {"has_keys", view.search.has_keys}, {"hits", nullptr}, {"position", 0}, {"error", ""}};
  if (!answer || answer->question != view.search.typed) return json;
  json["hits"] = answer->hits.size();
  json["position"] = hit_position(document.trace, *answer, view.selection);
  json["error"] = answer->error;
  return json;
}

Json box_json(const Box& box) { return {{"x0", box.x0}, {"y0", box.y0}, {"x1", box.x1}, {"y1", box.y1}}; }

// The marked area, where it is on the screen, and how much of it has been counted.
Json area_json(const Document& document, const TraceView& view, const TimelinePanel& timeline) {
  const Area* area = marked_area(view);
  if (!area) return nullptr;
  Json lanes = Json::array();
  for (const LaneId lane : area->lanes) lanes.push_back(document.trace.lane(lane).title);
  const std::shared_ptr<const AreaStats>& stats = answer_to<AreaQuestion>(document);
  const bool counted = stats && stats->area == *area;
  return {{"begin_ns", area->span.begin},
          {"end_ns", area->span.end},
          {"lanes", std::move(lanes)},
          {"box", box_json(area_box(timeline.area_place(), view, *area))},
          {"slices", counted ? Json(stats->slices) : Json(nullptr)}};
}

// The titles of processes and lanes in sight.
Json titles_json(const Trace& trace, const Zones& zones) {
  Json titles = Json::array();
  for (const Zone& zone : zones.all()) {
    if (zone.kind != ZoneKind::process_title && zone.kind != ZoneKind::lane_title) continue;
    const bool lane = zone.kind == ZoneKind::lane_title;
    titles.push_back({{"title", lane ? trace.lane(zone.lane).title : trace.processes[zone.process.index()].title},
                      {"is_process", !lane},
                      {"is_gpu", trace.processes[zone.process.index()].is_gpu},
                      {"x0", zone.x0},
                      {"y0", zone.y0},
                      {"x1", zone.x1},
                      {"y1", zone.y1}});
  }
  return titles;
}

// One of two traces, as it is on the screen.
Json side_json(const Document& document, const TraceView& view, const TimelinePanel& timeline, Ns zero) {
  const Trace& trace = document.trace;
  const std::shared_ptr<const SearchAnswer>& found = answer_to<SearchQuestion>(document);
  return {{"file", trace.path},
          {"begin_ns", view.time.span.begin},
          {"end_ns", view.time.span.end},
          {"zero_ns", zero},
          {"selection", view.selection ? Json(trace.name(view.selection)) : Json(nullptr)},
          {"match", view.linked && view.linked->match ? Json(trace.name(view.linked->match)) : Json(nullptr)},
          {"axis", box_json(timeline.areas().lanes)},
          {"top", box_json(timeline.window().top)},
          {"rest", box_json(timeline.window().rest)},
          {"titles", titles_json(trace, timeline.zones())},
          {"pinned", timeline.layout().pinned_count()},
          {"hits", found ? Json(found->hits.size()) : Json(nullptr)},
          {"headline", side_headline(document)},
          {"range", view.range ? Json(view.range->length()) : Json(nullptr)},
          {"slices", slices_json(trace, timeline.zones())}};
}

Json compare_json(const Session& session, const AppUi& ui) {
  const ViewState& view = ui.view();
  if (!view.window.compare.open || !session.document() || ui.compare().document() != session.second()) return nullptr;
  const bool on_b = view.window.compare.side == TraceSide::b;
  const CompareView& both = ui.compare();
  const TimelinePanel& timeline_a = ui.timeline_a();
  Json json = {{"side", on_b ? "b" : "a"},
               {"a", side_json(*session.document(), view.of(TraceSide::a), timeline_a, both.alignment().zero_a)},
               {"b", side_json(*session.second(), view.of(TraceSide::b), both.timeline(), both.alignment().zero_b)},
               {"step", options_text(view.window.compare.options)},
               {"changes", change_headline(*session.document(), *session.second(), view.window.compare.answer.get())},
               {"strip", box_json(both.places().strip)},
               {"ruler", box_json(both.places().ruler)},
               {"headers", {box_json(both.places().header[0]), box_json(both.places().header[1])}},
               {"verdict", nullptr}};
  if (view.window.compare.answer) json["verdict"] = view.window.compare.answer->comparison.verdict;
  if (view.window.compare.answer) json["error"] = view.window.compare.answer->error;
  return json;
}

// What the start screen would show.
Json start_json(const Session& session, const WindowState& window) {
  const FolderView* folder = session.folder();
  const bool listed = folder && window.start.asked && folder->asked == window.start.asked_folder;
  Json entries = Json::array();
  if (listed)
    for (const FolderEntry* entry : matching_entries(*folder, split_typed(window.start.path).start))
      entries.push_back(entry->name);
  return {{"path", window.start.path},
          {"has_keys", window.start.has_keys},
          {"can_browse", session.can_browse()},
          {"folder", listed ? Json(folder->path) : Json(nullptr)},
          {"entries", std::move(entries)}};
}

// What the tab "Ranks" shows; null before the run was read.
Json ranks_json(const RanksState& ranks) {
  if (!ranks.last) return nullptr;
  return {{"sentence", ranks.last->sentence},
          {"ranks", ranks.last->report.run.ranks.size()},
          {"steps", ranks.last->matrix.steps},
          {"picture", ranks.picture == RanksPicture::bands ? "bands" : "matrix"},
          {"latest_first", ranks.by_lateness}};
}

// All that can be read, but for the status bar: how long a frame took is another figure each time.
// Above the status bar, and where the middle of each is, px.
struct TextsJson {
  Json texts = Json::array(), at = Json::array();
};
TextsJson texts_json(const AppUi& ui) {
  const ImDrawData& picture = *ImGui::GetDrawData();
  float end = picture.DisplaySize.y;
  for (const PanelPlace& place : ui.places())
    if (std::string_view(place.name) == "status") end = place.box.y0;
  TextsJson out;
  for (const DrawnText& text : drawn_texts(picture, *ImGui::GetIO().Fonts)) {
    if (text.box.y0 >= end) continue;
    out.texts.push_back(text.text);
    out.at.push_back({(text.box.x0 + text.box.x1) / 2, (text.box.y0 + text.box.y1) / 2});
  }
  return out;
}

Json range_json(const std::optional<Span>& range) {
  return range ? Json{{"begin_ns", range->begin}, {"end_ns", range->end}} : Json(nullptr);
}

}  // namespace

std::string state_json(const Session& session, const AppUi& ui, bool at_rest) {
  const WindowState& window = ui.view().window;
  const TraceView& view = ui.view().active();
  TextsJson texts = texts_json(ui);
  Json json = {{"loading", session.is_loading()},
               {"message", session.message()},
               {"recent", session.recent()},
               {"notice", session.notice() ? Json(session.notice()->text) : Json(nullptr)},
               {"key_hint", window.key_hint},
               {"help_open", window.help_open},
               {"tour_open", window.tour.open},
               {"texts", std::move(texts.texts)},
               {"texts_at", std::move(texts.at)},
               {"start_open", window.start_open || !(session.document() || session.snapshot())},
               {"start", start_json(session, window)},
               {"theme", window.settings.theme == ThemeName::light ? "light" : "dark"},
               {"zoom", window.settings.zoom},
               {"moving", ui.moving()},
               {"at_rest", at_rest},
               {"loading_second", session.is_loading_second()},
               {"compare", compare_json(session, ui)}};
  if (session.snapshot()) {
    const SnapshotPage& page = ui.snapshot_page();
    json["file"] = session.snapshot()->path;
    json["begin_ns"] = page.time().span.begin;
    json["end_ns"] = page.time().span.end;
    json["snapshot"] = {{"headline", page.headline()},
                        {"tab", SnapshotPage::name_of(page.tab())},
                        {"event", page.wanted_event() ? Json(*page.wanted_event()) : Json(nullptr)},
                        {"block", page.chosen_block() ? Json(*page.chosen_block()) : Json(nullptr)},
                        {"chart", box_json(page.chart())}};
  }
  if (const Document* doc = session.document() ? ui.document() : nullptr;
      doc && (doc == session.document() || doc == session.second())) {
    const Trace& trace = doc->trace;
    json["file"] = trace.path;
    json["is_part"] = trace.is_part;
    json["begin_ns"] = view.time.span.begin;
    json["end_ns"] = view.time.span.end;
    json["trace_begin_ns"] = trace.span.begin;
    json["trace_end_ns"] = trace.span.end;
    json["scroll_px"] = view.scroll_px;
    json["lanes"] = trace.lanes.size();
    json["selection"] = view.selection ? Json(trace.name(view.selection)) : Json(nullptr);
    json["details"] = view.details.slice ? details_json(view.details) : Json(nullptr);
    json["tab"] = window.tab < panels().size() ? panels()[window.tab].id : "";
    json["tab_pinned"] = window.tab_pinned;
    json["selected_arrows"] = {{"drawn", view.flows.of_selection_drawn}, {"all", view.flows.of_selection}};
    json["list"] = view.list.of ? Json{{"title", view.list.of->title},
                                       {"places", view.list.of->places.size()},
                                       {"rows", view.list.arranged.rows.size()},
                                       {"column", list_column(trace, view.list)}}
                                : Json(nullptr);
    json["range"] = range_json(view.range);
    json["area"] = area_json(*doc, view, ui.timeline());
    json["search"] = search_json(*doc, view);
    json["box"] = window.box.kind == BoxKind::none ? Json(nullptr) : Json(window.box.text);
    json["notes"] = Json::array();
    for (const Note& note : view.notes.notes)
      json["notes"].push_back(
          {{"begin_ns", note.span.begin}, {"end_ns", note.span.end}, {"text", note.text}, {"colour", note.colour}});
    json["marks"] = view.notes.marks.size();
    json["axis"] = box_json(ui.timeline().areas().lanes);
    json["ranks"] = ranks_json(window.ranks);
    json["slices"] = slices_json(trace, ui.timeline().zones());
    json["verdict"] = doc->headline() ? Json(doc->headline()->verdict) : Json(nullptr);
    const Diagnosis* diagnosis = doc->diagnosis();
    json["findings"] = diagnosis ? findings_json(*diagnosis, view, window, ui.timeline().zones()) : Json(nullptr);
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

void StateFile::write(const Session& session, const AppUi& ui, bool at_rest) {
  if (path_.empty()) return;
  std::string now = state_json(session, ui, at_rest);
  if (now == last_) return;
  if (write_file(path_, now, {.synced = false})) last_ = std::move(now);
}

}  // namespace gapscope
