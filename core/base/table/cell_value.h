#pragma once
// One value of a table, and how it is written for people and for programs. Every list, CSV, JSON and SQL table is made of
// these.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <nlohmann/json_fwd.hpp>

namespace gapscope {

// What a column's values are: how they are written, how wide a column of them is, whether they are numbers.
enum class Quantity : std::uint8_t {
  text,
  symbol,   // the name of a kernel or operator as the file has it: JSON and SQL give it so, people read it demangled
  id,       // a whole number that counts nothing: a device, a stream, a key of another table
  count,    // a whole number
  ns,       // whole nanoseconds
  mean_ns,  // a mean of such
  bytes,    // may be negative
  share,    // 0..1; people read percent
  percent,  // 0..100
  real,     // three significant digits are enough to read
  ratio,    // two digits behind the point
  flag,
};
constexpr bool is_number(Quantity q) { return q != Quantity::text && q != Quantity::symbol && q != Quantity::flag; }

// Absent, a text, a whole number, a real one or a flag. A string_view must outlive the table; a string is taken over.
class CellValue {
 public:
  CellValue() = default;
  CellValue(std::nullopt_t) {}
  CellValue(std::string_view text) : value_(text) {}
  CellValue(const char* text) : value_(std::string_view(text)) {}
  CellValue(std::string&& text) : value_(std::move(text)) {}
  CellValue(const std::string& text) : value_(text) {}
  CellValue(bool flag) : value_(flag) {}
  template <std::integral T>
  CellValue(T number) : value_(static_cast<std::int64_t>(number)) {}
  template <std::floating_point T>
  CellValue(T number) : value_(static_cast<double>(number)) {}
  template <class T>
  CellValue(const std::optional<T>& value) {
    if (value) *this = CellValue(*value);
  }

  bool absent() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_text() const { return get<std::string_view>() || get<std::string>(); }
  std::string_view text() const;  // empty where it is none
  double number() const;          // 0 where it is none
  template <class T>
  const T* get() const {
    return std::get_if<T>(&value_);
  }
  // Absent before all others, numbers by size, texts by their bytes.
  friend bool operator<(const CellValue& a, const CellValue& b);

 private:
  std::variant<std::monostate, std::string_view, std::string, std::int64_t, double, bool> value_;
};

// As people read it: "12.3 ms", "4,096", "-" where it is absent.
std::string display(const CellValue& value, Quantity quantity);
// As programs read it: whole nanoseconds and bytes, 15 digits of a real number; empty where it is absent.
std::string plain(const CellValue& value, Quantity quantity);
void put_json(const CellValue& value, nlohmann::ordered_json& out);

}  // namespace gapscope
