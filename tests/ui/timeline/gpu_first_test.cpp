// The first picture shows where the GPU works: every recording at hand, at three sizes of the window, alone and compared.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/real_traces.h"
#include "ui/panels.h"
#include "ui/widgets/picture_layout.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr std::array<std::pair<float, float>, 3> kSizes = {{{1600, 900}, {1280, 720}, {900, 560}}};

// Streams with work, by device.
std::map<std::int32_t, std::set<std::int32_t>> busy_streams(const Trace& trace) {
  std::map<std::int32_t, std::set<std::int32_t>> streams;
  for (const GpuRow& row : trace.gpu)
    if (is_gpu_work(trace.kind(row.slice))) streams[row.device].insert(row.stream);
  return streams;
}

void check_rows(const PictureLayout& layout, const Trace& trace, TraceSide side) {
  for (const auto& [device, streams] : busy_streams(trace)) {
    std::set<std::int32_t> seen;
    for (const PictureRow& row : layout.rows)
      if (row.kind == RowKind::kernels && row.trace == side && row.device == device && row.box.height() >= 7)
        seen.insert(row.stream);
    CHECK(seen.size() == std::min<std::size_t>(streams.size(), kStreamsAtFirst));
    if (streams.size() <= kStreamsAtFirst) continue;
    const std::string line = std::to_string(streams.size() - kStreamsAtFirst) + " more stream";
    CHECK(std::any_of(layout.texts.begin(), layout.texts.end(),
                      [&](const DrawnText& text) { return text.text.starts_with(line); }));
  }
}

std::shared_ptr<const Document> analyzed(const std::filesystem::path& path) {
  auto document = std::make_shared<const Document>(load_once(path));
  document->diagnose();
  return document;
}

}  // namespace

TEST_CASE("every busy stream's kernels are on the screen at start, at every size, alone and compared") {
  const auto second = analyzed(recording_or_none("fsdp_rank0"));
  REQUIRE(second);
  for (const auto& path : real_traces()) {
    const auto document = analyzed(path);
    if (!document) continue;
    for (const auto& size : kSizes) {
      const float width = size.first, height = size.second;
      CAPTURE(path.string());
      CAPTURE(width);
      HeadlessUi alone(document.get(), width, height);
      check_rows(picture_layout(alone.ui), document->trace, TraceSide::a);
      alone.input.second = second.get();
      alone.frames(5);
      CAPTURE("compared");
      const PictureLayout both = picture_layout(alone.ui);
      check_rows(both, document->trace, TraceSide::a);
      check_rows(both, second->trace, TraceSide::b);
    }
  }
}

TEST_CASE("folding a process moves nothing above it") {
  const auto document = analyzed(recording("matmul_add_64_active20"));
  REQUIRE(document);
  HeadlessUi h(document.get(), 1600, 900);
  const auto heights = [&] {
    std::vector<float> out;
    for (const PictureRow& row : picture_layout(h.ui).rows)
      if (row.kind == RowKind::counter || row.kind == RowKind::kernels) out.push_back(row.box.height());
    return out;
  };
  const std::vector<float> before = heights();
  REQUIRE(before.size() >= 2);
  LaneFolds& folds = h.ui.view().active().folds;
  for (std::size_t l = 0; l < document->trace.lanes.size(); ++l)
    if (document->trace.lanes[l].kind == LaneKind::cpu_thread &&
        !folds.process_collapsed[document->trace.lanes[l].process.index()])
      toggle_process(folds, document->trace.lanes[l].process);
  h.frames(30);
  CHECK(heights() == before);
}

