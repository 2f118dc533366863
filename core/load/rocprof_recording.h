#pragma once
// One process of a recording of rocprofv3: its records as Kineto's events.
#include <simdjson.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/load/kineto_writer.h"

namespace gapscope {

class RocprofRecording {
 public:
  using element = simdjson::dom::element;

  // `order`: of the processes of one file.
  RocprofRecording(const element& tool, std::size_t order, KinetoWriter& events);
  // One record of what is left; false when that was all.
  bool next();
  // Objects of "deviceProperties", of GPUs that are not yet among `known`.
  void write_gpus(std::set<std::int64_t>& known, std::string& out) const;
  void write_names();

 private:
  using array = simdjson::dom::array;
  struct Table {
    array::iterator next, end;
    void (RocprofRecording::*write)(const element&);
  };
  struct Agent {
    std::int64_t type = 0, number = -1, wave = 64, cus = 0;
  };
  struct Queue {
    std::string pid, tid, name;
  };
  struct Kernel {
    std::string_view name;
    std::int64_t vgprs = 0, accumulation = 0, sgprs = 0;
  };

  void add(const char* table, void (RocprofRecording::*write)(const element&));
  void read_agents();
  void read_texts();
  static Kernel kernel_of(const element& symbol);
  std::string_view operation(const element& record) const;
  std::int64_t correlation(const element& record) const;
  KinetoPlace thread(const element& record);
  // A lane for each of a GPU's queues; copies have none and share one.
  KinetoPlace queue(std::int64_t gpu, std::int64_t queue);
  const Agent& agent(std::int64_t id) const;
  void dispatch(const element& r);
  void copy(const element& r);
  void call(const element& r);
  void marker(const element& r);
  void allocation(const element& r);

  element tool_;
  std::size_t order_;
  KinetoWriter& events_;
  std::int64_t pid_ = 0;
  std::string program_, key_;  // key: JSON
  std::unordered_map<std::int64_t, Agent> agents_;
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> operations_;  // by kind
  std::unordered_map<std::int64_t, std::string_view> markers_;                          // texts, by correlation
  std::unordered_map<std::int64_t, Kernel> kernels_;
  std::map<std::int64_t, std::string> threads_;
  std::map<std::pair<std::int64_t, std::int64_t>, Queue> queues_;                        // by GPU and queue; -1: copies
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>> allocations_;  // GPU and bytes, by address
  std::map<std::int64_t, std::int64_t> allocated_;                                       // bytes, by GPU
  std::vector<Table> tables_;
  std::size_t at_ = 0;  // in tables_
};

}  // namespace gapscope
