// The tables rank and collective say what core/ranks says, of a run and of one trace alone.
#include <doctest/doctest.h>

#include "core/ranks/run_report.h"
#include "core/sql/virtual_table.h"
#include "core/sql/world.h"
#include "tests/sql/rows.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::vector<std::string> pair_of(const std::string& name) {
  return {recording(name + "_rank0").string(), recording(name + "_rank1").string()};
}

std::unique_ptr<sql::Database> run_of(std::vector<std::string> files, std::size_t open = 0) {
  sql::Options options;
  const std::string path = files[open];
  options.run.files = std::move(files);
  return database_of(path, std::move(options));
}

RunReport report_of_pair(const std::string& name) {
  LocalReader reader;
  return analyze_run(pair_of(name), reader, ClockAlignment::collectives);
}

}  // namespace

TEST_CASE("a run's ranks and collectives are those of `gapscope ranks`") {
  for (const char* name : {"ddp_delayed", "fsdp", "tp", "pp"}) {
    CAPTURE(std::string(name));
    const RunReport report = report_of_pair(name);
    const auto database = run_of(pair_of(name));
    std::string ranks;
    std::size_t collectives = 0;
    for (std::uint32_t r = 0; r < 2; ++r) {
      const RankNumbers& n = report.waits.ranks[r];
      const RankClock& clock = report.clocks.ranks[r];
      collectives += report.run.ranks[r].collectives.size();
      ranks += (r == 0 ? "" : "\n") + std::to_string(r) + "|2|" + std::to_string(report.run.ranks[r].account.window) + "|" +
               std::to_string(n.transfer) + "|" + std::to_string(n.waiting_total()) + "|" +
               std::to_string(report.waits.lost[r]) + "|" + std::to_string(n.times_last) + "|" +
               (clock.compared ? std::to_string(clock.offset) : "NULL");
    }
    CHECK(rows(*database,
               "select rank, world_size, dur, transfer_ns, waiting_ns, cost_ns, times_last, clock_offset_ns from rank") ==
          ranks);
    CHECK(one(*database, "select count(*) from collective") == std::to_string(collectives));
    CHECK(one(*database, "select count(distinct match_id) from collective") == std::to_string(report.matches.all.size()));
    CHECK(one(*database, "select count(*) from collective where match_id is null") ==
          std::to_string(report.matches.unmatched[0] + report.matches.unmatched[1]));
    CHECK(one(*database,
              "select count(*) from (select match_id, max(ts) - min(ts) as skew, max(start_skew_ns) as told from collective "
              "where match_id is not null group by match_id) where skew <> told") == "0");
    CHECK(one(*database, "select count(*) from rank where exposed_communication_ns <> transfer_ns + waiting_ns + unsplit_ns") ==
          "0");
    CHECK(one(*database,
              "select count(*) from rank where dur <> compute_ns + exposed_communication_ns + exposed_copies_ns + idle_ns") ==
          "0");
  }
}

TEST_CASE("collectives of the open trace are its slices, those of others are none") {
  const auto database = run_of(pair_of("tp"), 1);
  CHECK(one(*database, "select count(*) > 100 from collective where slice_id is not null") == "1");
  CHECK(one(*database, "select count(*) from collective where (slice_id is null) <> (rank = 0)") == "0");
  CHECK(one(*database,
            "select count(*) from collective c join slice s on s.id = c.slice_id where c.ts <> s.ts or c.dur <> s.dur") == "0");
  CHECK(one(*database,
            "select count(*) from collective c join slice s on s.id = c.slice_id where c.name <> "
            "extract_arg(s.arg_set_id, 'args.Collective name') or c.in_elements <> extract_arg(s.arg_set_id, "
            "'args.In msg nelems') or c.group_size <> extract_arg(s.arg_set_id, 'args.Group size')") == "0");
  CHECK(one(*database, "select group_concat(distinct type) from collective order by 1") != "");
}

TEST_CASE("one trace alone is a run of one: its own rank and collectives, and nothing about others") {
  const auto alone = database_of(recording("fsdp_rank1"));
  CHECK(rows(*alone, "select rank, world_size, waiting_ns, cost_ns, clock_offset_ns, unmatched from rank") ==
        "1|2|NULL|NULL|NULL|NULL");
  CHECK(one(*alone, "select count(*) = (select collectives from rank) from collective") == "1");
  CHECK(one(*alone, "select count(*) from collective where slice_id is null or match_id is not null or wait_ns is not null") ==
        "0");
  const auto single = database_of(recording("mlp_geglu_eager"));
  CHECK(rows(*single, "select rank, collectives, compute_ns > 0 from rank") == "NULL|0|1");
  CHECK(one(*single, "select count(*) from collective") == "0");
}

TEST_CASE("a file that is no use is reported, and the others are there") {
  TempFolder folder;
  std::vector<std::string> files = pair_of("ddp");
  files.push_back(folder.write("rank2.json", "nonsense"));
  const auto database = run_of(files);
  CHECK(one(*database, "select count(*) from rank") == "2");
  REQUIRE(database->world().run_if_known() != nullptr);
  CHECK(database->world().run_if_known()->run.problems.size() == 1);
}

TEST_CASE("a query that is cancelled while ranks are read leaves nothing half read behind") {
  const auto database = run_of(pair_of("ddp"));
  struct Cancels final : sql::RowSink {
    sql::Database& database;
    explicit Cancels(sql::Database& d) : database(d) {}
    bool begin(const std::vector<std::string>&) override { return true; }
    bool row(std::span<const sql::Cell>) override { return database.cancel(), true; }
  } sink(*database);
  CHECK(database->run("select 1 union all select count(*) from collective", sink)->message == "Cancelled.");
  CHECK(one(*database, "select count(*) from rank") == "2");
  CHECK(one(*database, "select count(*) > 0 from collective") == "1");
}
