#include "app/state/kept_files.h"

#include <limits>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/state/exported_report.h"
#include "core/base/failure.h"
#include "core/base/hash.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json span_json(Span span) { return {span.begin, span.end}; }

Json lane_json(const KeptLane& lane) {
  Json json = {{"process", lane.process}, {"lane", lane.lane}};
  if (lane.is_async) json["async"] = true;
  if (lane.collapsed) json["folded"] = true;
  if (lane.hidden) json["hidden"] = true;
  if (lane.pinned) json["pinned"] = true;
  return json;
}

Json process_json(const KeptProcess& process) {
  Json json = {{"key", process.key}};
  if (process.collapsed) json["folded"] = true;
  if (process.streams_together) json["graph_streams_together"] = true;
  return json;
}

// What is missing, or of another kind, is as if it had not been said.
template <class T>
void take(const Json& json, const char* key, T& into) {
  const auto at = json.find(key);
  if (at == json.end()) return;
  if constexpr (std::is_same_v<T, bool>) {
    if (at->is_boolean()) into = at->get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (at->is_string()) into = at->get<std::string>();
  } else if constexpr (std::is_same_v<T, Span>) {
    if (!at->is_array() || at->size() != 2 || !(*at)[0].is_number_integer() || !(*at)[1].is_number_integer()) return;
    const Span span{(*at)[0].get<Ns>(), (*at)[1].get<Ns>()};
    if (Ns length = 0; span.begin <= span.end && !__builtin_sub_overflow(span.end, span.begin, &length)) into = span;
  } else if constexpr (std::is_integral_v<T>) {
    if (at->is_number_unsigned() && at->get<std::uint64_t>() <= std::numeric_limits<T>::max()) into = at->get<T>();
  } else {
    if (at->is_number()) into = at->get<T>();
  }
}

const Json& list(const Json& json, const char* key) {
  static const Json kNone = Json::array();
  const auto at = json.find(key);
  return at != json.end() && at->is_array() ? *at : kNone;
}

StateWritten set_aside(const fs::path& file, const std::string& why) {
  const Result<std::string> moved = move_aside(file);
  const std::string what =
      printable(file.string()) + ": the saved view of this trace cannot be used (the contents " + why + "); ";
  if (moved) return {true, what + "the file is now " + printable(*moved) + "."};
  return {false, what + "the view is not saved now, because the file cannot be moved aside (" + moved.error().message + ")."};
}

KeptView view_from(const Json& json) {
  KeptView view;
  take(json, "visible_ns", view.visible);
  take(json, "scroll_px", view.scroll_px);
  take(json, "tab", view.tab);
  take(json, "filter", view.filter);
  take(json, "steps", view.steps);
  take(json, "step_time_ns", view.step_time);
  take(json, "stated_steps", view.stated_steps);
  take(json, "python_folded", view.python_folded);
  take(json, "compact", view.compact);
  if (json.contains("range_ns")) take(json, "range_ns", view.range.emplace());
  if (const auto at = json.find("selection"); at != json.end() && at->is_object()) {
    KeptSlice& slice = view.selection.emplace();
    take(*at, "process", slice.process);
    take(*at, "lane", slice.lane);
    take(*at, "name", slice.name);
    take(*at, "async", slice.is_async);
    take(*at, "span_ns", slice.span);
  }
  for (const Json& item : list(json, "lanes")) {
    if (!item.is_object()) continue;
    KeptLane& lane = view.lanes.emplace_back();
    take(item, "process", lane.process);
    take(item, "lane", lane.lane);
    take(item, "async", lane.is_async);
    take(item, "folded", lane.collapsed);
    take(item, "hidden", lane.hidden);
    take(item, "pinned", lane.pinned);
  }
  for (const Json& item : list(json, "processes")) {
    if (!item.is_object()) continue;
    KeptProcess& process = view.processes.emplace_back();
    take(item, "key", process.key);
    take(item, "folded", process.collapsed);
    take(item, "graph_streams_together", process.streams_together);
  }
  for (const Json& item : list(json, "notes")) {
    if (!item.is_object()) continue;
    Note& note = view.notes.emplace_back();
    take(item, "span_ns", note.span);
    take(item, "text", note.text);
    take(item, "colour", note.colour);
    if (note.colour >= kNoteColours) note.colour = 0;
  }
  return view;
}

}  // namespace

fs::path state_folder(const char* xdg_state_home, const char* home) {
  if (xdg_state_home && fs::path(xdg_state_home).is_absolute()) return fs::path(xdg_state_home) / "gapscope";
  if (home && *home) return fs::path(home) / ".local/state/gapscope";
  return {};
}

