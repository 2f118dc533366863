// sql FILE...: the time of queries that people ask, in milliseconds, and the memory they take beyond the trace. Best read on a
// trace of a million slices (make_big of llama_train_stack to 458 MB).
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/load/load_trace.h"
#include "core/sql/database.h"
#include "tests/bench/give_back.h"

namespace {

using Clock = std::chrono::steady_clock;

struct CountRows final : gapscope::sql::RowSink {
  std::size_t rows = 0;
  bool begin(const std::vector<std::string>&) override { return true; }
  bool row(std::span<const gapscope::sql::Cell>) override { return ++rows != 0; }
};

double resident_mb() {
  give_back_freed_memory();
  std::ifstream in("/proc/self/statm");
  double all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

struct Query {
  const char* title;
  const char* text;
};
constexpr Query kQueries[] = {
    {"full scan: count and sum", "select count(*), sum(dur) from slice"},
    {"group by name", "select name, count(*), sum(dur) from slice group by name"},
    {"kernels by name, largest first",
     "select name, count(*) n, sum(dur) t from slice where category = 'kernel' group by name order by t desc"},
    {"correlation join, as CTEs",
     "with g as (select extract_arg(arg_set_id, 'args.correlation') as c, name, ts, dur from slice where category = 'kernel'), "
     "r as (select extract_arg(arg_set_id, 'args.correlation') as c, name, ts, dur from slice where category in "
     "('cuda_runtime', 'cuda_driver')) "
     "select count(*), sum(g.dur), sum(r.dur) from g join r using (c)"},
    {"launch to kernel, along flows",
     "select count(*), sum(k.ts - l.ts) from flow join slice l on flow.slice_out = l.id join slice k on flow.slice_in = k.id "
     "where k.category = 'kernel'"},
    {"kernel table: delay by kind", "select kind, count(*), avg(launch_delay) from kernel group by kind"},
    {"depth and parent of all", "select max(depth), count(parent_id) from slice"},
    {"a cold arg of all", "select count(extract_arg(arg_set_id, 'args.Ev Idx')) from slice"},
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  CLI::App app("Queries over a trace");
  app.add_option("files", files)->required();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& path : files) {
    const auto trace = gapscope::load_trace(path);
    if (!trace) {
      std::fprintf(stderr, "%s\n", trace.error().message.c_str());
      return 1;
    }
    const double before = resident_mb();
    gapscope::sql::Database database(*trace, {});
    std::printf("%s: %zu slices\n", path.c_str(), (*trace)->slice_count());
    const auto timed = [&](const std::string& text) {
      CountRows sink;
      const auto begin = Clock::now();
      if (const auto error = database.run(text, sink)) std::printf("  %s\n", error->message.c_str());
      return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    };
    for (const Query& query : kQueries) {
      const double first = timed(query.text), second = timed(query.text);
      std::printf("  %-34s %9.1f ms at first, %9.1f again; %5.0f MB beyond the trace\n", query.title, first, second,
                  resident_mb() - before);
    }
    std::string many;
    constexpr int kLookUps = 2000;
    const std::size_t slices = std::max<std::size_t>(1, (*trace)->slice_count());
    for (int i = 0; i < kLookUps; ++i)
      many += "select name, dur from slice where id = " + std::to_string(static_cast<std::size_t>(i) * 7919 % slices) + ";";
    std::printf("  %-34s %9.1f us each, with its preparing\n", "look-up by id", timed(many) * 1000 / kLookUps);
    std::printf("  %-34s %9.2f us each\n", "look-up by id in a join",
                timed("with recursive i(x) as (select 0 union all select x + 7919 from i where x < 7919 * 20000) select "
                      "sum(dur) from i join slice on id = x % " +
                      std::to_string(slices)) *
                    1000 / 20000);
  }
}
