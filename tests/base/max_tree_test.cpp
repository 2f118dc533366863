#include "core/base/max_tree.h"

#include <random>

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("a tree of values finds what a look at all of them finds, while they change and grow") {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    MaxTree tree;
    std::vector<std::int64_t> values;
    CHECK(tree.first_at_least(0, 1) == MaxTree::kNone);
    CHECK(tree.last_at_least(5, 1) == MaxTree::kNone);
    for (int i = 0; i < 300; ++i) {
      if (values.empty() || random() % 3 == 0) {
        values.resize(values.size() + 1 + random() % 3, MaxTree::kLowest);
        tree.resize(values.size());
      }
      const std::size_t at = random() % values.size();
      tree.set(at, values[at] = static_cast<std::int64_t>(random() % 50));
      const std::int64_t bound = static_cast<std::int64_t>(random() % 55);
      const std::size_t from = random() % (values.size() + 2);
      std::size_t first = MaxTree::kNone, last = MaxTree::kNone;
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (values[k] < bound) continue;
        if (k >= from && first == MaxTree::kNone) first = k;
        if (k < from) last = k;
      }
      CHECK(tree.first_at_least(from, bound) == first);
      CHECK(tree.last_at_least(from, bound) == last);
      const std::size_t begin = random() % values.size(), end = begin + 1 + random() % (values.size() - begin);
      const auto largest = std::max_element(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                            values.begin() + static_cast<std::ptrdiff_t>(end));
      CHECK(tree.largest(begin, end) == static_cast<std::size_t>(largest - values.begin()));
    }
  }
}
