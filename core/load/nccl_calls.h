#pragma once
// Calls of NCCL in an Nsight Systems export: NCCL puts an NVTX range around each, with the communicator and the size as its
// payload. A kernel is of the call that launched it.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/load/kineto_writer.h"
#include "core/load/nsight_world.h"
#include "core/load/nvtx_payload.h"
#include "core/load/sqlite_file.h"

namespace gapscope {

class NcclCalls {
 public:
  // Reads all ranges where the file names calls of NCCL, and all calls of the runtime where it has some.
  NcclCalls(SqliteFile& file, const NsightWorld& world, NvtxPayloads& payloads);
  // Of a kernel, as PyTorch writes what its collectives are: "Collective name", ... Nothing where that is not known.
  void write_args(KinetoWriter& out, std::int64_t process, std::optional<std::int64_t> correlation,
                  std::string_view kernel) const;

 private:
  struct Call {
    Span span;
    std::string_view name;  // PyTorch's
    std::uint64_t communicator = 0;
    std::int64_t bytes = 0, peer = -1;
    bool is_launched = false;  // within itself, not by the end of a group
  };
  struct Group {  // ncclGroupEnd, which launches what the group holds
    Span span;
    std::vector<std::int64_t> launches;  // correlation ids
  };
  struct Thread {
    std::vector<Call> calls;  // by begin
    std::vector<Group> groups;
  };

  void read_ranges(SqliteFile& file, const NsightWorld& world, NvtxPayloads& payloads);
  void read_launches(SqliteFile& file, const NsightWorld& world);
  void join_groups(std::int64_t process, Thread& thread);

  std::unordered_map<std::int64_t, Thread> threads_;                      // by global id
  std::map<std::pair<std::int64_t, std::uint64_t>, std::int64_t> ranks_;  // by process and communicator
  std::map<std::pair<std::int64_t, std::int64_t>, Call> launched_;        // by process and correlation
};

}  // namespace gapscope
