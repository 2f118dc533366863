#include "core/base/table/output.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/table/csv.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

std::vector<std::size_t> columns_in(const TableRows& table, ColumnPlace place) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (table.is_in(c, place)) columns.push_back(c);
  return columns;
}

// ---- Text

std::string small_letters(std::string_view title) {
  std::string out(title);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::vector<std::size_t> columns_in_text(const TableRows& table) {
  std::vector<std::size_t> columns, last;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (const int width = table.head(c).ways.text; table.is_in(c, kInText) && width != 0)
      (width > 0 ? columns : last).push_back(c);
  columns.insert(columns.end(), last.begin(), last.end());
  return columns;
}

// Numbers at the right, words at the left and cut; words behind numbers stand a little apart, the last ones are not filled up.
template <class Text>
std::string line_of(const TableRows& table, const std::vector<std::size_t>& columns, Text text) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnHead& head = table.head(columns[i]);
    const bool right = is_number(head.quantity);
    const auto width = static_cast<std::size_t>(std::abs(head.ways.text));
    const std::string cell = right ? text(columns[i]) : elide_middle(text(columns[i]), width);
    const std::string space(width - std::min(width, utf8_length(cell)), ' ');
    if (i > 0) line += right || !is_number(table.head(columns[i - 1]).quantity) ? " " : "  ";
    line += right ? space + cell : i + 1 == columns.size() ? cell : cell + space;
  }
  return line + '\n';
}

}  // namespace

std::string key_of(const ColumnHead& head) {
  if (head.ways.key) return head.ways.key;
  const bool is_time = head.quantity == Quantity::ns || head.quantity == Quantity::mean_ns;
  const char* unit = is_time ? "_ns" : head.quantity == Quantity::bytes ? "_bytes" : "";
  return head.id + std::string(unit);
}

std::string csv_head(const ColumnHead& head, CsvHeads heads) {
  if (head.ways.csv) return head.ways.csv;
  if (heads == CsvHeads::keys) return key_of(head);
  const bool is_time = head.quantity == Quantity::ns || head.quantity == Quantity::mean_ns;
  const char* unit = is_time ? " (ns)" : head.quantity == Quantity::bytes ? " (bytes)" : "";
  return head.title + std::string(heads == CsvHeads::titles_with_units ? unit : "");
}

std::string csv_of(const TableRows& table, std::span<const std::uint32_t> rows, CsvHeads heads) {
  const std::vector<std::size_t> columns = columns_in(table, kInCsv);
  std::string out;
  const auto line = [&](auto cell) {
    for (std::size_t i = 0; i < columns.size(); ++i) out += (i > 0 ? "," : "") + csv_cell(cell(columns[i]));
    out += '\n';
  };
  line([&](std::size_t c) { return csv_head(table.head(c), heads); });
  for (const std::uint32_t row : rows) line([&](std::size_t c) { return plain(table.value(row, c), table.head(c).quantity); });
  return out;
}

std::string text_of(const TableRows& table, std::span<const std::uint32_t> rows, std::string_view first_head) {
  const std::vector<std::size_t> columns = columns_in_text(table);
  std::string out = line_of(table, columns, [&](std::size_t c) {
    const ColumnHead& head = table.head(c);
    if (c == columns.front() && !first_head.empty()) return std::string(first_head);
    return head.ways.head ? std::string(head.ways.head) : small_letters(head.title);
  });
  for (const std::uint32_t row : rows) out += line_of(table, columns, [&](std::size_t c) { return table.text(row, c).text; });
  return out;
}

nlohmann::ordered_json json_of(const TableRows& table, std::span<const std::uint32_t> rows) {
  const std::vector<std::size_t> columns = columns_in(table, kInJson);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::uint32_t row : rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const std::size_t c : columns) table.json(row, c, object[key_of(table.head(c))]);
    list.push_back(std::move(object));
  }
  return list;
}

std::vector<std::uint32_t> first_rows(const TableRows& table, std::size_t count) {
  std::vector<std::uint32_t> rows(std::min(table.rows(), count));
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

}  // namespace gapscope
