#include "core/index/name_index.h"

#include <algorithm>

#include "core/base/merge_runs.h"
#include "core/base/parallel.h"

namespace gapscope {

NameIndex::NameIndex(const Trace& trace, int threads, const std::atomic<bool>* cancel) : first_(trace.strings.size() + 1, 0) {
  slices_.resize(trace.slice_count());
  for (const StringId name : trace.slices.name) ++first_[name.index() + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::uint32_t s = 0; s < trace.slice_count(); ++s) slices_[next[trace.slices.name[s].index()]++] = SliceId(s);
  // Slice ids rise with time inside one row only; a name seen in several rows has to be put in time order.
  struct Entry {
    Ns begin;
    SliceId slice;
  };
  std::atomic<std::size_t> next_name{0};
  run_workers(std::max(1, threads), [&](int) {
    Column<Entry> entries, spare;
    for (std::size_t i = next_name++; i + 1 < first_.size() && (cancel == nullptr || !*cancel); i = next_name++) {
      const std::span<SliceId> slices(slices_.data() + first_[i], first_[i + 1] - first_[i]);
      if (std::is_sorted(slices.begin(), slices.end(), [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); }))
        continue;
      entries.clear();
      for (const SliceId slice : slices) entries.push_back({trace.begin(slice), slice});
      merge_runs(std::span(entries), spare, [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
      for (std::size_t k = 0; k < slices.size(); ++k) slices[k] = entries[k].slice;
    }
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
