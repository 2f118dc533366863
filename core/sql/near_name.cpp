#include "core/sql/near_name.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace gapscope::sql {
namespace {

// Levenshtein's distance: how many letters to add, drop or change.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

// What follows `begin` in the message, without the name of a table before a dot.
std::string_view named_after(std::string_view message, std::string_view begin) {
  if (!message.starts_with(begin)) return {};
  message.remove_prefix(begin.size());
  const std::size_t dot = message.rfind('.');
  return dot == std::string_view::npos ? message : message.substr(dot + 1);
}

std::string nearest(std::string_view wrong, const std::vector<std::string_view>& names) {
  if (wrong.empty() || names.empty()) return {};
  const auto best = std::min_element(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return distance(wrong, a) < distance(wrong, b);
  });
  const std::size_t near = std::max<std::size_t>(2, wrong.size() / 3);
  return distance(wrong, *best) <= near ? ": did you mean " + std::string(*best) + "?" : std::string();
}

}  // namespace

std::string near_hint(std::string_view message, std::span<const std::unique_ptr<Table>> tables) {
  std::vector<std::string_view> table_names, column_names;
  for (const auto& table : tables) {
    table_names.emplace_back(table->name());
    for (const ColumnInfo& c : table->columns())
      if (!c.hidden) column_names.emplace_back(c.name);
  }
  if (const std::string_view table = named_after(message, "no such table: "); !table.empty()) {
    const std::string hint = nearest(table, table_names);
    return hint.empty() ? "; .tables lists them" : hint;
  }
  if (const std::string_view column = named_after(message, "no such column: "); !column.empty()) {
    const bool is_name =
        column.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
    return is_name ? nearest(column, column_names) : "; a text stands in single quotes";
  }
  return {};
}

}  // namespace gapscope::sql
