#include "app/cli/raw_columns.h"

#include <algorithm>
#include <bit>

#include "core/base/same_text.h"

namespace gapscope {
namespace {

static_assert(std::endian::native == std::endian::little, "what is written is little endian");

constexpr std::size_t kAlignment = 8;

std::uint8_t tag_of(sql::Cell::Kind kind) {
  switch (kind) {
    case sql::Cell::Kind::null: return RawColumns::kNulls;
    case sql::Cell::Kind::integer: return RawColumns::kIntegers;
    case sql::Cell::Kind::real: return RawColumns::kReals;
    case sql::Cell::Kind::text: break;
  }
  return RawColumns::kTexts;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

std::uint32_t RawColumns::Column::number_of(std::string_view text) {
  const auto address = reinterpret_cast<std::uintptr_t>(text.data());
  std::uint32_t& number = recent[((address >> 3) ^ (address >> 13)) % recent.size()];
  if (number < texts.size() && same_text(texts[number], text)) return number;
  const auto found = numbers.find(text);
  if (found != numbers.end()) return number = found->second;
  number = static_cast<std::uint32_t>(texts.size());
  texts.push_back(arena.keep(text));
  numbers.emplace(texts.back(), number);
  return number;
}

void RawColumns::Column::add(const sql::Cell& cell) {
  const std::uint8_t tag = tag_of(cell.kind);
  if (bits.empty()) first = tag;
  if (tags.empty() && tag != first) tags.assign(bits.size(), first);
  if (tag != first || !tags.empty()) tags.push_back(tag);
  switch (tag) {
    case kIntegers: bits.push_back(std::bit_cast<std::uint64_t>(cell.integer)); break;
    case kReals: bits.push_back(std::bit_cast<std::uint64_t>(cell.real)); break;
    case kTexts: bits.push_back(number_of(cell.text)); break;
    default: bits.push_back(0);
  }
}

std::uint64_t RawColumns::Column::kind() const {
  if (tags.empty()) return bits.empty() ? std::uint64_t{kNulls} : first;
  std::uint64_t out = kNulls;
  for (const std::uint8_t tag : tags)
    if (tag != kNulls) out = out == kNulls || out == tag ? tag : std::uint64_t{kMixed};
  return out | kTagged;
}

bool RawColumns::begin(const std::vector<std::string>& columns) {
  columns_.clear();
  rows_ = 0;
  for (const std::string& name : columns) columns_.emplace_back().name = name;
  return true;
}

bool RawColumns::row(std::span<const sql::Cell> cells) {
  ++rows_;
  for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].add(cells[i]);
  return true;
}

bool RawColumns::put(std::string_view bytes) {
  constexpr std::string_view kFill("\0\0\0\0\0\0\0", kAlignment - 1);
  return write_(bytes) && (bytes.size() % kAlignment == 0 || write_(kFill.substr(0, kAlignment - bytes.size() % kAlignment)));
}

bool RawColumns::put_number(std::uint64_t number) { return write_({reinterpret_cast<const char*>(&number), sizeof number}); }

bool RawColumns::put_column(const Column& column) {
  const std::uint64_t kind = column.kind();
  std::string texts;
  std::vector<std::uint64_t> ends;
  for (const std::string_view text : column.texts) {
    texts += text;
    ends.push_back(texts.size());
  }
  bool written = put_number(column.name.size()) && put_number(kind) && put_number(ends.size()) && put_number(texts.size()) &&
                 put(column.name);
  const std::uint64_t values = kind & ~std::uint64_t{kTagged};
  if (values == kTexts)
    written = written && put(bytes_of(std::vector<std::uint32_t>(column.bits.begin(), column.bits.end())));
  else if (values != kNulls)
    written = written && put(bytes_of(column.bits));
  if ((kind & kTagged) != 0) written = written && put(bytes_of(column.tags));
  return written && put(bytes_of(ends)) && put(texts);
}

bool RawColumns::end() {
  return write_("GSCOLS1\n") && put_number(rows_) && put_number(columns_.size()) &&
         std::ranges::all_of(columns_, [&](const Column& column) { return put_column(column); });
}

}  // namespace gapscope
