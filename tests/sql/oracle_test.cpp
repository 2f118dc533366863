// Queries with the rows that Perfetto's trace_processor and a naive program both give: NAME.sql and NAME.RECORDING.csv. Rows
// agree in their order, reals to 1e-6.
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/sql/rows.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Rows csv(const std::string& text) {
  Rows rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      rows.back().back() += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ',')
      rows.back().emplace_back();
    else if (!quoted && c == '\n')
      rows.push_back({""});
    else if (quoted || c != '\r')
      rows.back().back() += c;
  }
  if (rows.back() == std::vector<std::string>{""}) rows.pop_back();
  return rows;
}

bool same_number(const std::string& a, const std::string& b) {
  char *end_a = nullptr, *end_b = nullptr;
  const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
  return !a.empty() && !b.empty() && *end_a == '\0' && *end_b == '\0' && std::abs(x - y) <= 1e-6;
}
bool same_value(const std::string& got, const std::string& expected) {
  return got == expected || (got == "NULL" && expected.empty()) ||
         (got.find('.') != std::string::npos && same_number(got, expected));
}

// What differs first; empty where nothing does.
std::string difference(const Answer& got, const Rows& expected) {
  if (!got.error.empty()) return got.error;
  if (expected.empty() || got.columns != expected[0]) return "other columns";
  if (got.rows.size() + 1 != expected.size())
    return std::to_string(got.rows.size()) + " rows for " + std::to_string(expected.size() - 1);
  for (std::size_t r = 0; r < got.rows.size(); ++r)
    for (std::size_t c = 0; c < got.rows[r].size(); ++c)
      if (!same_value(got.rows[r][c], expected[r + 1][c]))
        return "row " + std::to_string(r + 1) + ": " + got.rows[r][c] + " for " + expected[r + 1][c];
  return {};
}

// Runs every NAME.sql of the folder on each recording that it has rows of; how many.
std::size_t run_all(const std::filesystem::path& folder) {
  std::size_t ran = 0;
  std::map<std::string, std::unique_ptr<sql::Database>> databases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".csv")) continue;
    const std::string query = file.substr(0, file.find('.')),
                      trace = file.substr(query.size() + 1, file.size() - query.size() - 5);
    auto& database = databases[trace];
    if (!database) database = database_of(recording(trace));
    const Answer answer = ask(*database, text_of(folder / (query + ".sql")));
    const std::string differs = difference(answer, csv(text_of(entry.path())));
    INFO(file);
    CHECK(differs == "");
    ++ran;
  }
  return ran;
}

}  // namespace

TEST_CASE("queries on a recording give the rows that other programs give") {
  CHECK(run_all(source_folder() / "tests/sql/queries") == 7);
}

TEST_CASE("all shared queries on their recordings give the rows that other programs give") {
  const auto folder = shared_folder() / "sql";
  if (!std::filesystem::exists(folder)) {
    std::cout << "SKIPPED: the shared queries need ../shared/sql, which is not here.\n";
    return;
  }
  CHECK(run_all(folder) >= 75);
}
