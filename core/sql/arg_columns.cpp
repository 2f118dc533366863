#include "core/sql/arg_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace gapscope::sql {
namespace {

// The lists of core/trace/arg_columns.h, and behind them what other columns hold.
#define GAPSCOPE_MEMBER(field, type, absent, key, often, packing, shown) arg_##field,
enum Member : std::size_t {
  GAPSCOPE_GPU_ARGS(GAPSCOPE_MEMBER) kGpuArgs,
  kLastOfGpu = kGpuArgs - 1,
  GAPSCOPE_OP_ARGS(GAPSCOPE_MEMBER) kBytes,
  kExternalId,
  kCollective,
  kNone
};
#undef GAPSCOPE_MEMBER
#define GAPSCOPE_KEY(field, type, absent, key, often, packing, shown) key,
constexpr std::array<std::string_view, kNone> kNames = {GAPSCOPE_GPU_ARGS(GAPSCOPE_KEY) GAPSCOPE_OP_ARGS(GAPSCOPE_KEY) "bytes",
                                                        "External id", "Collective name"};
#undef GAPSCOPE_KEY
// How many leaves a value has; 0: a list, which has its own.
template <class Type>
constexpr std::size_t kLeavesOf = std::is_same_v<Type, StringId> ? 0
                                  : std::is_same_v<Type, Dim3>   ? 3
                                                                 : 1;
#define GAPSCOPE_LEAVES(field, type, absent, key, often, packing, shown) kLeavesOf<type>,
constexpr std::array<std::size_t, kNone> kLeaves = {GAPSCOPE_GPU_ARGS(GAPSCOPE_LEAVES) GAPSCOPE_OP_ARGS(GAPSCOPE_LEAVES) 1, 1,
                                                    1};
#undef GAPSCOPE_LEAVES

constexpr std::string_view kPrefix = "args.";

bool is_list(std::size_t member) { return kLeaves[member] == 0; }
bool is_of_gpu(std::size_t member) { return member < kGpuArgs || member == kBytes; }
std::size_t leaves_of(std::size_t member) { return std::max<std::size_t>(1, kLeaves[member]); }

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

std::optional<ArgValue> whole(std::integral auto v) {
  return std::in_range<std::int64_t>(v) ? std::optional<ArgValue>(static_cast<std::int64_t>(v)) : std::nullopt;
}

// The number that the file's digits say: a float's shortest digits.
std::optional<ArgValue> real(float v) {
  if (v < 0) return std::nullopt;
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, v);
  double exact = 0;
  std::from_chars(digits, written.ptr, exact);
  return exact;
}

// What a field says that is not `absent`: the whole, or its leaf at `index`.
std::optional<ArgValue> said(std::integral auto v, decltype(v) absent, std::size_t) {
  return v == absent ? std::nullopt : whole(v);
}
std::optional<ArgValue> said(float v, float, std::size_t) { return real(v); }
std::optional<ArgValue> said(const Dim3& v, const Dim3& absent, std::size_t index) {
  return v == absent ? std::nullopt : whole(v[index]);
}
std::optional<ArgValue> said(StringId, StringId, std::size_t) { return std::nullopt; }  // a list has leaves of its own

StringId text_in(StringId list) { return list; }
StringId text_in(std::integral auto) { return {}; }

#define GAPSCOPE_SAID(field, type, absent, key, often, packing, shown) \
  case arg_##field: return said(row.field, nothing.field, index);

std::optional<ArgValue> gpu_value(const GpuRow& row, std::size_t member, std::size_t index) {
  if (member == arg_shared_memory && row.has_launch_config()) return whole(row.shared_memory);  // 0 is what it says
  if (member == arg_occupancy_percent && row.occupancy_percent >= 0) {  // which is written without a point
    if (row.occupancy_percent != std::floor(row.occupancy_percent)) return std::nullopt;
    return static_cast<std::int64_t>(row.occupancy_percent);
  }
  if (member == kBytes) return said(row.bytes, 0, 0);
  static const GpuRow nothing;
  switch (member) {
    GAPSCOPE_GPU_ARGS(GAPSCOPE_SAID)
    default: return std::nullopt;
  }
}

std::optional<ArgValue> op_value(const OpRow& row, std::size_t member, std::size_t index) {
  static const OpRow nothing;
  switch (member) {
    GAPSCOPE_OP_ARGS(GAPSCOPE_SAID)
    default: return std::nullopt;
  }
}
#undef GAPSCOPE_SAID

#define GAPSCOPE_TEXT(field, type, absent, key, often, packing, shown) \
  case arg_##field: return text_in(row.field);
StringId list_text(const OpRow& row, std::size_t member) {
  switch (member) {
    GAPSCOPE_OP_ARGS(GAPSCOPE_TEXT)
    default: return {};
  }
}
#undef GAPSCOPE_TEXT

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

std::optional<ArgValue> ArgColumns::scalar(SliceRow row, std::size_t member, std::size_t index) const {
  if (row >= trace_.slice_count()) return std::nullopt;
  if (member == kExternalId) return said(trace_.slices.external_id[row], 0, 0);
  if (!is_of_gpu(member)) {
    const auto at = ops_.find(row);
    if (!at) return std::nullopt;
    const OpRow& op = trace_.ops[*at];
    if (member != kCollective) return op_value(op, member, index);
    return op.collective ? std::optional<ArgValue>(std::string(trace_.strings[op.collective])) : std::nullopt;
  }
  if (const auto at = gpu_.find(row)) return gpu_value(trace_.gpu[*at], member, index);
  const auto call = member == arg_correlation ? calls_.find(row) : std::nullopt;
  return call ? said(trace_.calls[*call].correlation, 0, 0) : std::nullopt;
}

// The leaves of a list, such as "Input Dims", whose texts are few: each is taken apart once.
const std::vector<FlatArg>* ArgColumns::listed(SliceRow row, std::size_t member) {
  const auto at = row < trace_.slice_count() ? ops_.find(row) : std::nullopt;
  if (!at) return nullptr;
  const StringId text = list_text(trace_.ops[*at], member);
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
  } else if (!is_of_gpu(member)) {
    add(trace_.ops, [](const OpRow& op, std::size_t) { return op.slice.value; });
  } else {
    add(trace_.gpu, [](const GpuRow& gpu, std::size_t) { return gpu.slice.value; });
    if (member == arg_correlation) add(trace_.calls, [](const Call& call, std::size_t) { return call.slice.value; });
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
