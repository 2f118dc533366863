#include "core/sql/function_table.h"

#include <utility>

namespace gapscope::sql {
namespace {

class FunctionCursor final : public Cursor {
 public:
  FunctionCursor(World& world, const SliceFunction& function) : world_(world), function_(function) {}
  std::optional<Error> filter(std::string_view plan, int, std::span<sqlite3_value*> values) override {
    rows_.clear();
    at_ = 0;
    if (plan.empty())
      return Error{"This table is a function: write its argument, as in " + std::string(function_.name) + "(12)."};
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return std::nullopt;
    start_ = sqlite3_value_int64(values[0]);
    if (sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER && start_ >= 0 && start_ < world_.order().size())
      rows_ = function_.rows(world_, static_cast<std::uint32_t>(start_));
    return std::nullopt;
  }
  void next() override { ++at_; }
  bool done() const override { return at_ >= rows_.size(); }
  void column(sqlite3_context* out, int column) override {
    const bool is_argument = static_cast<std::size_t>(column) + 1 == function_.columns.size();
    is_argument ? give(out, start_) : function_.give(world_, out, rows_[at_], column);
  }
  std::int64_t rowid() const override { return rows_[at_]; }

 private:
  World& world_;
  const SliceFunction& function_;
  std::vector<std::uint32_t> rows_;
  std::size_t at_ = 0;
  std::int64_t start_ = 0;
};

struct WithArgument {
  explicit WithArgument(SliceFunction of) : function(std::move(of)) {
    function.columns.push_back({"start_id", Type::integer, "", "the argument", true});
  }
  SliceFunction function;
};

class FunctionTable final : WithArgument, public Table {
 public:
  FunctionTable(World& world, SliceFunction of)
      : WithArgument(std::move(of)), Table(function.name, function.meaning, function.columns), world_(world) {}
  void plan(sqlite3_index_info& info) const override {
    const auto argument = static_cast<int>(function.columns.size()) - 1;
    PlanText plan(info);
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& c = info.aConstraint[i];
      if (c.iColumn == argument && c.op == SQLITE_INDEX_CONSTRAINT_EQ && c.usable && plan.empty()) plan.use(i, "=");
    }
    plan.empty() ? plan.finish(1e9, 1e12) : plan.finish(10, 50);
  }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<FunctionCursor>(world_, function); }

 private:
  World& world_;
};

}  // namespace

std::unique_ptr<Table> function_table(World& world, SliceFunction function) {
  return std::make_unique<FunctionTable>(world, std::move(function));
}

}  // namespace gapscope::sql
