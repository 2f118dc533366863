#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <doctest/doctest.h>

#include "core/analyze/op_table/op_table_text.h"
#include "core/analyze/op_table/profiler_frames.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Tabled {
  explicit Tabled(std::shared_ptr<const Trace> t, TableMode mode = TableMode::exact, const OpTableOptions& options = {})
      : trace(std::move(t)),
        lanes(*trace),
        links(*trace, lanes),
        events(*trace, lanes, links, mode, KeepTree::yes),
        table(make_op_table(*trace, events, options)) {}
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  OpEvents events;
  OpTable table;

  const OpTableRow& row(std::string_view name, bool on_gpu = false) const {
    for (const OpTableRow& r : table.rows) {
      if (r.name == name && r.on_gpu == on_gpu) return r;
    }
    FAIL("no row " << std::string(name));
    return table.rows.front();
  }
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
  return cells;
}

Ns ns_from_us(const std::string& text) { return std::llround(std::stod(text) * 1000); }

std::string first_lines(const OpTableRow& r) {
  return r.name + "|" + std::to_string(r.count) + "|" + std::to_string(r.self_cpu) + "|" + std::to_string(r.cpu) + "|" +
         std::to_string(r.self_cuda) + "|" + std::to_string(r.cuda) + "|" + (r.on_gpu ? "CUDA" : "CPU");
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A launch at `ts` of a kernel of `dur`, linked to operator `id`.
std::string launch(int correlation, int id, std::string_view ts, std::string_view dur) {
  const std::string c = std::to_string(correlation), i = std::to_string(id);
  return slice("cudaLaunchKernel", ts, "1", R"(, "args": {"External id": )" + i + R"(, "correlation": )" + c + "}",
               "cuda_runtime") +
         R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::string(ts) + R"(,"dur":)" + std::string(dur) +
         R"(,"args":{"External id": )" + i + R"(, "correlation": )" + c + "}}";
}

std::string op(std::string_view name, int id, std::string_view ts, std::string_view dur) {
  return slice(name, ts, dur, R"(, "args": {"External id": )" + std::to_string(id) + "}");
}

}  // namespace

TEST_CASE("every row of every recorded table, to the nanosecond and in PyTorch's order") {
  std::size_t rows = 0;
  for (const auto& path : real_traces()) {
    const auto oracle = oracle_of(path, ".table.csv");
    if (oracle.empty()) continue;
    CAPTURE(oracle.string());
    const Tabled mine(load_once(path));
    std::ifstream csv(oracle);
    std::string line;
    std::getline(csv, line);
    std::size_t at = 0;
    for (; std::getline(csv, line); ++at) {
      const auto cells = split(line);
      REQUIRE(cells.size() == 7);
      REQUIRE(at < mine.table.rows.size());
      const std::string expected = cells[0] + "|" + cells[1] + "|" + std::to_string(ns_from_us(cells[2])) + "|" +
                                   std::to_string(ns_from_us(cells[3])) + "|" + std::to_string(ns_from_us(cells[4])) + "|" +
                                   std::to_string(ns_from_us(cells[5])) + "|" + cells[6].substr(11);
      CHECK(first_lines(mine.table.rows[at]) == expected);
    }
    CHECK(at == mine.table.rows.size());
    rows += at;
  }
  CHECK(rows > 1000);
}

TEST_CASE("the printed table is PyTorch's, byte for byte") {
  int compared = 0;
  for (const auto& path : real_traces()) {
    const auto oracle = oracle_of(path, ".table.txt");
    if (oracle.empty()) continue;
    CAPTURE(oracle.string());
    const Tabled mine(load_once(path));
    const OpTableText text{OpTableSort::cuda, 100, 120};
    CHECK(print_op_table(*mine.trace, mine.events, mine.table, {}, text) + "\n" == read_file(oracle));
    ++compared;
  }
  CHECK(compared == 5);
}

TEST_CASE("corrected: the CPU rows' own GPU time adds up to the linked GPU work, exactly") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Tabled mine(load_once(path), TableMode::corrected);
    Ns rows = 0;
    for (const OpTableRow& r : mine.table.rows) rows += r.on_gpu ? 0 : r.self_cuda;
    Ns work = 0;
    for (const GpuRow& g : mine.trace->gpu) {
      const bool linked = static_cast<bool>(mine.links.op_with_external_id(mine.trace->slices.external_id[g.slice.index()]));
      if (linked && is_gpu_work(mine.trace->kind(g.slice))) work += mine.trace->duration(g.slice);
    }
    CHECK(rows == work);
  }
}

