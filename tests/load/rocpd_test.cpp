// Databases of rocprofv3 (rocpd), made from its published schema: no real one was at hand. Numbers of the JSON that it writes
// are held by tests/cli/rocprof_check.py.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/load/load_trace.h"
#include "tests/support/small_database.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// `timed`: the columns of when and where; they are those of the table in the schema 3, and ids of others later.
std::string schema(bool is_later) {
  const std::string where = is_later ? "track_id INT, start_id INT, end_id INT"
                                     : "nid INT, pid INT, tid INT, queue_id INT, stream_id INT, start INT, end INT";
  return fmt::format(R"(
CREATE TABLE rocpd_string_1a (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE rocpd_info_process_1a (id INTEGER PRIMARY KEY, pid INT, command TEXT, environment TEXT);
CREATE TABLE rocpd_info_thread_1a (id INTEGER PRIMARY KEY, pid INT, tid INT, name TEXT);
CREATE TABLE rocpd_info_agent_1a (id INTEGER PRIMARY KEY, type TEXT, type_index INT, name TEXT, product_name TEXT, extdata TEXT);
CREATE TABLE rocpd_info_kernel_symbol_1a (id INTEGER PRIMARY KEY, display_name TEXT, kernel_name TEXT, sgpr_count INT,
  arch_vgpr_count INT, accum_vgpr_count INT);
CREATE TABLE rocpd_event_1a (id INTEGER PRIMARY KEY, category_id INT, stack_id INT, extdata TEXT);
CREATE TABLE rocpd_track_1a (id INTEGER PRIMARY KEY, tid INT, agent_id INT, queue_id INT, stream_id INT);
CREATE TABLE rocpd_timestamp_1a (id INTEGER PRIMARY KEY, value INT);
CREATE TABLE rocpd_info_category_1a (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE rocpd_kernel_dispatch_1a (id INTEGER PRIMARY KEY, agent_id INT, {0}, kernel_id INT, private_segment_size INT,
  group_segment_size INT, workgroup_size_x INT, workgroup_size_y INT, workgroup_size_z INT, grid_size_x INT, grid_size_y INT,
  grid_size_z INT, event_id INT);
CREATE TABLE rocpd_memory_copy_1a (id INTEGER PRIMARY KEY, {0}, src_agent_id INT, dst_agent_id INT, size INT, event_id INT);
CREATE TABLE rocpd_memory_allocate_1a (id INTEGER PRIMARY KEY, {0}, agent_id INT, type TEXT, level TEXT, address INT, size INT,
  event_id INT);
CREATE TABLE rocpd_region_1a (id INTEGER PRIMARY KEY, {0}, name_id INT, event_id INT);
INSERT INTO rocpd_string_1a VALUES (1, '', 'hipLaunchKernel'), (2, '', 'HIP_RUNTIME_API'), (3, '', 'MARKER_CORE_RANGE_API'),
  (4, '', 'roctxRangePushA'), (5, '', 'KERNEL_DISPATCH');
INSERT INTO rocpd_info_process_1a VALUES (77, 77, 'python train.py', '{{"SECRET":"x"}}');
INSERT INTO rocpd_info_thread_1a VALUES (7, 77, 78, NULL);
INSERT INTO rocpd_info_agent_1a VALUES (0, 'CPU', 0, 'EPYC', 'EPYC', '{{}}'), (2, 'GPU', 1, 'gfx942', 'MI300X',
  '{{"type": 2, "wave_front_size": 64, "cu_count": 304, "simd_per_cu": 4, "max_waves_per_simd": 8, "lds_size_in_kb": 64,
     "gfx_target_version": 90402, "workgroup_max_size": 1024}}');
INSERT INTO rocpd_info_kernel_symbol_1a VALUES (9, 'gemm(float*)', '_Z4gemm', 32, 40, 24);
)",
                     where);
}

