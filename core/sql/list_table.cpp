#include "core/sql/list_table.h"

#include <fmt/format.h>

namespace gapscope::sql {
namespace {

class ListCursor final : public Cursor {
 public:
  explicit ListCursor(RowList& rows) : rows_(rows) {}

  std::optional<Error> filter(std::string_view plan, int column, std::span<sqlite3_value*> values) override {
    if (auto error = rows_.prepare()) return error;
    at_ = 0;
    found_.reset();
    stop_ = rows_.rows();
    if (plan.empty()) return std::nullopt;
    const int type = sqlite3_value_numeric_type(values[0]);
    if (type == SQLITE_INTEGER ||
        (type == SQLITE_FLOAT && sqlite3_value_double(values[0]) == static_cast<double>(sqlite3_value_int64(values[0])))) {
      found_ = rows_.find(column, sqlite3_value_int64(values[0]));
    } else {
      found_.emplace();
    }
    stop_ = found_->size();
    return std::nullopt;
  }
  void next() override { ++at_; }
  bool done() const override { return at_ >= stop_; }
  void column(sqlite3_context* out, int column) override { rows_.give_value(out, row(), column); }
  std::int64_t rowid() const override { return row(); }

 private:
  std::uint32_t row() const { return found_ ? (*found_)[at_] : static_cast<std::uint32_t>(at_); }

  RowList& rows_;
  std::optional<std::vector<std::uint32_t>> found_;
  std::size_t at_ = 0, stop_ = 0;
};

class ListTable final : public Table {
 public:
  ListTable(const char* name, const char* meaning, std::span<const ColumnInfo> columns, std::unique_ptr<RowList> rows)
      : Table(name, meaning, columns), rows_(std::move(rows)) {}

  void plan(sqlite3_index_info& info) const override {
    PlanText plan(info);
    int best = -1;
    double found = rows_->about_rows();
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& c = info.aConstraint[i];
      if (!c.usable || c.op != SQLITE_INDEX_CONSTRAINT_EQ || c.iColumn < 0) continue;
      const double rows = rows_->rows_with_value(c.iColumn);
      if (rows <= 0 || (best >= 0 && rows >= found)) continue;
      best = i;
      found = rows;
    }
    if (best >= 0) {
      plan.use(best, "=");
      info.idxNum = info.aConstraint[best].iColumn;
    }
    plan.finish(found, 5 + found * 4);
  }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<ListCursor>(*rows_); }

 private:
  std::unique_ptr<RowList> rows_;
};

}  // namespace

std::vector<std::uint32_t> RowList::find(int, std::int64_t) { return {}; }

std::unique_ptr<Table> list_table(const char* name, const char* meaning, std::span<const ColumnInfo> columns,
                                  std::unique_ptr<RowList> rows) {
  return std::make_unique<ListTable>(name, meaning, columns, std::move(rows));
}

}  // namespace gapscope::sql
