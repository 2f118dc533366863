#pragma once
// What a kernel says of the collective operation that it carries out (KINETO 4.6: the args of record_param_comms copied onto
// it).
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

enum class CollectiveType : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  all_to_all_v,
  barrier,
  broadcast,
  send,
  recv,
  other
};

// By PyTorch's word: "allreduce", "_allgather_base", ...
CollectiveType collective_type(std::string_view name);
// "all-reduce", "all-gather", ...
std::string_view collective_type_words(CollectiveType type);

// No rank leaves before all have come: their ends lie together on every rank's clock.
constexpr bool waits_for_all(CollectiveType t) { return t <= CollectiveType::barrier; }
// Those whose skews TraceLens shows; the uneven all-to-all has a table of its own there.
constexpr bool has_skew_table(CollectiveType t) { return t <= CollectiveType::all_to_all; }
constexpr bool is_point_to_point(CollectiveType t) { return t == CollectiveType::send || t == CollectiveType::recv; }

// Of PyTorch's word for an element type ("BFloat16"), in bytes; 0 where unknown.
std::uint64_t element_bytes(std::string_view dtype);

struct CollectiveWhat {
  CollectiveType type = CollectiveType::other;
  std::string name;  // as the file has it
  std::string dtype;
  std::string group;        // "Process Group Name"
  std::string description;  // "Process Group Description": "default_pg", "mesh_tp", ...
  std::string members;      // "Process Group Ranks" as JSON text: "[0, 1]"; long ones are cut by PyTorch itself ("...")
  std::string in_split, out_split;
  std::string kernel;  // of one that states nothing: the kernel's name and grid, from which the rest is taken
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::int64_t group_size = 0;
  std::int64_t peer = -1;    // of send and recv: the other rank's place in the group
  std::int32_t stream = -1;  // that the kernel ran on

  std::uint64_t in_bytes() const { return static_cast<std::uint64_t>(in_elements) * element_bytes(dtype); }
  std::uint64_t out_bytes() const { return static_cast<std::uint64_t>(out_elements) * element_bytes(dtype); }
  // What moves altogether: the output of an all-gather, the input of everything else.
  std::uint64_t full_bytes() const { return type == CollectiveType::all_gather ? out_bytes() : in_bytes(); }
  // The ranks of the group in order; empty where the text was cut or is missing.
  std::vector<std::int64_t> member_ranks() const;

  friend auto operator<=>(const CollectiveWhat&, const CollectiveWhat&) = default;
};

// Of a communication kernel that states nothing: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" is an "allreduce" of "Float".
// `grid`: as text, "24,1,1". Its group is left to the caller.
CollectiveWhat collective_of_kernel(std::string_view name, const std::string& grid);

// Bus bandwidth over algorithm bandwidth, as nccl-tests has it: 2(n-1)/n or (n-1)/n; 0 where not defined.
double bus_factor(CollectiveType type, std::int64_t group_size);

struct CollectiveArgs {
  CollectiveWhat what;
  std::int64_t seq = -1;  // "Seq"; -1 where not recorded
};
// `members`: JSON text of an object's members without the braces (OpRow::collective of a kernel). None where that is no JSON or
// names no collective.
std::optional<CollectiveArgs> parse_collective(std::string_view members);

}  // namespace gapscope
