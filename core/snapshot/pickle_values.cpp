#include "core/snapshot/pickle_values.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/hash.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostKeys = 1'000;  // of a dictionary
constexpr std::size_t kMostShared = 512;  // items of a list that is looked up among others
constexpr std::size_t kMostAlike =
    64;  // shapes of one hash that are looked through: a file of nothing but new keys stays quick
constexpr std::uint64_t kContent = (std::uint64_t{1} << 61) - 1;

// Four at a time, since each waits for the multiplication before it.
std::uint64_t hash_of(std::span<const PickleValue> items) {
  constexpr std::uint64_t kFactor = 0x9FB21C651E98DF25ULL;
  std::uint64_t lanes[4] = {items.size(), 1, 2, 3};
  std::size_t i = 0;
  for (; i + 4 <= items.size(); i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = (lanes[lane] ^ items[i + lane].bits()) * kFactor;
  for (; i < items.size(); ++i) lanes[0] = (lanes[0] ^ items[i].bits()) * kFactor;
  std::uint64_t hash = lanes[0];
  for (std::size_t lane = 1; lane < 4; ++lane) hash = mix64(hash) ^ lanes[lane];
  return mix64(hash);
}

}  // namespace

std::int64_t PickleValues::integer(PickleValue v, std::int64_t otherwise) const {
  switch (v.kind()) {
    case PickleValue::Kind::boolean: return static_cast<std::int64_t>(v.content());
    case PickleValue::Kind::integer:
      return static_cast<std::int64_t>(v.content() << 3) >> 3;  // its sign is the highest of 61 bits
    case PickleValue::Kind::wide: return wide_[v.content()];
    default: return otherwise;
  }
}

double PickleValues::real(PickleValue v) const {
  return v.kind() == PickleValue::Kind::real ? reals_[v.content()] : static_cast<double>(integer(v));
}

std::span<const PickleValue> PickleValues::items(PickleValue v) const {
  if (!is_list(v)) return {};
  const List& list = lists_[v.content()];
  return {values_.data() + list.at, list.count};
}

std::span<const PickleValue> PickleValues::keys(Shape shape) const {
  return {keys_.data() + shapes_[shape].at, shapes_[shape].count};
}

std::span<const PickleValue> PickleValues::values(PickleValue v) const {
  if (!is_dict(v)) return {};
  const Dict& dict = dicts_[v.content()];
  return {values_.data() + dict.at, shapes_[dict.shape].count};
}

PickleValue PickleValues::at(PickleValue dict, std::string_view key) const {
  if (!is_dict(dict)) return {};
  const auto names = keys(shape(dict));
  for (std::size_t i = names.size(); i-- > 0;)
    if (is_text(names[i]) && text(names[i]) == key) return values(dict)[i];
  return {};
}

PickleValue PickleBuilder::integer(std::int64_t value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  if (value >= -kMost && value < kMost) return {PickleValue::Kind::integer, static_cast<std::uint64_t>(value) & kContent};
  values_.wide_.push_back(value);
  return {PickleValue::Kind::wide, values_.wide_.size() - 1};
}

PickleValue PickleBuilder::real(double value) {
  values_.reals_.push_back(value);
  return {PickleValue::Kind::real, values_.reals_.size() - 1};
}

PickleValue PickleBuilder::text(std::string_view text) {
  return {PickleValue::Kind::text, values_.texts_.intern(text).index()};
}

PickleValue PickleBuilder::list(std::span<const PickleValue> items) {
  values_.lists_.push_back(place(items));
  return {PickleValue::Kind::list, values_.lists_.size() - 1};
}

PickleValue PickleBuilder::dict() {
  values_.dicts_.push_back({});
  return {PickleValue::Kind::dict, values_.dicts_.size() - 1};
}

PickleValues PickleBuilder::take(PickleValue root, std::uint64_t bytes_read) {
  values_.root_ = root;
  values_.bytes_read_ = bytes_read;
  return std::move(values_);
}

// Where these items are: with an equal list that is there already, else at the end.
PickleValues::List PickleBuilder::place(std::span<const PickleValue> items) {
  const auto count = static_cast<std::uint32_t>(items.size());
  if (items.empty()) return {};
  if (items.size() > kMostShared) return {append(items), count, count};
  const std::uint64_t hash = hash_of(items);
  if ((shared_count_ + 1) * 2 > shared_.size()) grow_shared();
  const std::size_t mask = shared_.size() - 1;
  std::size_t slot = hash & mask;
  for (; shared_[slot].count != 0; slot = (slot + 1) & mask) {
    const Shared& s = shared_[slot];
    if (s.hash == hash && s.count == count && std::memcmp(values_.values_.data() + s.at, items.data(), items.size_bytes()) == 0)
      return {s.at, count, count};
  }
  ++shared_count_;
  shared_[slot] = {append(items), hash, count};
  return {shared_[slot].at, count, count};
}

