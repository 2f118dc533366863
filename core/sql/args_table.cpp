// The table `args`.
#include <array>

#include "core/sql/slice_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

enum : int { kArgSetId, kFlatKey, kKey, kValueType, kIntValue, kRealValue, kStringValue, kDisplayValue };
constexpr std::array<ColumnInfo, 8> kColumns = {{
    {"arg_set_id", Type::integer, "", "slice.arg_set_id"},
    {"flat_key", Type::text, "", "\"args.Input Dims\""},
    {"key", Type::text, "", "\"args.Input Dims[0][1]\""},
    {"value_type", Type::text, "", "int, real, string or bool"},
    {"int_value", Type::integer, "", "of int and bool"},
    {"real_value", Type::real, "", "of real"},
    {"string_value", Type::text, "", "of string"},
    {"display_value", Type::text, "", "as text: reals with six digits, true or false"},
}};

constexpr std::size_t kRowsAtOnce = 4096;

// What a plan passes down: 'a' an arg_set_id, 'k' a key, 'f' a flat_key, 'g' a pattern for keys.
class ArgsCursor final : public Cursor {
 public:
  explicit ArgsCursor(World& world) : world_(world) {}

  std::optional<Error> filter(std::string_view plan, int, std::span<sqlite3_value*> values) override {
    leaves_.clear();
    batch_.clear();
    at_ = batch_at_ = file_at_ = 0;
    member_.clear();
    one_ = false;
    over_ = false;
    std::optional<std::uint32_t> id;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (sqlite3_value_type(values[i]) == SQLITE_NULL) return end();
      if (plan[i] != 'a')
        take_key(plan[i], text_of(values[i]));
      else if (!take_id(values[i], id))
        return end();
    }
    if (id) return read_one(*id);
    return read_more();
  }
  void next() override {
    if (++at_ < leaves_.size()) return;
    trouble_ = read_more();
    over_ |= trouble_.has_value();
  }
  const Error* trouble() const override { return trouble_ ? &*trouble_ : nullptr; }
  bool done() const override { return over_; }
  void column(sqlite3_context* out, int column) override {
    const FlatArg& leaf = leaves_[at_];
    switch (column) {
      case kArgSetId: return give(out, std::int64_t{id_});
      case kFlatKey: return give_copy(out, leaf.flat_key);
      case kKey: return give_copy(out, leaf.key);
      case kValueType: return give(out, std::string_view(value_type(leaf.value)));
      case kIntValue:
        if (std::holds_alternative<std::int64_t>(leaf.value) || std::holds_alternative<bool>(leaf.value))
          give_arg(out, leaf.value);
        return;
      case kRealValue:
        if (std::holds_alternative<double>(leaf.value)) give_arg(out, leaf.value);
        return;
      case kStringValue:
        if (std::holds_alternative<std::string>(leaf.value)) give_arg(out, leaf.value);
        return;
      default: return give_copy(out, display_value(leaf.value));
    }
  }
  std::int64_t rowid() const override { return std::int64_t{id_} * 4096 + static_cast<std::int64_t>(at_); }

 private:
  std::optional<Error> end() {
    over_ = true;
    return std::nullopt;
  }

  bool take_id(sqlite3_value* value, std::optional<std::uint32_t>& id) {
    const std::int64_t number = sqlite3_value_int64(value);
    if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER || number < 0 || number >= world_.order().size()) return false;
    id = static_cast<std::uint32_t>(number);
    return true;
  }
  // The member of the args that all keys of interest belong to, if it is one.
  void take_key(char what, std::string_view key) {
    if (what == 'g') {
      const std::size_t pattern = key.find_first_of("*?[");
      if (pattern == std::string_view::npos || !key.substr(pattern).starts_with("[[]"))
        return;  // other members may begin so too
      key = key.substr(0, pattern);
    }
    const std::string_view member = member_of_key(key);
    if (member.size() > member_.size()) member_ = member;
  }

  std::optional<Error> read_one(std::uint32_t id) {
    one_ = true;
    id_ = id;
    const SliceRow row = world_.order().row(id);
    auto leaves = member_.empty() ? world_.args().all(row) : world_.args().of_member(row, member_);
    if (!leaves) return leaves.error();
    leaves_ = std::move(*leaves);
    over_ = leaves_.empty();
    return std::nullopt;
  }
  // The next events of the file that have args.
  std::optional<Error> read_more() {
    at_ = 0;
    leaves_.clear();
    if (one_) return end();
    if (batch_at_ >= batch_.size()) {
      batch_at_ = 0;
      do {
        const std::size_t before = file_at_;
        auto batch = world_.args().next_in_file(file_at_, kRowsAtOnce);
        if (!batch) return batch.error();
        if (file_at_ == before) return end();
        batch_ = std::move(*batch);
      } while (batch_.empty());
    }
    id_ = world_.order().id(batch_[batch_at_].first);
    leaves_ = std::move(batch_[batch_at_++].second);
    return std::nullopt;
  }

  World& world_;
  std::vector<FlatArg> leaves_;
  std::vector<std::pair<SliceRow, std::vector<FlatArg>>> batch_;
  std::size_t at_ = 0, batch_at_ = 0, file_at_ = 0;
  std::uint32_t id_ = 0;
  std::string member_;
  bool one_ = false, over_ = true;
  std::optional<Error> trouble_;
};

class ArgsTable final : public Table {
 public:
  explicit ArgsTable(World& world)
      : Table("args", "what events say besides name and time, one row per value; read from the file", kColumns),
        world_(world) {}
  void plan(sqlite3_index_info& info) const override {
    PlanText plan(info);
    double rows = static_cast<double>(world_.trace().slice_count()) * 10 + 10;
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& c = info.aConstraint[i];
      if (!c.usable) continue;
      const bool equal = c.op == SQLITE_INDEX_CONSTRAINT_EQ;
      if (equal && c.iColumn == kArgSetId) {
        plan.use(i, "a");
        rows = std::min(rows, 10.0);
      } else if (equal && (c.iColumn == kKey || c.iColumn == kFlatKey)) {
        plan.use(i, c.iColumn == kKey ? "k" : "f");
      } else if (c.op == SQLITE_INDEX_CONSTRAINT_GLOB && c.iColumn == kKey) {
        plan.use(i, "g");
      }
    }
    plan.finish(rows, 50 + rows * 20);
  }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<ArgsCursor>(world_); }

 private:
  World& world_;
};

}  // namespace

void add_args_table(World& world, TableList& out) { out.push_back(std::make_unique<ArgsTable>(world)); }

}  // namespace gapscope::sql
