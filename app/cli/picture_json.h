#pragma once
// What a picture shows, as a JSON file: {"size": [w, h], "rows": [...], "texts": [...], "panels": [...]}, boxes as
// [x, y, w, h] in pixels of the picture.
#include <optional>
#include <string>

#include "core/base/result.h"
#include "ui/picture_layout.h"

namespace gapscope {

std::string picture_json(const PictureLayout& layout);
// Nothing on success.
std::optional<Error> write_picture_json(const std::string& path, const PictureLayout& layout);

}  // namespace gapscope
