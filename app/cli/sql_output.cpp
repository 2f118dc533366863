#include "app/cli/sql_output.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/in_and_out.h"
#include "core/base/table/csv.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using sql::Cell;
constexpr std::size_t kMeasuredRows = 1000;
constexpr std::size_t kWidest = 80;
constexpr std::size_t kPiece = 64 * 1024;

std::string number_text(const Cell& cell) {
  return cell.kind == Cell::Kind::integer ? std::to_string(cell.integer) : fmt::format("{}", cell.real);
}

// Gathers what is written into larger pieces.
class Buffered : public sql::RowSink {
 public:
  explicit Buffered(WriteText write) : write_(std::move(write)) {}

 protected:
  bool put(std::string_view text) {
    piece_ += text;
    return piece_.size() < kPiece || flush();
  }
  bool flush() {
    const bool written = piece_.empty() || write_(piece_);
    piece_.clear();
    return written;
  }

 private:
  WriteText write_;
  std::string piece_;
};

class TextRows final : public Buffered {
 public:
  using Buffered::Buffered;
  bool begin(const std::vector<std::string>& columns) override {
    header_ = columns;
    first_.clear();
    widths_.clear();
    rows_ = 0;
    return true;
  }
  bool row(std::span<const Cell> cells) override {
    ++rows_;
    std::vector<Value> values;
    for (const Cell& cell : cells) values.push_back(value_of(cell));
    if (!widths_.empty()) return put_row(values);
    first_.push_back(std::move(values));
    return first_.size() < kMeasuredRows || put_first();
  }
  bool end() override {
    if (widths_.empty() && !put_first()) return false;
    return put(fmt::format("{} row{}\n", format_count(static_cast<std::int64_t>(rows_)), rows_ == 1 ? "" : "s")) && flush();
  }

 private:
  struct Value {
    std::string text;
    bool is_number = false;
  };
  static Value value_of(const Cell& cell) {
    if (cell.kind == Cell::Kind::null) return {"-"};
    if (cell.kind == Cell::Kind::text) return {elide_middle(printable(cell.text), kWidest)};
    return {number_text(cell), true};
  }
  bool put_first() {
    std::vector<Value> header;
    for (std::string& name : header_) header.push_back({elide_middle(printable(name), kWidest)});
    widths_.assign(std::max<std::size_t>(1, header.size()), 0);
    const auto measure = [&](const std::vector<Value>& row) {
      for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], utf8_length(row[i].text));
    };
    measure(header);
    for (const auto& row : first_) measure(row);
    for (std::size_t i = 0; i < header.size(); ++i)
      header[i].is_number =
          !first_.empty() && std::any_of(first_.begin(), first_.end(), [&](const auto& row) { return row[i].is_number; });
    bool go_on = put_row(header);
    for (const auto& row : first_) go_on = go_on && put_row(row);
    first_.clear();
    return go_on;
  }
  bool put_row(const std::vector<Value>& values) {
    std::string line;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string space(widths_[i] - std::min(widths_[i], utf8_length(values[i].text)), ' ');
      line += i == 0 ? "" : "  ";
      line += values[i].is_number ? space + values[i].text : values[i].text + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return put(line + '\n');
  }

  std::vector<std::string> header_;
  std::vector<std::vector<Value>> first_;
  std::vector<std::size_t> widths_;
  std::uint64_t rows_ = 0;
};

class CsvRows final : public Buffered {
 public:
  using Buffered::Buffered;
  bool begin(const std::vector<std::string>& columns) override {
    std::string line;
    for (const std::string& name : columns) line += (line.empty() ? "" : ",") + csv_cell(name);
    return put(line + '\n');
  }
  bool row(std::span<const Cell> cells) override {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += ',';
      if (cells[i].kind == Cell::Kind::text)
        line += csv_cell(cells[i].text);
      else if (cells[i].kind != Cell::Kind::null)
        line += number_text(cells[i]);
    }
    return put(line + '\n');
  }
  bool end() override { return flush(); }
};

class JsonRows final : public Buffered {
 public:
  using Buffered::Buffered;
  bool begin(const std::vector<std::string>& columns) override {
    rows_ = 0;
    std::string text = json_text(nlohmann::ordered_json(columns), -1);
    text.pop_back();
    return put("{\"columns\": " + text + ", \"rows\": [");
  }
  bool row(std::span<const Cell> cells) override {
    std::string line = rows_++ == 0 ? "\n [" : ",\n [";
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ", ") + json_of(cells[i]);
    return put(line + ']');
  }
  bool end() override { return put(rows_ == 0 ? "]}\n" : "\n]}\n") && flush(); }

 private:
  std::uint64_t rows_ = 0;
};

}  // namespace

std::string json_of(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::null: return "null";
    case Cell::Kind::integer: return std::to_string(cell.integer);
    case Cell::Kind::real: return std::isfinite(cell.real) ? nlohmann::json(cell.real).dump() : "null";
    case Cell::Kind::text: break;
  }
  std::string text = json_text(nlohmann::ordered_json(cell.text), -1);
  text.pop_back();
  return text;
}

std::unique_ptr<sql::RowSink> text_rows(WriteText write) { return std::make_unique<TextRows>(std::move(write)); }
std::unique_ptr<sql::RowSink> csv_rows(WriteText write) { return std::make_unique<CsvRows>(std::move(write)); }
std::unique_ptr<sql::RowSink> json_rows(WriteText write) { return std::make_unique<JsonRows>(std::move(write)); }

}  // namespace gapscope
