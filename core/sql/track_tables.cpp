// Tracks, threads and processes.
#include <array>

#include "core/sql/list_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

constexpr std::array<ColumnInfo, 4> kTrack = {{
    {"id", Type::integer, "", "number of the track, by first appearance in time"},
    {"name", Type::text, "", "of counters and asynchronous slices; NULL for threads"},
    {"type", Type::text, "", "thread_execution, process_async, global_instants or counter"},
    {"parent_id", Type::integer, "", "always NULL"},
}};
constexpr std::array<ColumnInfo, 5> kThreadTrack = {{
    {"id", Type::integer, "", "track.id"},
    {"name", Type::text, "", "always NULL"},
    {"type", Type::text, "", "thread_execution"},
    {"parent_id", Type::integer, "", "always NULL"},
    {"utid", Type::integer, "", "thread.utid"},
}};
constexpr std::array<ColumnInfo, 5> kProcessTrack = {{
    {"id", Type::integer, "", "track.id"},
    {"name", Type::text, "", "what its slices have in common"},
    {"type", Type::text, "", "process_async"},
    {"parent_id", Type::integer, "", "always NULL"},
    {"upid", Type::integer, "", "process.upid"},
}};
constexpr std::array<ColumnInfo, 5> kCounterTrack = {{
    {"id", Type::integer, "", "track.id"},
    {"name", Type::text, "", "the event's name and the key of the value"},
    {"type", Type::text, "", "counter"},
    {"unit", Type::text, "", "always NULL: the format has none"},
    {"upid", Type::integer, "", "process.upid"},
}};
constexpr std::array<ColumnInfo, 6> kThread = {{
    {"utid", Type::integer, "", "number of the thread or stream, from 1, by first appearance in time"},
    {"tid", Type::integer, "", "the file's \"tid\"; NULL where that is a word"},
    {"name", Type::text, "", "\"thread 415 (python3)\", \"stream 7 \""},
    {"upid", Type::integer, "", "process.upid"},
    {"is_main_thread", Type::integer, "", "1 where tid and pid agree", true},
    {"id", Type::integer, "", "same as utid", true},
}};
constexpr std::array<ColumnInfo, 4> kProcess = {{
    {"upid", Type::integer, "", "number of the process or GPU, from 1, by first appearance in time"},
    {"pid", Type::integer, "", "the file's \"pid\"; NULL where that is a word"},
    {"name", Type::text, "", "\"python3\""},
    {"id", Type::integer, "", "same as upid", true},
}};

void give_id(sqlite3_context* out, std::uint32_t id) {
  if (id != 0) give(out, std::int64_t{id});
}
void give_key(sqlite3_context* out, std::string_view key) {
  if (const auto number = number_of_key(key)) give(out, *number);
}
// A name, or a key that is a word.
void give_name(sqlite3_context* out, std::string_view name, std::string_view key) {
  if (!name.empty()) return give(out, name);
  if (!key.empty() && !number_of_key(key)) give(out, key);
}

std::string counter_name(const Trace& trace, const Counter& counter) {
  return std::string(trace.strings[counter.name]) + ' ' + std::string(trace.strings[counter.series]);
}

const char* type_name(TrackKind kind) {
  constexpr const char* kNames[] = {"thread_execution", "process_async", "global_instants", "counter"};
  return kNames[static_cast<int>(kind)];
}

