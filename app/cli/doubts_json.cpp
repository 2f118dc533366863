#include "app/cli/doubts_json.h"

namespace gapscope {

nlohmann::ordered_json doubts_json(const std::vector<Doubt>& doubts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Doubt& d : doubts)
    list.push_back(
        {{"kind", doubt_word(d.kind)}, {"count", d.count}, {"affects", d.affects}, {"said", d.said}, {"mended", d.mended}});
  return list;
}

}  // namespace gapscope
