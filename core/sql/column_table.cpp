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

}  // namespace

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
