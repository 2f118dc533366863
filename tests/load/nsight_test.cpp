// Exports of Nsight Systems in memory: what a text of NVTX is, and damaged files of all kinds. Numbers are held by
// tests/cli/nsight_check.py.
#include <algorithm>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/cpu_samples.h"
#include "core/load/kineto_writer.h"
#include "core/load/load_trace.h"
#include "core/load/nsight_systems.h"
#include "core/load/nvtx_text.h"
#include "tests/support/flips.h"
#include "tests/support/load_text.h"
#include "tests/support/small_database.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A few rows of each table that is read, on small pages so that a mutation hits what matters.
std::string small_export_sql() {
  return R"(
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
CREATE TABLE ThreadNames (nameId INT, priority INT, globalTid INT);
)";
}
std::string small_export() { return small_database(small_export_sql()); }

}  // namespace

TEST_CASE("an export of Nsight Systems is a trace") {
  const auto trace = load_trace_from_text(small_export(), "small.sqlite");
  REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().message));
  CHECK((*trace)->producer->id == "nsight_systems");
  CHECK((*trace)->slice_count() == 31 + 31 + 1 + 31 + 1);
  CHECK((*trace)->calls.size() == 30);  // the first has the number 0: none
  CHECK((*trace)->header.devices.at(0).max_threads_per_sm == 2048);
}

TEST_CASE("CPU samples become a lane for each thread, in which a frame lasts as long as samples in a row have it") {
  // By thread: 1 kHz, a pause of 10 ms, and a thread that was sampled once. stackDepth 0 is the innermost.
  const auto trace = load_trace_from_text(small_database(small_export_sql() + R"(
CREATE TABLE COMPOSITE_EVENTS (id INT NOT NULL PRIMARY KEY, start INT, cpu INT, threadState INT, globalTid INT, cpuCycles INT);
CREATE TABLE SAMPLING_CALLCHAINS (id INT, symbol INT, module INT, kernelMode INT, thumbCode INT, unresolved INT,
  specialEntry INT, originalIP INT, unwindMethod INT, stackDepth INT, PRIMARY KEY (id, stackDepth));
INSERT INTO StringIds VALUES (10, 'main'), (11, 'load'), (12, 'decode'), (13, '0x7f12'), (14, '/usr/lib/libz.so');
INSERT INTO ThreadNames VALUES (2, 20, 16777217000);
INSERT INTO COMPOSITE_EVENTS VALUES (3, 3000000, 0, 1, 16777217000, 9), (1, 1000000, 0, 1, 16777217000, 9),
  (2, 2000000, 0, 1, 16777217000, 9), (4, 13000000, 0, 1, 16777217000, 9), (5, 1500000, 0, 1, 16777217001, 9);
INSERT INTO SAMPLING_CALLCHAINS (id, stackDepth, symbol, module, unresolved) VALUES (1, 1, 10, 0, 0), (1, 0, 11, 0, 0),
  (2, 0, 12, 0, 0), (2, 1, 11, 0, 0), (2, 2, 10, 0, 0), (3, 0, 11, 0, 0), (3, 1, 10, 0, 0), (4, 0, 13, 14, 1), (4, 1, 10, 0, 0);
)"),
                                          "small.sqlite");
  REQUIRE(trace.ok());
  const Trace& t = **trace;
  std::vector<std::string> seen;
  for (std::uint32_t i = 0; i < t.slice_count(); ++i)
    if (const SliceId s(i); t.strings[t.categories[t.slices.category[i]].name] == "cpu_sample")
      seen.push_back(fmt::format("{} {} {}-{}", t.lane(t.lane_id(s)).title, t.name(s), t.begin(s) / 1000, t.end(s) / 1000));
  std::sort(seen.begin(), seen.end());
  const std::string lane = "CPU samples of thread 1000 (cudaLaunchKernel_v7000) ";
  CHECK(seen == std::vector<std::string>{lane + "[libz.so] 13000-14000", lane + "decode 2000-3000", lane + "load 1000-4000",
                                         lane + "main 1000-4000", lane + "main 13000-14000",
                                         "CPU samples of thread 1001 function without a name 1500-2500"});
  const auto launch = SliceId(t.calls[0].slice);
  const auto most = most_sampled(t, launch, {1'500'000, 13'500'000});
  REQUIRE(most);
  CHECK(most->name == "load");  // 1.5 ms of 3: decode and main have 1 and 0.5 without what they call
  CHECK(most->time == 1'500'000);
  CHECK(most->sampled == 3'000'000);
  CHECK(sampled_sentence(*most) ==
        "The launching thread was sampled mostly in load: 50 % of the 3.00 ms that it was on a CPU.");
  CHECK(!most_sampled(t, launch, {5'000'000, 12'000'000}));
}

