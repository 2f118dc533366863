#pragma once
// The rows of a query by columns, for programs: `gapscope sql --raw`. A block for each statement that gives rows:
//
//   "GSCOLS1\n", u64 rows, u64 columns, then each column: u64 bytes of its name, u64 kind, u64 texts, u64 bytes of the texts,
//   the name, the values, with kTagged a u8 tag a row, and of a column with texts their ends (u64 each) and bytes.
//
// Little endian; each part is filled up to a multiple of 8 bytes. Values: i64, f64, u32 numbers of texts, and in a mixed column
// 8 bytes of what the row's tag says. Tags: 0 NULL, 1 integer, 2 real, 3 text.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/text_arena.h"
#include "core/sql/database.h"

namespace gapscope {

class RawColumns final : public sql::RowSink {
 public:
  using Write = std::function<bool(std::string_view bytes)>;  // false: it cannot be written, which ends the query
  enum Kind : std::uint64_t {
    kNulls = 0,
    kIntegers = 1,
    kReals = 2,
    kTexts = 3,
    kMixed = 4,
    kTagged = 256
  };  // kTagged: a flag

  explicit RawColumns(Write write) : write_(std::move(write)) {}
  bool begin(const std::vector<std::string>& columns) override;
  bool row(std::span<const sql::Cell> cells) override;
  bool end() override;

 private:
  struct Column {
    std::string name{};
    std::vector<std::uint64_t> bits{};
    std::vector<std::uint8_t> tags{};  // empty while every row has the kind `first`
    std::uint8_t first = 0;
    std::vector<std::string_view> texts{};
    TextArena arena{};
    std::unordered_map<std::string_view, std::uint32_t> numbers{};
    std::array<std::uint32_t, 1024> recent{};  // a text's number by the address that it came from: most come from there again

    void add(const sql::Cell& cell);
    std::uint32_t number_of(std::string_view text);
    std::uint64_t kind() const;
  };
  bool put(std::string_view bytes);
  bool put_number(std::uint64_t number);
  bool put_column(const Column& column);

  Write write_;
  std::vector<Column> columns_;
  std::uint64_t rows_ = 0;
};

}  // namespace gapscope
