#include "app/window/framebuffer.h"

#include <glad/gl.h>

#include <algorithm>

namespace gapscope {

Framebuffer::Framebuffer(int width_px, int height_px) {
  glGenFramebuffers(1, &framebuffer_);
  glGenRenderbuffers(1, &color_);
  glBindRenderbuffer(GL_RENDERBUFFER, color_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width_px, height_px);
  bind();
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_);
}

Framebuffer::~Framebuffer() {
  glDeleteRenderbuffers(1, &color_);
  glDeleteFramebuffers(1, &framebuffer_);
}

void Framebuffer::bind() const { glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_); }

Image read_bound_pixels(int width_px, int height_px) {
  Image image{width_px, height_px, {}};
  const std::size_t row_bytes = static_cast<std::size_t>(width_px) * 4;
  image.rgba.resize(row_bytes * static_cast<std::size_t>(height_px));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_px, height_px, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) image.rgba[i] = 255;
  // OpenGL counts rows from the bottom.
  for (auto top = image.rgba.begin(), bottom = image.rgba.end(); top < bottom - static_cast<std::ptrdiff_t>(row_bytes);) {
    bottom -= static_cast<std::ptrdiff_t>(row_bytes);
    std::swap_ranges(top, top + static_cast<std::ptrdiff_t>(row_bytes), bottom);
    top += static_cast<std::ptrdiff_t>(row_bytes);
  }
  return image;
}

}  // namespace gapscope
