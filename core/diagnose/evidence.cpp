#include "core/diagnose/evidence.h"

namespace gapscope {

// Not in the header: inlined, g++ 12 takes the moved-from variant for uninitialized memory.
void Evidence::add(std::string_view key, EvidenceValue value) { entries_.emplace_back(std::string(key), std::move(value)); }

const EvidenceValue* Evidence::find(std::string_view key) const {
  for (const auto& [name, value] : entries_)
    if (name == key) return &value;
  return nullptr;
}

}  // namespace gapscope
