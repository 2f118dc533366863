#pragma once
// A table's rows as CSV, as the text of the command line, and as JSON.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/table/columns.h"

namespace gapscope {

// Name of a column in CSV and JSON: its key, or its id with its unit ("total_ns").
std::string key_of(const ColumnHead& head);

// The title of a column of CSV.
enum class CsvHeads : std::uint8_t { keys, titles, titles_with_units };

// These rows in this order, all columns that are in CSV, under a line of heads; whole nanoseconds and bytes.
std::string csv_of(const TableRows& table, std::span<const std::uint32_t> rows, CsvHeads heads = CsvHeads::keys);

// These rows, the columns that have a width there, under a line of heads (`first_head` above the first one, where it is not
// empty); each line ends in a line break.
std::string text_of(const TableRows& table, std::span<const std::uint32_t> rows, std::string_view first_head = {});

// An object a row.
nlohmann::ordered_json json_of(const TableRows& table, std::span<const std::uint32_t> rows);

// 0, 1, ... of the first `count` rows at most.
std::vector<std::uint32_t> first_rows(const TableRows& table, std::size_t count);

}  // namespace gapscope
