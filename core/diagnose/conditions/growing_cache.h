#pragma once
// Caches of keys and values that torch.cat makes anew for each token.
#include <vector>

#include "core/analyze/practices/practices.h"
#include "core/diagnose/facts.h"

namespace gapscope {

constexpr std::size_t kLeastAppends = 8;

// Calls of aten::cat that copy a long tensor to append a short one; none without recorded shapes.
std::vector<SliceId> cache_appends(const Facts& facts);

// What would have launches in one graph comes after the cache has a fixed size, where the program grows one.
Said with_cache_first(const Facts& facts, Said graph);

}  // namespace gapscope
