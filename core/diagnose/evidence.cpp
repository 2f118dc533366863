#include "core/diagnose/evidence.h"

namespace gapscope {

const EvidenceValue* Evidence::find(std::string_view key) const {
  for (const auto& [name, value] : entries_)
    if (name == key) return &value;
  return nullptr;
}

}  // namespace gapscope
