#include "core/ranks/rank_rows.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/base/text.h"
#include "core/ranks/read_rank.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

constexpr std::size_t kNameLength = 100;

// One or several pieces of work after each other.
struct Stretch {
  Span span;
  Ns busy = 0;
  Ns longest = 0;  // of its pieces: whose name it has
  StringId name;
};

void join(Stretch& a, const Stretch& b) {
  if (b.longest > a.longest) a.longest = b.longest, a.name = b.name;
  const Ns overlap = std::max<Ns>(0, std::min(a.span.end, b.span.end) - b.span.begin);
  a.busy += std::max<Ns>(0, b.busy - overlap);
  a.span.end = std::max(a.span.end, b.span.end);
}

// What overlaps is one stretch. `ops` are in order of begin.
template <class Wants>
std::vector<Stretch> stretches_of(const FullRank& rank, Wants wants) {
  std::vector<Stretch> out;
  for (const GpuOp& op : rank.session->ops()) {
    if (op.device != rank.device || op.span.empty() || !wants(op.gpu_class)) continue;
    const Stretch one{op.span, op.span.length(), op.span.length(), rank.session->trace().name_id(op.slice)};
    if (!out.empty() && one.span.begin < out.back().span.end)
      join(out.back(), one);
    else
      out.push_back(one);
  }
  return out;
}

// Joins those with the smallest gaps until there are no more than `most`.
void thin(std::vector<Stretch>& all, std::size_t most) {
  if (all.size() <= most) return;
  std::vector<Ns> gaps;
  for (std::size_t i = 1; i < all.size(); ++i) gaps.push_back(all[i].span.begin - all[i - 1].span.end);
  const auto last = gaps.begin() + static_cast<std::ptrdiff_t>(all.size() - most - 1);
  std::nth_element(gaps.begin(), last, gaps.end());
  const Ns least = *last;  // at most `most` gaps are larger
  std::size_t joined = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].span.begin - all[joined].span.end <= least)
      join(all[joined], all[i]);
    else
      all[++joined] = all[i];
  }
  all.resize(joined + 1);
}

class RowMaker {
 public:
  RowMaker(const FullRank& rank, std::size_t most) : rank_(rank), most_(most) {}

  template <class Wants>
  void make(RankRow& row, Wants wants) {
    std::vector<Stretch> stretches = stretches_of(rank_, wants);
    thin(stretches, most_);
    if (stretches.empty()) return;
    row.slices.reserve(stretches.size() + 1);
    Ns busy = 0;
    for (const Stretch& s : stretches) {
      put(row, s, busy);
      busy += s.busy;
    }
    row.slices.push_back({stretches.back().span.end, busy, 0, row.slices.back().name});
  }
  std::vector<std::string> take_names() { return std::move(names_); }

 private:
  void put(RankRow& row, const Stretch& s, Ns busy) {
    constexpr Ns kMost = std::numeric_limits<std::uint32_t>::max();
    const double density = static_cast<double>(s.busy) / static_cast<double>(s.span.length());
    for (Ns at = s.span.begin; at < s.span.end; at += kMost) {
      const Ns length = std::min(kMost, s.span.end - at);
      const Ns before = busy + static_cast<Ns>(static_cast<double>(at - s.span.begin) * density);
      row.slices.push_back({at, before, static_cast<std::uint32_t>(length), name_of(s.name)});
    }
  }
  std::uint32_t name_of(StringId id) {
    const auto [at, is_new] = known_.try_emplace(id.value, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(elide_middle(printable(rank_.session->trace().strings[id]), kNameLength));
    return at->second;
  }

  const FullRank& rank_;
  const std::size_t most_;
  std::unordered_map<std::uint32_t, std::uint32_t> known_;
  std::vector<std::string> names_;
};

const RowSlice* last_before(const std::vector<RowSlice>& slices, Ns t) {
  const auto after =
      std::upper_bound(slices.begin(), slices.end(), t, [](Ns time, const RowSlice& s) { return time < s.begin; });
  return after == slices.begin() ? nullptr : &*(after - 1);
}

}  // namespace

Ns RankRow::busy_until(Ns t) const {
  const RowSlice* s = last_before(slices, t);
  if (s == nullptr) return 0;
  if (s->length == 0) return s->busy_before;
  const Ns busy = (s + 1)->busy_before - s->busy_before;
  if (t >= s->end()) return s->busy_before + busy;
  return s->busy_before + static_cast<Ns>(static_cast<double>(t - s->begin) * static_cast<double>(busy) / s->length);
}

const RowSlice* RankRow::at(Ns t) const {
  const RowSlice* s = last_before(slices, t);
  return s != nullptr && t < s->end() ? s : nullptr;
}

RankRows rank_rows(const FullRank& rank, std::size_t most) {
  RankRows rows;
  RowMaker maker(rank, std::max<std::size_t>(2, most));
  maker.make(rows.compute, [](GpuClass c) { return c == GpuClass::compute; });
  maker.make(rows.communication, [](GpuClass c) { return c == GpuClass::communication; });
  maker.make(rows.copies, [](GpuClass c) { return c == GpuClass::copy || c == GpuClass::memset; });
  rows.names = maker.take_names();
  return rows;
}

}  // namespace gapscope
