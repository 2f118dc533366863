#include "core/base/table/cell_value.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/demangle.h"
#include "core/base/text.h"
#include "core/base/time.h"

namespace gapscope {
namespace {

std::string signed_bytes(std::int64_t bytes) {
  const auto size = static_cast<std::uint64_t>(bytes);
  return bytes < 0 ? "-" + format_bytes(0 - size) : format_bytes(size);
}

// "0.123", "1234", "137 G": above a million in powers of 1000.
std::string three_digits(double number) {
  constexpr std::array<const char*, 6> kPowers = {"", " k", " M", " G", " T", " P"};
  if (std::fabs(number) < 999.5) return fmt::format("{:.3g}", number);
  if (std::fabs(number) < 999'500 || !std::isfinite(number)) return fmt::format("{:.0f}", number);
  std::size_t power = 0;
  for (; std::fabs(number) >= 999.5 && power + 1 < kPowers.size(); ++power) number /= 1000;
  return fmt::format("{:.3g}{}", number, kPowers[power]);
}

std::string real_text(double number, Quantity quantity) {
  switch (quantity) {
    case Quantity::ns:
    case Quantity::mean_ns: return format_duration(static_cast<Ns>(std::floor(number + 0.5)));
    case Quantity::share: return format_percent(number);
    case Quantity::percent: return format_percent(number / 100);
    case Quantity::ratio: return fmt::format("{:.2f}", number);
    case Quantity::real: return three_digits(number);
    default: return format_significant(number);
  }
}

std::string whole_text(std::int64_t number, Quantity quantity) {
  switch (quantity) {
    case Quantity::id: return std::to_string(number);
    case Quantity::ns: return format_duration(number);
    case Quantity::bytes: return signed_bytes(number);
    case Quantity::count: return format_count(number);
    default: return real_text(static_cast<double>(number), quantity);
  }
}

}  // namespace

std::string_view CellValue::text() const {
  if (const auto* view = get<std::string_view>()) return *view;
  if (const auto* own = get<std::string>()) return *own;
  return {};
}

double CellValue::number() const {
  if (const auto* whole = get<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* real = get<double>()) return *real;
  const auto* flag = get<bool>();
  return flag && *flag ? 1 : 0;
}

bool operator<(const CellValue& a, const CellValue& b) {
  if (a.absent() || b.absent()) return a.absent() && !b.absent();
  const auto *whole_a = a.get<std::int64_t>(), *whole_b = b.get<std::int64_t>();
  if (whole_a && whole_b) return *whole_a < *whole_b;
  const double number_a = a.number(), number_b = b.number();
  return number_a != number_b ? number_a < number_b : a.text() < b.text();
}

std::string display(const CellValue& value, Quantity quantity) {
  if (value.absent()) return "-";
  if (quantity == Quantity::symbol) return printable(demangle(value.text()));
  if (const auto* flag = value.get<bool>()) return *flag ? "yes" : "no";
  if (const auto* whole = value.get<std::int64_t>()) return whole_text(*whole, quantity);
  if (const auto* real = value.get<double>()) return real_text(*real, quantity);
  return printable(value.text());
}

std::string plain(const CellValue& value, Quantity quantity) {
  if (quantity == Quantity::symbol) return demangle(value.text());
  if (const auto* flag = value.get<bool>()) return *flag ? "true" : "false";
  if (const auto* whole = value.get<std::int64_t>()) return std::to_string(*whole);
  if (const auto* real = value.get<double>()) return std::isfinite(*real) ? fmt::format("{:.15g}", *real) : std::string();
  return std::string(value.text());
}

void put_json(const CellValue& value, nlohmann::ordered_json& out) {
  out = nullptr;
  if (const auto* flag = value.get<bool>()) out = *flag;
  if (const auto* whole = value.get<std::int64_t>()) out = *whole;
  if (const auto* real = value.get<double>()) out = *real;
  if (value.is_text()) out = std::string(value.text());
}

}  // namespace gapscope
