#pragma once
// The slices about one, among those that its lane shows: folded Python frames are passed over.
#include "core/view/timeline/lane_folds.h"

namespace gapscope {

struct Document;

// Each gives none where there is none.
SliceId shown_next(const Document& document, const LaneFolds& folds, SliceId slice);  // of the same depth
SliceId shown_previous(const Document& document, const LaneFolds& folds, SliceId slice);
SliceId shown_parent(const Document& document, const LaneFolds& folds, SliceId slice);
SliceId shown_child(const Document& document, const LaneFolds& folds, SliceId slice);  // the first

// What a slice is due to: of GPU work the call that launched it, else the slice around it, else the step (ProfilerStep#N) in
// which it begins, on whatever thread that is marked.
SliceId shown_cause(const Document& document, const LaneFolds& folds, SliceId slice);
// What it led to: the first slice in it, else the first GPU work that it launched.
SliceId shown_effect(const Document& document, const LaneFolds& folds, SliceId slice);

}  // namespace gapscope
