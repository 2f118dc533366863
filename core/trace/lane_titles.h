#pragma once
// What a lane is, what it is called and where it is: decided from its slices' categories first, names second.
#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/tables.h"

namespace gapscope {

// A lane before it has a place, with everything that decides it.
struct LaneDraft {
  std::uint32_t process = 0;  // position in the process drafts
  std::string key;            // tid
  std::string name;           // thread_name
  std::int64_t sort_index = 0;
  bool has_sort_index = false;
  std::uint32_t kinds = 0;  // bit (1 << Kind) for every kind among its slices
  bool is_async = false;
  bool has_content = false;  // any slice or instant
};

struct ProcessDraft {
  std::string key;
  std::string name;
  std::string labels;
  std::int64_t sort_index = 0;
  bool has_sort_index = false;
  std::int32_t device = -1;  // where its key does not say it: Process::device, ::rank
  std::int32_t rank = -1;
};

struct LaneOrder {
  std::vector<Process> processes;           // in display order, only those with lanes or counters
  std::vector<ProcessId> process_of_draft;  // none where dropped
  std::vector<Lane> lanes;                  // in display order; titles, kinds and keys set
  std::vector<LaneId> lane_of_draft;        // none where dropped
};

LaneKind lane_kind_from_slices(std::uint32_t kinds);
LaneOrder order_lanes(const std::vector<ProcessDraft>& processes, const std::vector<LaneDraft>& lanes,
                      const std::vector<bool>& process_has_counters, const std::vector<DeviceProperties>& devices);

}  // namespace gapscope
