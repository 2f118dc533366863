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

Result<std::string> png_bytes(const Image& image) {
  png_image header = png_header();
  header.width = static_cast<png_uint_32>(image.width_px);
  header.height = static_cast<png_uint_32>(image.height_px);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string out(size, '\0');
  if (!png_image_write_to_memory(&header, out.data(), &size, 0, image.rgba.data(), 0, nullptr))
    return Error{std::string("The picture cannot be packed as PNG: ") + header.message + ". Make it smaller."};
  out.resize(size);
  return out;
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
