#include "core/view/edit_history.h"

#include <tuple>

namespace gapscope {
namespace {

auto seen_of(const LaneFolds& f) {
  return std::tie(f.process_collapsed, f.lane_collapsed, f.lane_hidden, f.lane_pinned, f.counter_collapsed,
                  f.graph_streams_together, f.all_streams, f.all_counters, f.lane_order, f.process_order, f.filter,
                  f.python_folded, f.python_open, f.compact);
}

}  // namespace

bool operator==(const Edits& a, const Edits& b) {
  return a.notes == b.notes && a.marks == b.marks && a.range == b.range && a.table_filter == b.table_filter &&
         a.kernels_filter == b.kernels_filter && a.what_if == b.what_if && seen_of(a.folds) == seen_of(b.folds);
}

void EditHistory::watch(const Edits& now, bool at_rest) {
  if (states_.empty()) return states_.push_back(now);
  Edits& present = states_[at_];
  // Lanes of counters come with the analyses: that is no edit.
  if (present.folds.counter_collapsed.size() != now.folds.counter_collapsed.size()) {
    states_ = {now};
    at_ = 0;
    return;
  }
  if (!at_rest || present == now) return;
  states_.resize(++at_);
  states_.push_back(now);
  if (states_.size() <= kMost) return;
  states_.erase(states_.begin());
  --at_;
}

}  // namespace gapscope
