#include "core/view/flame/flame_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/analyze/modules/module_paths.h"
#include "core/analyze/op_table/op_events.h"
#include "core/base/demangle.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/modules/modules_model.h"
#include "core/view/selection/area_model.h"

namespace gapscope {
namespace {

std::string share_text(Ns part, Ns whole) { return format_part(part, whole, "-"); }

SliceColours::Class colour_of(const Trace& trace, const CallPaths& paths, std::uint32_t node) {
  const SliceId slice = paths.slice[node];
  if (!slice) return {Hue::other, 0};
  return {hue_of(trace.kind(slice), trace.name(slice)), shade_of(trace.name(slice))};
}

}  // namespace

bool is_of_gpus_alone(const Trace& trace, const TraceView& view) {
  const Area* area = marked_area(view);
  return area && !area->lanes.empty() && std::all_of(area->lanes.begin(), area->lanes.end(), [&](LaneId lane) {
           return trace.lane(lane).kind == LaneKind::gpu_stream;
         });
}

FlameQuestion flame_question(const Trace& trace, const TraceView& view) {
  const PathTime time = view.flame.time;
  std::optional<Area> area = time == PathTime::module ? std::nullopt : shown_area(trace, view);
  return {area ? std::move(*area) : whole_area(trace), time};
}

std::shared_ptr<const FlameAnswer> answer(const Document& document, const FlameQuestion& question,
                                          const std::atomic<bool>* cancel) {
  if (question.time == PathTime::module) {
    const auto use = answer(document, ModulesQuestion{}, cancel);
    if (!use) return nullptr;
    return std::make_shared<const FlameAnswer>(FlameAnswer{question, module_paths(document.trace, *use)});
  }
  std::optional<CallPaths> paths =
      call_paths(document.trace, document.lanes, document.links, question.area, question.time, cancel);
  return paths ? std::make_shared<const FlameAnswer>(FlameAnswer{question, std::move(*paths)}) : nullptr;
}

void arrange_flame(const Trace& trace, const std::shared_ptr<const FlameAnswer>& answer, FlameState& state, float width_px) {
  FlameState::Arranged& made = state.arranged;
  const CallPaths& paths = answer->paths;
  if (made.of != answer || state.zoom >= paths.size()) state.zoom = 0;
  if (made.of == answer && made.order == state.order && made.zoom == state.zoom && made.width_px == width_px) return;
  made = {answer, state.order, state.zoom, width_px, lay_out_flame(paths, state.order, state.zoom, width_px), {}, 0};
  for (const FlameBox& box : made.boxes) {
    made.colours.push_back(colour_of(trace, paths, box.node));
    made.rows = std::max(made.rows, box.row + 1);
  }
}

std::string path_name(const Trace& trace, const CallPaths& paths, std::uint32_t node) {
  if (node == 0) return "all";
  if (paths.lane[node]) return trace.lane(paths.lane[node]).title;
  const SliceId slice = paths.slice[node];
  if (slice && trace.kind(slice) == Kind::kernel) return shown_name(trace, slice);
  return demangle(row_name(trace.strings[paths.name[node]]));
}

std::string box_text(const Trace& trace, const CallPaths& paths, const FlameBox& box) {
  const Ns all = paths.total[0];
  if (box.folded > 0)
    return fmt::format("{} paths, each narrower than a pixel\ntotal  {}  {} of all", box.folded, format_duration(box.total),
                       share_text(box.total, all));
  const std::uint32_t node = box.node;
  std::string text =
      printable(path_name(trace, paths, node)) +
      fmt::format("\ntotal  {}  {} of all", format_duration(paths.total[node]), share_text(paths.total[node], all));
  if (node != 0 && paths.parent[node] != 0)
    text += ", " + share_text(paths.total[node], paths.total[paths.parent[node]]) + " of what is above it";
  text += fmt::format("\nself   {}  {} of all", format_duration(paths.own[node]), share_text(paths.own[node], all));
  if (paths.count[node] > 0) text += "\ncount  " + format_count(static_cast<std::int64_t>(paths.count[node]));
  return text;
}

std::uint32_t zoom_of(const CallPaths& paths, const FlameBox& box) {
  return box.folded > 0 ? paths.parent[box.node] : box.node;
}

}  // namespace gapscope
