#include "core/compare/align.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace gapscope {
namespace {

constexpr int kExactScore = 3;
constexpr int kNameScore = 2;  // two of equal name beat one that is equal in full

struct Range {
  std::uint32_t begin, end;
  std::uint32_t size() const { return end - begin; }
};

class Aligner {
 public:
  Aligner(std::span<const AlignKey> a, std::span<const AlignKey> b) : a_(a), b_(b) {}
  Alignment run() {
    solve({0, static_cast<std::uint32_t>(a_.size())}, {0, static_cast<std::uint32_t>(b_.size())});
    std::sort(out_.matches.begin(), out_.matches.end());
    return std::move(out_);
  }

 private:
  bool equal(std::uint32_t i, std::uint32_t j) const { return a_[i] == b_[j]; }
  void match(std::uint32_t i, std::uint32_t j) { out_.matches.emplace_back(i, j); }

  void trim(Range& a, Range& b) {
    while (a.size() > 0 && b.size() > 0 && equal(a.begin, b.begin)) match(a.begin++, b.begin++);
    while (a.size() > 0 && b.size() > 0 && equal(a.end - 1, b.end - 1)) match(--a.end, --b.end);
  }

  void solve(Range a, Range b) {
    trim(a, b);
    if (a.size() == 0 || b.size() == 0) return;
    if (std::size_t{a.size()} * b.size() <= kMostCells) return exact(a, b);
    const auto anchors = unique_anchors(a, b);
    if (anchors.empty()) return pieces(a, b);
    for (const auto& [i, j] : anchors) {
      solve({a.begin, i}, {b.begin, j});
      match(i, j);
      a.begin = i + 1, b.begin = j + 1;
    }
    solve(a, b);
  }

  // best[i][j]: of what is left from i and j on.
  void exact(Range a, Range b) {
    const std::size_t width = b.size() + 1;
    best_.assign((a.size() + 1) * width, 0);
    const auto best = [&](std::size_t i, std::size_t j) -> int& { return best_[i * width + j]; };
    for (std::size_t i = a.size(); i-- > 0;)
      for (std::size_t j = b.size(); j-- > 0;)
        best(i, j) = std::max({best(i + 1, j), best(i, j + 1), best(i + 1, j + 1) + score(a.begin + i, b.begin + j)});
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      const int gain = score(a.begin + i, b.begin + j);
      if (gain > 0 && best(i, j) == best(i + 1, j + 1) + gain) {
        match(static_cast<std::uint32_t>(a.begin + i++), static_cast<std::uint32_t>(b.begin + j++));
      } else {
        best(i, j) == best(i + 1, j) ? ++i : ++j;
      }
    }
  }

  int score(std::size_t i, std::size_t j) const {
    if (a_[i].name != b_[j].name) return 0;
    return a_[i].exact == b_[j].exact ? kExactScore : kNameScore;
  }

  // Items that occur once in each range, the longest run of them that is in order on both sides.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unique_anchors(Range a, Range b) const {
    struct Seen {
      std::uint32_t in_a = 0, in_b = 0, at_a = 0, at_b = 0;
    };
    std::unordered_map<std::uint64_t, Seen> seen;
    for (std::uint32_t i = a.begin; i < a.end; ++i) ++seen[a_[i].exact].in_a, seen[a_[i].exact].at_a = i;
    for (std::uint32_t j = b.begin; j < b.end; ++j) ++seen[b_[j].exact].in_b, seen[b_[j].exact].at_b = j;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> once;
    for (const auto& [key, s] : seen)
      if (s.in_a == 1 && s.in_b == 1) once.emplace_back(s.at_a, s.at_b);
    std::sort(once.begin(), once.end());
    return longest_rising(once);
  }

  static std::vector<std::pair<std::uint32_t, std::uint32_t>> longest_rising(
      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
    std::vector<std::size_t> tails, before(pairs.size());
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const auto at = std::lower_bound(tails.begin(), tails.end(), p,
                                       [&](std::size_t x, std::size_t y) { return pairs[x].second < pairs[y].second; });
      before[p] = at == tails.begin() ? p : *(at - 1);
      if (at == tails.end())
        tails.push_back(p);
      else
        *at = p;
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    if (tails.empty()) return out;
    for (std::size_t p = tails.back();; p = before[p]) {
      out.push_back(pairs[p]);
      if (before[p] == p) break;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  void pieces(Range a, Range b) {
    out_.in_pieces = true;
    const double cells = static_cast<double>(a.size()) * b.size();
    const auto n = static_cast<std::uint64_t>(std::ceil(std::sqrt(cells / static_cast<double>(kMostCells)))) + 1;
    const auto cut = [n](Range r, std::uint64_t k) {
      return r.begin + static_cast<std::uint32_t>(std::uint64_t{r.size()} * k / n);
    };
    for (std::uint64_t k = 0; k < n; ++k) {
      Range pa{cut(a, k), cut(a, k + 1)}, pb{cut(b, k), cut(b, k + 1)};
      trim(pa, pb);
      if (pa.size() > 0 && pb.size() > 0) exact_or_leave(pa, pb);
    }
  }

  // One side may be so much longer that even a piece is too large: then nothing is matched in it.
  void exact_or_leave(Range a, Range b) {
    if (std::size_t{a.size()} * b.size() <= 4 * kMostCells) exact(a, b);
  }

  std::span<const AlignKey> a_, b_;
  std::vector<int> best_;
  Alignment out_;
};

}  // namespace

Alignment align(std::span<const AlignKey> a, std::span<const AlignKey> b) {
  // Of several best alignments the one found depends on which side comes first: always the lesser, so that both directions
  // agree.
  if (!std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end())) return Aligner(a, b).run();
  Alignment turned = Aligner(b, a).run();
  for (auto& [i, j] : turned.matches) std::swap(i, j);
  return turned;
}

}  // namespace gapscope
