#include "core/load/args_cache.h"

#include <utility>

#include "core/base/hash.h"

namespace gapscope {

// Its length and three words of it, as names differ at both ends.
std::size_t ArgsCache::slot_of(std::string_view name) const {
  std::uint64_t sum = name.size() + (std::uint64_t{last_} << 16);
  if (name.size() >= 8) {
    const auto word = [&](std::size_t at) {
      std::uint64_t w = 0;
      std::memcpy(&w, name.data() + at, sizeof w);
      return w;
    };
    sum += word(0) * 0x9E3779B97F4A7C15ULL + word(name.size() / 2 - 4) * 0xff51afd7ed558ccdULL +
           word(name.size() - 8) * 0x9FB21C651E98DF25ULL;
  }
  static_assert(kSlots == std::size_t{1} << 12);
  return ((sum ^ (sum >> 32)) * 0x9E3779B97F4A7C15ULL) >> (64 - 12);
}

void ArgsCache::learn(CachedArgs run) {
  if (likely_ == nullptr) return;
  std::uint16_t& known = by_text_[hash_text(run.text) % kSlots];
  if (known >= runs_.size() || runs_[known].text != run.text) {
    known = static_cast<std::uint16_t>(next_);
    next_ = (next_ + 1) % kMostRuns;
    if (known < runs_.size()) {
      runs_[known] = std::move(run);
    } else {
      runs_.push_back(std::move(run));
    }
  }
  *likely_ = last_ = known;
}

}  // namespace gapscope