TEST_CASE("with hardware counters, too, the thread that launches is on the screen at start, and a click opens the counters") {
  for (const char* name : {"recorded_add_counters", "recorded_geglu_counters", "recorded_gemm_counters"}) {
    const auto document = analyzed(recording(name));
    REQUIRE(document);
    for (const auto& size : kSizes) {
      CAPTURE(name);
      CAPTURE(size.first);
      HeadlessUi h(document.get(), size.first, size.second);
      const auto counters = [&] {
        const PictureLayout layout = picture_layout(h.ui);
        return std::count_if(layout.rows.begin(), layout.rows.end(),
                             [](const PictureRow& row) { return row.kind == RowKind::counter; });
      };
      const std::vector<LaneId>& order = h.ui.view().active().folds.lane_order;
      const auto launching = std::find_if(order.begin(), order.end(),
                                          [&](LaneId lane) { return document->trace.lane(lane).kind == LaneKind::cpu_thread; });
      REQUIRE(launching != order.end());
      const PictureLayout layout = picture_layout(h.ui);
      const auto row = std::find_if(layout.rows.begin(), layout.rows.end(), [&](const PictureRow& r) {
        return r.kind == RowKind::cpu && r.lane == document->trace.lane(*launching).title;
      });
      REQUIRE(row != layout.rows.end());
      CHECK(row->box.height() >= 8);
      CHECK(counters() == kCountersAtFirst);
      const auto is_line = [](const Zone& zone) { return zone.kind == ZoneKind::more_counters; };
      const std::vector<Zone> zones = h.ui.timeline().zones().all();
      const auto line = std::find_if(zones.begin(), zones.end(), is_line);
      REQUIRE(line != zones.end());
      h.click({line->x0 + 40, (line->y0 + line->y1) / 2});
      CHECK(counters() > kCountersAtFirst + 1);
    }
  }
}

namespace {

// All that is between the first and the last row of kernels belongs to the GPUs, A's before B's, below the one ruler; the
// counters of each stand below its own.
void check_bands(const PictureLayout& layout) {
  const auto places = [&](std::string_view name) {
    return std::count_if(layout.panels.begin(), layout.panels.end(),
                         [&](const PanelPlace& place) { return place.name == name; });
  };
  CHECK(places("ruler") == 1);
  CHECK(places("overview") <= 1);
  float ruler = 0, end_of_a = 0, begin_of_b = 1e9f, end_of_b = 0;
  for (const PanelPlace& place : layout.panels)
    if (std::string_view(place.name) == "ruler") ruler = place.box.y1;
  for (const PictureRow& row : layout.rows) {
    if (row.kind != RowKind::kernels) continue;
    CHECK(row.box.y0 >= ruler);
    if (row.trace == TraceSide::a) end_of_a = std::max(end_of_a, row.box.y1);
    if (row.trace == TraceSide::b) begin_of_b = std::min(begin_of_b, row.box.y0), end_of_b = std::max(end_of_b, row.box.y1);
  }
  CHECK(end_of_a <= begin_of_b);
  for (const PictureRow& row : layout.rows) {
    if (row.kind == RowKind::cpu) CHECK(row.box.y0 >= std::max(end_of_a, end_of_b));
    if (row.kind == RowKind::counter) CHECK(row.box.y0 >= (row.trace == TraceSide::a ? end_of_a : end_of_b));
  }
}

constexpr std::array<std::pair<const char*, const char*>, 14> kPairs = {{
    {"matmul_add_64_warm_eager", "matmul_add_64_warm_compile"},
    {"matmul_add_4096_warm_eager", "matmul_add_4096_warm_compile"},
    {"matmul_add_64_cold_eager", "matmul_add_64_warm_eager"},
    {"mlp_geglu_eager", "mlp_geglu_compile"},
    {"mlp_geglu_eager", "mlp_geglu_reduce_overhead"},
    {"transformer_baseline", "transformer_optimized"},
    {"softmax_eager", "softmax_inductor"},
    {"muladd_eager", "muladd_compile_cudagraph"},
    {"linear_eager", "linear_compile"},
    {"ddp_rank0", "ddp_rank1"},
    {"ddp_delayed_rank0", "ddp_delayed_rank1"},
    {"fsdp_rank0", "fsdp_rank1"},
    {"pp_rank0", "pp_rank1"},
    {"tp_rank0", "tp_rank1"},
}};

}  // namespace