TEST_CASE("foreign samples that overlap like stairs never count twice, nor past the last slice") {
  const auto slice = [](const char* name, int begin, int length) {
    return fmt::format(R"({{"ph":"X","name":"{}","pid":1,"tid":"samples 7","ts":{},"dur":{}}},)", name, begin, length);
  };
  const std::shared_ptr<const Trace> t = load_text(
      R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":7,"ts":0,"dur":50},)" + slice("low", 0, 10) +
      slice("high", 5, 25) + slice("empty", 29, 0) + R"({"ph":"X","name":"last","pid":1,"tid":"samples 7","ts":30,"dur":0}]})");
  SliceId op;
  for (std::uint32_t i = 0; i < t->slices.size(); ++i)
    if (t->name(SliceId(i)) == "op") op = SliceId(i);
  const auto first = most_sampled(*t, op, {0, 20'000}), later = most_sampled(*t, op, {20'000, 40'000});
  REQUIRE(first);
  CHECK(first->name == "low");
  CHECK(first->time == 5'000);
  CHECK(first->sampled == 10'000);
  REQUIRE(later);
  CHECK(later->name == "high");
  CHECK(later->time == 10'000);
  CHECK(later->sampled == 10'000);
}

TEST_CASE("a kernel is of the collective that NCCL's payloads name") {
  const auto word = [](std::uint64_t value, int bytes = 8) {
    std::string hex;
    for (int i = 0; i < bytes; ++i) hex += fmt::format("{:02x}", value >> (8 * i) & 0xFF);
    return hex;
  };
  const auto blob = [&](std::uint64_t schema, const std::string& payload) {
    return "x'" + word(1) + word(schema) + word(payload.size() / 2) + word(32) + payload + "'";
  };
  const std::uint64_t communicator = 0xCAFEBABEDEADBEEF;
  const std::string sql = small_export_sql() + R"(
CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INT, schemaId INT, name TEXT, type INT, flags INT, numEntries INT, payloadSize INT);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INT, schemaId INT, idx INT, flags INT, type INT, name TEXT, description TEXT,
  arrayOrUnionDetail INT, offset INT);
CREATE TABLE NVTX_PAYLOAD_ENUM_ENTRIES (domainId INT, schemaId INT, idx INT, name TEXT, value INT, isFlag INT);
INSERT INTO NVTX_PAYLOAD_ENUM_ENTRIES VALUES (1, 16777300, 0, 'Sum', 0, NULL);
INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 20, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL, NULL),
  (1, 20, 1, NULL, 22, 'Message size [bytes]', NULL, NULL, 8), (1, 20, 2, NULL, 16777300, 'Reduction operation', NULL, NULL, 16),
  (1, 18, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL, NULL), (1, 18, 1, NULL, 5, 'No. of ranks', NULL, NULL, 8),
  (1, 18, 2, NULL, 5, 'Rank', NULL, NULL, 12);
INSERT INTO StringIds VALUES (20, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)'), (21, 'ncclAllReduce'),
  (22, 'ncclCommInitRank'), (23, 'ncclGroupEnd'), (24, 'ncclAllGather'), (25, 'ncclDevKernel_AllGather_RING_LL');
ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData TEXT;
ALTER TABLE NVTX_EVENTS ADD COLUMN textId INT;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 20 WHERE correlationId = 5;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 25 WHERE correlationId IN (10, 20);
INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, domainId, textId, binaryData) VALUES
  (1, 2, 59, 16777217000, 1, 22, )" +
                          blob(18, word(communicator) + word(4, 4) + word(3, 4)) + R"(),
  (46000, 49500, 59, 16777217000, 1, 21, )" +
                          blob(20, word(communicator) + word(4096) + word(0, 4)) + R"(),
  (90000, 91000, 59, 16777217000, 1, 24, )" +
                          blob(20, word(communicator) + word(100)) + R"(),
  (92000, 93000, 59, 16777217000, 1, 24, )" +
                          blob(20, word(communicator) + word(28)) + R"(),
  (95000, 99500, 59, 16777217000, 1, 23, NULL),
  (190000, 191000, 59, 16777217000, 1, 24, )" +
                          blob(20, word(communicator) + word(100)) + R"(),
  (191000, 192000, 59, 16777217000, 1, 21, )" +
                          blob(20, word(communicator) + word(100)) + R"(),
  (195000, 199500, 59, 16777217000, 1, 23, NULL), (200000, 200500, 59, 16777217000, 1, 21, x'0102');
)";
  const auto trace = load_trace_from_text(small_database(sql), "small.sqlite");
  REQUIRE(trace.ok());
  std::vector<std::string> said;
  for (const OpRow& op : (*trace)->ops)
    if (op.collective_args) said.emplace_back((*trace)->strings[op.collective_args]);
  // The call around the launch; a group with two calls alike; of the group with calls of two kinds nothing is known.
  CHECK(
      said ==
      std::vector<std::string>{
          R"("Collective name":"allreduce","In msg nelems":2048,"Out msg nelems":2048,"Group size":4,"dtype":"BFloat16","Process Group Name":"0xcafebabedeadbeef")",
          R"("Collective name":"allgather","In msg nelems":128,"Out msg nelems":512,"Group size":4,"dtype":"Byte","Process Group Name":"0xcafebabedeadbeef")"});
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
  const std::string many = small_database(R"(
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
  const std::string rows = small_database(R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 5, i << 24, i * 10 + 1 FROM n;)");
  const auto begin = std::clock();
  auto source = make_database_source(make_text_source(rows));
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
