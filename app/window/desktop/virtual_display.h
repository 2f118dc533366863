#pragma once
// An X server without a screen (Xvfb) of our own, for rendering where there is no display. Owns the child process and,
// while it lives, the environment variable DISPLAY; must outlive every window on it.
#include <memory>
#include <string>

#include "core/base/result.h"

namespace gapscope {

// True when the environment names an X or Wayland display.
bool has_display();

class VirtualDisplay {
 public:
  // Starts Xvfb on a free display number and waits until it accepts windows. Call before other threads exist: it forks
  // and changes the environment.
  static Result<std::unique_ptr<VirtualDisplay>> start();
  ~VirtualDisplay();
  VirtualDisplay(const VirtualDisplay&) = delete;
  VirtualDisplay& operator=(const VirtualDisplay&) = delete;

 private:
  VirtualDisplay(int process, const std::string& display);
  int process_;
};

}  // namespace gapscope
