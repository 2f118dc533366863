#include <nlohmann/json.hpp>

#include "app/cli/in_and_out.h"
#include "app/cli/snapshot_report.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

// Null at the end, and before the history.
Json event_json(const std::optional<std::uint32_t>& event) {
  return event && *event != kBeforeHistory ? Json(*event) : Json(nullptr);
}

Json frames_json(const Snapshot& snapshot, StackId stack) {
  Json frames = Json::array();
  for (const std::uint32_t at : snapshot.stack(stack)) {
    const SnapshotFrame& f = snapshot.frames[at];
    frames.push_back(
        {{"name", std::string(snapshot.texts[f.name])}, {"filename", std::string(snapshot.texts[f.file])}, {"line", f.line}});
  }
  return frames;
}

Json device_json(const SnapshotReport::Device& d) {
  const SnapshotTotals& t = d.state.totals;
  return {{"id", d.device->id},
          {"reserved_bytes", t.reserved},
          {"allocated_bytes", t.allocated},
          {"active_bytes", t.active},
          {"requested_bytes", t.requested},
          {"segments", t.segments},
          {"blocks", t.blocks},
          {"largest_free_bytes", t.largest_free},
          {"peak_bytes", d.peak.bytes},
          {"peak_event", event_json(d.peak.event)},
          {"ooms", d.device->ooms.size()}};
}

// By stack; one has no frames.
Json holders_json(const Snapshot& snapshot, const std::vector<StackHolder>& stacks) {
  Json holders = Json::array();
  std::optional<std::size_t> without;
  for (const StackHolder& h : stacks) {
    if (h.stack == 0 && without) {
      Json& first = holders[*without];
      first["bytes"] = first["bytes"].get<std::int64_t>() + h.bytes;
      first["blocks"] = first["blocks"].get<std::uint64_t>() + h.blocks;
      continue;
    }
    if (h.stack == 0) without = holders.size();
    holders.push_back({{"bytes", h.bytes}, {"blocks", h.blocks}, {"frames", frames_json(snapshot, h.stack)}});
  }
  return holders;
}

Json pool_json(const Snapshot& snapshot, std::int64_t device, const SnapshotPool& p) {
  return {{"device", device},
          {"pool", p.is_large ? "large" : "small"},
          {"stream", p.stream},
          {"graph_pool", text_or_null(snapshot.texts[p.graph_pool])},
          {"expandable", p.is_expandable},
          {"reserved_bytes", p.reserved},
          {"active_bytes", p.held},
          {"free_bytes", p.free()},
          {"largest_free_bytes", p.largest_free}};
}

Json oom_json(const Snapshot& snapshot, std::int64_t device, const OutOfMemory& oom) {
  return {{"device", device},
          {"event", oom.event},
          {"time_us", oom.time_us},
          {"asked_bytes", oom.asked},
          {"device_free_bytes", oom.device_free},
          {"pool", oom.is_large ? "large" : "small"},
          {"stream", oom.stream},
          {"segment_bytes", oom.segment},
          {"reserved_bytes", oom.reserved},
          {"active_bytes", oom.held},
          {"free_bytes", oom.free},
          {"largest_free_small_bytes", oom.largest_small},
          {"largest_free_large_bytes", oom.largest_large},
          {"largest_free_elsewhere_bytes", oom.largest_elsewhere},
          {"expandable_segments", oom.is_expandable},
          {"why", name_of(oom.why)},
          {"sentence", oom_sentence(snapshot, oom)},
          {"remedies", oom_remedies(snapshot, oom)},
          {"frames", frames_json(snapshot, oom.stack)}};
}

Json leak_json(const Snapshot& snapshot, const SnapshotReport::Device& d, const SnapshotLeak& leak) {
  return {{"device", d.device->id},
          {"bytes", leak.bytes},
          {"blocks", leak.blocks},
          {"bytes_per_step", leak.bytes_per_step},
          {"steps", leak.steps},
          {"of_steps", leak.of_steps},
          {"steps_of", d.steps.are_steps ? "optimizer" : "equal parts"},
          {"frames", frames_json(snapshot, leak.stack)}};
}

