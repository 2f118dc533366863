#include "core/sql/hints.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/edit_distance.h"
#include "core/sql/tokens.h"

namespace gapscope::sql {
namespace {

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
    return edit_distance(wrong, a) < edit_distance(wrong, b);
  });
  const std::size_t near = wrong.size() <= 2 ? 1 : std::max<std::size_t>(2, wrong.size() / 3);
  return edit_distance(wrong, *best) <= near ? ": did you mean " + std::string(*best) + "?" : std::string();
}

}  // namespace

std::string near_hint(std::string_view message, std::string_view query, std::span<const std::unique_ptr<Table>> tables) {
  std::vector<std::string_view> table_names, column_names, near_names;
  const std::vector<Token> words = tokens_of(query);
  for (const auto& table : tables) {
    table_names.emplace_back(table->name());
    const bool is_asked = std::any_of(words.begin(), words.end(), [&](const Token& t) { return is_word(t, table->name()); });
    for (const ColumnInfo& c : table->columns())
      if (!c.hidden) (is_asked ? near_names : column_names).emplace_back(c.name);
  }
  if (near_names.empty()) near_names = std::move(column_names);
  if (const std::string_view table = named_after(message, "no such table: "); !table.empty()) {
    const std::string hint = nearest(table, table_names);
    return hint.empty() ? "; .tables lists them" : hint;
  }
  if (const std::string_view column = named_after(message, "no such column: "); !column.empty()) {
    const bool is_name =
        column.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
    if (std::find(near_names.begin(), near_names.end(), column) != near_names.end()) return "; is a FROM missing?";
    const std::string hint = is_name ? nearest(column, near_names) : std::string();
    return hint.empty() ? "; write a text in single quotes" : hint;
  }
  return {};
}

std::string without_hint(std::string message) {
  const std::size_t hint = message.find(" - should this be a string literal");
  if (hint == std::string::npos) return message;
  message.resize(hint);
  std::erase(message, '"');
  return message;
}

}  // namespace gapscope::sql