TEST_CASE("self time leaves out children, and GPU time rises from the launching operator to its parents") {
  const Tabled t(
      load_text(events(op("outer", 1, "0", "100") + "," + op("inner", 2, "10", "50") + "," + launch(5, 2, "20", "7"))));
  CHECK(t.row("outer").self_cpu == 50'000);
  CHECK(t.row("inner").self_cpu == 49'000);
  CHECK(t.row("inner").self_cuda == 7'000);
  CHECK(t.row("outer").self_cuda == 0);
  CHECK(t.row("outer").cuda == 7'000);
  CHECK(t.row("k", true).cuda == 7'000);
  CHECK(t.table.self_cuda_total == 7'000);
}

TEST_CASE("an only child of the same name is folded into its parent, and steps are one row") {
  const Tabled t(
      load_text(events(op("aten::sum", 1, "0", "100") + "," + op("aten::sum", 2, "10", "50") + "," + launch(5, 2, "20", "7") +
                       "," + op("ProfilerStep#1", 3, "200", "10") + "," + op("ProfilerStep#2", 4, "220", "10"))));
  CHECK(t.row("aten::sum").count == 1);
  CHECK(t.row("aten::sum").self_cuda == 7'000);
  CHECK(t.row("aten::sum").self_cpu == 99'000);
  CHECK(t.row("ProfilerStep*").count == 2);
}

TEST_CASE("a partial overlap becomes a child of what holds it whole") {
  const Tabled t(load_text(events(op("a", 1, "0", "100") + "," + op("b", 2, "10", "40") + "," + op("c", 3, "30", "40"))));
  CHECK(t.row("a").self_cpu == 20'000);
  CHECK(t.row("b").self_cpu == 40'000);
}

TEST_CASE("exact: an overhead inside an operator owns its kernels a second time; corrected: it does not") {
  const std::string text =
      events(op("ProfilerStep#0", 9, "0", "500") + "," + op("mm", 4, "10", "100") + "," + launch(5, 4, "60", "7") +
             R"(,{"ph":"X","cat":"overhead","name":"Activity Buffer Request","pid":-1,"tid":0,"ts":20,"dur":30})");
  const Tabled exact(load_text(text));
  CHECK(exact.row("Activity Buffer Request").self_cuda == 7'000);
  CHECK(exact.row("mm").cuda == 14'000);
  const Tabled corrected(load_text(text), TableMode::corrected);
  CHECK(corrected.row("Activity Buffer Request").self_cuda == 0);
  CHECK(corrected.row("mm").cuda == 7'000);
}

TEST_CASE("corrected: an annotation's span on the GPU is no GPU time; exact: PyTorch lists it as such") {
  const std::string text =
      events(op("mm", 4, "10", "100") + "," + launch(5, 4, "60", "7") +
             R"(,{"ph":"X","cat":"gpu_user_annotation","name":"region","pid":0,"tid":7,"ts":60,"dur":500})");
  CHECK(Tabled(load_text(text)).row("region", true).self_cuda > 400'000);
  const Tabled corrected(load_text(text), TableMode::corrected);
  CHECK(corrected.row("region", true).count == 1);
  CHECK(corrected.row("region", true).self_cuda == 0);
  CHECK(corrected.row("region", true).cuda == 0);
  CHECK(corrected.table.self_cuda_total == 7'000);
}

TEST_CASE("GPU annotations lose the two nanoseconds that the file's writer adds") {
  const Tabled t(load_text(events(
      op("x", 1, "0", "1") +
      R"(,{"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":9.999,"dur":5.002,"args":{"External id":3}})")));
  CHECK(t.row("step", true).cuda == 5'000);
  CHECK(t.row("step", true).annotation);
  CHECK(t.table.self_cuda_total == 0);
}

TEST_CASE("a range keeps the events that begin in it") {
  OpTableOptions options;
  options.range = Span{5'000, 20'000};
  const Tabled t(load_text(events(op("a", 1, "0", "100") + "," + op("b", 2, "10", "5") + "," + op("b", 3, "30", "5"))),
                 TableMode::exact, options);
  REQUIRE(t.table.rows.size() == 1);
  CHECK(t.row("b").count == 1);
}

TEST_CASE("shapes split the rows of an operator when asked") {
  OpTableOptions options;
  options.by_shape = true;
  const auto with_dims = [](std::string_view ts, std::string_view dims) {
    return slice("aten::mm", ts, "5", R"(, "args": {"Input Dims": )" + std::string(dims) + "}");
  };
  const auto trace =
      load_text(events(with_dims("0", "[[2, 3]]") + "," + with_dims("10", "[[4, 3]]") + "," + with_dims("20", "[[2, 3]]")));
  CHECK(Tabled(trace, TableMode::exact, options).table.rows.size() == 2);
  CHECK(Tabled(trace).table.rows.size() == 1);
}

TEST_CASE("closing a frame closes everything above it") {
  // An overhead begins before an operator and ends inside it: a second overhead in that operator inherits nothing.
  const std::vector<FrameEvent> frames = {{0, 100, 1, 7, false, false, -1},
                                          {10, 40, 2, 0, true, true, 0},
                                          {20, 90, 3, 8, false, false, -1},
                                          {50, 60, 4, 0, true, true, 1}};
  const auto ids = inherited_ids(frames, 2);
  CHECK(ids[0] == 7);
  CHECK(ids[1] == 7);
}

// Whether self and total times are what the events that name an event as their parent leave and add.
bool sums_up(const OpEvents& events) {
  std::vector<Ns> inside(events.size(), 0), below(events.size(), 0);
  const auto counts = [&](std::size_t i) { return events.group(i) != OpEvents::kNone; };
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!counts(i) || events.parent(i) == OpEvents::kNone) continue;
    if (!counts(events.parent(i))) return false;
    inside[events.parent(i)] += events.span(i).length();
    below[events.parent(i)] += events.total_cuda(i);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!counts(i) || events.groups()[events.group(i)].on_gpu) continue;
    if (events.self_cpu(i) != events.span(i).length() - inside[i]) return false;
    if (events.total_cuda(i) != events.own_cuda(i) + below[i]) return false;
  }
  return true;
}

TEST_CASE("self and total times are what the children leave and add, on every recording") {
  for (const auto& path : real_traces()) {
    INFO(path.string());
    const auto trace = load_once(path);
    CHECK(sums_up(Tabled(trace).events));
    CHECK(sums_up(Tabled(trace, TableMode::corrected).events));
  }
}

TEST_CASE("an only child of its parent's name is merged into it, whole chains too, and its children change parents") {
  // sum > sum > sum > fill: the innermost sum launches.
  const std::string nested = "[" + slice("aten::sum", "0", "100", R"(, "args": {"External id": 1})") + "," +
                             slice("aten::sum", "10", "80", R"(, "args": {"External id": 2})") + "," +
                             slice("aten::sum", "20", "60", R"(, "args": {"External id": 3})") + "," +
                             slice("aten::fill_", "30", "10", R"(, "args": {"External id": 4})") + "," +
                             launch(1, 3, "50", "7") + "]";
  for (const TableMode mode : {TableMode::exact, TableMode::corrected}) {
    const Tabled t(load_text(nested), mode);
    CHECK(sums_up(t.events));
    CHECK(t.row("aten::sum").count == 1);
    CHECK(t.row("aten::sum").self_cuda == 7'000);
    CHECK(t.row("aten::sum").cpu == 100'000);
    CHECK(t.row("aten::sum").self_cpu == 100'000 - 10'000 - 1'000);
    const auto fill = static_cast<std::size_t>(3);
    REQUIRE(t.trace->name(t.events.slice(fill)) == "aten::fill_");
    CHECK(t.events.parent(fill) == 0);
  }
}

TEST_CASE("events come in PyTorch's order on every recording, also where rows have another") {
  const auto in_order = [](const Trace& trace, const OpEvents& events) {
    const auto key = [&](std::size_t i) {
      const SliceId s = events.slice(i);
      const Kind k = trace.kind(s);
      const bool pytorch = k == Kind::op || k == Kind::annotation || k == Kind::python;
      return std::tuple(events.span(i).begin, -events.span(i).end, !pytorch, trace.slices.offset[s.index()]);
    };
    for (std::size_t i = 1; i < events.size(); ++i)
      if (!(key(i - 1) < key(i))) return false;
    return true;
  };
  // A GPU annotation of one nanosecond begins with the kernel that its row holds behind it, and the longer goes first.
  std::string odd = "[";
  const auto on_gpu = [](const char* category, int us, const char* ts, const char* dur) {
    return R"({"ph":"X","cat":")" + std::string(category) + R"(","name":"g","pid":0,"tid":7,"ts":)" + std::to_string(us) + ts +
           R"(,"dur":)" + dur + R"(,"args":{"device":0,"stream":7}})";
  };
  for (int i = 1; i <= 40; ++i)
    odd += (i > 1 ? "," : "") + on_gpu("gpu_user_annotation", i, "", "0.001") + "," + on_gpu("kernel", i, ".001", "0.5");
  odd += "]";
  const Tabled few(load_text(odd));
  CHECK(few.events.size() == 80);
  CHECK(in_order(*few.trace, few.events));
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Tabled one(load_once(path), TableMode::corrected);
    CHECK(in_order(*one.trace, one.events));
  }
}
