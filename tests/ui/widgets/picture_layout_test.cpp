#include "ui/widgets/picture_layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "app/cli/picture_json.h"
#include "core/view/document.h"
#include "tests/support/hand_trace.h"
#include "tests/support/headless_ui.h"
#include "ui/widgets/fonts.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// What is read back of one frame of `draw` into an empty display.
std::vector<DrawnText> texts_of(const std::function<void(Painter&)>& draw) {
  ImGuiContext* context = ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {400, 300};
  load_fonts(*io.Fonts, 1);
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  ImGui::NewFrame();
  Painter painter(*ImGui::GetForegroundDrawList(), 1);
  draw(painter);
  ImGui::Render();
  std::vector<DrawnText> texts = drawn_texts(*ImGui::GetDrawData(), *io.Fonts);
  ImGui::DestroyContext(context);
  return texts;
}

constexpr ImU32 kInk = IM_COL32(255, 255, 255, 255);

}  // namespace

TEST_CASE("texts are read back with their spaces, faces and places") {
  const auto texts = texts_of([](Painter& p) {
    p.text(Face::sans, {20, 30}, kInk, "The GPU is idle: 12.5 \xC2\xB5s");
    p.text(Face::mono, {20, 60}, kInk, "sgemm<128, 64>");
    p.text(Face::mono, {220, 60}, kInk, "beside");
  });
  REQUIRE(texts.size() == 3);
  CHECK(texts[0].text == "The GPU is idle: 12.5 \xC2\xB5s");
  CHECK_FALSE(texts[0].clipped);
  CHECK(texts[0].box.x0 == doctest::Approx(20).epsilon(0.05));
  CHECK(texts[0].box.y0 == doctest::Approx(30).epsilon(0.05));
  CHECK(texts[0].box.height() > 8);
  CHECK(texts[1].text == "sgemm<128, 64>");
  CHECK(texts[2].text == "beside");
  CHECK(texts[2].box.x0 == doctest::Approx(220).epsilon(0.01));
}

TEST_CASE("a text that an edge cuts is said to be clipped, one that was shortened is not") {
  const auto texts = texts_of([](Painter& p) {
    p.clip({0, 0, 60, 300});
    p.text(Face::sans, {20, 30}, kInk, "MMMMMMMMMMMM");
    p.unclip();
    p.text_in(Face::sans, {20, 60, 90, 80}, kInk, "a name that is far too long for its box");
    p.clip({0, 105, 400, 300});
    p.text(Face::sans, {20, 100}, kInk, "cut from above");
    p.unclip();
    p.text(Face::sans, {380, 130}, kInk, "MMMM");
  });
  REQUIRE(texts.size() == 4);
  CHECK(texts[0].clipped);
  CHECK(texts[0].box.x1 <= 60);
  CHECK_FALSE(texts[1].clipped);
  CHECK(texts[1].text.ends_with("\xE2\x80\xA6"));
  CHECK(texts[1].box.x1 <= 91);
  CHECK(texts[2].clipped);
  CHECK(texts[3].clipped);
  CHECK(texts[3].box.x1 <= 400);
}

TEST_CASE("a text below something opaque is not in the picture, one below a tint is") {
  const auto texts = texts_of([](Painter& p) {
    p.text(Face::sans, {20, 30}, kInk, "covered");
    p.fill({10, 20, 200, 60}, IM_COL32(20, 20, 20, 255));
    p.text(Face::sans, {20, 90}, kInk, "covered too");
    p.fill_rounded({10, 80, 200, 120}, IM_COL32(20, 20, 20, 255), 6);
    p.text(Face::sans, {20, 150}, kInk, "tinted");
    p.fill({10, 140, 200, 180}, IM_COL32(20, 20, 20, 100));
    p.text(Face::sans, {20, 30}, kInk, "on top");
    p.clip({0, 200, 400, 210});
    p.text(Face::sans, {20, 250}, kInk, "outside");
    p.unclip();
  });
  std::string all;
  for (const DrawnText& text : texts) all += text.text + "|";
  CHECK(all == "tinted|on top|");
}

TEST_CASE("a picture lists the rows in sight with their device and stream, and the parts of the window") {
  const auto trace = hand_trace({{"python 1", "thread 1", LaneKind::cpu_thread, {{{"a", 0, 1000}}}},
                                 {"GPU 0", "stream 7", LaneKind::gpu_stream, {{{"k", 300, 600, Kind::kernel}}}}});
  trace->processes[1].is_gpu = true;
  trace->processes[1].device = 3;
  GpuRow work;
  work.slice = SliceId(1);
  work.device = 3;
  work.stream = 7;
  trace->gpu.push_back(work);
  const Document document(trace);
  HeadlessUi h(&document);
  const PictureLayout layout = picture_layout(h.ui);
  CHECK(layout.width == 1200);
  CHECK(layout.height == 700);
  const auto kernels =
      std::find_if(layout.rows.begin(), layout.rows.end(), [](const PictureRow& row) { return row.kind == RowKind::kernels; });
  REQUIRE(kernels != layout.rows.end());
  CHECK(kernels->lane == "stream 7");
  CHECK(kernels->device == 3);
  CHECK(kernels->stream == 7);
  const Box& lanes = h.ui.timeline().areas().lanes;
  CHECK(kernels->box.y0 >= lanes.y0);
  CHECK(kernels->box.y1 <= lanes.y1);
  CHECK(std::any_of(layout.rows.begin(), layout.rows.end(), [](const PictureRow& row) {
    return row.kind == RowKind::cpu && row.lane == "thread 1" && row.device == -1;
  }));
  CHECK(std::any_of(layout.panels.begin(), layout.panels.end(),
                    [](const PanelPlace& panel) { return std::string(panel.name) == "ruler"; }));
  const std::string json = picture_json(layout);
  CHECK(json.find("\"kind\": \"kernels\"") != std::string::npos);
  CHECK(json.find("\"size\": [") != std::string::npos);
}
