#pragma once
// Finding over all slices, for a thread that may wait: each distinct name is matched once, and only slices of names that match
// are looked at; a question of filters alone reads the slices in the order of the table. The hits are put in time order digit
// by digit (a radix sort), so that millions of them cost a few passes over memory.
#include <atomic>

#include "core/index/name_index.h"
#include "core/view/search/search_model.h"

namespace gapscope {

// Ends early, with an answer that may only be thrown away, once `cancel` (may be null) is set.
SearchAnswer find_slices(const Trace& trace, const NameIndex& names, const SearchQuestion& question,
                         const std::atomic<bool>* cancel);

}  // namespace gapscope
