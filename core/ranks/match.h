#pragma once
// Which collective of one rank is which of another: by group, name and "Seq"; without "Seq" by laying the sequences of a group
// with each other. Windows begin apart, so the place where two sequences fit is looked for: of all shifts at which names,
// types and sizes agree, the one at which their ends differ most evenly, since no rank leaves an all-reduce before the others.
// No clock is trusted for it, but of equally even shifts the one at which the clocks agree best counts.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ranks/rank_data.h"

namespace gapscope {

struct Member {
  std::uint32_t rank = 0;  // position in the ranks
  std::uint32_t at = 0;    // position in its collectives
};

// One collective with the ranks that took part, as far as they were recorded: at least two.
struct Matched {
  std::uint32_t first = 0;  // into Matches::members, by rank
  std::uint32_t count = 0;
  std::uint32_t group = 0;  // position in Matches::groups
};

struct CollectiveGroup {
  std::string name, description, members;  // as CollectiveWhat has them
  std::int64_t size = 0;
  std::uint32_t first = 0;  // of its collectives in Matches::all, which lie there together, in order of time
};

// Where two ranks of a group do not call the same: the same collectives in another order, or others.
struct OrderTrouble {
  std::uint32_t group = 0;
  std::uint32_t rank_a = 0, rank_b = 0;  // positions in the ranks
  std::uint32_t at_a = 0, at_b = 0;      // positions in their collectives
  bool same_set = false;                 // the same few in another order
  std::uint64_t count = 1;
};

struct Matches {
  std::vector<CollectiveGroup> groups;
  std::vector<Matched> all;  // by group, then time
  std::vector<Member> members;
  std::vector<std::uint64_t> unmatched;  // by rank: collectives without a partner
  std::vector<OrderTrouble> troubles;    // at most one a pair of ranks and group

  // Which of its group's it is, in order of time; by position in `all`.
  std::uint32_t index_in_group(std::size_t i) const { return static_cast<std::uint32_t>(i) - groups[all[i].group].first; }
  std::span<const Member> of(const Matched& m) const { return std::span(members).subspan(m.first, m.count); }
};

Matches match_collectives(const std::vector<RankData>& ranks);

}  // namespace gapscope
