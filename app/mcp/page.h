#pragma once
// Long answers in pages.
#include <cstddef>

#include <nlohmann/json.hpp>

namespace gapscope {

constexpr std::size_t kPageBytes = 48 * 1024;  // of JSON: what an assistant reads at once
constexpr std::size_t kPageRows = 200;

// `answer` with the longest of its lists (itself, or a member) cut to the rows from `cursor` on, as many as a page holds; where
// anything is left, `next_cursor` is where to continue. A row longer than a page has
// its long texts cut; others, and lists within a row, stay whole.
struct Page {
  nlohmann::ordered_json answer;
  std::size_t rows = 0;  // of the list in all; 0: nothing was cut and there is none
  std::size_t first = 0;
  std::size_t next_cursor = 0;  // 0: that is all
};
Page page_of(nlohmann::ordered_json answer, std::size_t cursor, std::size_t most_rows = kPageRows,
             std::size_t most_bytes = kPageBytes);

}  // namespace gapscope
