#include "core/ranks/match.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "core/ranks/sequence_fit.h"

namespace gapscope {
namespace {

// What must be the same on every rank: not the sizes where ranks may give unequal shares.
std::string key_of(const CollectiveWhat& w) {
  const bool even = has_skew_table(w.type) || is_point_to_point(w.type) || w.type == CollectiveType::broadcast;
  return fmt::format("{}\n{}\n{}\n{}", is_point_to_point(w.type) ? "p2p" : w.name, w.dtype, w.kernel,
                     even ? fmt::format("{},{}", w.in_elements, is_point_to_point(w.type) ? 0 : w.out_elements) : "");
}

std::string group_key(const CollectiveWhat& w) { return fmt::format("{}\n{}\n{}", w.group, w.members, w.group_size); }

// "0>1" by places in the group. `peer` is such a place, or, where it is none, a rank.
std::string pair_of(const CollectiveWhat& w, std::int64_t rank) {
  const std::vector<std::int64_t> members = w.member_ranks();
  const auto place = [&](std::int64_t r) {
    const auto at = std::find(members.begin(), members.end(), r);
    return at == members.end() ? r : static_cast<std::int64_t>(at - members.begin());
  };
  const std::int64_t own = place(rank);
  const std::int64_t peer = w.peer >= static_cast<std::int64_t>(members.size()) ? place(w.peer) : w.peer;
  return w.type == CollectiveType::send ? fmt::format("{}>{}", own, peer) : fmt::format("{}>{}", peer, own);
}

constexpr std::uint32_t kNone = 0xFFFF'FFFFu;

struct Numbers {
  std::unordered_map<std::string, std::uint32_t> ids;
  std::uint32_t of(const std::string& text) {
    return ids.try_emplace(text, static_cast<std::uint32_t>(ids.size())).first->second;
  }
};

// What one rank called in one group (or with one peer), in order: positions in its collectives. There are as many of these as
// collectives in the run, so that what is compared is made of two of them at a time.
struct RankSequence {
  std::uint32_t rank;
  std::vector<std::uint32_t> at;
};
struct Sequence {
  std::uint32_t group = 0;
  std::vector<RankSequence> ranks;
};

class Matcher {
 public:
  explicit Matcher(const std::vector<RankData>& ranks) : ranks_(ranks) { out_.unmatched.resize(ranks.size()); }

  Matches run() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) gather(r);
    for (Sequence& sequence : sequences_) match(sequence);
    number();
    return std::move(out_);
  }

 private:
  struct WhatIds {
    std::uint32_t key, sequence;
  };

  WhatIds ids_of(const CollectiveWhat& w, std::int64_t rank) {
    const std::string group = group_key(w);
    const auto [at, is_new] = group_of_.try_emplace(group, static_cast<std::uint32_t>(out_.groups.size()));
    if (is_new) out_.groups.push_back({w.group, w.description, w.members, w.group_size, 0});
    const std::uint32_t sequence = sequence_ids_.of(is_point_to_point(w.type) ? group + '\n' + pair_of(w, rank) : group);
    if (sequence == sequences_.size()) sequences_.push_back({at->second, {}});
    return {keys_.of(key_of(w)), sequence};
  }

  void gather(std::uint32_t r) {
    const RankData& rank = ranks_[r];
    std::vector<WhatIds> ids;
    for (const auto& w : rank.whats) ids.push_back(ids_of(*w, rank.rank));
    std::unordered_map<std::uint32_t, std::size_t> counts;
    for (const RankCollective& c : rank.collectives) ++counts[ids[c.what].sequence];
    for (const auto& [sequence, count] : counts) {
      sequences_[sequence].ranks.push_back({r, {}});
      sequences_[sequence].ranks.back().at.reserve(count);
    }
    for (std::uint32_t i = 0; i < rank.collectives.size(); ++i)
      sequences_[ids[rank.collectives[i].what].sequence].ranks.back().at.push_back(i);
    keys_of_.emplace_back();
    for (const WhatIds& id : ids) keys_of_.back().push_back(id.key);
  }

