#include "app/window/backend.h"

#include <glad/gl.h>
// After glad, which brings its own GL header.
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "app/window/desktop/virtual_display.h"
#include "app/window/window.h"

namespace gapscope {
namespace {

constexpr double kIdleSeconds = 1.0;    // how long wait() sleeps at most
constexpr double kBlinkSeconds = 0.25;  // a text cursor blinks at half of Dear ImGui's 1.2 s
// Where nothing else limits the frame rate (no vsync, as under Xvfb): a little faster than the fastest usual display.
constexpr double kShortestFrameSeconds = 1.0 / 250;

std::atomic<bool> woken{false};
std::atomic<bool> glfw_runs{false};

Error glfw_error(const std::string& what, const std::string& remedy) {
  const char* reason = nullptr;
  glfwGetError(&reason);
  return Error{what + (reason ? std::string(": ") + reason : std::string()) + ". " + remedy};
}

}  // namespace

const char* const kShaderVersion = "#version 330 core";

std::optional<Error> Window::start_glfw() {
#ifdef GLFW_PLATFORM  // from 3.4 on it asks for a Wayland server also where none is named, whose library then complains
  if (!std::getenv("WAYLAND_DISPLAY") && glfwPlatformSupported(GLFW_PLATFORM_X11))
    glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
#endif
  bool started = (has_display() || !options_.off_screen) && glfwInit();
  if (!started && options_.off_screen) {
    auto display = VirtualDisplay::start();
    if (!display) return display.error();
    virtual_display_ = std::move(*display);
    started = glfwInit();
  }
  if (!started) return glfw_error("Cannot open a window", "Set DISPLAY, or use `gapscope screenshot`, which needs none.");
  glfw_runs = true;
  return std::nullopt;
}

std::optional<Error> Window::make_context() {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);  // macOS gives no core profile without
  glfwWindowHint(GLFW_VISIBLE, options_.off_screen ? GLFW_FALSE : GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, options_.off_screen ? GLFW_FALSE : GLFW_TRUE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "gapscope");  // ties the window to its desktop file
  // A picture is drawn elsewhere: a window of its size would take three times its memory again.
  window_ = glfwCreateWindow(options_.off_screen ? 1 : options_.width, options_.off_screen ? 1 : options_.height,
                             options_.title.c_str(), nullptr, nullptr);
  if (!window_) return glfw_error("No OpenGL 3.3", "Update the graphics driver, or set LIBGL_ALWAYS_SOFTWARE=1.");
  glfwMakeContextCurrent(window_);
  if (!gladLoadGL(glfwGetProcAddress)) return Error{"The graphics driver lacks OpenGL 3.3. Set LIBGL_ALWAYS_SOFTWARE=1."};
  glfwSwapInterval(options_.vsync ? 1 : 0);
  return std::nullopt;
}

const char* typed_by_key(int key, int scancode) { return glfwGetKeyName(key, scancode); }

void Window::adapt_imgui() {}

void Window::end_glfw() {
  if (window_) glfwDestroyWindow(window_);
  glfw_runs = false;
  glfwTerminate();
}

bool Window::wait(Pace pace) {
  const double sleep = seconds_to_sleep(pace);
  if (sleep > 0) {
    glfwWaitEventsTimeout(sleep);
  } else {
    glfwPollEvents();
  }
  const bool touched = input_.take_touched();
  if (woken.exchange(false) || touched || input_.has_pointers()) frames_to_settle_ = kSettleFrames;
  const bool has_grown = pace == Pace::growing && glfwGetTime() >= last_frame_ + kGrowSeconds;
  return pace == Pace::moving || has_grown || frames_to_settle_ > 0 || ImGui::GetIO().WantTextInput;
}

double Window::seconds_to_sleep(Pace pace) const {
  if (pace == Pace::moving || frames_to_settle_ > 0) return last_frame_ + kShortestFrameSeconds - glfwGetTime();
  if (pace == Pace::growing) return last_frame_ + kGrowSeconds - glfwGetTime();
  return ImGui::GetIO().WantTextInput ? kBlinkSeconds : kIdleSeconds;
}

void Window::wake() {
  woken = true;
  if (glfw_runs) glfwPostEmptyEvent();
}

}  // namespace gapscope
