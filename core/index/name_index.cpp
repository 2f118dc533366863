#include "core/index/name_index.h"

#include <algorithm>

#include "core/base/parallel.h"

namespace gapscope {

NameIndex::NameIndex(const Trace& trace, int threads, const std::atomic<bool>* cancel) : first_(trace.strings.size() + 1, 0), slices_(trace.slice_count()) {
  for (const StringId name : trace.slices.name) ++first_[name.index() + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::uint32_t s = 0; s < trace.slice_count(); ++s) slices_[next[trace.slices.name[s].index()]++] = SliceId(s);
  // Slice ids rise with time inside one row only; a name seen in several rows has to be put in time order.
  const auto earlier = [&](SliceId a, SliceId b) { return std::pair(trace.begin(a), a) < std::pair(trace.begin(b), b); };
  parallel_for(threads, first_.size() - 1, [&](std::size_t i) {
    if (cancel != nullptr && *cancel) return;
    const auto begin = slices_.begin() + first_[i];
    const auto end = slices_.begin() + first_[i + 1];
    if (!std::is_sorted(begin, end, earlier)) std::sort(begin, end, earlier);
  });
}

std::span<const SliceId> NameIndex::slices_named(StringId name) const {
  if (!name || name.index() + 1 >= first_.size()) return {};
  return std::span(slices_).subspan(first_[name.index()], first_[name.index() + 1] - first_[name.index()]);
}

std::vector<StringId> NameIndex::used_names() const {
  std::vector<StringId> names;
  for (std::size_t i = 0; i + 1 < first_.size(); ++i) {
    if (first_[i + 1] > first_[i]) names.push_back(StringId(i));
  }
  return names;
}

}  // namespace gapscope
