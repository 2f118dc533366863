#pragma once
// Window, session and interface tied together, frame by frame.
#include <chrono>
#include <optional>
#include <string>

#include "app/session/session.h"
#include "app/state/state_file.h"
#include "app/window/window.h"
#include "core/base/failure.h"
#include "core/view/link.h"
#include "ui/app_ui.h"

namespace gapscope {

class WindowLoop {
 public:
  // A `state_file` that is empty is not written (app/state/state_file.h).
  WindowLoop(Window& window, SessionOptions options, std::string state_file = {});

  // Waits for what the next frame is to show and draws it, or does nothing where nothing is new. What keeps the window from
  // showing anything at all: where no frame can be drawn from the first on, as with too little memory, nobody could read why.
  std::optional<Error> step();
  // When no other frame follows.
  void end() { session_.end(ui_.view()); }

  Session& session() { return session_; }
  const AppUi& ui() const { return ui_; }
  // What the last frame showed stays until there is input or something from outside.
  bool at_rest() const;
  void take_drop(const Drop& drop);
  // As soon as its file is open.
  void show(const ViewLink& link) { ui_.view().window.link = link; }

 private:
  void frame();
  std::optional<Error> take_failure(Error failure);
  FrameInput frame_input(const WindowInput& input);
  void carry_out(const Request& request);
  void save_screenshot(const Image& picture, const std::string& wanted);
  void follow_title();

  Window& window_;
  Session session_;
  AppUi ui_;
  StateFile state_;
  std::string title_;
  double frame_ms_ = 0;
  Pace pace_ = Pace::moving;
  bool has_drawn_ = false;
  std::optional<std::chrono::steady_clock::time_point> failing_since_;
};

}  // namespace gapscope