std::string small_rocpd() {
  return schema(false) + R"(
INSERT INTO rocpd_event_1a VALUES (1, 2, 11, '{}'), (2, 5, 11, '{}'), (3, 3, 12, '{"message": "step \"1\""}'), (4, 2, 13, '{}');
INSERT INTO rocpd_kernel_dispatch_1a VALUES (1, 2, 5, 77, 7, 3, 6, 3000, 8000, 9, 16, 4096, 256, 1, 1, 1024, 4, 1, 2);
INSERT INTO rocpd_memory_copy_1a VALUES (1, 5, 77, 7, NULL, 6, 8500, 9000, 0, 2, 640, 4);
INSERT INTO rocpd_memory_allocate_1a VALUES (1, 5, 77, 7, 3, 6, 100, 200, 2, 'ALLOC', 'REAL', 4096, 1000, 4),
  (2, 5, 77, 7, 3, 6, 9100, 9200, 2, 'FREE', 'REAL', 4096, 0, 4), (3, 5, 77, 7, 3, 6, 1, 2, 2, 'ALLOC', 'SCRATCH', 8, 9, 4);
INSERT INTO rocpd_region_1a VALUES (11, 5, 77, 7, NULL, NULL, 1000, 2000, 1, 1), (12, 5, 77, 7, NULL, NULL, 500, 9500, 4, 3);
)";
}

std::vector<std::string> lines_of(const Trace& t) {
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < t.slice_count(); ++i) {
    const SliceId s(i);
    out.push_back(fmt::format("{}: {} {}-{}", t.lane(t.lane_id(s)).title, t.name(s), t.begin(s), t.end(s)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("a database of rocprofv3 is read as its JSON is") {
  const auto loaded = load_trace_from_text(small_database(small_rocpd()), "1_results.db");
  REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? "" : loaded.error().message));
  const Trace& trace = **loaded;
  CHECK(trace.producer->id == "rocprof");
  CHECK(lines_of(trace) == std::vector<std::string>{"GPU 1 copies: Memcpy HtoD (Host -> Device) 8500-9000",
                                                    "GPU 1 queue 3: gemm(float*) 3000-8000",
                                                    "thread 78: hipLaunchKernel 1000-2000", "thread 78: step \"1\" 500-9500"});
  REQUIRE(trace.calls.size() == 1);
  CHECK(std::any_of(trace.gpu.begin(), trace.gpu.end(), [&](const GpuRow& g) {
    return trace.kind(g.slice) == Kind::kernel && g.correlation == trace.calls[0].correlation;
  }));
  CHECK(trace.header.devices.at(0).name == "MI300X");
  CHECK(trace.header.devices.at(0).sms == 304);
  CHECK(trace.memory.size() == 2);
}

TEST_CASE("times and places of the database may lie in tables of their own") {
  const std::string sql = schema(true) + R"(
INSERT INTO rocpd_info_category_1a VALUES (1, 'MARKER_CORE_RANGE_API'), (2, 'HIP_RUNTIME_API');
INSERT INTO rocpd_track_1a VALUES (1, 7, NULL, NULL, NULL), (2, 7, 2, 3, 6);
INSERT INTO rocpd_timestamp_1a VALUES (1, 500), (2, 1000), (3, 2000), (4, 3000), (5, 8000), (6, 9500);
INSERT INTO rocpd_event_1a VALUES (1, 2, 11, '{}'), (2, 2, 11, '{}'), (3, 1, 12, '{"message": "step"}');
INSERT INTO rocpd_kernel_dispatch_1a VALUES (1, NULL, 2, 4, 5, 9, 16, 4096, 256, 1, 1, 1024, 4, 1, 2);
INSERT INTO rocpd_region_1a VALUES (11, 1, 2, 3, 1, 1), (12, 1, 1, 6, 4, 3);
)";
  const auto loaded = load_trace_from_text(small_database(sql), "1_results.db");
  REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? "" : loaded.error().message));
  CHECK(lines_of(**loaded) == std::vector<std::string>{"GPU 1 queue 3: gemm(float*) 3000-8000",
                                                       "thread 78: hipLaunchKernel 1000-2000", "thread 78: step 500-9500"});
}

TEST_CASE("processes of one database keep their launches apart, and an empty one is named") {
  std::string second = small_rocpd();
  for (std::size_t at = 0; (at = second.find("_1a", at)) != std::string::npos;) second.replace(at, 3, "_2b");
  const auto both = load_trace_from_text(small_database(small_rocpd() + second), "1_results.db");
  REQUIRE(both.ok());
  CHECK((*both)->slice_count() == 8);
  CHECK((*both)->calls[0].correlation != (*both)->calls[1].correlation);
  const auto none = load_trace_from_text(small_database(schema(false)), "1_results.db");
  REQUIRE(!none.ok());
  CHECK(none.error().message.find("without events") != std::string::npos);
}