fs::path kept_file(const fs::path& folder, const std::string& trace_path, std::uint64_t trace_bytes) {
  if (folder.empty() || trace_path == "-") return {};
  const ExportedReport* report = report_of_export(trace_path);
  const std::string& path = report ? report->path : trace_path;
  const std::uint64_t bytes = report ? report->bytes : trace_bytes;
  return folder / fmt::format("{:016x}.json", hash_text(path + '\0' + std::to_string(bytes)));
}

std::string kept_json(const KeptView& view, const std::string& trace_path) {
  const ExportedReport* report = report_of_export(trace_path);
  Json json = {{"trace", report ? report->path : trace_path},
               {"visible_ns", span_json(view.visible)},
               {"scroll_px", view.scroll_px},
               {"tab", view.tab},
               {"filter", view.filter},
               {"steps", view.steps},
               {"step_time_ns", view.step_time},
               {"stated_steps", view.stated_steps},
               {"python_folded", view.python_folded},
               {"compact", view.compact},
               {"lanes", Json::array()},
               {"processes", Json::array()},
               {"notes", Json::array()}};
  if (view.range) json["range_ns"] = span_json(*view.range);
  if (view.selection) {
    const KeptSlice& s = *view.selection;
    json["selection"] = {
        {"process", s.process}, {"lane", s.lane}, {"async", s.is_async}, {"name", s.name}, {"span_ns", span_json(s.span)}};
  }
  for (const KeptLane& lane : view.lanes) json["lanes"].push_back(lane_json(lane));
  for (const KeptProcess& process : view.processes) json["processes"].push_back(process_json(process));
  for (const Note& note : view.notes)
    json["notes"].push_back({{"span_ns", span_json(note.span)}, {"text", note.text}, {"colour", note.colour}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<std::optional<KeptView>> read_kept(const fs::path& file) {
  const FolderLock lock(file.parent_path());
  const Result<std::optional<Json>> found = read_state(file);
  if (found) return *found ? std::optional(view_from(**found)) : std::nullopt;
  return Error{set_aside(file, found.error().message).say};
}

StateWritten write_kept(const fs::path& file, const KeptView& view, const std::string& trace_path) {
  if (file.empty()) return {};
  const FolderLock lock(file.parent_path());
  StateWritten aside;
  if (const Result<std::optional<Json>> found = read_state(file); !found) aside = set_aside(file, found.error().message);
  if (!aside.done) return aside;
  StateWritten written = write_state(file, kept_json(view, trace_path), "how this trace is looked at");
  if (written.say.empty()) written.say = std::move(aside.say);
  return written;
}

void add_saved(Stated& stated, const fs::path& folder, const std::string& trace_path, std::uint64_t bytes) {
  const fs::path file = kept_file(folder, trace_path, bytes);
  if (file.empty()) return;
  const Result<std::optional<Json>> found = read_state(file);
  if (!found || !*found) return;
  KeptView view = view_from(**found);
  if (!stated.step_time && view.step_time > 0) stated.step_time = view.step_time;
  if (stated.steps.empty()) stated.steps = std::move(view.stated_steps);
}

std::vector<Note> notes_in(std::vector<Note> notes, Span window) {
  std::erase_if(notes, [&](const Note& note) { return note.span.begin > window.end || note.span.end < window.begin; });
  return notes;
}

Result<std::vector<Note>> saved_notes(const fs::path& folder, const std::string& trace_path, std::uint64_t bytes) {
  const fs::path file = kept_file(folder, trace_path, bytes);
  std::error_code trouble;
  if (file.empty() || !fs::exists(file, trouble)) return std::vector<Note>{};
  const auto view = read_kept(file);
  if (!view) return view.error();
  return *view ? (*view)->notes : std::vector<Note>{};
}

std::string save_notes(const fs::path& folder, const std::string& trace_path, std::vector<Note> notes) {
  std::error_code trouble;
  const std::uintmax_t bytes = fs::file_size(trace_path, trouble);
  const fs::path file = trouble ? fs::path() : kept_file(folder, trace_path, bytes);
  if (notes.empty() || file.empty()) return {};
  auto before = read_kept(file);
  auto now = before && *before ? std::move(**before) : view_from(Json::object());
  now.notes = std::move(notes);
  const StateWritten written = write_kept(file, now, trace_path);
  return written.done ? std::string() : written.say;
}

}  // namespace gapscope
