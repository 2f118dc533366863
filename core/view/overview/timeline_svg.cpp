#include "core/view/overview/timeline_svg.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/view/overview/html.h"
#include "core/view/timeline/slice_colour.h"

namespace gapscope {
namespace {

constexpr int kWidth = 1100, kTitleWidth = 150, kPlotWidth = kWidth - kTitleWidth;
constexpr int kRowHeight = 15, kAxisHeight = 18, kLaneGap = 5;
constexpr int kLeastTextPx = 34;
constexpr double kCharPx = 6.1;
constexpr std::size_t kMostStreams = 6, kMostThreads = 3;
constexpr int kMostRows = 8;         // of a lane
constexpr double kFillsView = 0.98;  // a single slice that covers so much says nothing about the time in it
constexpr double kLeastCovered = 0.01;
constexpr double kLeastHover = 3;  // px: a thinner one is hit by chance
constexpr std::size_t kLongestTitle = 120;
constexpr int kTicks = 6;

class Picture {
 public:
  Picture(const Trace& trace, const LaneIndex& lanes, Span view) : trace_(trace), lanes_(lanes), view_(view), colours_(trace) {}

  std::string draw() {
    std::vector<LaneId> shown = busiest(LaneKind::gpu_stream, kMostStreams);
    const std::vector<LaneId> threads = busiest(LaneKind::cpu_thread, kMostThreads);
    shown.insert(shown.end(), threads.begin(), threads.end());
    if (shown.empty() || view_.empty()) return {};
    axis();
    for (const LaneId lane : shown) add_lane(lane);
    return fmt::format(
        "<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"system-ui, sans-serif\" "
        "font-size=\"11\">\n{2}</svg>\n",
        kWidth, y_, out_);
  }

 private:
  // Of one kind, those with the most slices that touch the view, in the order of the window.
  std::vector<LaneId> busiest(LaneKind kind, std::size_t most) const {
    std::vector<LaneId> found;
    for (std::size_t l = 0; l < trace_.lanes.size(); ++l)
      if (trace_.lanes[l].kind == kind && trace_.lanes[l].slice_count > 0 && trace_.lanes[l].span.overlaps(view_))
        found.push_back(LaneId(l));
    std::stable_sort(found.begin(), found.end(), [&](LaneId a, LaneId b) { return trace_.lane(a).busy > trace_.lane(b).busy; });
    found.resize(std::min(found.size(), most));
    std::sort(found.begin(), found.end());
    return found;
  }

  double x_of(Ns t) const {
    return kTitleWidth + static_cast<double>(t - view_.begin) / static_cast<double>(view_.length()) * kPlotWidth;
  }

  void axis() {
    for (int i = 0; i < kTicks; ++i) {
      const Ns after = view_.length() / kTicks * i;
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"12\" fill=\"#4a5464\">{}</text>\n", x_of(view_.begin + after),
                          html_text(format_duration(view_.begin - trace_.span.begin + after)));
    }
    y_ = kAxisHeight;
  }

  void add_lane(LaneId lane_id) {
    const Lane& lane = trace_.lane(lane_id);
    std::string boxes;
    int rows = 0;
    for (std::uint32_t depth = 0; depth < lane.depth_count && rows < kMostRows; ++depth)
      if (add_row(trace_.row_id(lane_id, depth), y_ + rows * kRowHeight, boxes)) ++rows;
    if (rows == 0) return;
    out_ += cut_text({0, static_cast<double>(y_)}, kTitleWidth - 6, "#1c2430", html_text(elide_middle(lane.title, 24)));
    out_ += boxes;
    y_ += rows * kRowHeight + kLaneGap;
  }

  bool add_row(RowId row, int y, std::string& boxes) {
    items_.clear();
    lanes_.visible(row, view_, kPlotWidth, items_);
    if (items_.empty() || (items_.size() == 1 && fills_view(items_.front()))) return false;
    // Of a thread's outer frames between the steps there is nothing to see.
    if (trace_.lanes[trace_.rows[row.index()].lane.index()].kind == LaneKind::cpu_thread && covered() < kLeastCovered)
      return false;
    for (const VisibleItem& item : items_) add_box(item, y, boxes);
    return true;
  }

  double share(const VisibleItem& item) const {
    return static_cast<double>(intersect({item.begin, item.end}, view_).length()) / static_cast<double>(view_.length());
  }
  bool fills_view(const VisibleItem& item) const { return share(item) >= kFillsView; }
  double covered() const {
    double sum = 0;
    for (const VisibleItem& item : items_) sum += share(item);
    return sum;
  }

  void add_box(const VisibleItem& item, int y, std::string& boxes) {
    const double begin = x_of(std::max(item.begin, view_.begin)), end = x_of(std::min(item.end, view_.end));
    const double width = std::max(end - begin, 0.5);
    const SliceColours::Class c = colours_.of(item.slice);
    const Paint& paint = paint_of(Palette::usual, c.hue, c.shade);
    // What it is and how long, under the pointer.
    const bool has_title = item.count == 1 && width >= kLeastHover;
    if (has_title)
      boxes += fmt::format("<g><title>{}, {}</title>", html_text(elide_middle(shown_name(trace_, item.slice), kLongestTitle)),
                           html_text(format_duration(trace_.duration(item.slice))));
    boxes += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>", begin, y, width,
                         kRowHeight - 1, html_color(paint.fill));
    const auto chars = static_cast<std::size_t>(std::max(0.0, width - 4) / kCharPx);
    if (has_title && width >= kLeastTextPx)
      boxes += cut_text({begin + 2, static_cast<double>(y)}, width - 3, html_color(paint.text),
                        html_text(elide_middle(shown_name(trace_, item.slice), chars)));
    if (has_title) boxes += "</g>\n";
  }

  struct Place {
    double x, y;
  };
  // A browser's letters may be wider than ours: what does not fit is cut off.
  static std::string cut_text(Place at, double width, std::string_view ink, std::string_view html) {
    return fmt::format(
        "<svg x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\"><text y=\"11\" fill=\"{}\">{}</text></svg>\n", at.x,
        at.y, width, kRowHeight, ink, html);
  }

  const Trace& trace_;
  const LaneIndex& lanes_;
  const Span view_;
  SliceColours colours_;
  std::vector<VisibleItem> items_;
  std::string out_;
  int y_ = 0;
};

}  // namespace

std::string timeline_svg(const Trace& trace, const LaneIndex& lanes, Span view) { return Picture(trace, lanes, view).draw(); }

}  // namespace gapscope
