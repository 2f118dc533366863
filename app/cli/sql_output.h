#pragma once
// Rows of a query as text, CSV or JSON, written as they come.
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>

#include "core/sql/database.h"

namespace gapscope {

// Takes pieces of text; false ends the query.
using WriteText = std::function<bool(std::string_view text)>;

// A line a row, columns wide enough for the first thousand rows; long texts are cut in the middle.
std::unique_ptr<sql::RowSink> text_rows(WriteText write);
// Cells of core/base/table/csv.h under a header; NULL is empty.
std::unique_ptr<sql::RowSink> csv_rows(WriteText write);
// {"columns": [...], "rows": [[...], ...]} and a line end, one for each statement that gives rows.
std::unique_ptr<sql::RowSink> json_rows(WriteText write);

// A value as JSON.
std::string json_of(const sql::Cell& cell);

}  // namespace gapscope
