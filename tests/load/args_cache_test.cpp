#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/load/args_cache.h"
#include "core/load/byte_source.h"
#include "tests/support/dump_trace.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string event(const std::string& category, const std::string& name, int ts, const std::string& args) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": 2, "ts": {}.000, "dur": 0.500, "args": {{{}}}}})", category,
      name, ts, args);
}

// Everything that args of operators and kernels can say, by the slice's begin.
std::string present(const Trace& trace, Ns begin) {
  std::string text;
  for (const OpRow& op : trace.ops) {
    if (trace.slices.begin[op.slice.index()] != begin) continue;
    text +=
        fmt::format("op {} {} {} {};", trace.strings[op.input_dims], trace.strings[op.input_types], op.sequence, op.unfinished);
  }
  for (const GpuRow& g : trace.gpu) {
    if (trace.slices.begin[g.slice.index()] != begin) continue;
    text +=
        fmt::format("gpu {} {} {}x{}x{} {}x{}x{} {} {} {} {};", g.registers, g.shared_memory, g.grid[0], g.grid[1], g.grid[2],
                    g.block[0], g.block[1], g.block[2], g.blocks_per_sm, g.warps_per_sm, g.occupancy_percent, g.correlation);
  }
  for (std::size_t s = 0; s < trace.slice_count(); ++s) {
    if (trace.slices.begin[s] == begin) text += fmt::format("external {}", trace.slices.external_id[s]);
  }
  return text;
}

const std::vector<std::string> kOpArgs = {
    R"("External id": 1, "Concrete Inputs": ["",""], "Input type": ["float","float"], "Input Dims": [[4,256],[4,256]], "Ev Idx": 1)",
    R"("External id": 2, "Concrete Inputs": ["",""], "Input type": ["float","float"], "Input Dims": [[4,256],[4,256]], "Ev Idx": 22)",
    R"("External id": 3, "Concrete Inputs": ["",""], "Input type": ["float","float"], "Input Dims": [[4,256],[4,257]], "Ev Idx": 3)",
    R"("External id": 4, "Concrete Inputs": ["",""], "Input type": ["float","float"], "Input Dims": [[4,256],[4,256]])",
    R"("External id": 5, "Concrete Inputs": ["",""], "Input type": ["float","float"], "Input Dims": [[4,256],[4,256]], "Input Strides": [[1],[1]], "Ev Idx": 5)",
    R"("External id": 6, "Concrete Inputs": ["",""], "Input type": ["float","half"], "Input Dims": [[4,256],[4,256]], "Ev Idx": 6)",
    R"("External id": 7, "Concrete Inputs": ["",""], "Input type": ["float","float"], "Input Dims": [[4,256],[4,256]], "Ev Idx": 7, "Input Dims": [[9]])",
    R"("External id": 8, "Input Dims": [[9],[9],[9]], "Ev Idx": 8, "Concrete Inputs": ["",""], "Input type": ["float","float"], "Input Dims": [[4,256],[4,256]])",
    R"("External id": 9)",
    R"("External id": 10, "Concrete Inputs": ["a\"]","\\"], "Input type": ["f\u006Cat","x"], "Input Dims": [[4,256],[4,256]], "Ev Idx": 1)",
};
const std::string kLaunch =
    R"("queued": 0, "registers per thread": 18, "shared memory": 64, "blocks per SM": 7.5, "warps per SM": 31, "grid": [1024,1,1], "block": [128,2,1])";