TEST_CASE("of two traces the GPUs lie under each other below one ruler, at every size") {
  std::size_t seen = 0;
  for (const auto& names : kPairs) {
    const char *first = names.first, *second = names.second;
    const auto a = analyzed(recording_or_none(first)), b = analyzed(recording_or_none(second));
    if (!a || !b) continue;
    ++seen;
    for (const auto& size : kSizes) {
      const float width = size.first, height = size.second;
      CAPTURE(first);
      CAPTURE(second);
      CAPTURE(width);
      HeadlessUi h(a.get(), width, height);
      h.input.second = b.get();
      h.frames(5);
      const PictureLayout layout = picture_layout(h.ui);
      check_rows(layout, a->trace, TraceSide::a);
      check_rows(layout, b->trace, TraceSide::b);
      check_bands(layout);
    }
  }
  CHECK(seen == kPairs.size());
}

TEST_CASE("the GPU stays in sight while the threads scroll") {
  const auto document = analyzed(recording_or_none("transformer_baseline"));
  REQUIRE(document);
  HeadlessUi h(document.get(), 1280, 720);
  const auto kernels = [&] {
    for (const PictureRow& row : picture_layout(h.ui).rows)
      if (row.kind == RowKind::kernels) return row.box.y0;
    return -1.0f;
  };
  const float before = kernels();
  CHECK(before > 0);
  h.ui.view().active().scroll_px = 200;
  h.frames(2);
  REQUIRE(h.ui.view().active().scroll_px > 0);
  CHECK(kernels() == before);
}

TEST_CASE("with nothing selected the panels below shrink to their tabs in a low window, and keep their height") {
  const auto document = analyzed(recording_or_none("transformer_baseline"));
  REQUIRE(document);
  HeadlessUi h(document.get(), 1100, 560);
  const auto drawer = [&] {
    for (const PanelPlace& place : h.ui.places())
      if (std::string(place.name) == "drawer") return place.box.height();
    return 0.0f;
  };
  const float kept = h.ui.view().window.settings.sizes.bottom_px;
  CHECK(drawer() > 0);
  CHECK(drawer() < 50);
  select_slice(h.ui.view().active(), SliceId(0), /*reveal=*/false);
  h.frames(3);
  CHECK(drawer() > 100);
  CHECK(h.ui.view().window.settings.sizes.bottom_px == kept);
  h.ui.view().active().selection = {};
  h.frames(2);
  CHECK(drawer() < 50);
}

TEST_CASE(
    "in a low window the second click of a double-click reaches what the first one did, and the details come up after it") {
  const auto document = analyzed(recording_or_none("transformer_baseline"));
  REQUIRE(document);
  HeadlessUi h(document.get(), 1100, 560);
  const auto drawer_top = [&] {
    for (const PanelPlace& place : h.ui.places())
      if (std::string(place.name) == "drawer") return place.box.y0;
    return 0.0f;
  };
  const Zone* lowest = nullptr;
  for (const Zone& zone : h.ui.timeline().zones().all())
    if (zone.kind == ZoneKind::slice && zone.y1 < drawer_top() && zone.x1 - zone.x0 > 8 && (!lowest || zone.y0 > lowest->y0))
      lowest = &zone;
  REQUIRE(lowest);
  const SliceId slice = lowest->slice;
  const ImVec2 at{(lowest->x0 + lowest->x1) / 2, (lowest->y0 + lowest->y1) / 2};
  const Span before = h.ui.view().active().time.span;
  h.click(at);
  CHECK(h.ui.view().active().selection == slice);
  CHECK(h.ui.moving());  // frames come without any input
  h.button = true;
  h.frame();
  h.button = false;
  h.frame();
  h.frames(30);
  CHECK(h.ui.view().active().selection == slice);
  CHECK(h.ui.view().active().time.span != before);
  CHECK(h.ui.view().active().time.span.contains(document->trace.begin(slice)));
  CHECK(drawer_top() < at.y);
  CHECK_FALSE(h.ui.moving());
}

