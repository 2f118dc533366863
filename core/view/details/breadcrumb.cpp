#include "core/view/details/breadcrumb.h"

#include <numeric>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

LaneId first_lane_of(const Trace& trace, ProcessId process) {
  for (std::size_t l = 0; l < trace.lanes.size(); ++l) {
    if (trace.lanes[l].process == process) return LaneId(l);
  }
  return {};
}

void add_place(const Trace& trace, LaneId lane_id, std::vector<Breadcrumb>& out) {
  const Lane& lane = trace.lane(lane_id);
  const Process& process = trace.processes[lane.process.index()];
  if (!process.title.empty()) out.push_back({Breadcrumb::Part::process, process.title, first_lane_of(trace, lane.process), {}});
  out.push_back({Breadcrumb::Part::lane, lane.title, lane_id, {}});
}

void add_slice(const Trace& trace, SliceId slice, std::vector<Breadcrumb>& out) {
  out.push_back({Breadcrumb::Part::slice, shown_name(trace, slice), {}, slice});
}

}  // namespace

std::vector<Breadcrumb> breadcrumb(const Document& doc, SliceId slice) {
  if (!slice) return {};
  const Trace& trace = doc.trace;
  const SliceId call = is_on_gpu(trace.kind(slice)) ? doc.links.call_of(slice) : SliceId{};
  const SliceId innermost = call ? call : slice;
  std::vector<Breadcrumb> crumbs;
  add_place(trace, trace.lane_id(innermost), crumbs);
  for (const SliceId s : doc.lanes.ancestors(innermost)) add_slice(trace, s, crumbs);
  if (call) add_slice(trace, call, crumbs);
  add_slice(trace, slice, crumbs);
  const auto launched = doc.links.launched_by(slice);
  if (launched.size() == 1) add_slice(trace, launched.front(), crumbs);
  return crumbs;
}

std::pair<std::size_t, std::size_t> folded_crumbs(std::span<const float> widths, float separator, float dots, float room) {
  const std::size_t n = widths.size();
  const float all = std::accumulate(widths.begin(), widths.end(), 0.0f) + separator * static_cast<float>(n > 0 ? n - 1 : 0);
  if (all <= room || n < 3) return {0, 0};
  float left = room - widths[0] - separator - dots - separator - widths[n - 1];
  std::size_t first = 1, last = n - 1;
  if (first + 1 < last && left >= widths[1] + separator) left -= widths[first++] + separator;
  while (last > first + 1 && left >= widths[last - 1] + separator) left -= widths[--last] + separator;
  return {first, last};
}

}  // namespace gapscope
