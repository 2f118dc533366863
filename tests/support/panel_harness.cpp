#include "tests/support/panel_harness.h"

namespace gapscope::test {

PanelHarness::PanelHarness(ImVec2 size) : size_(size) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = size;
  io.MousePos = {-1, -1};
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
}

PanelHarness::~PanelHarness() { ImGui::DestroyContext(); }

std::string PanelHarness::frame(const std::function<void()>& draw) {
  ImGui::GetIO().DeltaTime = 1.0f / 60;
  ImGui::NewFrame();
  ImGui::LogToClipboard();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size_);
  ImGui::Begin("panel", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus);
  draw();
  ImGui::End();
  cursor_ = ImGui::GetMouseCursor();
  ImGui::LogFinish();
  ImGui::Render();
  const char* text = ImGui::GetClipboardText();
  return text ? text : "";
}

std::string PanelHarness::settle(const std::function<void()>& draw, int frames) {
  std::string text;
  for (int i = 0; i < frames; ++i) text = frame(draw);
  return text;
}

void PanelHarness::click(const std::function<void()>& draw) {
  ImGui::GetIO().MouseDown[0] = true;
  frame(draw);
  ImGui::GetIO().MouseDown[0] = false;
  frame(draw);
}

bool PanelHarness::click_around(const std::function<void()>& draw, const std::function<bool()>& done, float step) {
  for (float y = step / 2; y < size_.y; y += step)
    for (float x = 12; x < size_.x; x += step * 6) {
      point_at({x, y});
      frame(draw);
      click(draw);
      if (done()) return true;
    }
  return false;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace gapscope::test
