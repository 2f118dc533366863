#include "core/sql/column_table.h"

#include <utility>

namespace gapscope::sql {
namespace {

Type type_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::text:
    case Quantity::symbol: return Type::text;
    case Quantity::mean_ns:
    case Quantity::share:
    case Quantity::percent:
    case Quantity::real:
    case Quantity::ratio: return Type::real;
    default: return Type::integer;
  }
}

const char* unit_of(const ColumnHead& head) {
  if (head.ways.unit) return head.ways.unit;
  switch (head.quantity) {
    case Quantity::ns:
    case Quantity::mean_ns: return "ns";
    case Quantity::bytes: return "bytes";
    case Quantity::percent: return "%";
    default: return "";
  }
}

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

void give_cell(sqlite3_context* out, const CellValue& value) {
  if (const auto* text = value.get<std::string_view>()) return give(out, *text);
  if (const auto* text = value.get<std::string>()) return give_copy(out, *text);
  if (const auto* whole = value.get<std::int64_t>()) return give(out, *whole);
  if (const auto* real = value.get<double>()) return sqlite3_result_double(out, *real);
  if (const auto* flag = value.get<bool>()) return give(out, std::int64_t{*flag});
  give_null(out);
}

ColumnInfo info_of(const ColumnHead& head) {
  const bool hidden = head.ways.hidden && head.ways.in == kInSql;  // else it means the grid
  return {head.id, type_of(head.quantity), unit_of(head), head.help, hidden};
}

void ColumnRows::add(const ColumnHead& head) {
  if (head.is_in(kInSql)) {
    infos_.push_back(info_of(head));
    places_.push_back(heads_);
  }
  ++heads_;
}

std::optional<Error> ColumnRows::prepare() {
  if (!table_ || table_->rows() == 0) table_ = make_();  // a query that was cancelled leaves none
  return std::nullopt;
}

CellValue ColumnRows::value(std::uint32_t row, int column) const {
  return table_->value(row, places_[static_cast<std::size_t>(column)]);
}

std::unique_ptr<Table> column_table(const char* name, const char* meaning, std::unique_ptr<ColumnRows> rows) {
  const std::span<const ColumnInfo> infos = rows->infos();
  return list_table(name, meaning, infos, std::move(rows));
}

}  // namespace gapscope::sql
