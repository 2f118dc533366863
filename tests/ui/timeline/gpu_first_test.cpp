// The first picture shows where the GPU works: every recording at hand, at three sizes of the window, alone and compared.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/load/load_trace.h"
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
  const auto trace = load_trace(path.string());
  if (!trace.ok()) return nullptr;
  auto document = std::make_shared<const Document>(*trace);
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

// All that lies between the first and the last row of kernels belongs to the GPUs, A's before B's, below the one ruler.
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
  for (const PictureRow& row : layout.rows)
    if (row.kind == RowKind::cpu || row.kind == RowKind::counter) CHECK(row.box.y0 >= std::max(end_of_a, end_of_b));
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
  HeadlessUi h(document.get(), 900, 560);
  const auto drawer = [&] {
    for (const PanelPlace& place : h.ui.places())
      if (std::string(place.name) == "drawer") return place.box.height();
    return 0.0f;
  };
  const float kept = h.ui.view().sizes.bottom_px;
  CHECK(drawer() > 0);
  CHECK(drawer() < 50);
  select_slice(h.ui.view(), SliceId(0), /*reveal=*/false);
  h.frames(3);
  CHECK(drawer() > 100);
  CHECK(h.ui.view().sizes.bottom_px == kept);
  h.ui.view().active().selection = {};
  h.frames(2);
  CHECK(drawer() < 50);
}

TEST_CASE(
    "in a low window the second click of a double-click reaches what the first one did, and the details come up after it") {
  const auto document = analyzed(recording_or_none("transformer_baseline"));
  REQUIRE(document);
  HeadlessUi h(document.get(), 900, 560);
  const auto drawer_top = [&] {
    for (const PanelPlace& place : h.ui.places())
      if (std::string(place.name) == "drawer") return place.box.y0;
    return 0.0f;
  };
  const Zone* lowest = nullptr;
  for (const Zone& zone : h.ui.timeline().zones().all())
    if (zone.kind == ZoneKind::slice && zone.y1 < drawer_top() && (!lowest || zone.y0 > lowest->y0)) lowest = &zone;
  REQUIRE(lowest);
  const SliceId slice = lowest->slice;
  const ImVec2 at{(lowest->x0 + lowest->x1) / 2, (lowest->y0 + lowest->y1) / 2};
  const Span before = h.ui.view().active().time.span;
  h.click(at);
  CHECK(h.ui.view().active().selection == slice);
  CHECK(h.ui.moving());  // frames come although nobody does anything
  h.button = true;
  h.frame();
  h.button = false;
  h.frames(30);
  CHECK(h.ui.view().active().selection == slice);
  CHECK(h.ui.view().active().time.span != before);
  CHECK(h.ui.view().active().time.span.contains(document->trace.begin(slice)));
  CHECK(drawer_top() < at.y);
  CHECK_FALSE(h.ui.moving());
}

TEST_CASE("a click on a gap selects it, and Details says what ended it and what the host was in") {
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
  CHECK(all.find("stands still for") != std::string::npos);
  CHECK(all.find("ended by") != std::string::npos);
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
  choose_gap(*document, h.ui.view(), device.device, gap, /*go_there=*/true);
  show_panel(h.ui.view(), "details");
  h.frames(5);
  std::string all;
  for (const DrawnText& text : picture_layout(h.ui).texts) all += text.text;
  std::erase_if(all, [](char c) { return c == ' '; });  // lines end where they must
  CAPTURE(all);
  CHECK(all.find("compilewhatisnotyetcompiled") != std::string::npos);
  CHECK(all.find("torch.compile,CUDAgraphs") == std::string::npos);
}
