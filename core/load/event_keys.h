#pragma once
// The keys of events and of their args that are taken, found by their first eight characters as one number: a trace has
// tens of millions of keys, and comparing each with every known one would be most of the work.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/same_text.h"

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

enum class EventKey : std::uint8_t { ph, cat, name, pid, tid, ts, dur, id, scope, args, other };
constexpr std::size_t kEventKeys = 11;

enum class ArgKey : std::uint8_t {
  other, grid, block, name, labels, sort_index, address, bytes, memory_bytes, stream, device, context, graph_id, graph_node_id, finished,
  input_dims, input_type, correlation, external_id, device_type, device_id, warps_per_sm, blocks_per_sm, shared_memory, registers,
  occupancy, sequence, collective, total_allocated, total_reserved, annotated_stream,
};

// A table of texts of which no two share a place; the multiplier that makes it so is found by the compiler.
template <class Key, std::size_t N, unsigned kBits>
class KeyTable {
 public:
  struct Entry {
    std::string_view text;
    Key key{};
  };

  constexpr explicit KeyTable(const std::array<Entry, N>& entries) : entries_(entries) {
    for (multiplier_ = 0x9E37'79B9'7F4A'7C15u; !fill(); multiplier_ += 0x2545'F491'4F6C'DD1Eu) {}
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

  constexpr std::size_t place_of(std::uint64_t word, std::size_t size) const { return (word ^ (size << 56)) * multiplier_ >> (64 - kBits); }

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

using EventKeyTable = KeyTable<EventKey, 10, 5>;
inline constexpr EventKeyTable kEventKeyTable{std::array<EventKeyTable::Entry, 10>{{
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
}}};

// KINETO 4.6; some are spelled differently by older files.
using ArgKeyTable = KeyTable<ArgKey, 32, 8>;
inline constexpr ArgKeyTable kArgKeyTable{std::array<ArgKeyTable::Entry, 32>{{
    {"grid", ArgKey::grid},
    {"block", ArgKey::block},
    {"name", ArgKey::name},
    {"labels", ArgKey::labels},
    {"sort_index", ArgKey::sort_index},
    {"Addr", ArgKey::address},
    {"bytes", ArgKey::bytes},
    {"Bytes", ArgKey::memory_bytes},
    {"stream", ArgKey::stream},
    {"device", ArgKey::device},
    {"context", ArgKey::context},
    {"graph id", ArgKey::graph_id},
    {"graph node id", ArgKey::graph_node_id},
    {"finished", ArgKey::finished},
    {"Input Dims", ArgKey::input_dims},
    {"Input dims", ArgKey::input_dims},
    {"Input type", ArgKey::input_type},
    {"correlation", ArgKey::correlation},
    {"External id", ArgKey::external_id},
    {"external id", ArgKey::external_id},
    {"Device Type", ArgKey::device_type},
    {"Device Id", ArgKey::device_id},
    {"warps per SM", ArgKey::warps_per_sm},
    {"blocks per SM", ArgKey::blocks_per_sm},
    {"shared memory", ArgKey::shared_memory},
    {"registers per thread", ArgKey::registers},
    {"est. achieved occupancy %", ArgKey::occupancy},
    {"Sequence number", ArgKey::sequence},
    {"Collective name", ArgKey::collective},
    {"Total Allocated", ArgKey::total_allocated},
    {"Total Reserved", ArgKey::total_reserved},
    {"annotated_stream", ArgKey::annotated_stream},
}}};

}  // namespace gapscope
