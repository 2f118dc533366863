#include "app/window/window.h"

#include <glad/gl.h>
// After glad, which brings its own GL header.
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

#include "app/window/backend.h"
#include "core/base/free_memory.h"
#include "core/base/text.h"
#include "ui/widgets/fonts.h"

namespace gapscope {
namespace {

// Of a limit on memory (ulimit -v), measured with Mesa 22's llvmpipe on two cores: what a window takes, and what its driver may
// still ask for while other things take memory.
constexpr std::uint64_t kBytesToOpen = std::uint64_t{640} << 20;
constexpr std::uint64_t kBytesOfDriver = std::uint64_t{192} << 20;

}  // namespace

Result<std::unique_ptr<Window>> Window::create(const WindowOptions& options) {
  std::unique_ptr<Window> window(new Window(options));
  if (auto error = window->open()) return *error;
  return window;
}

// Before a driver is asked, which would say something else or nothing at all.
std::optional<Error> Window::make_room() {
  const std::uint64_t free = free_of_limit();
  if (free < kBytesToOpen)
    return Error{"Not enough memory to open a window: it needs about " + format_bytes(kBytesToOpen) + ", " +
                 format_bytes(free) +
                 " of what this process may have (ulimit -v) are free. Allow more, or use the commands that print."};
  set_aside_below_limit(kBytesOfDriver);
  return std::nullopt;
}

std::optional<Error> Window::open() {
  if (auto error = make_room()) return error;
  if (auto error = start_glfw()) return error;
  if (auto error = make_context()) return error;
  if (options_.off_screen) picture_ = std::make_unique<Framebuffer>(options_.width, options_.height);
  input_.install(window_);
  start_imgui();
  return std::nullopt;
}

void Window::start_imgui() {
  // Without memory ImGui would write to where none is.
  const auto allocate = [](std::size_t size, void*) -> void* {
    void* const at = std::malloc(size);
    if (at == nullptr) throw std::bad_alloc();
    return at;
  };
  ImGui::SetAllocatorFunctions(allocate, [](void* at, void*) { std::free(at); });
  imgui_ = ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // what is remembered is the settings' to decide
  ImGui_ImplGlfw_InitForOpenGL(window_, true);
  input_.hold_keys(window_);
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().ConfigInputTrickleEventQueue = false;  // input_ spreads what happened over frames
#endif
  ImGui_ImplOpenGL3_Init(kShaderVersion);
  adapt_imgui();
}

Window::~Window() {
  if (imgui_) {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext(imgui_);
  }
  picture_.reset();
  end_glfw();
}

WindowInput Window::begin_frame() {
  last_frame_ = glfwGetTime();
  follow_scale();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGuiIO& io = ImGui::GetIO();
  if (options_.off_screen) {
    // The window manager of a real display may have had its own idea of the hidden window's size.
    io.DisplaySize = ImVec2(static_cast<float>(options_.width), static_cast<float>(options_.height));
    io.DisplayFramebufferScale = ImVec2(1, 1);
    io.DeltaTime = 1.0f / 60;
  }
  const double elapsed = static_cast<double>(io.DeltaTime);
  io.DeltaTime = std::min(io.DeltaTime, static_cast<float>(kMaxFrameSeconds));
  input_.hand_on_keys(window_);
  show_modifiers();
  show_pointer();
  ImGui::NewFrame();

  WindowInput input = input_.take();
  input.seconds = static_cast<double>(io.DeltaTime);
  input.elapsed_s = elapsed;
  input.width_px = io.DisplaySize.x;
  input.height_px = io.DisplaySize.y;
  input.scale = scale_;
  return input;
}

// From 1.87 on the backend asks GLFW which modifiers are down by now, whenever their keys are handed on.
void Window::show_modifiers() {
#if IMGUI_VERSION_NUM >= 18700
  const int mods = input_.shown_mods();
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, (mods & GLFW_MOD_CONTROL) != 0);
  io.AddKeyEvent(ImGuiMod_Shift, (mods & GLFW_MOD_SHIFT) != 0);
  io.AddKeyEvent(ImGuiMod_Alt, (mods & GLFW_MOD_ALT) != 0);
  io.AddKeyEvent(ImGuiMod_Super, (mods & GLFW_MOD_SUPER) != 0);
#endif
}

