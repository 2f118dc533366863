#include "core/trace/string_table.h"

#include "core/base/hash.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kEmpty = 0xFFFF'FFFFu;
constexpr std::size_t kFirstSlots = 1024;  // a small trace has a few hundred distinct texts

std::uint32_t high_half(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

}  // namespace

StringTable::StringTable() : slots_(kFirstSlots, kEmpty) { intern({}); }

std::size_t StringTable::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = high_half(hash) & mask;; slot = (slot + 1) & mask) {
    const std::uint32_t at = slots_[slot];
    if (at == kEmpty || (hashes_[at] == high_half(hash) && texts_[at] == text)) return slot;
  }
}

StringId StringTable::intern(std::string_view text) {
  const std::uint64_t hash = hash_text(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != kEmpty) return StringId(slots_[slot]);
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(arena_.keep(text));
  hashes_.push_back(high_half(hash));
  slots_[slot] = id;
  if (texts_.size() * 2 > slots_.size()) grow();
  return StringId(id);
}

StringId StringTable::find(std::string_view text) const {
  const std::uint32_t at = slots_[slot_of(text, hash_text(text))];
  return at == kEmpty ? StringId{} : StringId(at);
}

void StringTable::grow() {
  std::vector<std::uint32_t> wider(slots_.size() * 2, kEmpty);
  const std::size_t mask = wider.size() - 1;
  for (std::uint32_t id = 0; id < texts_.size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (wider[slot] != kEmpty) slot = (slot + 1) & mask;
    wider[slot] = id;
  }
  slots_.swap(wider);
}

std::size_t StringTable::bytes() const {
  return arena_.bytes() + texts_.capacity() * sizeof(std::string_view) + hashes_.capacity() * 4 + slots_.size() * 4;
}

}  // namespace gapscope
