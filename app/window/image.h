#pragma once
// A picture in memory, and its way to and from a PNG file.
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace gapscope {

// Rows from the top, four bytes a pixel (red, green, blue, alpha, not premultiplied), no padding.
struct Image {
  int width_px = 0;
  int height_px = 0;
  std::vector<std::uint8_t> rgba;
};

// As PNG. An Error when there is not enough memory for it.
Result<std::string> png_bytes(const Image& image);
Result<Image> read_png(const std::string& path);

}  // namespace gapscope