std::uint64_t PickleBuilder::append(std::span<const PickleValue> items) {
  const std::uint64_t at = values_.values_.size();
  values_.values_.insert(values_.values_.end(), items.begin(), items.end());
  return at;
}

void PickleBuilder::grow_shared() {
  std::vector<Shared> before(std::max<std::size_t>(1024, shared_.size() * 2));
  before.swap(shared_);
  for (const Shared& s : before) {
    if (s.count == 0) continue;
    std::size_t slot = s.hash & (shared_.size() - 1);
    while (shared_[slot].count != 0) slot = (slot + 1) & (shared_.size() - 1);
    shared_[slot] = s;
  }
}

// A list that grows again moves to twice the room, so that any number of batches costs as much as one.
PickleBuilder::Trouble PickleBuilder::extend(PickleValue into, std::span<const PickleValue> items) {
  if (into.kind() != PickleValue::Kind::list) return Trouble::not_a_list;
  PickleValues::List list = values_.lists_[into.content()];
  const std::uint64_t count = std::uint64_t{list.count} + items.size();
  if (count > std::numeric_limits<std::uint32_t>::max() / 2) return Trouble::too_many_items;
  if (list.count == 0) {
    values_.lists_[into.content()] = place(items);
    return Trouble::none;
  }
  auto& all = values_.values_;
  if (count > list.room) {
    list.room = static_cast<std::uint32_t>(count * 2);
    const std::uint64_t to = all.size();
    all.resize(to + list.room);
    std::copy_n(all.data() + list.at, list.count, all.data() + to);
    list.at = to;
  }
  std::copy(items.begin(), items.end(), all.data() + list.at + list.count);
  list.count = static_cast<std::uint32_t>(count);
  values_.lists_[into.content()] = list;
  return Trouble::none;
}

PickleBuilder::Trouble PickleBuilder::set_items(PickleValue into, std::span<const PickleValue> pairs) {
  const std::size_t keys = pairs.size() / 2;
  if (into.kind() != PickleValue::Kind::dict) return Trouble::not_a_dict;
  if (pairs.size() % 2 != 0) return Trouble::key_without_value;
  if (keys == 0) return Trouble::none;
  if (keys > kMostKeys || values_.dicts_[into.content()].shape != 0) return Trouble::too_many_keys;
  const PickleValues::Shape shape = shape_of(pairs);
  const std::uint64_t at = values_.values_.size();
  values_.values_.resize(at + keys);
  for (std::size_t k = 0; k < keys; ++k) values_.values_[at + k] = pairs[2 * k + 1];
  values_.dicts_[into.content()] = {at, shape};
  return Trouble::none;
}

bool PickleBuilder::fits(PickleValues::Shape shape, std::span<const PickleValue> pairs) const {
  const PickleValues::Keys& keys = values_.shapes_[shape];
  if (keys.count != pairs.size() / 2) return false;
  for (std::size_t i = 0; i < keys.count; ++i)
    if (!(values_.keys_[keys.at + i] == pairs[2 * i])) return false;
  return true;
}

// The shape of the last dictionary with as many keys is nearly always the one.
PickleValues::Shape PickleBuilder::shape_of(std::span<const PickleValue> pairs) {
  const std::size_t keys = pairs.size() / 2;
  PickleValues::Shape& recent = recent_[keys % std::size(recent_)];
  if (fits(recent, pairs)) return recent;
  std::uint64_t hash = keys;
  for (std::size_t i = 0; i < keys; ++i) hash = mix64(hash ^ pairs[2 * i].bits());
  auto& alike = shapes_by_hash_[hash % std::size(shapes_by_hash_)];
  for (const PickleValues::Shape shape : alike)
    if (fits(shape, pairs)) return recent = shape;
  const auto shape = static_cast<PickleValues::Shape>(values_.shapes_.size());
  values_.shapes_.push_back({values_.keys_.size(), static_cast<std::uint32_t>(keys)});
  for (std::size_t i = 0; i < keys; ++i) values_.keys_.push_back(pairs[2 * i]);
  if (alike.size() < kMostAlike) alike.push_back(shape);
  return recent = shape;
}

}  // namespace gapscope
