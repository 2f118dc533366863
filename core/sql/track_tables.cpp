// Tracks, threads and processes.
#include <numeric>

#include "core/sql/column_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

using enum Quantity;
using Id = std::uint32_t;

constexpr ColumnWays kHidden{.in = kInSql, .hidden = true};

CellValue if_any(std::uint32_t id) { return id != 0 ? CellValue(id) : CellValue(); }
// A name, or a key that is a word.
CellValue name_or_key(std::string_view name, std::string_view key) {
  if (!name.empty()) return name;
  return key.empty() || number_of_key(key) ? CellValue() : CellValue(key);
}

// ---- Tracks: a row is a track's id

const Track& track(const InWorld& in, Id id) { return in.world.tracks().tracks()[id]; }
CellValue itself(const InWorld&, const Id& id) { return id; }
CellValue track_name(const InWorld& in, const Id& id) {
  const Trace& trace = in.trace();
  const Track& of = track(in, id);
  if (of.kind == TrackKind::process_async) return std::string_view(trace.lane(of.lane).key);
  if (of.kind != TrackKind::counter) return {};
  const Counter& counter = trace.counters[of.counter];
  return std::string(trace.strings[counter.name]) + ' ' + std::string(trace.strings[counter.series]);
}
CellValue track_type(const InWorld& in, const Id& id) {
  constexpr const char* kNames[] = {"thread_execution", "process_async", "global_instants", "counter"};
  return kNames[static_cast<int>(track(in, id).kind)];
}
CellValue track_utid(const InWorld& in, const Id& id) { return if_any(track(in, id).utid); }
CellValue track_upid(const InWorld& in, const Id& id) { return if_any(track(in, id).upid); }

using Column = ColumnOf<Id, InWorld>;
constexpr Column kTrack[] = {
    {"id", id, "number of the track, by first appearance in time", itself},
    {"name", text, "of counters and asynchronous slices; NULL for threads", track_name},
    {"type", text, "thread_execution, process_async, global_instants or counter", track_type},
    {"parent_id", id, "always NULL", null},
};
constexpr Column kThreadTrack[] = {
    {"id", id, "track.id", itself},
    {"name", text, "always NULL", track_name},
    {"type", text, "thread_execution", track_type},
    {"parent_id", id, "always NULL", null},
    {"utid", id, "thread.utid", track_utid},
};
constexpr Column kProcessTrack[] = {
    {"id", id, "track.id", itself},
    {"name", text, "what its slices have in common", track_name},
    {"type", text, "process_async", track_type},
    {"parent_id", id, "always NULL", null},
    {"upid", id, "process.upid", track_upid},
};
constexpr Column kCounterTrack[] = {
    {"id", id, "track.id", itself},           {"name", text, "the event's name and the key of the value", track_name},
    {"type", text, "counter", track_type},    {"unit", text, "always NULL: the format has none", null},
    {"upid", id, "process.upid", track_upid},
};

// ---- Threads and processes: a row is a place in their lists

const Lane& lane(const InWorld& in, Id at) { return in.trace().lane(in.world.tracks().threads()[at]); }
const Process& process(const InWorld& in, Id at) { return in.trace().processes[in.world.tracks().processes()[at].index()]; }
CellValue number(const InWorld&, const Id& at) { return at + 1; }

constexpr Column kThread[] = {
    {"utid", id, "number of the thread or stream, from 1, by first appearance in time", number},
    {"tid", id, "the file's \"tid\"; NULL where that is a word",
     [](const InWorld& in, const Id& at) -> CellValue { return number_of_key(lane(in, at).key); }},
    {"name", text, "\"thread 415 (python3)\", \"stream 7 \"",
     [](const InWorld& in, const Id& at) { return name_or_key(lane(in, at).name, lane(in, at).key); }},
    {"upid", id, "process.upid",
     [](const InWorld& in, const Id& at) { return if_any(in.world.tracks().upid(lane(in, at).process)); }},
    {"is_main_thread", "", "1 where tid and pid agree", flag,
     [](const InWorld& in, const Id& at) -> CellValue {
       const std::string& key = lane(in, at).key;
       return number_of_key(key) && key == in.trace().processes[lane(in, at).process.index()].key;
     },
     kHidden},
    {"id", "", "same as utid", id, number, kHidden},
};
constexpr Column kProcess[] = {
    {"upid", id, "number of the process or GPU, from 1, by first appearance in time", number},
    {"pid", id, "the file's \"pid\"; NULL where that is a word",
     [](const InWorld& in, const Id& at) -> CellValue { return number_of_key(process(in, at).key); }},
    {"name", text, "\"python3\"",
     [](const InWorld& in, const Id& at) { return name_or_key(process(in, at).name, process(in, at).key); }},
    {"id", "", "same as upid", id, number, kHidden},
};

std::vector<Id> all(std::size_t count) {
  std::vector<Id> ids(count);
  std::iota(ids.begin(), ids.end(), Id{0});
  return ids;
}

// There are few, so that looking at each finds those with a key.
class KeyedRows final : public ColumnRows {
 public:
  using ColumnRows::ColumnRows;
  double rows_with_value(int column) const override {
    const std::string_view name = id_of(column);
    return column == 0 || name == "id" || name == "utid" ? 1 : name == "upid" ? 10 : 0;
  }
  std::vector<std::uint32_t> find(int column, std::int64_t wanted) override {
    std::vector<std::uint32_t> found = all(rows());
    std::erase_if(found, [&](std::uint32_t row) {
      const CellValue key = value(row, column);
      return key.absent() || *key.get<std::int64_t>() != wanted;
    });
    return found;
  }
};

template <std::size_t N>
std::unique_ptr<Table> keyed_table(const char* name, const char* meaning, const Column (&columns)[N], World& world,
                                   std::vector<Id> (*ids)(World&), std::size_t about) {
  return column_table(
      name, meaning,
      std::make_unique<KeyedRows>(
          std::span<const Column>(columns), [&columns, &world, ids] { return rows_of(columns, InWorld{world}, ids(world)); },
          static_cast<double>(about + 1)));
}

template <TrackKind Kind>
std::vector<Id> tracks(World& world) {
  std::vector<Id> ids = all(world.tracks().tracks().size());
  std::erase_if(ids, [&](Id id) { return world.tracks().tracks()[id].kind != Kind; });
  return ids;
}

}  // namespace

void add_track_tables(World& world, TableList& out) {
  const Trace& trace = world.trace();
  const std::size_t lanes = trace.lanes.size(), about = lanes + trace.counters.size();
  const auto every_track = [](World& w) { return all(w.tracks().tracks().size()); };
  const auto threads = [](World& w) { return all(w.tracks().threads().size()); };
  const auto processes = [](World& w) { return all(w.tracks().processes().size()); };
  out.push_back(keyed_table("track", "every line of events", kTrack, world, every_track, about));
  out.push_back(keyed_table("thread_track", "the track of each thread and stream", kThreadTrack, world,
                            tracks<TrackKind::thread>, about));
  out.push_back(keyed_table("process_track", "asynchronous slices of a process, by category", kProcessTrack, world,
                            tracks<TrackKind::process_async>, about));
  out.push_back(
      keyed_table("counter_track", "one series of counter events", kCounterTrack, world, tracks<TrackKind::counter>, about));
  out.push_back(keyed_table("thread", "threads and GPU streams", kThread, world, threads, lanes));
  out.push_back(keyed_table("process", "processes, GPUs, and what the recorder invents (\"Spans\")", kProcess, world, processes,
                            trace.processes.size()));
}

}  // namespace gapscope::sql