// The backend says where the pointer is and what is down by now: a drag between two slow frames would begin where it ends.
void Window::show_pointer() {
  const std::optional<PointerState> pointer = input_.take_pointer();
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM < 18700
  if (!pointer) return;
  io.MousePos = {pointer->x, pointer->y};
  std::copy(pointer->down.begin(), pointer->down.end(), io.MouseDown);
#else
  if (pointer) {
    io.AddMousePosEvent(pointer->x, pointer->y);
    for (int button = 0; const bool down : pointer->down) io.AddMouseButtonEvent(button++, down);
  } else if (pointer_was_held_) {  // the backend speaks only when it moves
    double x = 0, y = 0;
    glfwGetCursorPos(window_, &x, &y);
    io.AddMousePosEvent(static_cast<float>(x), static_cast<float>(y));
  }
  pointer_was_held_ = pointer.has_value();
#endif
}

void Window::end_frame(unsigned background, Image* picture) {
  ImGui::Render();
  ImDrawData* draw_data = ImGui::GetDrawData();
  if (picture_) picture_->bind();
  glViewport(0, 0, static_cast<int>(draw_data->DisplaySize.x * draw_data->FramebufferScale.x),
             static_cast<int>(draw_data->DisplaySize.y * draw_data->FramebufferScale.y));
  const auto channel = [background](int shift) { return static_cast<float>((background >> shift) & 0xFF) / 255.0f; };
  glClearColor(channel(16), channel(8), channel(0), 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(draw_data);
  if (picture) *picture = drawn_pixels();
  if (!picture_) glfwSwapBuffers(window_);
  frames_to_settle_ = std::max(0, frames_to_settle_ - 1);
}

void Window::abandon_frame() {
  ImGuiContext& context = *ImGui::GetCurrentContext();
  if (!context.WithinFrameScope) return;
#if IMGUI_VERSION_NUM < 19140
  context.FontStack.clear();  // first: a window that ends with more fonts than it began with is an assertion
  ImGui::ErrorCheckEndFrameRecover(nullptr);
#else
  ImGui::GetIO().ConfigErrorRecoveryEnableAssert = false;  // EndFrame closes what is open
#endif
  ImGui::EndFrame();
}

// Fonts are rasterised for the pixels that they end on, so text is crisp at any scale.
void Window::follow_scale() {
  int width = 0, height = 0, width_px = 0, height_px = 0;
  glfwGetWindowSize(window_, &width, &height);
  glfwGetFramebufferSize(window_, &width_px, &height_px);
  const float density = picture_ || width <= 0 ? 1.0f : static_cast<float>(width_px) / static_cast<float>(width);
  const float scale = zoom_ * (options_.scale > 0 ? options_.scale : display_scale() / density);
  if (scale == scale_ && scale * density == raster_scale_) return;
  scale_ = scale;
  raster_scale_ = scale * density;
#if IMGUI_VERSION_NUM >= 19200
  if (ImGui::GetIO().Fonts->Fonts.empty()) load_fonts(*ImGui::GetIO().Fonts, 1);
  ImGui::GetStyle().FontScaleDpi = scale_;
#else
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  load_fonts(*io.Fonts, raster_scale_);
  io.FontGlobalScale = 1.0f / density;
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

float Window::display_scale() const {
  if (options_.off_screen) return 1;
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return std::max(x, 0.5f);
}

bool Window::should_close() const { return glfwWindowShouldClose(window_); }
void Window::request_close() { glfwSetWindowShouldClose(window_, GLFW_TRUE); }
void Window::copy_text(const std::string& text) { ImGui::SetClipboardText(text.c_str()); }
void Window::set_title(const std::string& title) { glfwSetWindowTitle(window_, title.c_str()); }

void Window::set_icon(const Image& icon) {
  std::vector<unsigned char> pixels = icon.rgba;  // GLFW's interface is not const
  const GLFWimage image{icon.width_px, icon.height_px, pixels.data()};
  glfwSetWindowIcon(window_, 1, &image);
}

Image Window::screenshot() const {
  picture_->bind();
  return drawn_pixels();
}

Image Window::drawn_pixels() const {
  if (picture_) return read_bound_pixels(options_.width, options_.height);
  int width_px = 0, height_px = 0;
  glfwGetFramebufferSize(window_, &width_px, &height_px);
  glReadBuffer(GL_BACK);
  return read_bound_pixels(width_px, height_px);
}

}  // namespace gapscope
