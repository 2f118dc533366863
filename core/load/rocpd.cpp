#include "core/load/rocpd.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"
#include "core/load/kineto_writer.h"

namespace gapscope {
namespace {

constexpr std::string_view kDispatches = "rocpd_kernel_dispatch";
constexpr std::size_t kLargest = std::size_t{4} << 30;  // what the reader of the JSON takes

using Json = nlohmann::ordered_json;

// The text of a range of the program, as the database keeps it: {"message": "step 3"}.
std::string message_of(std::string_view json) {
  const auto data = parse_json(json);
  if (!data || !data->is_object()) return {};
  const auto message = data->find("message");
  return message != data->end() && message->is_string() ? message->get<std::string>() : std::string();
}

// The tables of one process, whose names end alike.
class RocpdProcess {
 public:
  RocpdProcess(SqliteFile& file, std::string suffix, std::string& out) : file_(file), suffix_(std::move(suffix)), out_(out) {}

  void write() {
    read_texts();
    read_times();
    read_events();
    out_ += "{\"metadata\":";
    write_process();
    out_ += ",\"agents\":[";
    write_agents();
    out_ += "],\"kernel_symbols\":[";
    write_symbols();
    out_ += "],\"buffer_records\":{\"kernel_dispatch\":[";
    write_dispatches();
    out_ += "],\"memory_copy\":[";
    write_copies();
    out_ += "],\"memory_allocation\":[";
    write_allocations();
    out_ += "],\"hip_api\":[";
    write_regions();
    // One kind of record: its operations are all names.
    out_ +=
        fmt::format("],\"marker_api\":[{}]}},\"strings\":{{\"buffer_records\":[{{\"kind\":\"ROCPD\",\"operations\":[", marks_);
    for (std::size_t i = 0; i < operations_.size(); ++i) string(i == 0 ? "" : ",", operations_[i]);
    out_ += fmt::format("]}}],\"marker_api\":[{}]}}}}", mark_texts_);
  }

 private:
  using Rows = SqliteFile::Rows;
  struct Track {
    std::int64_t thread = 0, agent = -1, queue = 0, stream = -1;
  };
  struct Event {
    std::int64_t correlation = 0;
    bool is_marker = false;
    std::string message;  // of a marker: the program's text
  };
  // Where a row says when it was: in columns of its own, or in rows of two other tables (later schemas).
  struct When {
    std::optional<std::int64_t> begin, end;
    Track track;
  };

  std::string name(std::string_view table) const { return std::string(table) + suffix_; }
  void string(const char* before, std::string_view text) {
    out_ += before;
    append_json_string(out_, text);
  }
  std::int64_t operation(std::string_view called) {
    const auto [at, is_new] = operation_of_.try_emplace(std::string(called), operations_.size());
    if (is_new) operations_.emplace_back(called);
    return static_cast<std::int64_t>(at->second);
  }
  std::string_view text(std::optional<std::int64_t> id) const {
    const auto at = id ? texts_.find(*id) : texts_.end();
    return at == texts_.end() ? std::string_view() : std::string_view(at->second);
  }
  bool begin_record() {
    if (out_.size() > kLargest) return false;
    out_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    return true;
  }

  void read_texts() {
    for (Rows rows = file_.rows(name("rocpd_string"), {"id", "string"}); rows.next();)
      if (const auto id = rows.number(0)) texts_.emplace(*id, rows.text(1));
    for (Rows rows = file_.rows(name("rocpd_info_thread"), {"id", "tid"}); rows.next();)
      threads_[rows.number_or(0, -1)] = rows.number_or(1, 0);
  }

  void read_times() {
    for (Rows rows = file_.rows(name("rocpd_timestamp"), {"id", "value"}); rows.next();)
      if (const auto id = rows.number(0), value = rows.number(1); id && value) times_.emplace(*id, *value);
    for (Rows rows = file_.rows(name("rocpd_track"), {"id", "tid", "agent_id", "queue_id", "stream_id"}); rows.next();)
      tracks_[rows.number_or(0, -1)] = {rows.number_or(1, 0), rows.number_or(2, -1), rows.number_or(3, 0),
                                        rows.number_or(4, -1)};
  }

