#include "core/load/nccl_calls.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kNames = {{{"ncclAllReduce", "allreduce"},
                                                                                   {"ncclAllGather", "allgather"},
                                                                                   {"ncclReduceScatter", "reduce_scatter"},
                                                                                   {"ncclAlltoAll", "all_to_all"},
                                                                                   {"ncclBroadcast", "broadcast"},
                                                                                   {"ncclBcast", "broadcast"},
                                                                                   {"ncclReduce", "reduce"},
                                                                                   {"ncclSend", "send"},
                                                                                   {"ncclRecv", "recv"},
                                                                                   {"ncclGather", "gather"}}};
auto call_of(std::string_view range) {
  return std::find_if(kNames.begin(), kNames.end(), [&](const auto& name) { return name.first == range; });
}
constexpr std::string_view kCommunicator = "NCCL communicator ID", kBytes = "Message size [bytes]", kPeer = "Peer rank",
                           kRanks = "No. of ranks";

// The element type in a kernel's name, with its bytes: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL".
struct Element {
  std::string_view in_name, dtype;
  std::int64_t bytes;
};
constexpr std::array<Element, 8> kElements = {{{"_bf16", "BFloat16", 2},
                                               {"_f16", "Half", 2},
                                               {"_f32", "Float", 4},
                                               {"_f64", "Double", 8},
                                               {"_i32", "Int", 4},
                                               {"_i64", "Long", 8},
                                               {"_u64", "UInt64", 8},
                                               {"_i8", "Char", 1}}};
constexpr Element kBytesOnly = {"", "Byte", 1};

Element element_of(std::string_view kernel) {
  const std::string_view name = kernel.substr(0, kernel.find('('));
  const auto at =
      std::find_if(kElements.begin(), kElements.end(), [&](const Element& e) { return name.find(e.in_name) != name.npos; });
  return at == kElements.end() ? kBytesOnly : *at;
}

std::optional<std::uint64_t> number(const nlohmann::ordered_json& payload, std::string_view key) {
  const auto at = payload.find(key);
  if (at == payload.end() || !at->is_number_integer()) return std::nullopt;
  return at->is_number_unsigned() ? at->get<std::uint64_t>() : static_cast<std::uint64_t>(at->get<std::int64_t>());
}

}  // namespace

NcclCalls::NcclCalls(SqliteFile& file, const NsightWorld& world, NvtxPayloads& payloads) {
  if (!world.any_text([](std::string_view text) { return call_of(text) != kNames.end(); })) return;
  read_ranges(file, world, payloads);
  if (threads_.empty()) return;
  for (auto& [id, thread] : threads_) {
    const auto earlier = [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; };
    std::stable_sort(thread.calls.begin(), thread.calls.end(), earlier);
    std::stable_sort(thread.groups.begin(), thread.groups.end(), earlier);
  }
  read_launches(file, world);
  for (auto& [id, thread] : threads_) join_groups(NsightWorld::process_of(id), thread);
  threads_.clear();
}

void NcclCalls::read_ranges(SqliteFile& file, const NsightWorld& world, NvtxPayloads& payloads) {
  auto rows = file.rows("NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId", "jsonText", "jsonTextId", "binaryData"});
  while (rows.next()) {
    std::string_view text = rows.text(3);
    if (text.empty()) text = world.text(rows.number(4));
    const auto begin = rows.number(0), end = rows.number(1);
    if (!text.starts_with("nccl") || !begin || !end) continue;
    const std::int64_t thread = rows.number_or(2, 0);
    if (text == "ncclGroupEnd") threads_[thread].groups.push_back({{*begin, *end}, {}});
    std::string_view json = rows.text(5);
    if (json.empty()) json = world.text(rows.number(6));
    if (json.empty()) json = payloads.json(rows.value(7).bytes);
    const auto payload = parse_json(json);
    if (json.empty() || !payload || !payload->is_object()) continue;
    const auto communicator = number(*payload, kCommunicator);
    if (!communicator) continue;
    if (const auto ranks = number(*payload, kRanks))
      ranks_[{NsightWorld::process_of(thread), *communicator}] = static_cast<std::int64_t>(*ranks);
    const auto name = call_of(text);
    const auto bytes = number(*payload, kBytes);
    if (name == kNames.end() || !bytes) continue;
    const auto peer = number(*payload, kPeer);
    threads_[thread].calls.push_back({{*begin, *end},
                                      name->second,
                                      *communicator,
                                      static_cast<std::int64_t>(*bytes),
                                      peer ? static_cast<std::int64_t>(*peer) : -1});
  }
}

