#pragma once
// What Kineto, the profiler inside PyTorch, and its daemon say to each other over a datagram socket. Written from Kineto's
// libkineto/src/IpcFabricConfigClient.cpp and dynolog's ipcfabric/{Endpoint,FabricManager,Utils}.h. Native byte order:
//
//   every message   u64 size of the body, char[32] type (zero-terminated), then the body
//   "ctxt", to us   i32 gpu, i32 pid, i64 job                a process has made a context on that GPU; answer: i32 how many
//   have "req", to us    i32 what, i32 n, i64 job, i32 pids[n]    every 5 to 10 s; answer: a configuration, or an empty body
//
// `what` holds bit 2 while the process could record; pids are its own and its parents', as it counts them (in a container
// others than ours). job is SLURM_JOB_ID, else 0.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gapscope::attach {

struct ContextMessage {
  std::int32_t gpu = 0, pid = 0;
  std::int64_t job = 0;
};

struct PollMessage {
  bool can_record = false;  // false: it is recording already
  std::int64_t job = 0;
  std::vector<std::int32_t> pids;  // its own first; never empty
};

using ClientMessage = std::variant<ContextMessage, PollMessage>;

// Nothing: it is no message of a client of Kineto's.
std::optional<ClientMessage> parse_message(std::string_view datagram);

std::string context_reply(std::int32_t contexts);
std::string poll_reply(std::string_view configuration);

}  // namespace gapscope::attach
