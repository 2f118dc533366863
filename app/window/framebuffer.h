#pragma once
// A picture that OpenGL draws into instead of a window: the same pixels whatever the display. Needs a current context.
#include "app/window/image.h"

namespace gapscope {

class Framebuffer {
 public:
  Framebuffer(int width_px, int height_px);
  ~Framebuffer();
  Framebuffer(const Framebuffer&) = delete;
  Framebuffer& operator=(const Framebuffer&) = delete;

  void bind() const;

 private:
  unsigned framebuffer_ = 0;
  unsigned color_ = 0;
};

// The pixels of whatever is bound for reading, opaque.
Image read_bound_pixels(int width_px, int height_px);

}  // namespace gapscope