TEST_CASE("a click on a gap selects it, and Details says what came next and what the host was in") {
  const auto document = analyzed(recording_or_none("transformer_baseline"));
  REQUIRE(document);
  HeadlessUi h(document.get(), 1600, 900);
  const Zone* widest = nullptr;
  for (const Zone& zone : h.ui.timeline().zones().all())
    if (zone.kind == ZoneKind::gap && (!widest || zone.x1 - zone.x0 > widest->x1 - widest->x0)) widest = &zone;
  REQUIRE(widest);
  const std::size_t gap = widest->first;
  h.click({(widest->x0 + widest->x1) / 2, (widest->y0 + widest->y1) / 2});
  REQUIRE(h.ui.view().active().gaps.chosen);
  CHECK(h.ui.view().active().gaps.chosen->gap == gap);
  h.mouse = {-1, -1};
  h.frames(3);
  std::string all;
  for (const DrawnText& text : picture_layout(h.ui).texts) all += text.text + "\n";
  CHECK(all.find("is idle for") != std::string::npos);
  CHECK(all.find("ended by") == std::string::npos);  // which reads as if it were responsible
  CHECK(all.find("Next on the GPU") != std::string::npos);
  CHECK(all.find("launched by") != std::string::npos);
  h.ui.view().active().selection = SliceId(0);
  h.frames(2);
  CHECK_FALSE(h.ui.view().active().gaps.chosen);
}

TEST_CASE("Details of a gap say what helps in this trace, not what helps in general") {
  const auto document = analyzed(recording_or_none("matmul_add_64_warm_compile"));  // compiled already, without graphs
  REQUIRE(document);
  HeadlessUi h(document.get(), 1600, 900);
  const DeviceAccount& device = *document->analysis()->account().busiest();
  const std::size_t gap = device.longest_gaps(1).front();
  REQUIRE(device.gaps[gap].main == IdleCause::op);
  choose_gap(*document, h.ui.view().active(), h.ui.view().window, device.device, gap, /*go_there=*/true);
  show_panel(h.ui.view().window, "details");
  h.frames(5);
  std::string all;
  for (const DrawnText& text : picture_layout(h.ui).texts) all += text.text;
  std::erase_if(all, [](char c) { return c == ' '; });  // lines end where they must
  CAPTURE(all);
  CHECK(all.find("mode=\"reduce-overhead\"") != std::string::npos);
  CHECK(all.find("torch.compile,CUDAgraphs") == std::string::npos);
}

namespace {

// The colour of each pixel of a box, from the filled rectangles of the picture in the order of drawing; text is left out.
class Pixels {
 public:
  explicit Pixels(const Box& box) : box_(box), width_(static_cast<int>(box.width())), height_(static_cast<int>(box.height())) {
    colours_.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    const ImVec2 white = ImGui::GetIO().Fonts->TexUvWhitePixel;
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int l = 0; l < data.CmdListsCount; ++l) {
      const ImDrawList& list = *data.CmdLists[l];
      for (const ImDrawCmd& cmd : list.CmdBuffer)
        for (unsigned i = 0; i + 6 <= cmd.ElemCount; i += 3) {
          const ImDrawIdx* index = &list.IdxBuffer[static_cast<int>(cmd.IdxOffset + i)];
          const auto vertex = [&](int k) -> const ImDrawVert& {
            return list.VtxBuffer[static_cast<int>(cmd.VtxOffset + index[k])];
          };
          const bool is_rect = index[3] == index[0] && index[4] == index[2] && vertex(0).pos.y == vertex(1).pos.y;
          if (!is_rect || vertex(0).uv.x != white.x || vertex(0).uv.y != white.y || vertex(2).uv.x != white.x) continue;
          fill({std::max(vertex(0).pos.x, cmd.ClipRect.x), std::max(vertex(0).pos.y, cmd.ClipRect.y),
                std::min(vertex(2).pos.x, cmd.ClipRect.z), std::min(vertex(2).pos.y, cmd.ClipRect.w)},
               vertex(0).col);
          i += 3;
        }
    }
  }
  double share(const std::set<ImU32>& inks) const {
    const auto count = std::count_if(colours_.begin(), colours_.end(), [&](ImU32 c) { return inks.count(c) > 0; });
    return static_cast<double>(count) / static_cast<double>(colours_.size());
  }

