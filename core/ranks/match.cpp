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
  return fmt::format("{}\n{}\n{}", is_point_to_point(w.type) ? "p2p" : w.name, w.dtype,
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

struct Numbers {
  std::unordered_map<std::string, std::uint32_t> ids;
  std::uint32_t of(const std::string& text) {
    return ids.try_emplace(text, static_cast<std::uint32_t>(ids.size())).first->second;
  }
};

// What one rank called in one group (or with one peer), in order.
struct RankSequence {
  std::uint32_t rank;
  std::vector<std::uint32_t> at;
  std::vector<SequenceItem> items;
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
    if (is_new) out_.groups.push_back({w.group, w.description, w.members, w.group_size});
    const std::uint32_t sequence = sequence_ids_.of(is_point_to_point(w.type) ? group + '\n' + pair_of(w, rank) : group);
    if (sequence == sequences_.size()) sequences_.push_back({at->second, {}});
    return {keys_.of(key_of(w)), sequence};
  }

  void gather(std::uint32_t r) {
    const RankData& rank = ranks_[r];
    std::vector<WhatIds> ids;
    for (const CollectiveWhat& w : rank.whats) ids.push_back(ids_of(w, rank.rank));
    for (std::uint32_t i = 0; i < rank.collectives.size(); ++i) {
      const RankCollective& c = rank.collectives[i];
      std::vector<RankSequence>& of_ranks = sequences_[ids[c.what].sequence].ranks;
      if (of_ranks.empty() || of_ranks.back().rank != r) of_ranks.push_back({r, {}, {}});
      of_ranks.back().at.push_back(i);
      of_ranks.back().items.push_back({ids[c.what].key, c.seq, rank.base + c.span.end, waits_for_all(rank.whats[c.what].type)});
    }
  }

  // All are laid beside the longest of them.
  void match(Sequence& sequence) {
    const auto longest = std::max_element(sequence.ranks.begin(), sequence.ranks.end(),
                                          [](const auto& a, const auto& b) { return a.at.size() < b.at.size(); });
    std::vector<std::vector<Member>> partners(longest->at.size());
    for (const RankSequence& other : sequence.ranks) {
      if (other.rank == longest->rank) continue;
      const SequenceFit fit = fit_sequences(longest->items, other.items);
      for (const auto& [i, j] : fit.pairs) partners[i].push_back({other.rank, other.at[j]});
      out_.unmatched[other.rank] += other.at.size() - fit.pairs.size();
      if (fit.other_order + fit.different > 0)
        out_.troubles.push_back({sequence.group, longest->rank, other.rank, longest->at[fit.first_trouble.first],
                                 other.at[fit.first_trouble.second], fit.first_is_order, fit.other_order + fit.different});
    }
    for (std::size_t i = 0; i < partners.size(); ++i) {
      if (partners[i].empty()) {
        ++out_.unmatched[longest->rank];
        continue;
      }
      partners[i].push_back({longest->rank, longest->at[i]});
      std::sort(partners[i].begin(), partners[i].end(), [](const Member& a, const Member& b) { return a.rank < b.rank; });
      out_.all.push_back(
          {static_cast<std::uint32_t>(out_.members.size()), static_cast<std::uint32_t>(partners[i].size()), sequence.group, 0});
      out_.members.insert(out_.members.end(), partners[i].begin(), partners[i].end());
    }
    sequence = {};
  }

  // By the begin on the first rank that took part.
  void number() {
    const auto order = [&](const Matched& m) {
      const Member& first = out_.members[m.first];
      const RankData& rank = ranks_[first.rank];
      return std::pair(rank.base + rank.collectives[first.at].span.begin, first.rank);
    };
    std::stable_sort(out_.all.begin(), out_.all.end(), [&](const Matched& a, const Matched& b) {
      return a.group != b.group ? a.group < b.group : order(a) < order(b);
    });
    std::uint32_t index = 0;
    for (std::size_t i = 0; i < out_.all.size(); ++i) {
      index = i > 0 && out_.all[i].group == out_.all[i - 1].group ? index + 1 : 0;
      out_.all[i].index = index;
    }
  }

  const std::vector<RankData>& ranks_;
  Matches out_;
  Numbers keys_, sequence_ids_;
  std::unordered_map<std::string, std::uint32_t> group_of_;
  std::vector<Sequence> sequences_;
};

}  // namespace

Matches match_collectives(const std::vector<RankData>& ranks) { return Matcher(ranks).run(); }

}  // namespace gapscope
