#pragma once
// Rows between the ruler and the lanes, on the same axis: the critical path of the run, and the GPUs as they would be with the
// changes of the tab "What if". What they show comes from core/view/whatif/whatif_model.h.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/view/view_state.h"
#include "core/view/whatif/whatif_model.h"

namespace gapscope {

struct Document;

struct TimelineScene;
struct Zone;

// What there is to show, from top to bottom: the path, the replayed GPUs, their path.
struct ReplayRows {
  bool with_path = false;
  std::shared_ptr<const ReplayBase> base;      // null: not there yet
  std::shared_ptr<const WhatIfAnswer> answer;  // null: no ghost is shown

  std::size_t gpus() const;
  float height(float scale) const;  // px of the display; 0: no rows
};
ReplayRows replay_rows_of(const Document& document, const TraceView& view);

// What the host is in during stretches that were looked at, cached between frames: by position in the path.
struct PathShares {
  std::shared_ptr<const void> of;  // the base or answer whose path that is
  std::map<std::uint32_t, std::vector<HostShare>> shares;
};

void draw_replay_rows(TimelineScene& scene);
// The recorded path over the slices that it goes through.
void draw_path_over_slices(TimelineScene& scene);
// Of a zone of these rows: lines of a tooltip.
void draw_replayed_lines(const TimelineScene& scene, const Zone& zone);
void draw_path_lines(const TimelineScene& scene, const Zone& zone);

}  // namespace gapscope
