// Exports of Nsight Systems in memory: what a text of NVTX is, and damaged files of all kinds. Numbers are held by
// tests/cli/nsight_check.py.
#include <sqlite3.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "core/load/kineto_writer.h"
#include "core/load/load_trace.h"
#include "core/load/nsight_systems.h"
#include "core/load/nvtx_text.h"
#include "tests/support/flips.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string export_of(const char* sql) {
  const TempFolder folder;
  const std::string path = (folder.path() / "small.sqlite").string();
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  REQUIRE_MESSAGE(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(db));
  sqlite3_close(db);
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A few rows of each table that is read, on small pages so that a mutation hits what matters.
std::string small_export() {
  return export_of(R"(
PRAGMA page_size = 512;
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'poll');
CREATE TABLE PROCESSES (globalPid INT, pid INT, name TEXT);
INSERT INTO PROCESSES VALUES (16777216000, 1000, 'python3');
CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT, maxWarpsPerSm INT);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100', 132, 64);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT,
  globalPid INT, demangledName INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, contextId INT, streamId INT, globalPid INT, syncType INT);
CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, globalTid INT, text TEXT, domainId INT, jsonText TEXT);
CREATE TABLE OSRT_API (start INT, end INT, globalTid INT, nameId INT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10000, i * 10000 + 5000, 0, 1, 7, i, 16777216000, 1, 8, 1, 1, 256, 1, 1 FROM n;
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start - 3000, start - 1000, 16777217000, correlationId, 2
  FROM CUPTI_ACTIVITY_KIND_KERNEL;
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (0, 9, 1, 7, 16777216000, 3);
INSERT INTO NVTX_EVENTS SELECT start, end, 59, 16777217000, 'aten::mm, seq = 3, op_id = 4, sizes = [[2]]', 1, '{"a": 1}'
  FROM CUPTI_ACTIVITY_KIND_KERNEL;
INSERT INTO OSRT_API VALUES (5, 6, 16777217000, 3);
)");
}

}  // namespace

TEST_CASE("an export of Nsight Systems is a trace") {
  const auto trace = load_trace_from_text(small_export(), "small.sqlite");
  REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().message));
  CHECK((*trace)->producer->id == "nsight_systems");
  CHECK((*trace)->slice_count() == 31 + 31 + 1 + 31 + 1);
  CHECK((*trace)->calls.size() == 30);  // the first has the number 0: none
  CHECK((*trace)->header.devices.at(0).max_threads_per_sm == 2048);
}

TEST_CASE("a damaged export of Nsight Systems ends in a trace or a sentence") {
  const std::string whole = small_export();
  std::mt19937 random(60);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  std::size_t opened = 0;
  const int kDamaged = flips(10'000);
  for (int round = 0; round < kDamaged; ++round) {
    std::string bytes = whole;
    const std::size_t changes = 1 + below(8);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t at = below(4) == 0 ? below(512) : below(bytes.size());
      switch (below(5)) {
        case 0: bytes[at] = static_cast<char>(below(256)); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
        case 2: bytes[at] = '\x7f'; break;
        case 3: {  // a page in place of another: circles
          const std::size_t pages = bytes.size() / 512, from = below(pages), to = below(pages);
          bytes.replace(to * 512, 512, bytes.substr(from * 512, 512));
          break;
        }
        default: bytes.resize(std::max<std::size_t>(600, at)); break;
      }
    }
    const auto trace = load_trace_from_text(bytes, "small.sqlite");
    opened += trace.ok() ? 1 : 0;
    if (!trace.ok()) CHECK(trace.error().message.starts_with("small.sqlite "));
  }
  CHECK(opened > static_cast<std::size_t>(kDamaged) / 10);
}

TEST_CASE("a list of very many tables is refused") {
  const std::string many = export_of(R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 16777216, 1);
PRAGMA writable_schema = on;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO sqlite_master SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || ' (a)' FROM n;)");
  const auto trace = load_trace_from_text(many, "many.sqlite");
  REQUIRE(!trace.ok());
  CHECK(trace.error().message.find("a damaged Nsight Systems export") != std::string::npos);
}

TEST_CASE("a name of an export stays a name, whatever is in it") {
  const std::string name = "\xC3\xA9\",\"cat\":\"kernel\",\"x\":\"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy";
  std::string text;
  append_json_string(text, name);
  CHECK(text.starts_with("\"\xC3\xA9\\\",\\\"cat"));
  std::string wrong;
  append_json_string(wrong, "\xFF\xC3\xED\xA0\x80z");
  CHECK(wrong == "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\"");
}

TEST_CASE("an export with very many processes is read as fast as its rows") {
  const std::string rows = export_of(R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 5, i << 24, i * 10 + 1 FROM n;)");
  const auto begin = std::clock();
  auto source = make_nsight_source(make_text_source(rows));
  REQUIRE(source.ok());
  std::string text(std::size_t{1} << 20, '\0');
  for (std::size_t got = text.size(); got == text.size();) {
    const auto more = (*source)->read(text.data(), text.size());
    REQUIRE(more.ok());
    got = *more;
  }
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 3);  // 0.1; it was 40 and more
}

TEST_CASE("what autograd.profiler.emit_nvtx() writes is taken apart") {
  const NvtxText mm = parse_nvtx("aten::mm, seq = 3, op_id = 41, sizes = [[2, 3], []], input_op_ids = [(40, 0)]");
  CHECK(mm.name == "aten::mm");
  CHECK(mm.sequence == 3);
  CHECK(mm.op_id == 41);
  CHECK(mm.sizes == "[[2, 3], []]");
  CHECK(mm.is_operator);
  CHECK(parse_nvtx("AddmmBackward0, op_id = 5").is_operator);
  CHECK(parse_nvtx("autograd::engine::evaluate_function: AddmmBackward0, op_id = 5").is_operator);
  CHECK(!parse_nvtx("FSDP::pre_forward (layer.1), op_id = 5").is_operator);
  CHECK(parse_nvtx("FSDP::pre_forward (layer.1), op_id = 5").name == "FSDP::pre_forward (layer.1)");
  CHECK(parse_nvtx("train step 3").name == "train step 3");
  CHECK(parse_nvtx("a, sizes = [[2]]").name == "a, sizes = [[2]]");  // a name of the program's own
  CHECK(parse_nvtx("x, op_id = 1, sizes = [[2").sizes.empty());
  CHECK(parse_nvtx("").name.empty());
}

TEST_CASE("times become microseconds digit by digit") {
  const auto us = [](Ns ns) {
    std::string out;
    append_us(out, ns);
    return out;
  };
  CHECK(us(0) == "0.000");
  CHECK(us(1'700'000'000'123'456'789) == "1700000000123456.789");
  CHECK(us(-1) == "-0.001");
  CHECK(us(INT64_MIN) == "-9223372036854775.808");
}