  std::vector<SequenceItem> items_of(const RankSequence& sequence) const {
    const RankData& rank = ranks_[sequence.rank];
    std::vector<SequenceItem> items;
    items.reserve(sequence.at.size());
    for (const std::uint32_t i : sequence.at) {
      const RankCollective& c = rank.collectives[i];
      items.push_back({keys_of_[sequence.rank][c.what], rank.seq(i), rank.base + c.span.end, waits_for_all(rank.what(i).type)});
    }
    return items;
  }

  // All are aligned with the longest of them.
  void match(Sequence& sequence) {
    const auto longest = std::max_element(sequence.ranks.begin(), sequence.ranks.end(),
                                          [](const auto& a, const auto& b) { return a.at.size() < b.at.size(); });
    const std::vector<SequenceItem> items = items_of(*longest);
    // By rank of the sequence and position in the longest: position in the rank's collectives.
    std::vector<std::uint32_t> partners(sequence.ranks.size() * items.size(), kNone);
    for (std::size_t r = 0; r < sequence.ranks.size(); ++r) {
      const RankSequence& other = sequence.ranks[r];
      const auto row = partners.begin() + static_cast<std::ptrdiff_t>(r * items.size());
      if (other.rank == longest->rank) {
        std::copy(other.at.begin(), other.at.end(), row);
        continue;
      }
      const SequenceFit fit = fit_sequences(items, items_of(other));
      for (const auto& [i, j] : fit.pairs) row[i] = other.at[j];
      out_.unmatched[other.rank] += other.at.size() - fit.pairs.size();
      if (fit.other_order + fit.different > 0)
        out_.troubles.push_back({sequence.group, longest->rank, other.rank, longest->at[fit.first_trouble.first],
                                 other.at[fit.first_trouble.second], fit.first_is_order, fit.other_order + fit.different});
    }
    put(sequence, partners, items.size(), longest->rank);
    sequence = {};
  }

  // The columns of `partners`; one with the longest sequence alone found no partner.
  void put(const Sequence& sequence, const std::vector<std::uint32_t>& partners, std::size_t columns, std::uint32_t longest) {
    const auto matched =
        static_cast<std::size_t>(std::count_if(partners.begin(), partners.end(), [](std::uint32_t at) { return at != kNone; }));
    if (sequence.ranks.size() > 1) make_room(out_.members, matched);
    for (std::size_t i = 0; i < columns; ++i) {
      const auto first = static_cast<std::uint32_t>(out_.members.size());
      for (std::size_t r = 0; r < sequence.ranks.size(); ++r)
        if (const std::uint32_t at = partners[r * columns + i]; at != kNone)
          out_.members.push_back({sequence.ranks[r].rank, at});
      const auto count = static_cast<std::uint32_t>(out_.members.size()) - first;
      if (count > 1) {
        out_.all.push_back({first, count, sequence.group});
      } else {
        out_.members.pop_back();
        ++out_.unmatched[longest];
      }
    }
  }

  // Exactly where there are few sequences; where there are many, not again for each.
  static void make_room(std::vector<Member>& members, std::size_t more) {
    const std::size_t wanted = members.size() + more;
    if (wanted > members.capacity()) members.reserve(std::max(wanted, members.capacity() + members.capacity() / 8));
  }

  // By the begin on the first rank that took part.
  void number() {
    out_.all.shrink_to_fit();
    const auto order = [&](const Matched& m) {
      const Member& first = out_.members[m.first];
      const RankData& rank = ranks_[first.rank];
      return std::pair(rank.base + rank.collectives[first.at].span.begin, first.rank);
    };
    std::stable_sort(out_.all.begin(), out_.all.end(), [&](const Matched& a, const Matched& b) {
      return a.group != b.group ? a.group < b.group : order(a) < order(b);
    });
    for (std::size_t i = 0; i < out_.all.size(); ++i)
      if (i == 0 || out_.all[i].group != out_.all[i - 1].group)
        out_.groups[out_.all[i].group].first = static_cast<std::uint32_t>(i);
  }

  const std::vector<RankData>& ranks_;
  Matches out_;
  Numbers keys_, sequence_ids_;
  std::unordered_map<std::string, std::uint32_t> group_of_;
  std::vector<Sequence> sequences_;
  std::vector<std::vector<std::uint32_t>> keys_of_;  // by rank and what
};

}  // namespace

Matches match_collectives(const std::vector<RankData>& ranks) { return Matcher(ranks).run(); }

}  // namespace gapscope
