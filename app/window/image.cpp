#include "app/window/image.h"

#include <png.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

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
  char* packed = nullptr;
  std::size_t bytes = 0;
  std::FILE* const stream = ::open_memstream(&packed, &bytes);  // as long as the file: at worst that is the picture's size
  const bool written = stream && png_image_write_to_stdio(&header, stream, 0, image.rgba.data(), 0, nullptr);
  const bool closed = stream && std::fclose(stream) == 0;
  const std::unique_ptr<char, void (*)(void*)> owned(packed, std::free);
  if (!written || !closed)
    return Error{std::string("The picture cannot be packed as PNG: ") +
                 (header.message[0] != 0 ? header.message : "not enough memory") + ". Make it smaller."};
  return std::string(packed, bytes);
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
