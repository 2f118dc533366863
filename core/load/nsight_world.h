#pragma once
// What the tables of an Nsight Systems export refer to: texts, processes and threads, devices and streams, clocks.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/load/kineto_writer.h"
#include "core/load/sqlite_file.h"

namespace gapscope {

class NsightWorld {
 public:
  // Reads the small tables; SqliteFile::trouble() is set where one is damaged.
  explicit NsightWorld(SqliteFile& file);

  std::string_view text(std::optional<std::int64_t> id) const;  // of StringIds; empty where it is not there
  template <class Test>
  bool any_text(const Test& test) const {
    return std::any_of(texts_.begin(), texts_.end(), [&](const auto& text) { return test(std::string_view(text.second)); });
  }
  // Ids as the export writes them: 24 bits of thread, 24 of process, above them of machine.
  static std::int64_t process_of(std::int64_t global_id) { return global_id >> 24; }
  KinetoPlace thread(std::int64_t global_tid);
  KinetoPlace overhead(std::int64_t global_tid);
  KinetoPlace samples(std::int64_t global_tid);  // of its CPU
  // Of the GPU's own number; streams of several processes on one GPU are lanes of their own.
  KinetoPlace stream(std::int64_t process, std::int64_t device, std::int64_t stream, bool is_sync);
  KinetoPlace gpu(std::int64_t device);
  // A process counts its devices and its correlation ids for itself.
  std::int64_t device(std::int64_t process, std::int64_t device) const;
  std::int64_t correlation(std::int64_t process, std::int64_t id) const;
  // What kernels of a context say; waits name another device.
  void note_context(std::int64_t process, std::int64_t context, std::int64_t device);
  std::int64_t device_of_context(std::int64_t process, std::int64_t context, std::int64_t device) const;
  std::int64_t sms(std::int64_t device) const;  // 0: unknown
  std::optional<Ns> end() const { return end_; }

  // All before the first event, and what comes after the last.
  void write_header(std::string& out);
  void write_names(KinetoWriter& out);

 private:
  struct Process {
    std::string key, name;  // key: JSON
    std::int64_t id = 0, correlation_above = 0;
  };
  struct Thread {
    std::string pid, tid, name;
    std::int64_t number = 0;
  };
  struct Stream {
    std::string pid, tid, name;
    std::int64_t order = 0;
  };
  using Gpu = std::vector<std::pair<const char*, std::int64_t>>;

  void read_texts();
  void read_processes();
  void read_gpus();
  void guess_gpus();
  void read_clocks();
  void part_correlations();
  Process& process(std::int64_t key);
  std::string first_value(const std::string& table, std::string_view name);
  std::string command();
  void write_gpus(std::string& out) const;
  void write_diagnostics(std::string& out);

  SqliteFile& file_;
  std::unordered_map<std::int64_t, std::string> texts_;
  std::unordered_map<std::int64_t, std::int64_t> thread_names_;             // text of a global thread id
  std::map<std::int64_t, std::string> process_names_;                       // of PROCESSES
  std::map<std::int64_t, Process> processes_;                               // that have events, by the id without its thread
  std::set<std::int64_t> process_ids_;                                      // of these
  std::unordered_map<std::int64_t, Thread> threads_, overheads_, sampled_;  // by global id
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, Stream> streams_;
  std::map<std::pair<std::int64_t, std::int64_t>, int> sharers_;             // processes of a device's stream
  std::map<std::int64_t, std::string> gpu_keys_;                             // JSON, of GPUs that have events
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpu_of_;     // by process and its number
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> device_of_;  // the process's number, by its context
  std::map<std::int64_t, std::pair<std::string, Gpu>> gpus_;                 // name and properties
  std::map<std::int64_t, std::int64_t> correlation_above_;                   // by process
  std::optional<Ns> base_time_, end_;
};

}  // namespace gapscope
