#include "core/sql/arg_store.h"

#include <algorithm>
#include <bit>

#include "core/base/radix_sort.h"

namespace gapscope::sql {
namespace {

// The leaves of a member are called so, or so with more behind.
bool is_of_member(std::string_view leaf_key, std::string_view member) {
  leaf_key.remove_prefix(std::min<std::size_t>(leaf_key.size(), 5));  // "args."
  return leaf_key.starts_with(member);
}

std::optional<ArgValue> find_leaf(const std::vector<FlatArg>& leaves, std::string_view key) {
  const auto found = std::find_if(leaves.begin(), leaves.end(), [&](const FlatArg& leaf) { return leaf.key == key; });
  return found != leaves.end() ? std::optional(found->value) : std::nullopt;
}

}  // namespace

std::uint32_t ColdMember::number_of(std::vector<std::string>& all, std::unordered_map<std::string, std::uint32_t>& numbers,
                                    const std::string& text) {
  const auto [at, is_new] = numbers.try_emplace(text, static_cast<std::uint32_t>(all.size()));
  if (is_new) all.push_back(text);
  return at->second;
}

void ColdMember::add(SliceRow row, const std::vector<FlatArg>& leaves) {
  for (const FlatArg& leaf : leaves) {
    const std::uint32_t key = number_of(keys_, key_numbers_, leaf.key);
    if (key == flat_keys_.size()) flat_keys_.push_back(leaf.flat_key);
    const auto put = [&](Type type, std::uint64_t bits) {
      rows_.push_back({row, 4 * key + static_cast<std::uint32_t>(type), bits});
    };
    if (const auto* integer = std::get_if<std::int64_t>(&leaf.value))
      put(Type::integer, static_cast<std::uint64_t>(*integer));
    else if (const auto* real = std::get_if<double>(&leaf.value))
      put(Type::real, std::bit_cast<std::uint64_t>(*real));
    else if (const auto* flag = std::get_if<bool>(&leaf.value))
      put(Type::flag, *flag ? 1 : 0);
    else
      put(Type::text, number_of(texts_, text_numbers_, std::get<std::string>(leaf.value)));
  }
}

void ColdMember::seal() {
  std::stable_sort(rows_.begin(), rows_.end(), [](const Leaf& a, const Leaf& b) { return a.row < b.row; });
  key_numbers_ = {};
  text_numbers_ = {};
}

std::span<const ColdMember::Leaf> ColdMember::of(SliceRow row) const {
  const auto begin =
      std::lower_bound(rows_.begin(), rows_.end(), row, [](const Leaf& leaf, SliceRow wanted) { return leaf.row < wanted; });
  auto end = begin;
  while (end != rows_.end() && end->row == row) ++end;
  return {begin, end};
}

ArgValue ColdMember::value_of(const Leaf& leaf) const {
  switch (leaf.type()) {
    case Type::integer: return static_cast<std::int64_t>(leaf.bits);
    case Type::real: return std::bit_cast<double>(leaf.bits);
    case Type::flag: return leaf.bits != 0;
    default: return texts_[leaf.bits];
  }
}

std::optional<ArgValue> ColdMember::value(SliceRow row, std::string_view key) const {
  for (const Leaf& leaf : of(row))
    if (keys_[leaf.key()] == key) return value_of(leaf);
  return std::nullopt;
}

std::vector<FlatArg> ColdMember::leaves(SliceRow row) const {
  std::vector<FlatArg> out;
  for (const Leaf& leaf : of(row)) out.push_back({flat_keys_[leaf.key()], keys_[leaf.key()], value_of(leaf)});
  return out;
}

ArgStore::ArgStore(const Trace& trace, const SliceOrder& order, std::string spill_folder, const std::atomic<bool>& cancel)
    : order_(order), spill_folder_(std::move(spill_folder)), cancel_(cancel), text_(trace), columns_(trace) {}

void ArgStore::begin_statement(std::vector<std::string> keys) {
  cold_.clear();
  hinted_ = std::move(keys);
  single_reads_here_ = 0;
}

Result<std::vector<FlatArg>> ArgStore::read_one(SliceRow row) {
  if (++single_reads_here_ == kSingleReads && !spill_folder_.empty())
    if (auto error = spill(text_, spill_folder_, &cancel_)) return *error;
  const Result<std::vector<Arg>> args = read_args(text_, order_.offset(row));
  if (!args) return args.error();
  return flatten(*args);
}

ArgColumns::ReadEvent ArgStore::reader() {
  return [this](SliceRow row) -> std::optional<std::vector<FlatArg>> {
    auto read = read_args(text_, order_.offset(row));
    return read ? std::optional(flatten(*read)) : std::nullopt;
  };
}

Result<bool> ArgStore::has_args(SliceRow row) {
  if (columns_.any(row)) return true;
  if (has_args_.empty() && may_read_one()) {
    const auto leaves = read_one(row);
    return leaves ? Result<bool>(!leaves->empty()) : leaves.error();
  }
  if (has_args_.empty())
    if (auto error = read_file({})) return *error;
  return static_cast<bool>(has_args_[row]);
}

Result<std::optional<ArgValue>> ArgStore::value(SliceRow row, const ArgKey& key) {
  if (auto known = columns_.value(row, key, reader())) return std::move(*known);
  const std::string_view member = member_of_key(key.text);
  if (member.empty()) return std::optional<ArgValue>();
  if (cold_.find(member) == cold_.end() && may_read_one()) {
    const auto leaves = read_one(row);
    return leaves ? Result<std::optional<ArgValue>>(find_leaf(*leaves, key.text)) : leaves.error();
  }
  const auto column = cold(member);
  if (!column) return column.error();
  return (*column)->value(row, key.text);
}

Result<std::vector<FlatArg>> ArgStore::all(SliceRow row) { return read_one(row); }

Result<std::vector<FlatArg>> ArgStore::of_member(SliceRow row, std::string_view member) {
  if (auto known = columns_.of_member(row, member, reader())) return std::move(*known);
  if (cold_.find(member) == cold_.end() && may_read_one()) {
    auto leaves = read_one(row);
    if (leaves) std::erase_if(*leaves, [&](const FlatArg& leaf) { return !is_of_member(leaf.key, member); });
    return leaves;
  }
  const auto column = cold(member);
  if (!column) return column.error();
  return (*column)->leaves(row);
}

Result<const ColdMember*> ArgStore::cold(std::string_view member) {
  auto known = cold_.find(member);
  if (known == cold_.end()) {
    if (auto error = read_file({std::string(member)})) return *error;
    known = cold_.find(member);
  }
  return &known->second;
}

const std::vector<ArgStore::AtOffset>& ArgStore::file_order() {
  if (!file_order_.empty()) return file_order_;
  for (SliceRow row = 0; row < order_.size(); ++row)
    if (const std::uint64_t offset = order_.offset(row); has_offset(ImportIssueExample{offset, {}}))
      file_order_.push_back({offset, row});
  std::vector<AtOffset> room;
  radix_sort(file_order_, room, [](const AtOffset& a) { return a.offset; });
  return file_order_;
}

// In one pass what the statement is known to ask for: these members, those that stand in it, and which events have args at all.
std::optional<Error> ArgStore::read_file(std::set<std::string> members) {
  ++passes_;
  for (const std::string& key : hinted_)
    if (const std::string_view member = member_of_key(key); !member.empty() && cold_.find(member) == cold_.end())
      members.emplace(member);
  const bool presence = has_args_.empty();
  std::vector<bool> found(presence ? order_.size() : 0, false);
  std::vector<std::string> marks;
  for (const std::string& member : members) {
    cold_.try_emplace(member);
    marks.push_back('"' + member);
  }
  std::vector<std::uint64_t> offsets;
  std::vector<SliceRow> rows;
  for (const AtOffset& at : file_order()) {
    if (marks.empty() && columns_.any(at.row)) continue;
    offsets.push_back(at.offset);
    rows.push_back(at.row);
  }
  std::vector<AtOffset>().swap(file_order_);
  ArgsPass pass;
  pass.offsets = offsets;
  pass.cancel = &cancel_;
  pass.may_matter = [&](std::size_t event, std::string_view text) {
    const auto holds = [&](const std::string& mark) { return text.find(mark) != std::string_view::npos; };
    if (std::any_of(marks.begin(), marks.end(), holds)) return true;
    return presence && !columns_.any(rows[event]) && holds("\"args\"");
  };
  pass.take = [&](std::size_t event, const std::vector<Arg>& args) {
    std::vector<FlatArg> leaves;
    for (const std::string& member : members) {
      for (const Arg& arg : args)
        if (arg.key.starts_with(member)) flatten_value(arg, leaves);
      cold_.find(member)->second.add(rows[event], leaves);
      leaves.clear();
    }
    if (!presence) return true;
    for (const Arg& arg : args)
      if (leaves.empty()) flatten_value(arg, leaves);
    found[rows[event]] = !leaves.empty();
    return true;
  };
  const auto error = read_args_in_order(text_, pass);
  for (const std::string& member : members) cold_.find(member)->second.seal();
  if (error)
    cold_.clear();
  else if (presence)
    has_args_ = std::move(found);
  return error;
}

Result<std::vector<std::pair<SliceRow, std::vector<FlatArg>>>> ArgStore::next_in_file(std::size_t& from, std::size_t most) {
  if (from == 0 && !spill_folder_.empty() && order_.size() > most)
    if (auto error = spill(text_, spill_folder_, &cancel_)) return *error;
  const auto& events = file_order();
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = from; i < events.size() && offsets.size() < most; ++i) offsets.push_back(events[i].offset);
  std::vector<std::pair<SliceRow, std::vector<FlatArg>>> out;
  ArgsPass pass;
  pass.offsets = offsets;
  pass.cancel = &cancel_;
  pass.may_matter = [](std::size_t, std::string_view text) { return text.find("\"args\"") != std::string_view::npos; };
  pass.take = [&](std::size_t event, const std::vector<Arg>& args) {
    std::vector<FlatArg> leaves = flatten(args);
    if (!leaves.empty()) out.emplace_back(events[from + event].row, std::move(leaves));
    return true;
  };
  if (auto error = read_args_in_order(text_, pass)) return *error;
  from += offsets.size();
  return out;
}

}  // namespace gapscope::sql