  void read_events() {
    std::unordered_map<std::int64_t, bool> markers;  // categories
    for (Rows rows = file_.rows(name("rocpd_info_category"), {"id", "name"}); rows.next();)
      markers[rows.number_or(0, -1)] = rows.text(1).find("MARKER") != std::string_view::npos;
    const bool are_texts = markers.empty();
    for (Rows rows = file_.rows(name("rocpd_event"), {"id", "stack_id", "category_id", "extdata"}); rows.next();) {
      Event& event = events_[rows.number_or(0, -1)];
      event.correlation = rows.number_or(1, 0);
      const auto category = rows.number(2);
      event.is_marker = are_texts ? text(category).find("MARKER") != std::string_view::npos : category && markers[*category];
      if (event.is_marker) event.message = message_of(rows.text(3));
    }
  }
  const Event& event(std::optional<std::int64_t> id) const {
    static const Event kNone;
    const auto at = id ? events_.find(*id) : events_.end();
    return at == events_.end() ? kNone : at->second;
  }

  // Columns 0 to 8 of every table of what takes time.
  static std::vector<std::string_view> timed(std::initializer_list<std::string_view> more) {
    std::vector<std::string_view> columns = {"start",    "end",      "tid",    "queue_id", "stream_id",
                                             "event_id", "start_id", "end_id", "track_id"};
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
  }
  static constexpr std::size_t kMore = 9;
  When when(const Rows& rows) const {
    const auto time = [&](std::size_t own, std::size_t other) {
      const auto stated = rows.number(own), id = rows.number(other);
      const auto at = id ? times_.find(*id) : times_.end();
      return stated || at == times_.end() ? stated : std::optional(at->second);
    };
    When out{time(0, 6), time(1, 7), {}};
    if (const auto at = tracks_.find(rows.number_or(8, -1)); at != tracks_.end()) out.track = at->second;
    out.track.thread = rows.number_or(2, out.track.thread);
    if (const auto at = threads_.find(out.track.thread); at != threads_.end()) out.track.thread = at->second;
    out.track.queue = rows.number_or(3, out.track.queue);
    out.track.stream = rows.number_or(4, out.track.stream);
    return out;
  }
  void write_when(const When& when, const Rows& rows) {
    const auto at = [&](const char* key, std::optional<std::int64_t> time) {
      if (time) out_ += fmt::format("\"{}\":{},", key, *time);
    };
    out_ += '{';
    at("start_timestamp", when.begin);
    at("end_timestamp", when.end);
    out_ += fmt::format("\"thread_id\":{},\"correlation_id\":{{\"internal\":{}}}", when.track.thread,
                        event(rows.number(5)).correlation);
    if (when.track.stream >= 0) handle("stream_id", when.track.stream);
  }
  void handle(const char* key, std::int64_t id) { out_ += fmt::format(",\"{}\":{{\"handle\":{}}}", key, id); }

  void write_process() {
    Rows rows = file_.rows(name("rocpd_info_process"), {"pid", "command"});
    const bool has_one = rows.next();
    out_ += fmt::format("{{\"pid\":{},\"command\":[", has_one ? rows.number_or(0, 0) : 0);
    if (has_one && !rows.text(1).empty()) string("", rows.text(1).substr(0, rows.text(1).find(' ')));
    out_ += "]}";
  }

  // What the profiler knows of an agent is in one column, as its JSON has it.
  void write_agents() {
    is_first_ = true;
    std::int64_t gpus = 0;
    for (Rows rows = file_.rows(name("rocpd_info_agent"), {"id", "type", "type_index", "name", "product_name", "extdata"});
         rows.next() && begin_record();) {
      const bool is_gpu = rows.text(1) == "GPU";
      out_ += fmt::format("{{\"id\":{{\"handle\":{}}},\"type\":{}", rows.number_or(0, -1), is_gpu ? 2 : 1);
      if (is_gpu) out_ += fmt::format(",\"logical_node_type_id\":{}", rows.number_or(2, gpus++));
      string(",\"name\":", rows.text(3));
      string(",\"product_name\":", rows.text(4));
      const auto more = parse_json(rows.text(5));
      if (more && more->is_object() && !more->empty())
        out_ += ',' + more->dump(-1, ' ', false, Json::error_handler_t::replace).substr(1);
      else
        out_ += '}';
    }
  }

  void write_symbols() {
    is_first_ = true;
    for (Rows rows = file_.rows(name("rocpd_info_kernel_symbol"),
                                {"id", "display_name", "kernel_name", "sgpr_count", "arch_vgpr_count", "accum_vgpr_count"});
         rows.next() && begin_record();) {
      out_ += fmt::format("{{\"kernel_id\":{},\"sgpr_count\":{},\"arch_vgpr_count\":{},\"accum_vgpr_count\":{}",
                          rows.number_or(0, -1), rows.number_or(3, 0), rows.number_or(4, 0), rows.number_or(5, 0));
      string(",\"formatted_kernel_name\":", rows.text(1).empty() ? rows.text(2) : rows.text(1));
      out_ += '}';
    }
  }

