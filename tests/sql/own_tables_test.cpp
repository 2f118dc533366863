// Gapscope's own tables say what the analyses behind them say, and agree with the slices.
#include <doctest/doctest.h>

#include "core/analyze/account/time_account.h"
#include "core/sql/virtual_table.h"
#include "tests/sql/rows.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("kernels agree with slices, args and flows") {
  const auto database = database_of(recording("transformer_baseline"));
  CHECK(one(*database, "select count(*) from kernel") ==
        one(*database, "select count(*) from slice where category = 'kernel'"));
  CHECK(one(*database, "select count(*) > 100 from kernel") == "1");
  CHECK(one(*database,
            "select count(*) from kernel k join slice s using (id) where k.ts <> s.ts or k.dur <> s.dur or k.name <> s.name or "
            "k.track_id <> s.track_id "
            "or k.correlation <> extract_arg(s.arg_set_id, 'args.correlation') or k.grid_x <> extract_arg(s.arg_set_id, "
            "'args.grid[0]') "
            "or k.registers <> extract_arg(s.arg_set_id, 'args.registers per thread') or k.external_id is not "
            "extract_arg(s.arg_set_id, 'args.External id')") == "0");
  CHECK(one(*database, "select count(*) from kernel k join flow f on f.slice_in = k.id where k.launch_id <> f.slice_out") ==
        "0");
  CHECK(one(*database,
            "select count(*) from kernel k join slice l on l.id = k.launch_id where k.launch <> l.name or k.launch_ts <> l.ts "
            "or k.launch_delay <> max(0, k.ts - l.ts - l.dur)") == "0");
  CHECK(one(*database, "select count(*) from kernel where launch_id is not null and step is null") ==
        one(*database,
            "select count(*) from kernel k where launch_id is not null and not exists (select 1 from step where k.launch_ts >= "
            "step.ts and k.launch_ts < step.ts + step.dur)"));
  CHECK(rows(*database, "select k.id = (select id from kernel where correlation = k.correlation) from kernel k limit 1") ==
        "1");
  CHECK(one(*database,
            "select count(*) from kernel where theoretical_occupancy not between 0.1 and 100 or occupancy_limiter = ''") ==
        "0");
  CHECK(one(*database, "select count(*) > 0 from kernel where kind = 'gemm' and short_name <> ''") == "1");
}

TEST_CASE("the account and its gaps add up as the time account does") {
  const auto trace = load_once(recording("fsdp_rank1"));
  sql::Database database(trace, {});
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const auto ops = gpu_ops(*trace, links);
  const TimeAccount account(*trace, links, ops);
  const DeviceAccount& device = account.devices().front();
  CHECK(one(database, "select dur from account where step is null") == std::to_string(device.times.window));
  CHECK(one(database, "select python_ns from account where step is null") ==
        std::to_string(device.times.of(IdleCause::python)));
  CHECK(one(database, "select count(*) from gpu_gap") == std::to_string(device.gaps.size()));
  CHECK(one(database, "select sum(dur) from gpu_gap") == std::to_string(device.times.idle_total()));
  CHECK(one(database,
            "select count(*) from account where dur <> compute_ns + exposed_communication_ns + exposed_copies_ns + idle_ns") ==
        "0");
  CHECK(one(database,
            "select count(*) from gpu_gap where dur <> operator_ns + python_ns + launching_ns + cuda_call_ns + starting_ns + "
            "synchronizing_ns + data_loading_ns + "
            "compiling_ns + allocating_ns + loading_ns + profiler_ns + unrecorded_ns + unlinked_ns") == "0");
  CHECK(one(database, "select count(*) from gpu_gap g join slice s on s.id = g.ended_by where s.ts <> g.ts + g.dur") == "0");
  CHECK(one(database,
            "select sum(a.dur) = (select dur from account where step is null) from account a where step is not null") == "1");
}

TEST_CASE("steps, operators, findings and devices") {
  const auto database = database_of(recording("mlp_geglu_eager"));
  CHECK(rows(*database, "select name, dur from step order by ts") ==
        rows(*database,
             "select name, dur from slice where name glob 'ProfilerStep#*' and category = 'user_annotation' order by ts"));
  CHECK(one(*database,
            "select count(*) from step where span_dur <> kernel_ns + memcpy_ns + memset_ns + communication_ns + runtime_ns + "
            "data_loader_ns + cpu_exec_ns + other_ns") == "0");
  CHECK(one(*database, "select sum(kernels) from step") ==
        one(*database, "select count(*) from kernel where step is not null"));
  CHECK(one(*database, "select count(*) from op") == one(*database, "select count(*) from slice where category = 'cpu_op'"));
  CHECK(rows(*database, "select name, sum(self_dur) from op group by name order by name") ==
        rows(*database,
             "with child as (select parent_id, sum(dur) as d from slice where parent_id is not null group by parent_id) "
             "select s.name, sum(s.dur - ifnull(child.d, 0)) from slice s left join child on child.parent_id = s.id where "
             "s.category = 'cpu_op' group by s.name order by s.name"));
  CHECK(rows(*database, "select name, sum(gpu_dur), sum(gpu_ops) from op where gpu_ops > 0 group by name order by name") ==
        rows(*database, "select operator, sum(dur), count(*) from kernel group by operator order by operator"));
  CHECK(rows(*database, "select name, sms, compute_capability from device") == "NVIDIA H200|132|9.0");
  CHECK(one(*database, "select str_value from metadata where name = 'deviceProperties[0].name'") == "NVIDIA H200");
  CHECK(one(*database, "select count(*) > 3 from finding where rule <> '' and summary <> ''") == "1");
  CHECK(one(*database, "select sum(value) from stats") == std::to_string([&] {
          std::uint64_t sum = 0;
          for (const auto& entry : load_once(recording("mlp_geglu_eager"))->report.entries()) sum += entry.count;
          return sum;
        }()));
}

TEST_CASE("every column of every table can be read") {
  for (const char* name : {"transformer_baseline", "recorded_streams", "linear_compile"}) {
    const auto database = database_of(recording(name));
    for (const auto& table : database->tables()) {
      const std::string text = table->name();
      const bool takes_argument = text.ends_with("_slice") || text.ends_with("ing_flow") || text.ends_with("connected_flow");
      const Answer answer = ask(*database, "select * from " + text + (takes_argument ? "(3)" : "") + " limit 2000");
      INFO(text);
      CHECK(answer.error == "");
      for (const sql::ColumnInfo& column : table->columns())
        CHECK((column.hidden || answer.columns.empty() ||
               std::count(answer.columns.begin(), answer.columns.end(), column.name) == 1));
      CHECK(database->schema_text(text).find(table->columns()[0].name) != std::string::npos);
    }
  }
}
