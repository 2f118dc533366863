#pragma once
// The one window (or off-screen picture) of the program: owns GLFW, the OpenGL context, the Dear ImGui context with
// its fonts. One at a time, used from the thread that made it; only wake() may be called from elsewhere.
//
//   while (!window.should_close()) {
//     if (!window.wait(pace)) continue;   // nothing new: sleep on
//     const WindowInput input = window.begin_frame();
//     ... ImGui calls ...
//     window.end_frame();
//   }
//
// Lengths are pixels as ImGui counts them: those of the display on X11 and Windows, points on macOS and Wayland.
#include <memory>
#include <optional>
#include <string>

#include "app/window/framebuffer.h"
#include "app/window/image.h"
#include "app/window/input.h"
#include "core/base/result.h"

struct GLFWwindow;
struct ImGuiContext;

namespace gapscope {

struct WindowOptions {
  std::string title = "Gapscope";
  int width = 1600;  // at scale 1; a window grows by the display's scale, an off-screen picture is exactly this
  int height = 900;
  bool off_screen = false;  // no window is shown; starts Xvfb where there is no display
  bool vsync = true;
  float scale = 0;  // 0: the display's own, and 1 off screen
};

// growing: what is shown changes by itself, and how smoothly does not matter (a file that is read).
enum class Pace { still, growing, moving };

class Window {
 public:
  static Result<std::unique_ptr<Window>> create(const WindowOptions& options);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // With Pace::moving says true, at once where the display sets the pace. Otherwise sleeps until there is a reason for a
  // frame (input, wake(), a text cursor to blink, ten times a second that something grows) and says true, or says false.
  bool wait(Pace pace);
  // Makes wait() return true soon. Any thread, also while no window exists.
  static void wake();

  WindowInput begin_frame();
  // Clears to `background` (0xRRGGBB), draws what ImGui collected, shows it. `picture`: of what was drawn, read before it is
  // shown, as a desktop may have nothing in the buffer afterwards.
  void end_frame(unsigned background, Image* picture = nullptr);
  // In place of that, for a frame that cannot be finished: closes what it has open, shows nothing. Also when none was begun.
  void abandon_frame();

  // Another frame is due without any reason but the last event.
  bool settles() const { return frames_to_settle_ > 0; }

  bool should_close() const;
  void request_close();
  void copy_text(const std::string& text);  // to the clipboard
  void set_title(const std::string& title);
  void set_icon(const Image& icon);
  // Multiplies the display's scale from the next frame on.
  void set_zoom(float zoom) { zoom_ = zoom; }
  // The last frame that end_frame() drew off screen.
  Image screenshot() const;

 private:
  explicit Window(const WindowOptions& options) : options_(options) {}
  Image drawn_pixels() const;
  std::optional<Error> make_room();
  std::optional<Error> open();
  void start_imgui();
  // By the platform: app/window/desktop, app/window/web.
  std::optional<Error> start_glfw();
  std::optional<Error> make_context();
  void adapt_imgui();
  void end_glfw();
  double seconds_to_sleep(Pace pace) const;
  void follow_scale();
  void show_modifiers();
  void show_pointer();
  float display_scale() const;

  WindowOptions options_;
  std::shared_ptr<void> virtual_display_;  // outlives GLFW, which is ended in ~Window
  GLFWwindow* window_ = nullptr;
  ImGuiContext* imgui_ = nullptr;
  std::unique_ptr<Framebuffer> picture_;  // off screen only
  InputCollector input_;
  bool pointer_was_held_ = false;  // the last frame saw the pointer where it had been, not where it was
  float zoom_ = 1;
  float scale_ = 0;         // of the present fonts and sizes
  float raster_scale_ = 0;  // font pixels per ImGui pixel
  double last_frame_ = 0;   // its begin in seconds of GLFW's clock
  // Dear ImGui finds hovered and sized things from the frame before, so an event shows fully after this many frames.
  static constexpr int kSettleFrames = 3;
  static constexpr double kGrowSeconds = 0.1;  // drawing in software takes what reading needs
  int frames_to_settle_ = 0;
};

}  // namespace gapscope
