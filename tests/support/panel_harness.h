#pragma once
// Draws one panel headless and reads back the words that it drew (through Dear ImGui's own text log).
#include <imgui.h>

#include <functional>
#include <string>

namespace gapscope::test {

class PanelHarness {
 public:
  explicit PanelHarness(ImVec2 size = {1200, 800}) : size_(size) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = size;
    io.MousePos = {-1, -1};
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  ~PanelHarness() { ImGui::DestroyContext(); }
  PanelHarness(const PanelHarness&) = delete;
  PanelHarness& operator=(const PanelHarness&) = delete;

  // One frame of `draw` inside a window that fills the display; the text that was drawn.
  std::string frame(const std::function<void()>& draw) {
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
  // Tables and windows know their sizes after a few frames.
  std::string settle(const std::function<void()>& draw, int frames = 4) {
    std::string text;
    for (int i = 0; i < frames; ++i) text = frame(draw);
    return text;
  }

  void resize(ImVec2 size) { ImGui::GetIO().DisplaySize = size_ = size; }
  void point_at(ImVec2 at) { ImGui::GetIO().MousePos = at; }
  void click(const std::function<void()>& draw) {
    ImGui::GetIO().MouseDown[0] = true;
    frame(draw);
    ImGui::GetIO().MouseDown[0] = false;
    frame(draw);
  }
  // Clicks every place of a grid until `done`; false when nothing there did it.
  bool click_around(const std::function<void()>& draw, const std::function<bool()>& done, float step = 9) {
    for (float y = step / 2; y < size_.y; y += step)
      for (float x = 12; x < size_.x; x += step * 6) {
        point_at({x, y});
        frame(draw);
        click(draw);
        if (done()) return true;
      }
    return false;
  }
  // The pointer of the last frame says that a click leads somewhere.
  bool pointing_at_link() const { return cursor_ == ImGuiMouseCursor_Hand; }

 private:
  ImVec2 size_;
  ImGuiMouseCursor cursor_ = ImGuiMouseCursor_Arrow;
};

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace gapscope::test
