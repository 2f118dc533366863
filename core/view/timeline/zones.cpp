#include "core/view/timeline/zones.h"

#include <algorithm>

namespace gapscope {

Zone Zones::at(float x, float y) const {
  const auto found = std::find_if(zones_.rbegin(), zones_.rend(), [=](const Zone& zone) { return zone.holds(x, y); });
  return found == zones_.rend() ? Zone{} : *found;
}

}  // namespace gapscope
