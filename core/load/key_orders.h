#pragma once
// The order of keys that a writer gives its events: nearly all events of a file have one of a few. An event of a known shape
// is recognised by comparing its keys with those expected, all at once and without a decision for each.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/load/event_keys.h"

namespace gapscope {

// Only keys that fit into eight characters with their quotes and colon; others make an event of no shape.
struct KeyOrder {
  static constexpr std::size_t kMost = 12;
  std::uint32_t members = 0;  // before args, or all
  std::uint32_t present = 0;  // bit a key of theirs
  bool has_args = false;      // an object as the member after these
  std::array<std::uint64_t, kMost> words{}, masks{};
  std::array<EventKey, kMost> keys{};
};

class KeyOrders {
 public:
  // The shape of the event whose first key is at `at`, or null when none fits. Says that the members' values are scalars or
  // closed strings with nothing behind them but the next comma, the last one (without args) excepted: space may follow it, and
  // it still is to be checked. `end`: after the last position.
  const KeyOrder* find(const char* text, const char* limit, const std::uint32_t* at, const std::uint32_t* end) {
    if (count_ == 0) return nullptr;
    if (fits(shapes_[likely_], text, limit, at, end)) return &shapes_[likely_];
    for (std::size_t s = 0; s < count_; ++s) {
      if (s != likely_ && fits(shapes_[s], text, limit, at, end)) {
        likely_ = s;
        return &shapes_[s];
      }
    }
    return nullptr;
  }

  // In place of the one known longest.
  void learn(const KeyOrder& shape) {
    shapes_[next_] = shape;
    next_ = (next_ + 1) % shapes_.size();
    count_ = std::max(count_, next_ == 0 ? shapes_.size() : next_);
  }

 private:
  // Whatever a value may not begin with when it is to be a scalar or a string.
  static constexpr std::array<std::uint8_t, 256> kNoScalar = [] {
    std::array<std::uint8_t, 256> table{};
    for (const char c : {'\0', ',', ':', '{', '}', '[', ']'}) table[static_cast<unsigned char>(c)] = 1;
    return table;
  }();

  [[gnu::always_inline]] static bool fits(const KeyOrder& shape, const char* text, const char* limit, const std::uint32_t* at,
                                          const std::uint32_t* end) {
    const std::uint32_t whole = shape.has_args ? shape.members : shape.members - 1;  // members whose comma is looked for
    if (end - at < 4 * static_cast<std::ptrdiff_t>(whole + 1) || limit - (text + at[4 * whole]) < 8) return false;
    std::uint64_t wrong = 0;
    for (std::uint32_t i = 0; i < whole; ++i, at += 4) {
      wrong |= key_differs(shape, i, text + at[0]);
      // Whatever follows a closed string has a position of its own, so nothing but space can stand between it and the comma.
      const auto last = static_cast<unsigned char>(text[at[3] - 1]);
      wrong |= static_cast<std::uint64_t>(text[at[3]] ^ ',') | kNoScalar[static_cast<unsigned char>(text[at[2]])];
      wrong |= static_cast<std::uint64_t>(last <= ' ');
    }
    wrong |= key_differs(shape, whole, text + at[0]);
    // Nothing follows the last member: an event that continues has another shape.
    wrong |= static_cast<std::uint64_t>(shape.has_args ? text[at[2]] ^ '{' : text[at[3]] ^ '}');
    return wrong == 0;
  }

  static std::uint64_t key_differs(const KeyOrder& shape, std::uint32_t i, const char* key) {
    std::uint64_t word = 0;
    std::memcpy(&word, key, sizeof word);
    return (word ^ shape.words[i]) & shape.masks[i];
  }

  std::array<KeyOrder, 8> shapes_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  std::size_t likely_ = 0;
};

}  // namespace gapscope