const std::vector<std::string> kKernelArgs = {
    R"("correlation": 1, )" + kLaunch + R"(, "est. achieved occupancy %": 48)",
    R"("correlation": 2, )" + kLaunch + R"(, "est. achieved occupancy %": 480)",
    R"("correlation": 3, )" + kLaunch + R"(, "est. achieved occupancy %": 4)",
    R"("correlation": 4, )" + kLaunch + R"(, "est. achieved occupancy %": 48, "graph id": 7)",
    R"("correlation": 5, )" + kLaunch,
    R"("correlation": 6, )" + kLaunch + R"(, "registers per thread": 99)",
    R"("correlation": 7, "registers per thread": 99, "device": 3, )" + kLaunch + R"(, "est. achieved occupancy %": 48)",
    // A number that cannot be read leaves what was said before it, here in the same event and there not.
    R"("correlation": 9, "registers per thread": 99, "device": 3, "registers per thread": "x", "shared memory": 64, "grid": [1,1,1])",
    R"("correlation": 10, "registers per thread": "x", "shared memory": 64, "grid": [1,1,1])",
    R"("correlation": 8, "grid": [1024,1,1], "block": [128,2,1])",
};

void check_any_order(const std::string& category, const std::vector<std::string>& args) {
  std::vector<std::string> alone;
  for (const std::string& a : args) alone.push_back(present(*load_text(events(event(category, "name of it", 10, a))), 10'000));
  // What came before decides what is expected next: every triple is somewhere in this.
  std::string text;
  std::vector<std::size_t> which;
  for (std::size_t x = 0; x < args.size(); ++x)
    for (std::size_t y = 0; y < args.size(); ++y)
      for (const std::size_t z : {x, y, x, y}) which.push_back(z);
  for (std::size_t i = 0; i < which.size(); ++i)
    text += (i == 0 ? "" : ",\n") + event(category, "name of it", static_cast<int>(i), args[which[i]]);
  const auto trace = load_text(events(text));
  REQUIRE(trace->slice_count() == which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    CAPTURE(i);
    CHECK(present(*trace, static_cast<Ns>(i) * 1000) == alone[which[i]]);
  }
}

}  // namespace

TEST_CASE("args that were met before say what they say alone, whatever came between") {
  check_any_order("cpu_op", kOpArgs);
  check_any_order("kernel", kKernelArgs);
  CHECK(present(*load_text(events(event("kernel", "k", 10, kKernelArgs[1]))), 10'000) ==
        "gpu 18 64 1024x1x1 128x2x1 7.5 31 480 2;external 0");
}

TEST_CASE("a number that is none is counted in every event, also where the args around it came before") {
  const std::string args = R"("correlation": 1, )" + kLaunch + R"(, "est. achieved occupancy %": NaN)";
  std::string text;
  for (int i = 0; i < 5; ++i) text += (i == 0 ? "" : ",\n") + event("kernel", "k", i, args);
  CHECK(load_text(events(text))->report.count(ImportIssue::non_finite_number) == 5);
}

TEST_CASE("a run is found after the one it followed before, and only where the whole text is there") {
  ArgsCache runs;
  const auto run = [](const std::string& text) {
    CachedArgs r;
    r.text = text;
    r.positions = 9;
    return r;
  };
  CHECK(runs.find("\"aten::mm\"", "first,") == nullptr);
  runs.learn(run("first,"));
  CHECK(runs.find("\"aten::mm\"", "second}") == nullptr);
  runs.learn(run("second}"));
  // After `second` nothing is known yet.
  CHECK(runs.find("\"aten::mm\"", "first,") == nullptr);
  runs.learn(run("first,"));
  const CachedArgs* const found = runs.find("\"aten::mm\"", "second} and more");
  REQUIRE(found != nullptr);
  CHECK(found->text == "second}");
  const CachedArgs* const again = runs.find("\"aten::mm\"", "first, and more");
  REQUIRE(again != nullptr);
  CHECK(again->text == "first,");
  CHECK(runs.find("\"aten::mm\"", "second") == nullptr);
}

TEST_CASE("more runs than are kept replace the oldest and nothing else") {
  ArgsCache runs;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = fmt::format("run {},", i);
    CHECK(runs.find("\"aten::mm\"", text) == nullptr);
    CachedArgs r;
    r.text = text;
    runs.learn(std::move(r));
  }
  CHECK_FALSE(ArgsCache::worth_learning(1 << 20, 100));
}

namespace {

// With runs and without.
void check_same_either_way(const std::string& text) {
  LoadOptions options;
  options.threads = 1;
  const auto load = [&](bool without_runs) {
    ArgsCache::learns_nothing = without_runs;
    const auto trace = load_trace_from_text(text, "text", options);
    ArgsCache::learns_nothing = false;
    return trace.ok() ? dump_trace(**trace) : trace.error().message;
  };
  const std::string with = load(false), without = load(true);
  if (with == without) return;
  std::size_t at = 0;
  while (at < with.size() && at < without.size() && with[at] == without[at]) ++at;
  const std::size_t from = at < 200 ? 0 : at - 200;
  FAIL_CHECK("with runs: ", with.substr(from, 400), "\nwithout: ", without.substr(from, 400), "\ntext: ", text.substr(0, 3000));
}

std::string text_of(const std::filesystem::path& path, std::size_t most) {
  auto source = open_source(path.string());
  REQUIRE(source.ok());
  std::string text(most, '\0');
  const auto got = (*source)->read(text.data(), text.size());
  REQUIRE(got.ok());
  text.resize(*got);
  return text;
}

}  // namespace

TEST_CASE("a list or an object in the place of a number or a name says nothing, however often it comes") {
  const std::vector<std::string> keys = {
      "External id",      "correlation", "stream", "device", "context",     "bytes",    "Sequence number",
      "Collective name",  "Addr",        "Bytes",  "name",   "Device Type", "graph id", "Total Allocated",
      "annotated stream", "finished"};
  const std::vector<std::string> values = {"[1]", "[]", "{}", R"({"a": [1,2,3]})", "[[1],[2]]", R"("1")", "1", "null"};
  for (const std::string category : {"cpu_op", "kernel", "cuda_runtime", "gpu_memcpy"}) {
    for (const std::string& key : keys) {
      std::string text;
      int ts = 0;
      for (const std::string& value : values) {
        // Alongside what is taken, and alongside nothing that is.
        for (const std::string beside : {R"("Input type": ["float","float"], "Input Dims": [[4,256],[4,256]])",
                                         R"("Concrete Inputs": ["","","",""], "others": [1,2,3])"}) {
          const std::string odd = fmt::format(R"({}, "{}": {})", beside, key, value);
          // Alone, and said twice in either order.
          for (const std::string& args :
               {odd, fmt::format(R"({}, "{}": 7)", odd, key), fmt::format(R"("{}": 7, {})", key, odd)})
            for (int i = 0; i < 4; ++i) text += (ts == 0 ? "" : ",\n") + event(category, "name of it", ts, args), ++ts;
        }
      }
      CAPTURE(category);
      CAPTURE(key);
      check_same_either_way(events(text));
    }
  }
}

TEST_CASE("recordings read the same with runs and without, whole and with some of their characters changed") {
  std::mt19937 random(11);
  // What turns one kind of value into another, or one key into another.
  const std::vector<std::string> pieces = {"[",
                                           "]",
                                           "{",
                                           "}",
                                           "\"",
                                           ",",
                                           ":",
                                           "1",
                                           "[1]",
                                           "{}",
                                           "null",
                                           "NaN",
                                           "\"x\"",
                                           "-",
                                           "\"External id\": [1], ",
                                           "\"Addr\": {},",
                                           "\"grid\": 5, ",
                                           "\"correlation\": [7], ",
                                           "\"Input Dims\": [], ",
                                           "\\"};
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    check_same_either_way(text_of(path, std::size_t{2} << 20));
    std::string text = text_of(path, 60'000);
    const std::size_t first = text.find("\"args\"");
    if (first == std::string::npos) continue;
    for (int round = 0; round < 12; ++round) {
      std::string changed = text;
      for (int n = 0; n < 20; ++n) {
        // Inside args: at the begin of a member or of a value.
        std::size_t at = changed.find(n % 2 == 0 ? "\", " : ": ", first + random() % (changed.size() - first));
        if (at == std::string::npos) at = random() % changed.size();
        const std::string& piece = pieces[random() % pieces.size()];
        changed.replace(std::min(at + 2, changed.size()), random() % 3, piece);
      }
      check_same_either_way(changed);
    }
  }
}
