#pragma once
// The rows and cells of the tables that a browser gets: made of values of a command's JSON, in the words and numbers of the
// rest of the program. Every name is escaped. A value that is not there is an empty cell.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

// Apart from the rest: such short names would meet others.
namespace gapscope::cells {

using Json = nlohmann::ordered_json;

struct Cell {
  std::string text;
  std::optional<double> number{};  // what it is sorted by; none: the text, or nothing where the column has numbers
  std::optional<double> share{};   // 0..1: drawn as a bar
};

struct Column {
  std::string_view title;
  enum class Kind : std::uint8_t { words, text, name, number } kind = Kind::number;  // text: sentences
};
constexpr auto kWords = Column::Kind::words, kText = Column::Kind::text, kName = Column::Kind::name;

// The value of a key; null where it is not there.
const Json& at(const Json& of, std::string_view key);

Cell words(const Json& value);
// Of a key such as "exposed_copies"; of a cause of idle time its title, as everywhere.
Cell key_words(std::string_view key);
Cell duration(const Json& ns);
Cell count(const Json& n);
Cell bytes(const Json& n);
Cell share(const Json& value);
Cell share(const Json& part, const Json& whole);
// "step (train.py:54), in Linear_0", as everywhere.
Cell place(const Json& where);

class HtmlTable {
 public:
  HtmlTable(std::string_view title, std::vector<Column> columns) : title_(title), columns_(std::move(columns)) {}
  void row(const std::vector<Cell>& cells);
  std::string html() const;  // empty without a row

 private:
  std::string_view title_;
  std::vector<Column> columns_;
  std::string body_;
  std::size_t rows_ = 0;
};

}  // namespace gapscope::cells
