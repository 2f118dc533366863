#include "app/window/image.h"

#include <png.h>

namespace gapscope {
namespace {

png_image png_header() {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.format = PNG_FORMAT_RGBA;
  return header;
}

}  // namespace

std::optional<Error> write_png(const std::string& path, const Image& image) {
  png_image header = png_header();
  header.width = static_cast<png_uint_32>(image.width_px);
  header.height = static_cast<png_uint_32>(image.height_px);
  if (png_image_write_to_file(&header, path.c_str(), 0, image.rgba.data(), 0, nullptr)) return std::nullopt;
  return Error{"Cannot write the picture " + path + ": " + header.message +
               ". Give a path in a folder you may write to."};
}

Result<Image> read_png(const std::string& path) {
  png_image header = png_header();
  if (!png_image_begin_read_from_file(&header, path.c_str())) {
    return Error{"Cannot read the picture " + path + ": " + header.message + "."};
  }
  header.format = PNG_FORMAT_RGBA;
  Image image{static_cast<int>(header.width), static_cast<int>(header.height), {}};
  image.rgba.resize(PNG_IMAGE_SIZE(header));
  if (!png_image_finish_read(&header, nullptr, image.rgba.data(), 0, nullptr)) {
    return Error{"Cannot read the picture " + path + ": " + header.message + "."};
  }
  return image;
}

}  // namespace gapscope
