#pragma once
// All slices of one name in time order, without a scan. 4 bytes a slice.
#include <atomic>
#include <span>
#include <vector>

#include "core/base/column.h"
#include "core/trace/trace.h"

namespace gapscope {

class NameIndex {
 public:
  // Once `cancel` (may be null) is set it ends early, and may only be thrown away.
  explicit NameIndex(const Trace& trace, int threads = 1, const std::atomic<bool>* cancel = nullptr);
  std::span<const SliceId> slices_named(StringId name) const;
  // Names that at least one slice has, in order of id.
  std::vector<StringId> used_names() const;

 private:
  std::vector<std::uint32_t> first_;  // per string id, into slices_; one more at the end
  Column<SliceId> slices_;
};

}  // namespace gapscope
