#include "tests/support/headless_ui.h"

#include "tests/support/hold_keys.h"
#include "ui/widgets/fonts.h"

namespace gapscope::test {

HeadlessUi::HeadlessUi(const Document* document, float width, float height, float scale, bool fonts) {
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

HeadlessUi::~HeadlessUi() { ImGui::DestroyContext(context_); }

void HeadlessUi::frame() {
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

void HeadlessUi::frames(int count) {
  for (int i = 0; i < count; ++i) frame();
}

void HeadlessUi::press(Key key, unsigned char mods) {
  presses.push_back({key, mods, false});
  frame();
  frames(30);  // taps glide
}

void HeadlessUi::hold(Key key, double seconds, double frames_per_second) {
  input.delta_s = 1 / frames_per_second;
  input.held.set(static_cast<std::size_t>(key));
  frames(static_cast<int>(seconds * frames_per_second + 0.5));
  input.held.reset();
  frame();
}

void HeadlessUi::move_to(ImVec2 at) {
  mouse = at;
  frames(2);
}

void HeadlessUi::click(ImVec2 at) {
  move_to(at);
  button = true;
  frame();
  button = false;
  frames(2);
}

}  // namespace gapscope::test