void NcclCalls::read_launches(SqliteFile& file, const NsightWorld& world) {
  // The one that begins last before the time, if it holds the time.
  const auto at = [](auto& all, Ns time) {
    const auto after = std::upper_bound(all.begin(), all.end(), time, [](Ns t, const auto& one) { return t < one.span.begin; });
    return after != all.begin() && std::prev(after)->span.contains(time) ? &*std::prev(after) : nullptr;
  };
  auto rows = file.rows("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "globalTid", "correlationId", "nameId"});
  while (rows.next()) {
    const auto thread = threads_.find(rows.number_or(1, 0));
    const auto time = rows.number(0), correlation = rows.number(2);
    if (thread == threads_.end() || !time || !correlation || world.text(rows.number(3)).find("Launch") == std::string::npos)
      continue;
    if (Call* const call = at(thread->second.calls, *time)) {
      call->is_launched = true;
      launched_.try_emplace({NsightWorld::process_of(thread->first), *correlation}, *call);
    } else if (Group* const group = at(thread->second.groups, *time)) {
      group->launches.push_back(*correlation);
    }
  }
}

// A group that launches once is one operation where all its calls are alike; of others it is not known which is whose.
void NcclCalls::join_groups(std::int64_t process, Thread& thread) {
  auto call = thread.calls.begin();
  for (const Group& group : thread.groups) {
    std::optional<Call> all;
    bool are_alike = true;
    for (; call != thread.calls.end() && call->span.begin < group.span.begin; ++call) {
      if (call->is_launched) continue;
      if (!all)
        all = *call;
      else if (all->name != call->name || all->communicator != call->communicator || all->peer != call->peer ||
               __builtin_add_overflow(all->bytes, call->bytes, &all->bytes))
        are_alike = false;
    }
    if (all && are_alike && group.launches.size() == 1) launched_.try_emplace({process, group.launches.front()}, *all);
  }
}

void NcclCalls::write_args(KinetoWriter& out, std::int64_t process, std::optional<std::int64_t> correlation,
                           std::string_view kernel) const {
  const auto at = correlation ? launched_.find({process, *correlation}) : launched_.end();
  if (at == launched_.end() || !kernel.starts_with("nccl")) return;
  const Call& call = at->second;
  const Element element = element_of(kernel);
  const auto known = ranks_.find({process, call.communicator});
  const std::int64_t ranks = known == ranks_.end() ? 0 : known->second, own = call.bytes / element.bytes;
  std::int64_t of_all = 0;
  if (__builtin_mul_overflow(own, ranks, &of_all)) of_all = 0;
  const bool gathers = call.name == "allgather", scatters = call.name == "reduce_scatter", swaps = call.name == "all_to_all";
  out.arg("Collective name", call.name);
  out.arg("In msg nelems", scatters || swaps ? of_all : own);
  out.arg("Out msg nelems", gathers || swaps ? of_all : own);
  if (ranks > 0) out.arg("Group size", ranks);
  out.arg("dtype", element.dtype);
  out.arg("Process Group Name", fmt::format("0x{:x}", call.communicator));
  if (call.peer >= 0) out.arg(call.name == "send" ? "Dst Rank" : "Src Rank", call.peer);
}

}  // namespace gapscope
