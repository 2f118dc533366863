#pragma once
// Which slices belong to a window of time, so that what is cut out still shows why its kernels ran:
//   - every slice of the chosen lanes that overlaps the window, whole;
//   - of GPU work among those: the call that launched it and the operator that owns it, wherever they lie;
//   - of calls among those: the GPU work they launched, on lanes that were not chosen too, if it overlaps the window.
// What is included for another slice's sake (the last two) brings no further ones along.
#include <string>
#include <vector>

#include "core/index/link_index.h"
#include "core/trace/crop_choice.h"

namespace gapscope {

// `lane_texts`: only lanes whose title, or whose process's title, holds one of these, whatever the case; empty: all lanes.
// A window that holds all of the trace's span, with all lanes, is everything.
CropChoice choose_crop(const Trace& trace, const LinkIndex& links, Span window,
                       const std::vector<std::string>& lane_texts = {});

}  // namespace gapscope
