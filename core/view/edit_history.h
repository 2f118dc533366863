#pragma once
// What undo takes back: notes, marks, how the lanes are arranged, the marked time, what is filtered, and the changes of What
// if. A step is taken each time the user comes to rest, whatever led there, so that no command has to say how it is undone.
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/view/notes/notes_model.h"
#include "core/view/timeline/lane_folds.h"
#include "core/view/whatif/whatif_state.h"

namespace gapscope {

struct Edits {
  std::vector<Note> notes;
  std::vector<Span> marks;
  std::optional<Span> range;
  LaneFolds folds;
  std::string table_filter, kernels_filter;
  WhatIfChanges what_if;
  friend bool operator==(const Edits& a, const Edits& b);  // of folds what a person sees, not the count of their changes
};

class EditHistory {
 public:
  // To be called with what there is in each frame; `at_rest`: nothing is dragged or typed. O(lanes).
  void watch(const Edits& now, bool at_rest);
  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < states_.size(); }
  // The state before, or the one that was undone.
  const Edits& undo() { return states_[--at_]; }
  const Edits& redo() { return states_[++at_]; }

 private:
  static constexpr std::size_t kMost = 200;
  std::vector<Edits> states_;
  std::size_t at_ = 0;  // the present one
};

}  // namespace gapscope
