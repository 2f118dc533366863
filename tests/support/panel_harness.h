#pragma once
// Draws one panel headless and reads back the words that it drew (through Dear ImGui's own text log).
#include <imgui.h>

#include <functional>
#include <string>

namespace gapscope::test {

class PanelHarness {
 public:
  explicit PanelHarness(ImVec2 size = {1200, 800});
  ~PanelHarness();
  PanelHarness(const PanelHarness&) = delete;
  PanelHarness& operator=(const PanelHarness&) = delete;

  // One frame of `draw` inside a window that fills the display; the text that was drawn.
  std::string frame(const std::function<void()>& draw);
  // Tables and windows know their sizes after a few frames.
  std::string settle(const std::function<void()>& draw, int frames = 4);

  void resize(ImVec2 size) { ImGui::GetIO().DisplaySize = size_ = size; }
  void point_at(ImVec2 at) { ImGui::GetIO().MousePos = at; }
  void click(const std::function<void()>& draw);
  // Clicks every place of a grid until `done`; false when nothing there did it.
  bool click_around(const std::function<void()>& draw, const std::function<bool()>& done, float step = 9);
  // The pointer of the last frame says that a click leads somewhere.
  bool pointing_at_link() const { return cursor_ == ImGuiMouseCursor_Hand; }

 private:
  ImVec2 size_;
  ImGuiMouseCursor cursor_ = ImGuiMouseCursor_Arrow;
};

bool holds(const std::string& text, const std::string& part);

}  // namespace gapscope::test