Json program_json(const SnapshotReport& report, const SnapshotReport::Device& d) {
  const ProgramMoment in = program_moment(report, d);
  Json names = Json::array();
  for (const StringId name : in.annotations) names.push_back(report.snapshot->texts[name]);
  return {
      {"file", report.program->path}, {"time_ns", in.time ? Json(*in.time) : Json(nullptr)}, {"annotations", std::move(names)}};
}

}  // namespace

std::string snapshot_json(const SnapshotReport& report) {
  const Snapshot& snapshot = *report.snapshot;
  Json json = {{"devices", Json::array()},    {"holders", holders_json(snapshot, report.holders.stacks)},
               {"at", Json::array()},         {"lines", Json::array()},
               {"categories", Json::array()}, {"free", Json::array()},
               {"pools", Json::array()},      {"out_of_memory", Json::array()},
               {"leaks", Json::array()},      {"settings", Json::object()}};
  for (const SnapshotReport::Device& d : report.devices) {
    const std::int64_t id = d.device->id;
    json["devices"].push_back(device_json(d));
    json["at"].push_back(
        {{"device", id},
         {"moment", report.at},
         {"event", event_json(d.event)},
         {"events", d.device->events.size()},
         {"time_us", d.event && *d.event != kBeforeHistory ? Json(d.device->events[*d.event].time_us) : Json(nullptr)}});
    if (report.program && !d.device->events.empty()) json["at"].back()["trace"] = program_json(report, d);
    json["free"].push_back(
        {{"device", id}, {"free_bytes", d.state.totals.free}, {"split_free_bytes", d.state.totals.split_free}});
    for (const SnapshotPool& p : d.state.pools) json["pools"].push_back(pool_json(snapshot, id, p));
    for (const SnapshotLeak& leak : d.leaks) json["leaks"].push_back(leak_json(snapshot, d, leak));
    for (const OutOfMemory& oom : d.ooms) json["out_of_memory"].push_back(oom_json(snapshot, id, oom));
  }
  for (const LineHolder& l : report.holders.lines)
    json["lines"].push_back({{"bytes", l.bytes}, {"blocks", l.blocks}, {"line", l.place}});
  for (const KindHolder& k : report.holders.kinds)
    json["categories"].push_back({{"bytes", k.bytes}, {"blocks", k.blocks}, {"category", name_of(k.kind)}});
  for (const SnapshotSetting& s : snapshot.settings) json["settings"][std::string(snapshot.texts[s.name])] = s.value;
  json["unreadable"] = snapshot.unreadable;
  return json_text(json);
}

std::string snapshot_changes_json(const SnapshotReport& before, const SnapshotReport& after) {
  Json json = {
      {"before_bytes", before.held()}, {"after_bytes", after.held()}, {"lines", Json::array()}, {"categories", Json::array()}};
  const auto add = [&](const char* list, const char* key, const std::vector<HolderChange>& changes) {
    for (const HolderChange& c : changes)
      json[list].push_back({{key, c.place},
                            {"difference_bytes", c.difference()},
                            {"before_bytes", c.before},
                            {"after_bytes", c.after},
                            {"before_blocks", c.blocks_before},
                            {"after_blocks", c.blocks_after}});
  };
  add("lines", "line", changed_lines(before.holders, after.holders));
  add("categories", "category", changed_kinds(before.holders, after.holders));
  return json_text(json);
}

std::string snapshot_info_json(const std::string& path, const Snapshot& snapshot) {
  Json json = {{"file", path},
               {"bytes", snapshot.file_bytes},
               {"producer", "torch_snapshot"},
               {"devices", Json::array()},
               {"segments", snapshot.segments.size()},
               {"blocks", snapshot.blocks.size()},
               {"stacks", snapshot.stacks() - 1},
               {"annotations", snapshot.annotations.size()}};
  for (const SnapshotDevice& d : snapshot.devices)
    json["devices"].push_back({{"id", d.id},
                               {"reserved_bytes", d.totals.reserved},
                               {"allocated_bytes", d.totals.allocated},
                               {"active_bytes", d.totals.active},
                               {"requested_bytes", d.totals.requested},
                               {"events", d.events.size()}});
  return json_text(json, 2);
}

}  // namespace gapscope
