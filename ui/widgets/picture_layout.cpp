#include "ui/widgets/picture_layout.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/view/document.h"
#include "ui/compare/compare_view.h"
#include "ui/timeline/timeline_panel.h"

namespace gapscope {
namespace {

Box both(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

// The side columns of any piece of the lane's GPU work; null where it has none.
const GpuRow* gpu_work_of(const Trace& trace, const Lane& lane) {
  const auto at = std::partition_point(trace.gpu.begin(), trace.gpu.end(),
                                       [&](const GpuRow& row) { return row.slice.value < lane.first_slice; });
  return at != trace.gpu.end() && at->slice.value < lane.first_slice + lane.slice_count ? &*at : nullptr;
}

class Rows {
 public:
  Rows(const Document& document, const TimelinePanel& timeline, TraceSide side, std::vector<PictureRow>& out)
      : document_(document), timeline_(timeline), side_(side), out_(out) {
    timeline.each_band_in_sight([&](const Band& band, const Box& lanes) { add(band, lanes); });
  }

 private:
  void add(const Band& band, const Box& lanes) {
    lanes_ = lanes;
    if (band.kind == BandKind::counter)
      put({(*document_.counters())[band.counter].title, RowKind::counter, -1, -1, side_, {}}, band.y, band.height);
    if (band.kind == BandKind::lane) add_lane(band);
  }

  void add_lane(const Band& band) {
    const Lane& lane = document_.trace.lane(band.lane);
    PictureRow row{lane.title, lane.kind == LaneKind::cpu_thread ? RowKind::cpu : RowKind::other, -1, -1, side_, {}};
    if (lane.kind == LaneKind::gpu_stream) {
      const Process& process = document_.trace.processes[lane.process.index()];
      if (process.is_gpu) row.device = process.device;
      if (const GpuRow* work = gpu_work_of(document_.trace, lane)) row.device = work->device, row.stream = work->stream;
    }
    if (band.stream) row.kind = RowKind::kernels;
    put_depths(row, band, 0, band.collapsed ? std::min(1u, band.depths) : band.depths);
    if (!band.spans || band.collapsed) return;
    const LaneLayout::Strip top = timeline_.layout().spans_strip(band, 0),
                            bottom = timeline_.layout().spans_strip(band, band.spans->depth_count() - 1);
    row.kind = RowKind::annotations;
    put(row, top.y, bottom.y + bottom.height - top.y);
  }

  void put_depths(const PictureRow& row, const Band& band, std::uint32_t first, std::uint32_t last) {
    if (first == last) return put(row, band.y, band.height);
    const LaneLayout::Strip top = timeline_.layout().strip(band, first), bottom = timeline_.layout().strip(band, last - 1);
    put(row, top.y, bottom.y + bottom.height - top.y);
  }

  void put(PictureRow row, float y, float height) {
    const float y0 = timeline_.window().window_y(y);
    row.box = both({lanes_.x0, y0, lanes_.x1, y0 + height}, lanes_);
    row.lane = printable(row.lane);
    if (row.box.width() > 0 && row.box.height() > 0) out_.push_back(std::move(row));
  }

  const Document& document_;
  const TimelinePanel& timeline_;
  TraceSide side_;
  std::vector<PictureRow>& out_;
  Box lanes_;
};

}  // namespace

const char* row_kind_name(RowKind kind) {
  switch (kind) {
    case RowKind::kernels: return "kernels";
    case RowKind::annotations: return "annotations";
    case RowKind::cpu: return "cpu";
    case RowKind::counter: return "counter";
    case RowKind::other: return "other";
  }
  return "other";
}

PictureLayout picture_layout(const AppUi& ui) {
  const ImDrawData& data = *ImGui::GetDrawData();
  PictureLayout layout{data.DisplaySize.x, data.DisplaySize.y, {}, drawn_texts(data, *ImGui::GetIO().Fonts), {}};
  const Box window{0, 0, layout.width, layout.height};
  for (const PanelPlace& place : ui.places()) {
    const Box box = both(place.box, window);
    if (box.width() > 0 && box.height() > 0) layout.panels.push_back({place.name, box});
  }
  if (const Document* a = ui.document_a()) Rows(*a, ui.timeline_a(), TraceSide::a, layout.rows);
  if (const Document* b = ui.compare().document()) Rows(*b, ui.compare().timeline(), TraceSide::b, layout.rows);
  return layout;
}

}  // namespace gapscope
