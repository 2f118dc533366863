#pragma once
// The pixel columns of the overview in which a search hit begins. Millions of hits are looked up once a result, not once a
// frame: a column costs one binary search, whatever the number of hits.
#include <memory>
#include <optional>
#include <vector>

#include "core/view/search/search_model.h"

namespace gapscope {

// Of an axis of `width_px` that shows all of `reach`, of the trace where none is given, with its margin.
std::vector<bool> hit_columns(const Trace& trace, const SearchAnswer& answer, int width_px, std::optional<Span> reach = {});

// Keeps them for as long as result, width and reach stay the same.
class HitColumns {
 public:
  // `answer` may be null: none.
  const std::vector<bool>& of(const Trace& trace, const std::shared_ptr<const SearchAnswer>& answer, int width_px,
                              std::optional<Span> reach = {});

 private:
  std::shared_ptr<const SearchAnswer> answer_;  // owned, so that no other result can come to lie at its address
  int width_px_ = 0;
  std::optional<Span> reach_;
  std::vector<bool> columns_;
};

}  // namespace gapscope
