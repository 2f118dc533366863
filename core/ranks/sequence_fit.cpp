#include "core/ranks/sequence_fit.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace gapscope {
namespace {

using Items = std::span<const SequenceItem>;

constexpr std::size_t kFew = 8;
constexpr std::size_t kSample = 129;  // pairs that a shift is judged by
constexpr std::int64_t kFarthestShift = 2048, kNearShift = 8;
constexpr Ns kEven = 10 * kNsPerUs;  // ends of one collective differ so much on GPUs of one host
constexpr Ns kPlausibleClocks = 10 * kNsPerS;
constexpr std::size_t kLongestGap = 64, kLongestSwap = 8, kRun = 3, kFarthestSkip = 4096;

Ns median(std::vector<Ns>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Shift {
  std::int64_t by = 0;  // b's position less a's
  std::int64_t overlap = 0;
  Ns offset = 0;      // median difference of ends
  Ns spread = 0;      // median distance from it
  bool full = false;  // nothing disagrees
};

class ShiftSearch {
 public:
  ShiftSearch(Items a, Items b)
      : a_(a), b_(b), n_(static_cast<std::int64_t>(a.size())), m_(static_cast<std::int64_t>(b.size())) {}

  std::optional<Shift> best() {
    std::optional<Shift> named = best_by_names();
    if (named && named->spread <= kEven) return named;
    const std::optional<Shift> timed = best_by_ends();
    return timed && (!named || 4 * timed->spread < named->spread) ? timed : named;
  }

 private:
  std::optional<Shift> best_by_names() {
    if (n_ == m_)
      if (const std::optional<Shift> none = judge(0); none && none->full && none->spread <= kEven) return none;
    std::vector<Shift> fits;
    for (std::int64_t by = std::max(1 - n_, -kFarthestShift); by < std::min(m_, kFarthestShift); ++by)
      if (const std::optional<Shift> shift = judge(by)) fits.push_back(*shift);
    if (fits.empty()) return std::nullopt;
    const Ns least =
        std::min_element(fits.begin(), fits.end(), [](const Shift& x, const Shift& y) { return x.spread < y.spread; })->spread;
    std::erase_if(fits, [&](const Shift& s) { return s.spread > 2 * least + kEven / 2; });
    const auto nearer = [](const Shift& x, const Shift& y) {
      return std::tuple(std::abs(x.offset), -x.overlap, x.by) < std::tuple(std::abs(y.offset), -y.overlap, y.by);
    };
    const auto longer = [](const Shift& x, const Shift& y) {
      return std::tuple(-x.overlap, std::abs(x.by), x.by) < std::tuple(-y.overlap, std::abs(y.by), y.by);
    };
    const Shift nearest = *std::min_element(fits.begin(), fits.end(), nearer);
    return std::abs(nearest.offset) <= kPlausibleClocks ? nearest : *std::min_element(fits.begin(), fits.end(), longer);
  }

  // Where two that alternate have changed places all along, names agree only one further on, and ends only here.
  std::optional<Shift> best_by_ends() {
    std::optional<Shift> found;
    for (std::int64_t by = std::max(1 - n_, -kNearShift); by < std::min(m_, kNearShift + 1); ++by) {
      const std::int64_t first = std::max<std::int64_t>(0, -by), last = std::min(n_, m_ - by);
      Shift shift{by, last - first};
      if (last - first < static_cast<std::int64_t>(kFew) || 2 * shift.overlap < std::min(n_, m_)) continue;
      sample(shift, first, last, /*alike=*/false);
      if (shift.spread > kEven / 2 || (found && found->spread <= shift.spread) || !same_names(by, first, last)) continue;
      found = shift;
    }
    return found;
  }

  bool same_names(std::int64_t by, std::int64_t first, std::int64_t last) const {
    std::unordered_map<std::uint32_t, std::int64_t> counts;
    for (std::int64_t i = first; i < last; ++i) ++counts[a(i).key], --counts[b(i + by).key];
    return std::all_of(counts.begin(), counts.end(), [](const auto& count) { return count.second == 0; });
  }

  // None where too little overlaps, or hardly anything of it agrees.
  std::optional<Shift> judge(std::int64_t by) {
    const std::int64_t first = std::max<std::int64_t>(0, -by), last = std::min(n_, m_ - by);
    Shift shift{by, last - first};
    if (shift.overlap < 1 || 2 * shift.overlap < std::min(n_, m_)) return std::nullopt;
    std::int64_t agree = 0;
    for (std::int64_t i = first; i < last; ++i) {
      agree += a(i).key == b(i + by).key ? 1 : 0;
      if (3 * (agree + last - i) < shift.overlap) return std::nullopt;
    }
    if (3 * agree < shift.overlap) return std::nullopt;
    shift.full = agree == shift.overlap;
    sample(shift, first, last, /*alike=*/true);
    return shift;
  }

  // `alike`: only of those with one name.
  void sample(Shift& shift, std::int64_t first, std::int64_t last, bool alike) {
    for (const bool only_waiting : {true, false}) {
      differences_.clear();
      const std::int64_t stride = std::max<std::int64_t>(1, (last - first) / static_cast<std::int64_t>(kSample));
      for (std::int64_t i = first; i < last; i += stride)
        if ((a(i).key == b(i + shift.by).key || !alike) && (a(i).waits_for_all || !only_waiting))
          differences_.push_back(b(i + shift.by).end - a(i).end);
      if (!differences_.empty()) break;
    }
    if (differences_.empty()) return;
    shift.offset = median(differences_);
    for (Ns& d : differences_) d = std::abs(d - shift.offset);
    // Of a few values half are always near their median.
    shift.spread =
        differences_.size() < kFew ? *std::max_element(differences_.begin(), differences_.end()) : median(differences_);
  }

  const SequenceItem& a(std::int64_t i) const { return a_[static_cast<std::size_t>(i)]; }
  const SequenceItem& b(std::int64_t i) const { return b_[static_cast<std::size_t>(i)]; }

  const Items a_, b_;
  const std::int64_t n_, m_;
  std::vector<Ns> differences_;
};

// Goes along both and finds the way again where one of them lacks something: by the names, and, where a shift said how far the
// clocks are apart, by the ends.
class Walk {
 public:
  Walk(Items a, Items b, const std::optional<Shift>& shift) : a_(a), b_(b), timed_(shift.has_value()) {
    if (shift) offset_ = shift->offset, tolerance_ = std::max(2 * kEven, 8 * shift->spread);
  }

  SequenceFit run() {
    while (i_ < a_.size() && j_ < b_.size()) {
      if (a_[i_].key != b_[j_].key) {
        find_the_way();
      } else if (!lost_one()) {
        out_.pairs.emplace_back(static_cast<std::uint32_t>(i_++), static_cast<std::uint32_t>(j_++));
      }
    }
    return std::move(out_);
  }

 private:
  bool agree(std::size_t i, std::size_t j, std::size_t run) const {
    if (i >= a_.size() || j >= b_.size()) return false;
    for (std::size_t k = 0; k < run && i + k < a_.size() && j + k < b_.size(); ++k)
      if (a_[i + k].key != b_[j + k].key) return false;
    return true;
  }

  Ns off(std::size_t i, std::size_t j) const { return std::abs(b_[j].end - a_[i].end - offset_); }

  bool fits(std::size_t i, std::size_t j) const { return a_[i].key == b_[j].key && off(i, j) <= tolerance_; }

  // Names agree but ends lie far apart, and would not if some were missing from one of the two.
  bool lost_one() {
    if (!timed_ || off(i_, j_) <= tolerance_) return false;
    const bool b_is_later = b_[j_].end - a_[i_].end > offset_;
    for (std::size_t k = 1; k <= kFarthestSkip; ++k) {
      if (b_is_later && i_ + k < a_.size() && fits(i_ + k, j_)) return i_ += k, true;
      if (!b_is_later && j_ + k < b_.size() && fits(i_, j_ + k)) return j_ += k, true;
    }
    return false;
  }

  void note(bool same_set) {
    if (out_.other_order + out_.different == 0)
      out_.first_trouble = {static_cast<std::uint32_t>(i_), static_cast<std::uint32_t>(j_)}, out_.first_is_order = same_set;
    ++(same_set ? out_.other_order : out_.different);
  }

  bool same_set(std::size_t length) const {
    std::vector<std::uint32_t> x, y;
    for (std::size_t k = 0; k < length; ++k) x.push_back(a_[i_ + k].key), y.push_back(b_[j_ + k].key);
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return x == y;
  }

  struct Way {
    std::size_t a = 0, b = 0;  // so many further on in each
  };

  // By the names alone. Of equally many on both sides, be it the same few or others, what follows agrees.
  std::optional<Way> way_by_names() const {
    for (std::size_t k = 1; k <= kLongestGap; ++k) {
      const bool may_swap = k <= kLongestSwap && agree_after(k);
      if (may_swap && swaps(k)) return Way{k, k};
      if (agree(i_ + k, j_, kRun)) return Way{k, 0};
      if (agree(i_, j_ + k, kRun)) return Way{0, k};
      if (may_swap) return Way{k, k};
    }
    return std::nullopt;
  }
  bool agree_after(std::size_t k) const {
    if (i_ + k > a_.size() || j_ + k > b_.size()) return false;
    return agree(i_ + k, j_ + k, kRun) || (i_ + k == a_.size() && j_ + k == b_.size());
  }

  // The next `k` are the same in another order, and end together as far as that is known.
  bool swaps(std::size_t k) const {
    if (i_ + k > a_.size() || j_ + k > b_.size() || !same_set(k)) return false;
    return !timed_ || farthest(k) <= tolerance_;
  }
  Ns farthest(std::size_t k) const {
    Ns most = 0;
    for (std::size_t x = 0; x < k; ++x) most = std::max(most, off(i_ + x, j_ + x));
    return most;
  }

  // Two that alternate and change places look as if one of them were missing, but for their ends.
  std::optional<Way> way_by_ends(const std::optional<Way>& by_names) const {
    if (!timed_) return std::nullopt;
    for (std::size_t k = 2; k <= kLongestSwap; ++k)
      if (swaps(k) && (!by_names || farthest(k) < off(i_ + by_names->a, j_ + by_names->b))) return Way{k, k};
    return std::nullopt;
  }

  void find_the_way() {
    std::optional<Way> way = way_by_names();
    if (!way || way->a != way->b)
      if (const std::optional<Way> nearer = way_by_ends(way)) way = nearer;
    if (!way || way->a == way->b) note(way && same_set(way->a));
    i_ += way ? way->a : 1;
    j_ += way ? way->b : 1;
  }

  const Items a_, b_;
  const bool timed_;
  Ns offset_ = 0, tolerance_ = 0;
  std::size_t i_ = 0, j_ = 0;
  SequenceFit out_;
};

bool all_numbered(Items items) {
  return std::all_of(items.begin(), items.end(), [](const SequenceItem& item) { return item.seq >= 0; });
}

// The same number and name; the same number again (coalesced ones) in order.
SequenceFit fit_by_number(Items a, Items b) {
  SequenceFit out;
  std::multimap<std::int64_t, std::uint32_t> of_number;
  for (std::uint32_t j = 0; j < b.size(); ++j) of_number.emplace(b[j].seq, j);
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const auto [first, last] = of_number.equal_range(a[i].seq);
    const auto same = std::find_if(first, last, [&](const auto& entry) { return b[entry.second].key == a[i].key; });
    if (same != last) {
      out.pairs.emplace_back(i, same->second);
      of_number.erase(same);
    } else if (first != last) {
      if (out.other_order + out.different == 0) out.first_trouble = {i, first->second};
      ++out.different;
    }
  }
  return out;
}

}  // namespace

SequenceFit fit_sequences(Items a, Items b) {
  if (all_numbered(a) && all_numbered(b)) return fit_by_number(a, b);
  return Walk(a, b, ShiftSearch(a, b).best()).run();
}

}  // namespace gapscope
