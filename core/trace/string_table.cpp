#include "core/trace/string_table.h"

#include <cstring>

#include "core/base/hash.h"
#include "core/base/same_text.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kEmpty = 0xFFFF'FFFFu;
constexpr std::size_t kFirstSlots = 1024;  // a small trace has a few hundred distinct texts

std::uint32_t high_half(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

}  // namespace

StringTable::StringTable() : recent_(kRecent, 0), slots_(kFirstSlots, kEmpty) { intern({}); }

// Its length and three words of it.
std::size_t StringTable::recent_slot(std::string_view text) {
  const auto word = [&](std::size_t at) {
    std::uint64_t w = 0;
    std::memcpy(&w, text.data() + at, sizeof w);
    return w;
  };
  if (text.size() < sizeof(std::uint64_t)) {
    std::uint64_t w = text.size();
    for (const char c : text) w = w * 31 + static_cast<unsigned char>(c);
    return w % kRecent;
  }
  const std::uint64_t sum = word(0) * 0x9E3779B97F4A7C15ULL + word(text.size() / 2 - 4) * 0xff51afd7ed558ccdULL +
                            word(text.size() - 8) * 0x9FB21C651E98DF25ULL + text.size();
  return (sum ^ (sum >> 32)) * 0x9E3779B97F4A7C15ULL >> 52;  // 12 bits: kRecent
}

std::size_t StringTable::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = high_half(hash) & mask;; slot = (slot + 1) & mask) {
    const std::uint32_t at = slots_[slot];
    if (at == kEmpty || (hashes_[at] == high_half(hash) && texts_[at] == text)) return slot;
  }
}

StringId StringTable::intern(std::string_view text) {
  std::uint32_t& recent = recent_[recent_slot(text)];
  if (recent < texts_.size() && same_text(texts_[recent], text)) return StringId(recent);
  const std::uint64_t hash = hash_text(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != kEmpty) return StringId(recent = slots_[slot]);
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(arena_.keep(text));
  hashes_.push_back(high_half(hash));
  slots_[slot] = recent = id;
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
  return arena_.bytes() + texts_.capacity() * sizeof(std::string_view) + hashes_.capacity() * 4 +
         (slots_.size() + recent_.size()) * 4;
}

}  // namespace gapscope
