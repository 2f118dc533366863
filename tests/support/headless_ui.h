#pragma once
// The window without a window: an ImGui context with a font atlas, fed with input frame by frame.
#include <imgui.h>

#include <vector>

#include "ui/app_ui.h"
#include "ui/timeline/timeline_panel.h"

namespace gapscope::test {

class HeadlessUi {
 public:
  // With the window's own fonts where `fonts`, else with Dear ImGui's.
  explicit HeadlessUi(const Document* document, float width = 1200, float height = 700, float scale = 1, bool fonts = false);
  ~HeadlessUi();
  HeadlessUi(const HeadlessUi&) = delete;
  HeadlessUi& operator=(const HeadlessUi&) = delete;

  // One frame with the presses collected since the last.
  void frame();
  void frames(int count);
  void press(Key key, unsigned char mods = kNoMods);
  void hold(Key key, double seconds, double frames_per_second = 60);
  void move_to(ImVec2 at);
  void click(ImVec2 at);

  AppUi ui;
  FrameInput input;
  Requests out;
  std::vector<KeyPress> presses;
  ImVec2 mouse{-1, -1};
  bool button = false, ctrl = false, shift = false, alt = false;
  float wheel = 0;

 private:
  ImGuiContext* context_ = nullptr;
};

}  // namespace gapscope::test