 private:
  void fill(const Box& part, ImU32 ink) {
    if (ink >> 24 < 0xFF) return;  // a tint leaves what is below
    const int x0 = std::max(0, static_cast<int>(part.x0 - box_.x0)), x1 = std::min(width_, static_cast<int>(part.x1 - box_.x0));
    const int y0 = std::max(0, static_cast<int>(part.y0 - box_.y0)),
              y1 = std::min(height_, static_cast<int>(part.y1 - box_.y0));
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x)
        colours_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)] = ink;
  }
  Box box_;
  int width_, height_;
  std::vector<ImU32> colours_;
};

std::set<ImU32> inks_of_slices() {
  std::set<ImU32> inks;
  for (std::size_t hue = 0; hue < kHues; ++hue)
    for (std::size_t shade = 0; shade < kShades; ++shade) {
      const Paint& paint = paint_of(Palette::usual, static_cast<Hue>(hue), static_cast<std::uint8_t>(shade));
      inks.insert(colour(paint.fill));
      inks.insert(colour(paint.edge));
    }
  return inks;
}

// Share of the time in view in which the row has a slice.
double busy_share(const RowSlices& row, Span view) {
  Ns busy = 0;
  for (std::size_t i = 0; i < row.begin.size(); ++i) busy += intersect({row.begin[i], row.end[i]}, view).length();
  return static_cast<double>(busy) / static_cast<double>(view.length());
}

}  // namespace

TEST_CASE("a row of kernels is as full as its stream was busy, at every zoom, in every recording") {
  const std::set<ImU32> inks = inks_of_slices();
  std::size_t rows = 0;
  for (const auto& path : real_traces()) {
    const auto document = analyzed(path);
    if (!document) continue;
    CAPTURE(path.filename().string());
    HeadlessUi h(document.get(), 1600, 900);
    const Span whole = h.ui.view().active().time.span;
    for (const double zoom : {1.0, 0.1, 0.01}) {
      h.ui.view().active().time = zoomed(TimeView{whole, 0, 0}, zoom, 0.4, document->trace.span);
      h.frames(3);
      CAPTURE(zoom);
      const TimelinePanel& timeline = h.ui.timeline();
      const Span view = h.ui.view().active().time.span;
      timeline.each_band_in_sight([&](const Band& band, const Box& lanes) {
        if (!band.stream || band.collapsed || band.kind != BandKind::lane) return;
        const LaneLayout::Strip strip = timeline.layout().strip(band, 0);
        const float y = timeline.window().window_y(strip.y);
        if (y < lanes.y0 || y + strip.height > lanes.y1) return;
        const RowSlices row = row_of(document->trace, document->lanes, band, 0);
        const double filled = Pixels({lanes.x0, y, lanes.x1, y + strip.height}).share(inks);
        CAPTURE(document->trace.lane(band.lane).title);
        const double busy = busy_share(row, view);
        CHECK_MESSAGE(std::abs(filled - busy) <= 0.03, filled << " filled, " << busy << " busy");
        ++rows;
      });
    }
  }
  CHECK(rows > 60);
}
