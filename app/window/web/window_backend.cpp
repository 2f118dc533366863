#include "app/window/backend.h"

#include <GLES3/gl3.h>
#include <GLFW/glfw3.h>
#include <emscripten.h>
#include <emscripten/em_js.h>
#include <emscripten/proxying.h>
#include <emscripten/threading.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "app/window/window.h"

namespace gapscope {
namespace {

std::atomic<bool> woken{false};
double seen_frame = 0, frame_seconds = 0;  // when the last one began, and how long it was until the browser wanted another

EM_JS(int, gapscope_page_width, (), { return window.innerWidth; })
EM_JS(int, gapscope_page_height, (), { return window.innerHeight; })
EM_JS(void, gapscope_copy, (const char* text), { window.gapscopeCopy(UTF8ToString(text)); })
// What was copied on this page, or pasted to it, last; to be freed.
EM_JS(char*, gapscope_pasted, (), { return stringToNewUTF8(window.gapscopePasted || ""); })
// So many seconds from now, if nothing happens before; 0: at once, infinity: not at all.
EM_JS(void, gapscope_ask_for_frame, (double seconds), { window.gapscopeAskForFrame(seconds); })
EM_JS(void, gapscope_set_cursor, (const char* name), { document.getElementById("canvas").style.cursor = UTF8ToString(name); })

const char* cursor_name(ImGuiMouseCursor cursor) {
  switch (cursor) {
    case ImGuiMouseCursor_TextInput: return "text";
    case ImGuiMouseCursor_ResizeAll: return "move";
    case ImGuiMouseCursor_ResizeNS: return "ns-resize";
    case ImGuiMouseCursor_ResizeEW: return "ew-resize";
    case ImGuiMouseCursor_ResizeNESW: return "nesw-resize";
    case ImGuiMouseCursor_ResizeNWSE: return "nwse-resize";
    case ImGuiMouseCursor_Hand: return "pointer";
    case ImGuiMouseCursor_NotAllowed: return "not-allowed";
    default: return "default";
  }
}

void follow_cursor() {
  static ImGuiMouseCursor shown = ImGuiMouseCursor_Arrow;
  if (const ImGuiMouseCursor now = ImGui::GetMouseCursor(); now != shown) gapscope_set_cursor(cursor_name(shown = now));
}

}  // namespace

const char* const kShaderVersion = "#version 300 es";

const char* typed_by_key(int, int) { return nullptr; }  // GLFW's numbers are those of the layout already

std::optional<Error> Window::start_glfw() {
  if (!glfwInit()) return Error{"This browser gives no canvas to draw on."};
  return std::nullopt;
}

std::optional<Error> Window::make_context() {
  options_.width = gapscope_page_width();
  options_.height = gapscope_page_height();
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  window_ = glfwCreateWindow(options_.width, options_.height, options_.title.c_str(), nullptr, nullptr);
  if (!window_) return Error{"This browser has no WebGL 2, or it is switched off."};
  glfwMakeContextCurrent(window_);
  return std::nullopt;
}

void Window::adapt_imgui() {
  ImGuiIO& io = ImGui::GetIO();
  io.SetClipboardTextFn = [](void*, const char* text) { gapscope_copy(text); };
  io.GetClipboardTextFn = [](void*) -> const char* {
    static std::string pasted;
    char* const text = gapscope_pasted();
    pasted = text;
    std::free(text);
    return pasted.c_str();
  };
}

void Window::end_glfw() { glfwTerminate(); }

// Does not wait: it asks the page for the next frame.
bool Window::wait(Pace pace) {
  if (std::exchange(seen_frame, last_frame_) != last_frame_) frame_seconds = glfwGetTime() - last_frame_;
  const int width = gapscope_page_width(), height = gapscope_page_height();
  if (width != options_.width || height != options_.height) {
    options_.width = width;
    options_.height = height;
    glfwSetWindowSize(window_, width, height);
    frames_to_settle_ = kSettleFrames;
  }
  const bool touched = input_.take_touched();
  if (woken.exchange(false) || touched || input_.has_pointers()) frames_to_settle_ = kSettleFrames;
  follow_cursor();
  const double seconds = seconds_to_sleep(pace);
  gapscope_ask_for_frame(seconds);
  return seconds <= 0;
}

double Window::seconds_to_sleep(Pace pace) const {
  constexpr double kBlinkSeconds = 0.25;  // a text cursor blinks at half of Dear ImGui's 1.2 s
  if (pace == Pace::moving || frames_to_settle_ > 0) return 0;
  // A tenth of the time at most: without a graphics card a frame takes two processors a tenth of a second, from what is
  // loading.
  if (pace == Pace::growing) return last_frame_ + std::max(kGrowSeconds, 10 * frame_seconds) - glfwGetTime();
  return ImGui::GetIO().WantTextInput ? last_frame_ + kBlinkSeconds - glfwGetTime() : std::numeric_limits<double>::infinity();
}

// What the page's script calls in place of GLFW: steps of a wheel, in parts, to the left and up.
extern "C" EMSCRIPTEN_KEEPALIVE void gapscope_wheel(double x, double y) {
  ImGui_ImplGlfw_ScrollCallback(nullptr, x, y);
  Window::wake();
}

void Window::wake() {
  if (woken.exchange(true)) return;  // that frame is on its way
  if (emscripten_is_main_browser_thread()) return gapscope_ask_for_frame(0);
  emscripten_proxy_async(
      emscripten_proxy_get_system_queue(), emscripten_main_runtime_thread_id(), [](void*) { gapscope_ask_for_frame(0); },
      nullptr);
}

}  // namespace gapscope
