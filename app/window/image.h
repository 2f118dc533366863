#pragma once
// A picture in memory, and its way to and from a PNG file.
#include <cstdint>
#include <optional>
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

// Nothing on success.
std::optional<Error> write_png(const std::string& path, const Image& image);
Result<Image> read_png(const std::string& path);

}  // namespace gapscope
