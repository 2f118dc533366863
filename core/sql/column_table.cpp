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

void give(sqlite3_context* out, const CellValue& value) {
  if (const auto* text = value.get<std::string_view>()) return give(out, *text);
  if (const auto* text = value.get<std::string>()) return give_copy(out, *text);
  if (const auto* whole = value.get<std::int64_t>()) return give(out, *whole);
  if (const auto* real = value.get<double>()) return sqlite3_result_double(out, *real);
  if (const auto* flag = value.get<bool>()) return give(out, std::int64_t{*flag});
  give_null(out);
}

void ColumnRows::add(const ColumnHead& head) {
  if (head.is_in(kInSql)) {
    infos_.push_back({head.id, type_of(head.quantity), unit_of(head), head.help});
    places_.push_back(heads_);
  }
  ++heads_;
}

std::optional<Error> ColumnRows::prepare() {
  if (!table_) table_ = make_();
  return std::nullopt;
}

void ColumnRows::give_value(sqlite3_context* out, std::uint32_t row, int column) {
  give(out, table_->value(row, places_[static_cast<std::size_t>(column)]));
}

std::unique_ptr<Table> column_table(const char* name, const char* meaning, std::unique_ptr<ColumnRows> rows) {
  const std::span<const ColumnInfo> infos = rows->infos();
  return list_table(name, meaning, infos, std::move(rows));
}

}  // namespace gapscope::sql
