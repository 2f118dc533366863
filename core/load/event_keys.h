#pragma once
// The keys of events and of their args that are taken, found by their first eight characters as one number: a trace has
// tens of millions of keys, and comparing each with every known one would be most of the work.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/same_text.h"
#include "core/trace/arg_columns.h"

namespace gapscope {

// The first up to eight characters of a text, the first one lowest; the rest zero.
constexpr std::uint64_t word_of(std::string_view text) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size() && i < 8; ++i) word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  return word;
}

// The same of `size` > 0 characters at `at`, in one load where eight can be read before `limit`.
inline std::uint64_t load_word(const char* at, std::size_t size, const char* limit) {
  if (std::endian::native != std::endian::little || limit - at < 8) return word_of({at, size});
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return size >= 8 ? word : word & ((std::uint64_t{1} << (8 * size)) - 1);
}

enum class EventKey : std::uint8_t { ph, cat, name, pid, tid, ts, dur, id, scope, args, bp, bind_id, flow_in, flow_out, other };
constexpr std::size_t kEventKeys = 15;

// The args that are stored, and others that decide what an event is.
#define GAPSCOPE_NAME(name, ...) name,
enum class ArgKey : std::uint8_t {
  not_kept,
  GAPSCOPE_GPU_ARGS(GAPSCOPE_NAME) GAPSCOPE_OP_ARGS(GAPSCOPE_NAME) GAPSCOPE_OTHER_ARGS(GAPSCOPE_NAME)
};
#undef GAPSCOPE_NAME

// A table of texts, no two in one place; the multiplier that makes it so is found by the compiler.
template <class Key, std::size_t N, unsigned kBits>
class KeyTable {
 public:
  struct Entry {
    std::string_view text;
    Key key{};
  };

  constexpr explicit KeyTable(const std::array<Entry, N>& entries) : entries_(entries) {
    for (multiplier_ = 0x9E37'79B9'7F4A'7C15u; !fill(); multiplier_ += 0x2545'F491'4F6C'DD1Eu) {
    }
  }

  // `other` for a text that is not in the table. `limit`: see load_word.
  Key find(const char* text, std::size_t size, const char* limit, Key other) const {
    const std::uint64_t word = load_word(text, size, limit);
    const Place& place = places_[place_of(word, size)];
    if (place.word != word || place.size != size) return other;
    const Entry& entry = entries_[place.entry];
    if (size > 8 && !same_text({text, size}, entry.text)) return other;
    return entry.key;
  }

 private:
  static constexpr std::uint32_t kNothing = 0xFFFF'FFFFu;
  struct Place {
    std::uint64_t word = 0;
    std::uint32_t size = kNothing;
    std::uint32_t entry = 0;
  };

  constexpr std::size_t place_of(std::uint64_t word, std::size_t size) const {
    return (word ^ (std::uint64_t{size} << 56)) * multiplier_ >> (64 - kBits);
  }

  constexpr bool fill() {
    places_ = {};
    for (std::size_t i = 0; i < N; ++i) {
      const std::string_view text = entries_[i].text;
      Place& place = places_[place_of(word_of(text), text.size())];
      if (place.size != kNothing) return false;
      place = {word_of(text), static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(i)};
    }
    return true;
  }

  std::array<Entry, N> entries_;
  std::array<Place, std::size_t{1} << kBits> places_{};
  std::uint64_t multiplier_ = 0;
};

using EventKeyTable = KeyTable<EventKey, 14, 6>;
inline constexpr EventKeyTable kEventKeyTable{std::array<EventKeyTable::Entry, 14>{{
    {"ph", EventKey::ph},
    {"cat", EventKey::cat},
    {"name", EventKey::name},
    {"pid", EventKey::pid},
    {"tid", EventKey::tid},
    {"ts", EventKey::ts},
    {"dur", EventKey::dur},
    {"id", EventKey::id},
    {"s", EventKey::scope},
    {"args", EventKey::args},
    {"bp", EventKey::bp},
    {"bind_id", EventKey::bind_id},
    {"flow_in", EventKey::flow_in},
    {"flow_out", EventKey::flow_out},
}}};

#define GAPSCOPE_ENTRY(name, type, absent, key, ...) ArgKeyEntry{key, ArgKey::name},
#define GAPSCOPE_OTHER_ENTRY(name, key) ArgKeyEntry{key, ArgKey::name},
struct ArgKeyEntry {
  std::string_view text;
  ArgKey key{};
};
inline constexpr auto kArgKeys = std::to_array<ArgKeyEntry>({GAPSCOPE_GPU_ARGS(GAPSCOPE_ENTRY) GAPSCOPE_OP_ARGS(
    GAPSCOPE_ENTRY) GAPSCOPE_OTHER_ARGS(GAPSCOPE_OTHER_ENTRY) GAPSCOPE_ARG_ALIASES(GAPSCOPE_OTHER_ENTRY)});
#undef GAPSCOPE_ENTRY
#undef GAPSCOPE_OTHER_ENTRY
static_assert(kArgKeys.size() < 64, "a present mask has a bit for each");

using ArgKeyTable = KeyTable<ArgKey, kArgKeys.size(), 8>;
inline constexpr ArgKeyTable kArgKeyTable{[] {
  std::array<ArgKeyTable::Entry, kArgKeys.size()> entries;
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {kArgKeys[i].text, kArgKeys[i].key};
  return entries;
}()};

}  // namespace gapscope
