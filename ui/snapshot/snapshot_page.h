#pragma once
// A memory snapshot in the window: allocations over time above; below them what holds the memory at the chosen moment, as a
// flame graph, by line, and as a map of the segments; at the right the answer, and the block that was clicked.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/trace.h"
#include "core/view/timeline/slice_colour.h"
#include "ui/snapshot/memory_areas.h"
#include "ui/snapshot/snapshot_layouts.h"
#include "ui/timeline/painter.h"
#include "ui/timeline/timeline_input.h"

namespace gapscope {

// What the snapshot held after an event, none: when it was taken. Worked out off the UI thread.
struct AskMoment {
  std::size_t device = 0;  // in OpenedSnapshot::devices
  std::optional<std::uint32_t> event;
};

// What the session has of it; both outlive the frame.
struct SnapshotScene {
  const OpenedSnapshot* opened = nullptr;
  const SnapshotMoment* moment = nullptr;  // the newest answer to AskMoment; null before the first
};

// A strip of the program's annotations.
struct AnnotationSpan {
  StringId name;
  Ns begin = 0, end = 0;  // positions on the axis
};

class SnapshotPage {
 public:
  enum class Tab : std::uint8_t { flame, lines, segments, grows, compare };
  static std::optional<Tab> tab_of(std::string_view name);
  static std::string_view name_of(Tab tab);

  // Another snapshot than in the frame before is shown from its beginning.
  void draw(const Box& box, const SnapshotScene& scene, WindowState& window, const TimelineKeys& keys, double delta_s);
  // What the last frame asked for, once.
  std::optional<AskMoment> take_question() { return std::exchange(question_, std::nullopt); }
  // The file to open for WindowState::link, once.
  std::optional<std::string> take_trace() { return std::exchange(trace_, std::nullopt); }
  // Takes Esc, F and Home, where they have something to do here.
  void take_keys(std::vector<KeyPress>& presses, const WindowState& window);
  // No snapshot is shown in this frame: the next one is another, wherever it is. A trace may be, about this time of its own:
  // a snapshot that comes back with it begins there.
  void forget(const Trace* shown, Ns middle);
  bool moving() const { return view_.move.active || motion_.moving(); }

  // For who shows a certain part of it.
  void show(Tab tab) { tab_ = tab, tab_chosen_ = true; }
  void show_by_time(bool by_time);
  void zoom(double share);  // of all events, around their middle
  void pan(double widths);
  Tab tab() const { return tab_; }
  const TimeView& time() const { return view_.time; }
  std::size_t device() const { return device_; }
  std::optional<std::uint32_t> wanted_event() const { return wanted_; }
  std::optional<std::uint32_t> chosen_block() const { return block_; }
  const Box& chart() const { return chart_; }
  const MemoryAreas& areas() const { return areas_; }
  const std::string& headline() const { return headline_; }

 private:
  struct Drawing;  // of a frame

  void adopt(const OpenedSnapshot& opened);
  void show_in_trace(Drawing& d);
  void choose_device(const OpenedSnapshot& opened, std::size_t device);
  void find_annotations(const OpenedSnapshot& opened);
  void want(std::optional<std::uint32_t> event);
  MemoryAxis axis(const OpenedSnapshot& opened) const { return {*opened.devices[device_].device, by_time_}; }

  void draw_toolbar(Drawing& d);
  void draw_chart(Drawing& d, const Box& box);
  void draw_annotations(Drawing& d, const Box& strip);
  void draw_areas(Drawing& d);
  void draw_marks(Drawing& d, const Box& strip);
  void draw_ticks(Drawing& d, const Box& ruler);
  void point_at_chart(Drawing& d);
  void choose_at(Drawing& d, std::uint32_t column, std::int64_t bytes);
  void draw_tabs(Drawing& d);
  void draw_flame(Drawing& d);
  void draw_lines(Drawing& d);
  void draw_segments(Drawing& d);
  void draw_growth(Drawing& d);
  void draw_comparison(Drawing& d);
  void draw_inspector(Drawing& d);
  void draw_moment(Drawing& d);
  void draw_block(Drawing& d);

  const OpenedSnapshot* opened_ = nullptr;  // of the last frame
  std::string path_;
  std::string headline_;
  TraceView view_;  // its axis
  TimelineMotion motion_;
  std::size_t device_ = 0;
  bool by_time_ = false;
  std::optional<AskMoment> question_;
  std::optional<std::string> trace_;
  std::string trace_before_;             // that was shown instead of a snapshot
  Ns time_before_ = 0;                   // of it, since 1970
  bool asked_ = false;                   // for the moment that is wanted
  std::optional<std::uint32_t> wanted_;  // event; none: when the snapshot was taken
  std::optional<std::uint32_t> block_;   // in BlockHistory::blocks()
  Tab tab_ = Tab::flame;
  bool tab_chosen_ = false;  // for the snapshot that comes next
  std::uint32_t zoom_ = 0;   // node of the flame graph
  std::vector<AnnotationSpan> annotations_;
  MemoryAreas areas_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> reserved_;  // after each event that changes it
  std::int64_t most_ = 1;                                         // at the top of the chart
  Box chart_;
  std::vector<HolderBox> boxes_;
  SegmentMap map_;
  std::vector<const Paint*> box_paints_, map_paints_;  // of each box; null of a hole
  const SnapshotMoment* boxes_of_ = nullptr;           // what boxes_ and map_ are of
  float boxes_width_ = 0, map_width_ = 0;
  std::uint32_t boxes_zoom_ = 0;
};

}  // namespace gapscope
