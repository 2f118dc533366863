#pragma once
// An SQLite file in memory, made by statements.
#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/temp_folder.h"

namespace gapscope::test {

inline std::string small_database(const std::string& sql) {
  const TempFolder folder;
  const std::string path = (folder.path() / "small.sqlite").string();
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  REQUIRE_MESSAGE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(db));
  sqlite3_close(db);
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace gapscope::test
