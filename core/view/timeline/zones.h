#pragma once
// What is under the pointer: the rectangles that this frame drew, asked backwards, so what was drawn last is on top.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace gapscope {

enum class ZoneKind : std::uint8_t {
  none,
  slice,
  run,
  instants,
  lane_title,
  pin,
  python,  // of a lane's title: shows or folds its Python frames
  process_title,
  flow_end,
  counter,
  counter_title,
  badge,
  more_streams,
  more_counters,
  gap,
  replayed,  // work of a replayed GPU
  path       // what holds the run back
};

struct Zone {
  ZoneKind kind = ZoneKind::none;
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // [x0, x1) x [y0, y1), px of the window
  SliceId slice;                         // slice; longest of a run or of replayed work; where a flow end leads
  LaneId lane;                           // lane_title, python, instants
  ProcessId process;                     // process_title, more_streams, more_counters
  std::uint32_t first = 0;  // position in Trace::instants; counter: in Document::counters; badge: in Diagnosis::findings;
                            // gap: in DeviceAccount::gaps; path: of a stretch in it
  std::uint32_t count = 0;  // of a run, of replayed work, of instants, of marks in a badge, of stretches
  Span span;                // of a run
  std::uint32_t place = 0;  // badge: position in the finding's spans; path: 1 of the replayed one

  bool holds(float x, float y) const { return x0 <= x && x < x1 && y0 <= y && y < y1; }
};

class Zones {
 public:
  void clear() { zones_.clear(), unclip(); }
  // Until unclip(), zones end at these edges; what is beyond them is left out.
  void clip(float y0, float y1) { y0_ = y0, y1_ = y1; }
  void unclip() { clip(std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()); }
  void add(Zone zone) {
    zone.y0 = std::max(zone.y0, y0_);
    zone.y1 = std::min(zone.y1, y1_);
    if (zone.y0 < zone.y1) zones_.push_back(zone);
  }
  // The topmost zone at a point; kind none where there is nothing.
  Zone at(float x, float y) const;
  const std::vector<Zone>& all() const { return zones_; }

 private:
  std::vector<Zone> zones_;
  float y0_ = std::numeric_limits<float>::lowest(), y1_ = std::numeric_limits<float>::max();
};

}  // namespace gapscope
