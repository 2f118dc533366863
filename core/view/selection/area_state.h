#pragma once
// The states of the marked area and of the tabs "Selection" and "Flame", owned by TraceView, and what these tabs ask. Until an
// answer is there the last is shown.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/analyze/operators/call_paths.h"
#include "core/analyze/selection/area_columns.h"
#include "core/view/flame/flame_layout.h"
#include "core/view/table/table_look.h"
#include "core/view/timeline/slice_colour.h"

namespace gapscope {

struct Document;
struct AreaQuestion {
  using Answer = AreaStats;
  static constexpr const char* kToDo = "look at what is selected";
  Area area;
  friend bool operator==(const AreaQuestion&, const AreaQuestion&) = default;
};
std::shared_ptr<const AreaStats> answer(const Document& document, const AreaQuestion& question,
                                        const std::atomic<bool>* cancel);

struct AreaState {
  std::optional<Area> area;  // as marked; it holds as long as TraceView::range is its time (see shown_area)
  AreaTable table = AreaTable::name;
  TableLook look;
  std::optional<std::uint32_t> selected;  // key of a row
  ArrangedRows arranged;
};

struct FlameAnswer;
struct FlameQuestion {
  using Answer = FlameAnswer;
  static constexpr const char* kToDo = "add up the call paths";
  Area area;
  PathTime time = PathTime::cpu;
  friend bool operator==(const FlameQuestion&, const FlameQuestion&) = default;
};
struct FlameAnswer {
  FlameQuestion question;
  CallPaths paths;
};
std::shared_ptr<const FlameAnswer> answer(const Document& document, const FlameQuestion& question,
                                          const std::atomic<bool>* cancel);

struct FlameState {
  PathTime time = PathTime::cpu;
  PathOrder order = PathOrder::widest;
  std::uint32_t zoom = 0;  // node that fills the width

  struct Arranged {
    std::shared_ptr<const FlameAnswer> of;
    PathOrder order{};
    std::uint32_t zoom = 0;
    float width_px = 0;
    std::vector<FlameBox> boxes;
    std::vector<SliceColours::Class> colours;  // of each box
    std::uint32_t rows = 0;
  } arranged;
};

}  // namespace gapscope
