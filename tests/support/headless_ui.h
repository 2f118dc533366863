#pragma once
// The window without a window: an ImGui context with a font atlas, fed with input frame by frame.
#include <imgui.h>

#include <vector>

#include "tests/support/hold_keys.h"
#include "ui/app_ui.h"
#include "ui/timeline/timeline_panel.h"
#include "ui/widgets/fonts.h"

namespace gapscope::test {

class HeadlessUi {
 public:
  // With the window's own fonts where `fonts`, else with Dear ImGui's.
  explicit HeadlessUi(const Document* document, float width = 1200, float height = 700, float scale = 1, bool fonts = false) {
    context_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // as the window's backend: more than 64 k vertices a list
    io.DisplaySize = {width, height};
    if (fonts) load_fonts(*io.Fonts, scale);
    unsigned char* pixels = nullptr;
    int w = 0, h = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &w, &h);
    input.width_px = width;
    input.height_px = height;
    input.scale = scale;
    input.delta_s = 1.0 / 60;
    input.document = document;
    ui.view().window.settings.animate = false;
    frames(3);
  }
  ~HeadlessUi() { ImGui::DestroyContext(context_); }
  HeadlessUi(const HeadlessUi&) = delete;
  HeadlessUi& operator=(const HeadlessUi&) = delete;

  // One frame with the presses collected since the last.
  void frame() {
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.DeltaTime = static_cast<float>(input.delta_s);
    io.MousePos = mouse;
    io.MouseDown[0] = button;
    io.MouseWheel = wheel;
    hold_modifiers(ctrl, shift, alt);
    input.presses = presses;
    ImGui::NewFrame();
    ui.frame(input, out);
    ImGui::Render();
    presses.clear();
    wheel = 0;
  }
  void frames(int count) {
    for (int i = 0; i < count; ++i) frame();
  }
  void press(Key key, unsigned char mods = kNoMods) {
    presses.push_back({key, mods, false});
    frame();
    frames(30);  // taps glide
  }
  void hold(Key key, double seconds, double frames_per_second = 60) {
    input.delta_s = 1 / frames_per_second;
    input.held.set(static_cast<std::size_t>(key));
    frames(static_cast<int>(seconds * frames_per_second + 0.5));
    input.held.reset();
    frame();
  }
  void move_to(ImVec2 at) {
    mouse = at;
    frames(2);
  }
  void click(ImVec2 at) {
    move_to(at);
    button = true;
    frame();
    button = false;
    frames(2);
  }

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
