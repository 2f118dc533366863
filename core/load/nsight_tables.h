#pragma once
// The rows of an Nsight Systems export as Kineto's events, a table after another.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/load/kineto_writer.h"
#include "core/load/nccl_calls.h"
#include "core/load/nsight_world.h"
#include "core/load/nvtx_payload.h"
#include "core/load/sqlite_file.h"

namespace gapscope {

class NsightTables {
 public:
  using Rows = SqliteFile::Rows;

  NsightTables(SqliteFile& file, NsightWorld& world, KinetoWriter& out);
  // One row of what is left; false when that was all, or the file is damaged.
  bool next();

 private:
  struct Table {
    std::string name;
    std::vector<std::string_view> columns;
    void (NsightTables::*write)(const Rows&);
  };

  void kernel(const Rows& r);
  void copy(const Rows& r);
  void set(const Rows& r);
  void graph(const Rows& r);
  void wait(const Rows& r);
  void call(const Rows& r);
  void range(const Rows& r);
  void overhead(const Rows& r);
  void memory(const Rows& r);
  void metric(const Rows& r);
  void other(const Rows& r);

  struct Work {
    std::int64_t process = 0, device = 0, stream = 0;
  };
  // Columns 0 to 6 of every table of a device's work: start, end, deviceId, contextId, streamId, correlationId, globalPid.
  Work begin_work(const Rows& r, std::string_view category, std::string_view name, bool is_wait = false);
  static std::optional<Ns> begin(const Rows& r) { return r.number(0); }
  std::optional<Ns> length(const Rows& r) const;  // of columns 0 and 1; up to the session's end where there is none
  std::string_view domain(std::int64_t thread, std::int64_t id);
  void annotation(const Rows& r, std::string_view text, KinetoPlace at);
  void payload(const Rows& r);
  void add_others();

  SqliteFile& file_;
  NsightWorld& world_;
  KinetoWriter& out_;
  NvtxPayloads payloads_;
  const NcclCalls nccl_;
  std::vector<Table> tables_;
  std::size_t at_ = 0;  // in tables_
  std::optional<Rows> rows_;
  std::string name_;                                                                               // scratch
  std::optional<std::map<std::pair<std::int64_t, std::int64_t>, std::string>> domains_;            // by process and id
  std::optional<std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>>> events_;  // stream, call; by sync id
  std::optional<std::map<std::pair<std::int64_t, std::int64_t>, std::string>> metrics_;            // names, by type and id
  std::map<std::int64_t, std::int64_t> allocated_;                                                 // bytes, by device
  std::unordered_map<std::int64_t, std::int64_t> allocations_;                                     // bytes, by address
};

}  // namespace gapscope
