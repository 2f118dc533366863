#include "core/sql/arg_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

namespace gapscope::sql {
namespace {

enum Member : std::size_t {
  kCorrelation,
  kStream,
  kDevice,
  kContext,
  kBytes,
  kGraphId,
  kGraphNodeId,
  kRegisters,
  kSharedMemory,
  kGrid,
  kBlock,
  kBlocksPerSm,
  kWarpsPerSm,
  kOccupancy,
  kExternalId,
  kSequence,
  kInputDims,
  kInputType,
  kCollective,
};
constexpr std::array<std::string_view, 19> kNames = {"correlation",    "stream",
                                                     "device",         "context",
                                                     "bytes",          "graph id",
                                                     "graph node id",  "registers per thread",
                                                     "shared memory",  "grid",
                                                     "block",          "blocks per SM",
                                                     "warps per SM",   "est. achieved occupancy %",
                                                     "External id",    "Sequence number",
                                                     "Input Dims",     "Input type",
                                                     "Collective name"};

constexpr std::size_t kNone = kNames.size();
constexpr std::string_view kPrefix = "args.";

bool is_list(std::size_t member) { return member == kInputDims || member == kInputType; }
std::size_t leaves_of(std::size_t member) { return member == kGrid || member == kBlock ? 3 : 1; }

std::size_t member_named(std::string_view name) {
  return static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

// The member and the place in it that a key is about: "args.grid[1]" is (grid, 1).
std::pair<std::size_t, std::size_t> parts_of(std::string_view key) {
  if (!key.starts_with(kPrefix)) return {kNone, 0};
  key.remove_prefix(kPrefix.size());
  for (std::size_t m = 0; m < kNames.size(); ++m) {
    if (!key.starts_with(kNames[m])) continue;
    const std::string_view rest = key.substr(kNames[m].size());
    if (rest.empty() && leaves_of(m) == 1) return {m, 0};
    if (is_list(m) && rest.starts_with('[')) return {m, 0};
    if (rest.size() == 3 && rest[0] == '[' && rest[1] >= '0' && rest[1] <= '2' && rest[2] == ']' && leaves_of(m) == 3)
      return {m, static_cast<std::size_t>(rest[1] - '0')};
  }
  return {kNone, 0};
}

std::string key_of(std::size_t member, std::size_t index) {
  return leaves_of(member) == 1 ? fmt::format("args.{}", kNames[member]) : fmt::format("args.{}[{}]", kNames[member], index);
}

std::optional<ArgValue> positive(std::uint64_t v) {
  return v > 0 && v <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
             ? std::optional<ArgValue>(static_cast<std::int64_t>(v))
             : std::nullopt;
}
std::optional<ArgValue> not_negative(std::int64_t v) { return v >= 0 ? std::optional<ArgValue>(v) : std::nullopt; }

// The number that the file's digits say: a float's shortest digits.
std::optional<ArgValue> real(float v) {
  if (v < 0) return std::nullopt;
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, v);
  double exact = 0;
  std::from_chars(digits, written.ptr, exact);
  return exact;
}

bool same_value(const ArgValue& a, const ArgValue& b) {
  const auto *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  return x && y ? std::abs(*x - *y) <= 1e-6 * std::max(1.0, std::abs(*x)) : a == b;
}

}  // namespace

ArgKey::ArgKey(std::string_view key) : text(key) { std::tie(member, index) = parts_of(key); }

ArgColumns::ArgColumns(const Trace& trace)
    : trace_(trace),
      gpu_(trace.slice_count(), trace.gpu, [](const GpuRow& row) { return row.slice.index(); }),
      calls_(trace.slice_count(), trace.calls, [](const Call& row) { return row.slice.index(); }),
      ops_(trace.slice_count(), trace.ops, [](const OpRow& row) { return row.slice.index(); }) {
  static_assert(kMembers == kNames.size());
}

bool ArgColumns::any(SliceRow row) const {
  return row < trace_.slice_count() && (trace_.slices.external_id[row] != 0 || gpu_.find(row) || calls_.find(row));
}

std::optional<ArgValue> ArgColumns::gpu_value(const GpuRow& gpu, std::size_t member, std::size_t index) const {
  const bool launched = gpu.has_launch_config();
  switch (member) {
    case kCorrelation: return positive(gpu.correlation);
    case kStream: return not_negative(gpu.stream);
    case kDevice: return not_negative(gpu.device);
    case kContext: return not_negative(gpu.context);
    case kBytes: return positive(gpu.bytes);
    case kGraphId: return positive(gpu.graph_id);
    case kGraphNodeId: return positive(gpu.graph_node_id);
    case kRegisters: return positive(gpu.registers);
    case kSharedMemory: return launched ? std::optional<ArgValue>(std::int64_t{gpu.shared_memory}) : std::nullopt;
    case kGrid: return launched ? std::optional<ArgValue>(std::int64_t{gpu.grid[index]}) : std::nullopt;
    case kBlock: return launched ? std::optional<ArgValue>(std::int64_t{gpu.block[index]}) : std::nullopt;
    case kBlocksPerSm: return real(gpu.blocks_per_sm);
    case kWarpsPerSm: return real(gpu.warps_per_sm);
    case kOccupancy:
      if (gpu.occupancy_percent < 0 || gpu.occupancy_percent != std::floor(gpu.occupancy_percent)) return std::nullopt;
      return static_cast<std::int64_t>(gpu.occupancy_percent);
    default: return std::nullopt;
  }
}

std::optional<ArgValue> ArgColumns::scalar(SliceRow row, std::size_t member, std::size_t index) const {
  if (row >= trace_.slice_count()) return std::nullopt;
  if (member == kExternalId) return positive(trace_.slices.external_id[row]);
  if (member == kSequence || member == kCollective) {
    const auto at = ops_.find(row);
    if (!at) return std::nullopt;
    const OpRow& op = trace_.ops[*at];
    if (member == kSequence) return not_negative(op.sequence);
    return op.collective ? std::optional<ArgValue>(std::string(trace_.strings[op.collective])) : std::nullopt;
  }
  if (const auto at = gpu_.find(row)) return gpu_value(trace_.gpu[*at], member, index);
  const auto call = member == kCorrelation ? calls_.find(row) : std::nullopt;
  return call ? positive(trace_.calls[*call].correlation) : std::nullopt;
}

// The leaves of "Input Dims" and "Input type", whose texts are few: each is taken apart once.
const std::vector<FlatArg>* ArgColumns::listed(SliceRow row, std::size_t member) {
  const auto at = row < trace_.slice_count() ? ops_.find(row) : std::nullopt;
  if (!at) return nullptr;
  const StringId text = member == kInputDims ? trace_.ops[*at].input_dims : trace_.ops[*at].input_types;
  if (!text) return nullptr;
  const auto [known, is_new] = lists_.try_emplace(std::uint64_t{text.value} * kMembers + member);
  if (is_new) flatten_value({std::string(kNames[member]), std::string(trace_.strings[text]), false}, known->second);
  return &known->second;
}

std::vector<FlatArg> ArgColumns::leaves(SliceRow row, std::size_t member) {
  if (is_list(member)) {
    const std::vector<FlatArg>* list = listed(row, member);
    return list ? *list : std::vector<FlatArg>{};
  }
  std::vector<FlatArg> out;
  for (std::size_t i = 0; i < leaves_of(member); ++i)
    if (auto v = scalar(row, member, i))
      out.push_back({fmt::format("args.{}", kNames[member]), key_of(member, i), std::move(*v)});
  return out;
}

// Rows whose value a column knows: the first, the middle and the last of each table that may have it.
std::vector<SliceRow> ArgColumns::samples(std::size_t member) {
  std::vector<SliceRow> out;
  const auto add = [&](const auto& table, auto row_of) {
    for (const std::size_t at : {std::size_t{0}, table.size() / 2, table.size() - 1})
      if (at < table.size()) out.push_back(row_of(table[at], at));
  };
  if (member == kExternalId) {
    add(trace_.slices.external_id, [](std::uint64_t, std::size_t at) { return static_cast<SliceRow>(at); });
  } else if (is_list(member) || member == kSequence || member == kCollective) {
    add(trace_.ops, [](const OpRow& op, std::size_t) { return op.slice.value; });
  } else {
    add(trace_.gpu, [](const GpuRow& gpu, std::size_t) { return gpu.slice.value; });
    if (member == kCorrelation) add(trace_.calls, [](const Call& call, std::size_t) { return call.slice.value; });
  }
  return out;
}

bool ArgColumns::trusted(std::size_t member, const ReadEvent& read) {
  if (trust_[member] != Trust::unknown) return trust_[member] == Trust::yes;
  trust_[member] = Trust::yes;
  for (const SliceRow row : samples(member)) {
    const std::vector<FlatArg> known = leaves(row, member);
    if (known.empty()) continue;
    const auto in_file = read(row);
    if (!in_file) break;  // gone: the columns are all there is
    const auto agrees = [&](const FlatArg& leaf) {
      return std::any_of(in_file->begin(), in_file->end(),
                         [&](const FlatArg& other) { return other.key == leaf.key && same_value(leaf.value, other.value); });
    };
    if (!std::all_of(known.begin(), known.end(), agrees)) trust_[member] = Trust::no;
  }
  return trust_[member] == Trust::yes;
}

std::optional<std::optional<ArgValue>> ArgColumns::value(SliceRow row, const ArgKey& key, const ReadEvent& read) {
  if (key.member == kNone || !trusted(key.member, read)) return std::nullopt;
  if (!is_list(key.member)) {
    auto v = scalar(row, key.member, key.index);
    return v ? std::optional(std::move(v)) : std::nullopt;
  }
  const std::vector<FlatArg>* list = listed(row, key.member);
  if (list == nullptr) return std::nullopt;
  const auto found = std::find_if(list->begin(), list->end(), [&](const FlatArg& leaf) { return leaf.key == key.text; });
  return found != list->end() ? std::optional<ArgValue>(found->value) : std::optional<ArgValue>();
}

std::optional<std::vector<FlatArg>> ArgColumns::of_member(SliceRow row, std::string_view name, const ReadEvent& read) {
  const std::size_t member = member_named(name);
  if (member == kNone || !trusted(member, read)) return std::nullopt;
  if (is_list(member)) {
    const std::vector<FlatArg>* list = listed(row, member);
    return list ? std::optional(*list) : std::nullopt;
  }
  std::vector<FlatArg> out = leaves(row, member);
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

}  // namespace gapscope::sql
