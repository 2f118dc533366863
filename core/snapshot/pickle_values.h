#pragma once
// The values of a pickle, compactly: strings are interned, lists of the same items share one copy, and dictionaries with the
// same keys share one list of keys: an event of a memory snapshot takes about 100 bytes. Memory is bounded by the bytes that
// were read, never by a number in the file.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/column.h"
#include "core/trace/string_table.h"

namespace gapscope {

// 8 bytes: what it is, and its content or where that is. Equal bits are the same value; lists and dictionaries are equal only
// to themselves. Plain data.
class PickleValue {
 public:
  enum class Kind : std::uint8_t { none, boolean, integer, wide, real, text, list, dict };

  PickleValue() = default;
  PickleValue(Kind kind, std::uint64_t content) : bits_(content << kKindBits | static_cast<std::uint64_t>(kind)) {}
  Kind kind() const { return static_cast<Kind>(bits_ & kKindMask); }
  std::uint64_t content() const { return bits_ >> kKindBits; }
  std::uint64_t bits() const { return bits_; }
  friend bool operator==(PickleValue a, PickleValue b) { return a.bits_ == b.bits_; }

 private:
  static constexpr unsigned kKindBits = 3;
  static constexpr std::uint64_t kKindMask = 7;
  std::uint64_t bits_ = 0;  // none
};

// What a pickle holds. Lists are also tuples. Values may refer to each other in circles: a walk over them must be bounded.
class PickleValues {
 public:
  // Index into the list of distinct lists of keys.
  using Shape = std::uint32_t;

  PickleValue root() const { return root_; }
  bool is_list(PickleValue v) const { return v.kind() == PickleValue::Kind::list; }
  bool is_dict(PickleValue v) const { return v.kind() == PickleValue::Kind::dict; }
  bool is_text(PickleValue v) const { return v.kind() == PickleValue::Kind::text; }

  // A whole number or a flag; numbers beyond 64 bits stop at the ends. `otherwise` for what is no number.
  std::int64_t integer(PickleValue v, std::int64_t otherwise = 0) const;
  double real(PickleValue v) const;  // 0 for what is no number
  // Also of bytes. Empty for what is no text. Not always UTF-8.
  std::string_view text(PickleValue v) const { return texts_[text_id(v)]; }
  StringId text_id(PickleValue v) const { return StringId(is_text(v) ? v.content() : 0); }
  const StringTable& texts() const { return texts_; }

  // Items of a list or tuple; empty for all else.
  std::span<const PickleValue> items(PickleValue v) const;
  // Of a dictionary: its keys and its values in the same order. Empty for all else, and for an empty one.
  Shape shape(PickleValue v) const { return dicts_[v.content()].shape; }  // of a dictionary
  std::size_t shapes() const { return shapes_.size(); }
  std::span<const PickleValue> keys(Shape shape) const;
  std::span<const PickleValue> values(PickleValue v) const;
  // The value of a key, the last one where it comes twice; none where it is missing. Walks over the keys.
  PickleValue at(PickleValue dict, std::string_view key) const;

  std::uint64_t bytes_read() const { return bytes_read_; }

  // For who makes something of the values: ids of texts stay what they are.
  StringId add_text(std::string_view text) { return texts_.intern(text); }
  StringTable take_texts() { return std::move(texts_); }

 private:
  friend class PickleBuilder;
  struct List {
    std::uint64_t at = 0;  // in values_
    std::uint32_t count = 0, room = 0;
  };
  struct Dict {
    std::uint64_t at = 0;  // in values_
    Shape shape = 0;       // 0: no keys
  };
  struct Keys {
    std::uint64_t at = 0;  // in keys_
    std::uint32_t count = 0;
  };

  StringTable texts_;
  Column<PickleValue> values_;
  Column<List> lists_;
  Column<Dict> dicts_;
  std::vector<Keys> shapes_{Keys{}};
  std::vector<PickleValue> keys_;
  std::vector<std::int64_t> wide_;
  std::vector<double> reals_;
  PickleValue root_;
  std::uint64_t bytes_read_ = 0;
};

// Makes the values while a pickle is read.
class PickleBuilder {
 public:
  // What a step of the pickle asks for that it may not.
  enum class Trouble : std::uint8_t { none, not_a_list, not_a_dict, key_without_value, too_many_items, too_many_keys };

  PickleValue integer(std::int64_t value);
  PickleValue real(double value);
  PickleValue text(std::string_view text);
  PickleValue list(std::span<const PickleValue> items);
  PickleValue dict();
  Trouble extend(PickleValue list, std::span<const PickleValue> items);
  // `pairs`: keys and values in turn. Once for each dictionary: Python writes up to 1,000 keys at a time.
  Trouble set_items(PickleValue dict, std::span<const PickleValue> pairs);

  std::size_t objects() const { return values_.lists_.size() + values_.dicts_.size(); }
  const PickleValues& values() const { return values_; }
  PickleValues take(PickleValue root, std::uint64_t bytes_read);

 private:
  struct Shared {
    std::uint64_t at = 0, hash = 0;
    std::uint32_t count = 0;  // 0: empty
  };
  PickleValues::List place(std::span<const PickleValue> items);
  std::uint64_t append(std::span<const PickleValue> items);
  void grow_shared();
  PickleValues::Shape shape_of(std::span<const PickleValue> pairs);
  bool fits(PickleValues::Shape shape, std::span<const PickleValue> pairs) const;

  PickleValues values_;
  std::vector<Shared> shared_;  // lists of few items: open addressing
  std::size_t shared_count_ = 0;
  PickleValues::Shape recent_[32] = {};  // the last one with so many keys
  std::vector<PickleValues::Shape> shapes_by_hash_[256];
};

}  // namespace gapscope