  void write_dispatches() {
    is_first_ = true;
    for (Rows rows = file_.rows(name(kDispatches), timed({"agent_id", "kernel_id", "private_segment_size", "group_segment_size",
                                                          "workgroup_size_x", "workgroup_size_y", "workgroup_size_z",
                                                          "grid_size_x", "grid_size_y", "grid_size_z"}));
         rows.next() && begin_record();) {
      const When at = when(rows);
      write_when(at, rows);
      const auto more = [&](std::size_t column) { return rows.number_or(kMore + column, 0); };
      out_ += fmt::format(
          ",\"dispatch_info\":{{\"kernel_id\":{},\"private_segment_size\":{},\"group_segment_size\":{},"
          "\"workgroup_size\":{{\"x\":{},\"y\":{},\"z\":{}}},\"grid_size\":{{\"x\":{},\"y\":{},\"z\":{}}}",
          more(1), more(2), more(3), more(4), more(5), more(6), more(7), more(8), more(9));
      handle("agent_id", rows.number_or(kMore, at.track.agent));
      handle("queue_id", at.track.queue);
      out_ += "}}";
    }
  }

  void write_copies() {
    is_first_ = true;
    for (Rows rows = file_.rows(name("rocpd_memory_copy"), timed({"src_agent_id", "dst_agent_id", "size"}));
         rows.next() && begin_record();) {
      write_when(when(rows), rows);
      handle("src_agent_id", rows.number_or(kMore, -1));
      handle("dst_agent_id", rows.number_or(kMore + 1, -1));
      out_ += fmt::format(",\"bytes\":{}}}", rows.number_or(kMore + 2, 0));
    }
  }

  void write_allocations() {
    is_first_ = true;
    for (Rows rows = file_.rows(name("rocpd_memory_allocate"), timed({"agent_id", "type", "level", "address", "size"}));
         rows.next();) {
      if (rows.text(kMore + 2) == "SCRATCH" || !begin_record()) continue;
      write_when(when(rows), rows);
      handle("agent_id", rows.number_or(kMore, -1));
      out_ += fmt::format(",\"kind\":0,\"operation\":{},\"address\":{},\"allocation_size\":{}}}",
                          operation(rows.text(kMore + 1)), rows.number_or(kMore + 3, 0), rows.number_or(kMore + 4, 0));
    }
  }

  // Calls of HIP, HSA and RCCL. Those of markers are ranges of the program, with its text.
  void write_regions() {
    is_first_ = true;
    for (Rows rows = file_.rows(name("rocpd_region"), timed({"name_id"})); rows.next();) {
      const Event& about = event(rows.number(5));
      if (!about.is_marker && !begin_record()) return;
      const std::size_t begin = out_.size();
      write_when(when(rows), rows);
      out_ += fmt::format(",\"kind\":0,\"operation\":{}}}", operation(text(rows.number(kMore))));
      if (!about.is_marker) continue;
      marks_ += (marks_.empty() ? "" : ",") + out_.substr(begin);
      out_.resize(begin);
      if (about.message.empty()) continue;
      mark_texts_ += fmt::format("{}{{\"key\":{},\"value\":", mark_texts_.empty() ? "" : ",", about.correlation);
      append_json_string(mark_texts_, about.message);
      mark_texts_ += '}';
    }
  }

  SqliteFile& file_;
  const std::string suffix_;
  std::string& out_;
  bool is_first_ = true;
  std::unordered_map<std::int64_t, std::string> texts_;
  std::unordered_map<std::int64_t, std::int64_t> threads_, times_;
  std::unordered_map<std::int64_t, Track> tracks_;
  std::unordered_map<std::int64_t, Event> events_;
  std::vector<std::string> operations_;
  std::unordered_map<std::string, std::size_t> operation_of_;
  std::string marks_, mark_texts_;  // JSON
};

}  // namespace

bool is_rocpd(const SqliteFile& file) {
  return std::any_of(file.tables().begin(), file.tables().end(),
                     [](const std::string& table) { return table.starts_with(kDispatches); });
}

Result<std::string> rocpd_json(SqliteFile& file) {
  std::string out = "{\"rocprofiler-sdk-tool\":[";
  bool is_first = true;
  for (const std::string& table : file.tables()) {
    if (!table.starts_with(kDispatches)) continue;
    if (!is_first) out += ",\n";
    is_first = false;
    RocpdProcess(file, table.substr(kDispatches.size()), out).write();
    if (file.trouble()) return *file.trouble();
    if (out.size() > kLargest)
      return Error{
          "The file is a database of rocprofv3 of more than 4 GiB as text, which is more than can be read. Record less at a "
          "time."};
  }
  return out + "]}";
}

}  // namespace gapscope
