#pragma once
// Args that the trace keeps as columns: those of core/trace/arg_columns.h and a few others. A column says nothing of a value it
// holds as "absent" (0, -1): such a value may stand in the file. Nor does it say how the file spells a key or whether a number
// is in quotes, so the first, the middle and the last one are compared with the file before a column is trusted.
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/sql/flat_args.h"
#include "core/sql/ranked_set.h"
#include "core/sql/slice_order.h"
#include "core/trace/arg_columns.h"

namespace gapscope::sql {

// A key taken apart once: "args.grid[1]" is the second of the member that the columns know as grid.
struct ArgKey {
  explicit ArgKey(std::string_view key);
  std::string text;
  std::size_t member = 0;  // among those stored as columns, or behind them
  std::size_t index = 0;
};

class ArgColumns {
 public:
  explicit ArgColumns(const Trace& trace);

  // Leaves of an event by reading it; nothing where the file cannot be read.
  using ReadEvent = std::function<std::optional<std::vector<FlatArg>>(SliceRow)>;

  // The value of a key where a column knows it: nothing inside where it knows that there is none. Nothing where no column
  // knows.
  std::optional<std::optional<ArgValue>> value(SliceRow row, const ArgKey& key, const ReadEvent& read);
  // All leaves of a member where a column knows them.
  std::optional<std::vector<FlatArg>> of_member(SliceRow row, std::string_view member, const ReadEvent& read);
  // The event has args that some column holds.
  bool any(SliceRow row) const;

 private:
  enum class Trust : std::uint8_t { unknown, yes, no };
  bool trusted(std::size_t member, const ReadEvent& read);
  std::optional<ArgValue> scalar(SliceRow row, std::size_t member, std::size_t index) const;
  const std::vector<FlatArg>* listed(SliceRow row, std::size_t member);
  std::vector<FlatArg> leaves(SliceRow row, std::size_t member);
  std::vector<SliceRow> samples(std::size_t member);

#define GAPSCOPE_ONE(...) +1
  static constexpr std::size_t kMembers = 3 GAPSCOPE_GPU_ARGS(GAPSCOPE_ONE) GAPSCOPE_OP_ARGS(GAPSCOPE_ONE);
#undef GAPSCOPE_ONE
  const Trace& trace_;
  RankedSet gpu_, calls_, ops_;
  std::array<Trust, kMembers> trust_{};
  std::unordered_map<std::uint64_t, std::vector<FlatArg>> lists_;  // by member and text
};

}  // namespace gapscope::sql
