#include "core/index/choose_crop.h"

#include <algorithm>

#include "core/base/text.h"

namespace gapscope {
namespace {

bool is_wanted(const Trace& trace, const Lane& lane, const std::vector<std::string>& texts) {
  return texts.empty() || std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
           return contains_ignore_case(lane.title, text) ||
                  contains_ignore_case(trace.processes[lane.process.index()].title, text);
         });
}

// A slice without length is an instant: it overlaps the window that its time is in.
bool overlaps(Span slice, Span window) { return slice.empty() ? window.contains(slice.begin) : slice.overlaps(window); }

class Chooser {
 public:
  Chooser(const Trace& trace, const LinkIndex& links, CropChoice& choice) : trace_(trace), links_(links), choice_(choice) {}

  void run() {
    take_overlapping();
    const std::vector<bool> own = choice_.slices;
    for (const GpuRow& row : trace_.gpu) {
      if (!own[row.slice.index()]) continue;
      take_partner(links_.call_of(row));
      take_partner(links_.owner_op(row));
    }
    for (const Call& call : trace_.calls) {
      if (!own[call.slice.index()]) continue;
      for (const SliceId launched : links_.launched_by(call.slice))
        if (overlaps(trace_.span_of(launched), choice_.window)) take_partner(launched);
    }
  }

 private:
  void take_overlapping() {
    for (const Lane& lane : trace_.lanes) {
      if (!choice_.lanes[static_cast<std::size_t>(&lane - trace_.lanes.data())]) continue;
      for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s)
        if (overlaps(trace_.span_of(SliceId(s)), choice_.window)) take(SliceId(s));
    }
  }

  void take(SliceId slice) {
    choice_.slices[slice.index()] = true;
    ++choice_.slice_count;
  }

  void take_partner(SliceId slice) {
    if (!slice.valid() || choice_.slices[slice.index()]) return;
    take(slice);
    ++choice_.partners;
  }

  const Trace& trace_;
  const LinkIndex& links_;
  CropChoice& choice_;
};

}  // namespace

CropChoice choose_crop(const Trace& trace, const LinkIndex& links, Span window, const std::vector<std::string>& lane_texts) {
  CropChoice choice;
  choice.window = window;
  choice.everything = lane_texts.empty() && window.contains(trace.span);
  choice.slices.assign(trace.slice_count(), choice.everything);
  for (const Lane& lane : trace.lanes) choice.lanes.push_back(is_wanted(trace, lane, lane_texts));
  choice.slice_count = choice.everything ? trace.slice_count() : 0;
  if (!choice.everything) Chooser(trace, links, choice).run();
  return choice;
}

}  // namespace gapscope
