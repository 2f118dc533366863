#pragma once
// What a picture shows, as JSON: {"size": [w, h], "rows": [...], "texts": [...], "panels": [...]}, boxes as
// [x, y, w, h] in pixels of the picture.
#include <string>

#include "ui/widgets/picture_layout.h"

namespace gapscope {

std::string picture_json(const PictureLayout& layout);

}  // namespace gapscope
