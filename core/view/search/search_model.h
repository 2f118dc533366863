#pragma once
// The slices and lanes that a search finds, and the ways through them. They are found off the UI thread (slice_search.h, which
// takes the document's index of names; find_slices here makes one of its own).
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/trace.h"
#include "core/view/search/search_query.h"

namespace gapscope {

struct Document;
struct SearchAnswer;

struct SearchQuestion {
  using Answer = SearchAnswer;
  static constexpr const char* kToDo = "search";
  std::string text;
  bool regex = false;
  friend bool operator==(const SearchQuestion&, const SearchQuestion&) = default;
};

// One bit a slice, and how many are set before each word: asks about a stretch of slices cost the same as about one.
class SliceBits {
 public:
  SliceBits() = default;
  explicit SliceBits(std::size_t slices) : words_((slices + 63) / 64), before_(words_.size() + 1) {}
  void set(SliceId s) { words_[s.index() / 64] |= std::uint64_t{1} << (s.index() % 64); }
  void count();  // once all are set
  bool has(SliceId s) const { return s.index() / 64 < words_.size() && (words_[s.index() / 64] >> (s.index() % 64) & 1) != 0; }
  // Of slices [first, last).
  bool any(std::size_t first, std::size_t last) const { return rank(last) > rank(first); }

 private:
  std::size_t rank(std::size_t slice) const;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> before_;
};

struct SearchAnswer {
  SearchQuestion question;
  std::string error;          // a sentence where the question could not be read
  std::vector<SliceId> hits;  // in order of begin, then id
  std::vector<SliceId> walk;  // the same; Python frames, which lie folded, after all others: the way through them
  SliceBits is_hit;
  std::vector<LaneId> lanes;  // whose title holds all the words, in display order
};

std::shared_ptr<const SearchAnswer> answer(const Document& document, const SearchQuestion& question,
                                           const std::atomic<bool>* cancel);
// Ends early, with an answer that may only be thrown away, once `cancel` (may be null) is set.
SearchAnswer find_slices(const Trace& trace, const SearchQuestion& question, const std::atomic<bool>* cancel = nullptr);

// Where `slice` is on the way through the hits, counted from 1; 0 where it is none.
std::size_t hit_position(const Trace& trace, const SearchAnswer& answer, SliceId slice);
// The hit after (step 1) or before (-1) `from` on the way through them, round and round. Where `from` is no hit: the next in
// time; where it is none, the first that begins at `now` or later, or the last before.
SliceId step_hit(const Trace& trace, const SearchAnswer& answer, SliceId from, Ns now, int step);
// Whether `slice`, or one of its row inside `span`, is a hit: for slices folded into one.
bool holds_hit(const Trace& trace, const SearchAnswer& answer, SliceId slice, Span span);
// "120 slices", "No slice matches gemm; 6 were looked at.", or the error.
std::string search_summary(const Trace& trace, const SearchAnswer& answer);

}  // namespace gapscope