// Tracks of one kind, or all.
class TrackRows final : public RowList {
 public:
  TrackRows(World& world, std::optional<TrackKind> kind) : world_(world), kind_(kind) {}
  std::optional<Error> prepare() override {
    if (!ids_.empty()) return std::nullopt;
    const auto& all = world_.tracks().tracks();
    for (std::uint32_t id = 0; id < all.size(); ++id)
      if (!kind_ || all[id].kind == *kind_) ids_.push_back(id);
    return std::nullopt;
  }
  std::uint32_t rows() override { return static_cast<std::uint32_t>(ids_.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const Track& track = world_.tracks().tracks()[ids_[row]];
    switch (column) {
      case 0: return give(out, std::int64_t{ids_[row]});
      case 1: return give_track_name(out, track);
      case 2: return give(out, std::string_view(type_name(track.kind)));
      case 4: return give_id(out, track.kind == TrackKind::thread ? track.utid : track.upid);
      default: return;
    }
  }
  double rows_with_value(int column) const override { return column == 0 || column == 4 ? 1 : 0; }
  std::vector<std::uint32_t> find(int column, std::int64_t value) override {
    std::vector<std::uint32_t> found;
    for (std::uint32_t row = 0; row < ids_.size(); ++row) {
      const Track& track = world_.tracks().tracks()[ids_[row]];
      if (value == (column == 0 ? ids_[row] : track.kind == TrackKind::thread ? track.utid : track.upid)) found.push_back(row);
    }
    return found;
  }
  double about_rows() const override {
    return static_cast<double>(world_.trace().lanes.size() + world_.trace().counters.size() + 1);
  }

 private:
  void give_track_name(sqlite3_context* out, const Track& track) {
    const Trace& trace = world_.trace();
    if (track.kind == TrackKind::counter) return give_copy(out, counter_name(trace, trace.counters[track.counter]));
    if (track.kind == TrackKind::process_async) give(out, trace.lane(track.lane).key);
  }

  World& world_;
  std::optional<TrackKind> kind_;
  std::vector<std::uint32_t> ids_;
};

class ThreadRows final : public RowList {
 public:
  explicit ThreadRows(World& world) : world_(world) {}
  std::uint32_t rows() override { return static_cast<std::uint32_t>(world_.tracks().threads().size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const Lane& lane = world_.trace().lane(world_.tracks().threads()[row]);
    const Process& process = world_.trace().processes[lane.process.index()];
    switch (column) {
      case 0:
      case 5: return give(out, std::int64_t{row} + 1);
      case 1: return give_key(out, lane.key);
      case 2: return give_name(out, lane.name, lane.key);
      case 3: return give_id(out, world_.tracks().upid(lane.process));
      case 4: return give(out, std::int64_t{number_of_key(lane.key) && lane.key == process.key});
      default: return;
    }
  }
  double rows_with_value(int column) const override { return column == 0 || column == 5 ? 1 : column == 3 ? 10 : 0; }
  std::vector<std::uint32_t> find(int column, std::int64_t value) override {
    std::vector<std::uint32_t> found;
    if (column != 3) {
      if (value >= 1 && value <= rows()) found.push_back(static_cast<std::uint32_t>(value - 1));
      return found;
    }
    for (std::uint32_t row = 0; row < rows(); ++row)
      if (world_.tracks().upid(world_.trace().lane(world_.tracks().threads()[row]).process) == value) found.push_back(row);
    return found;
  }
  double about_rows() const override { return static_cast<double>(world_.trace().lanes.size() + 1); }

 private:
  World& world_;
};

class ProcessRows final : public RowList {
 public:
  explicit ProcessRows(World& world) : world_(world) {}
  std::uint32_t rows() override { return static_cast<std::uint32_t>(world_.tracks().processes().size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const Process& process = world_.trace().processes[world_.tracks().processes()[row].index()];
    switch (column) {
      case 0:
      case 3: return give(out, std::int64_t{row} + 1);
      case 1: return give_key(out, process.key);
      case 2: return give_name(out, process.name, process.key);
      default: return;
    }
  }
  double rows_with_value(int column) const override { return column == 0 || column == 3 ? 1 : 0; }
  std::vector<std::uint32_t> find(int, std::int64_t value) override {
    return value >= 1 && value <= rows() ? std::vector{static_cast<std::uint32_t>(value - 1)} : std::vector<std::uint32_t>{};
  }
  double about_rows() const override { return static_cast<double>(world_.trace().processes.size() + 1); }

 private:
  World& world_;
};

}  // namespace

void add_track_tables(World& world, TableList& out) {
  const auto tracks = [&](std::optional<TrackKind> kind) { return std::make_unique<TrackRows>(world, kind); };
  out.push_back(list_table("track", "every line of events", kTrack, tracks(std::nullopt)));
  out.push_back(list_table("thread_track", "the track of each thread and stream", kThreadTrack, tracks(TrackKind::thread)));
  out.push_back(list_table("process_track", "asynchronous slices of a process, by category", kProcessTrack,
                           tracks(TrackKind::process_async)));
  out.push_back(list_table("counter_track", "one series of counter events", kCounterTrack, tracks(TrackKind::counter)));
  out.push_back(list_table("thread", "threads and GPU streams", kThread, std::make_unique<ThreadRows>(world)));
  out.push_back(list_table("process", "processes, GPUs, and what the recorder invents (\"Spans\")", kProcess,
                           std::make_unique<ProcessRows>(world)));
}

}  // namespace gapscope::sql
