// Replayed graphs and the calls that captured them: made by hand, and against what names alone say.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/session/captured_trace.h"
#include "core/analyze/captured/captured_work.h"
#include "core/analyze/gpu/kernel_columns.h"
#include "tests/support/confined_reading.h"
#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A recording as ROCm writes it: capturing calls state their kernels. Times in microseconds.
class Recording {
 public:
  // A capture of kernels, each in an operator of its own; "copy" is a copy.
  Recording& capture(const std::vector<std::string>& kernels, int size = 0, bool with_names = true) {
    const int begin = at_;
    std::string inside;
    call("hipStreamBeginCapture", "");
    for (const std::string& kernel : kernels) {
      x("cpu_op", fmt::format("op{}_of_{}", ++operators_, kernel), at_, 8, 1, "\"Input Dims\": [[2, 3]]");
      if (kernel == "copy")
        call("hipMemcpyAsync", "");
      else
        call("hipModuleLaunchKernel", with_names ? fmt::format("\"kernel\": \"{}\", ", kernel) : "");
      at_ += 10;
    }
    call("hipStreamEndCapture", "");
    if (size > 0) x("user_annotation", fmt::format("capture_{}_FULL", size), begin - 1, at_ - begin + 2, 1, "");
    at_ += 100;
    return *this;
  }
  // A replay: kernels with their streams, in order of begin; `first_node` > 0: with ids.
  Recording& replay(const std::vector<std::pair<std::string, int>>& kernels, int tokens = 0, int graph = 0,
                    int first_node = 0) {
    const int begin = at_, correlation = next_;
    call("hipGraphLaunch", "");
    if (tokens > 0)
      x("user_annotation", fmt::format("execute_context_0(0)_generation_{}({})", tokens, tokens), begin - 1, 5, 1, "");
    for (const auto& [kernel, stream] : kernels) {
      std::string args = fmt::format("\"correlation\": {}, \"device\": 0, \"stream\": {}", correlation, stream);
      if (first_node > 0) args += fmt::format(", \"graph id\": {}, \"graph node id\": {}", graph, first_node++);
      x(kernel == "copy" ? "gpu_memcpy" : "kernel", kernel == "copy" ? "Memcpy DtoD" : kernel, at_ += 10, 5, stream, args, 0);
    }
    at_ += 100;
    return *this;
  }
  std::string text() const { return events(all_); }

 private:
  void call(const std::string& name, const std::string& args) {
    x("cuda_runtime", name, at_ + 1, 1, 1, fmt::format("{}\"correlation\": {}", args, next_++));
  }
  void x(const std::string& cat, const std::string& name, int begin, int length, int tid, const std::string& args,
         int pid = 7) {
    all_ += fmt::format(
        "{}{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
        all_.empty() ? "" : ",\n", cat, name, pid, tid, begin, length, args);
  }
  std::string all_;
  int at_ = 1000, next_ = 1, operators_ = 0;
};

struct Joined {
  Joined(const Recording& replay, const std::vector<Recording>& captures) {
    std::vector<std::string> files;
    for (const Recording& capture : captures)
      files.push_back(folder.write(fmt::format("capture_traces/c{}.json", files.size()), capture.text()));
    const auto loaded = load_captured_trace(folder.write("t.json", replay.text()));
    REQUIRE(loaded.ok());
    trace = *loaded;
    work = trace->captured.get();
  }
  // The operators of the GPU work in order of begin; "-" where nothing is joined.
  std::vector<std::string> operators() const {
    std::vector<std::pair<Ns, std::string>> found;
    for (const GpuRow& row : trace->gpu) {
      const auto by = work != nullptr ? work->of(row.slice) : CapturedWork::Call{};
      found.emplace_back(trace->begin(row.slice), by ? std::string(by.trace->name(by.op)) : "-");
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> names;
    for (const auto& [begin, name] : found) names.push_back(name);
    return names;
  }
  TempFolder folder;
  std::shared_ptr<const Trace> trace;
  const CapturedWork* work = nullptr;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a replay has the operators of its capture, in a folder next to it or in its own recording") {
  const Joined beside(Recording().replay({{"a", 1}, {"copy", 1}, {"a", 1}}), {Recording().capture({"a", "copy", "a"})});
  CHECK(beside.operators() == Names{"op1_of_a", "op2_of_copy", "op3_of_a"});
  REQUIRE(beside.work != nullptr);
  CHECK(beside.work->counts().joined == 3);
  CHECK(beside.work->reasons().empty());
  const Joined own(Recording().capture({"a", "b"}).replay({{"a", 1}, {"b", 1}}), {});
  CHECK(own.operators() == Names{"op1_of_a", "op2_of_b"});
}

TEST_CASE("where reading is confined no link next to a trace leads to a capture elsewhere") {
  const TempFolder folder, elsewhere;
  const std::string outside = elsewhere.write("c.json", Recording().capture({"a"}).text());
  const std::string trace = folder.write("x_replay.json", Recording().replay({{"a", 1}}).text());
  const std::string inside = folder.write("own/c.json", Recording().capture({"a"}).text());
  const auto is_joined = [&] {
    const auto loaded = load_captured_trace(trace);
    REQUIRE(loaded.ok());
    const CapturedWork* work = (*loaded)->captured.get();
    return work != nullptr && work->counts().joined > 0;
  };
  const auto found_by = [&](const std::string& name, const std::filesystem::path& target) {
    const std::filesystem::path link = folder.path() / name;
    std::filesystem::create_directories(link.parent_path());
    std::filesystem::create_symlink(target, link);
    bool by_confined = false;
    std::size_t listed = 0;
    {
      const ConfinedReading confined(*ReadableFolders::make({folder.path().string()}));
      by_confined = is_joined();
      listed = capture_files(trace).size();
    }
    const bool by_anybody = is_joined();
    std::filesystem::remove(link);
    return std::tuple(by_anybody, by_confined, listed);
  };
  for (const char* name : {"graph_capture_1.json", "x_capture.json", "capture_traces/c.json"}) {
    CAPTURE(name);
    CHECK(found_by(name, outside) == std::tuple(true, false, std::size_t{0}));
    CHECK(found_by(name, inside) == std::tuple(true, true, std::size_t{1}));
  }
  std::filesystem::remove(folder.path() / "capture_traces");
  CHECK(found_by("capture_traces", elsewhere.path()) == std::tuple(true, false, std::size_t{0}));
  CHECK(found_by("capture_traces", folder.path() / "own") == std::tuple(true, true, std::size_t{1}));
}

TEST_CASE("what one side does not have is skipped, and counted") {
  const Names captured = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
  std::vector<std::pair<std::string, int>> replayed;
  for (const std::string& name : captured)
    if (name != "d") replayed.emplace_back(name, 1);
  replayed.emplace(replayed.begin() + 7, "new", 1);
  const Joined one(Recording().replay(replayed), {Recording().capture(captured)});
  CHECK(one.operators() == Names{"op1_of_a", "op2_of_b", "op3_of_c", "op5_of_e", "op6_of_f", "op7_of_g", "op8_of_h", "-",
                                 "op9_of_i", "op10_of_j", "op11_of_k", "op12_of_l"});
  REQUIRE(one.work->reasons().size() == 1);
  CHECK(one.work->reasons()[0] == "Of 1 graph: 1 piece of it and 1 launch of its capture have no partner.");
}

TEST_CASE("kernels by name count for the operators that captured them, marked as joined") {
  const std::vector<std::pair<std::string, int>> graph = {{"a", 1}, {"b", 1}};
  const Joined two(Recording().replay(graph).replay(graph), {Recording().capture({"a", "b"})});
  const LaneIndex lanes(*two.trace);
  const LinkIndex links(*two.trace, lanes);
  const KernelTable table = kernel_table(*two.trace, links);
  REQUIRE(table.rows.size() == 2);
  for (const KernelRow& row : table.rows) {
    REQUIRE(row.operators.size() == 1);
    CHECK(row.operators[0].name == (two.trace->strings[row.name] == "a" ? "op1_of_a" : "op2_of_b"));
    CHECK(row.operators[0].joined);
    CHECK(row.operators[0].count == 2);
  }
  CHECK(operators_text(table.rows[0]).ends_with("  x 2, joined: it captured the graph"));
  const Joined none(Recording().replay(graph), {});
  const KernelTable alone = kernel_table(*none.trace, LinkIndex(*none.trace, LaneIndex(*none.trace)));
  CHECK_FALSE(alone.rows[0].operators[0].joined);
}

TEST_CASE("another graph's capture is not taken, and the reason says where they differ") {
  const Joined one(Recording().replay({{"a", 1}, {"b", 1}, {"c", 1}}), {Recording().capture({"a", "x", "c"})});
  CHECK(one.operators() == Names{"-", "-", "-"});
  REQUIRE(one.work->reasons().size() == 1);
  CHECK(one.work->reasons()[0].find("number 2 is b in the replay and x in the capture") != std::string::npos);
  const auto named = load_captured_trace(one.trace->path, {}, (one.folder.path() / "capture_traces/c0.json").string());
  REQUIRE(!named.ok());
  CHECK(named.error().message.find("is not the capture of the graphs") != std::string::npos);
  const auto without = load_captured_trace(one.folder.write("eager.json", Recording().capture({"a"}).text()), {},
                                           (one.folder.path() / "capture_traces/c0.json").string());
  REQUIRE(!without.ok());
  CHECK(without.error().message.find("launches none") != std::string::npos);
}

TEST_CASE("work on several streams is reported stream by stream, then by name") {
  // The second stream runs ahead of the order of capture.
  const Joined one(Recording().replay({{"p", 2}, {"a", 1}, {"q", 2}, {"b", 1}, {"c", 1}, {"p", 2}}),
                   {Recording().capture({"a", "p", "b", "c", "q", "p"})});
  CHECK(one.operators() == Names{"op2_of_p", "op1_of_a", "op5_of_q", "op3_of_b", "op4_of_c", "op6_of_p"});
}

TEST_CASE("nodes with ids are taken in the order of these, which states what the order of begin does not") {
  Recording replay;
  replay.replay({{"k1", 1}, {"k2", 2}, {"k3", 1}}, 0, 5, 900);
  const Joined cuda(replay, {Recording().capture({"x", "y", "z"}, 0, false)});
  CHECK(cuda.operators() == Names{"op1_of_x", "op2_of_y", "op3_of_z"});
  CHECK(cuda.work->counts().by_order == 3);
  const Joined fewer(replay, {Recording().capture({"x", "y"}, 0, false)});
  CHECK(fewer.operators() == Names{"-", "-", "-"});
}

TEST_CASE("of captures for several sizes the smallest that holds the tokens counts") {
  const std::vector<Recording> sizes = {Recording().capture({"a", "b"}, 64),
                                        Recording().capture({"b", "a"}, 1).capture({"a", "b"}, 32)};
  const Joined one(Recording().replay({{"a", 1}, {"b", 1}}, 20), sizes);
  CHECK(one.operators() == Names{"op3_of_a", "op4_of_b"});
  const Joined most(Recording().replay({{"a", 1}, {"b", 1}}, 33), sizes);
  CHECK(most.operators() == Names{"op1_of_a", "op2_of_b"});
  const Joined none(Recording().replay({{"a", 1}, {"b", 1}}, 65), sizes);
  CHECK(none.operators() == Names{"-", "-"});
  CHECK(none.work->reasons()[0] == "Of 1 graph: it ran for 65 tokens, and the largest capture is for 64.");
}

TEST_CASE("pieces of a model that are alike go round their captures in order") {
  const Recording capture = Recording().capture({"first"}).capture({"a", "b"}).capture({"a", "b"}).capture({"last"});
  const std::vector<std::pair<std::string, int>> piece = {{"a", 1}, {"b", 1}};
  const Joined whole(Recording().replay({{"first", 1}}).replay(piece).replay(piece).replay({{"last", 1}}), {capture});
  CHECK(whole.operators() == Names{"op1_of_first", "op2_of_a", "op3_of_b", "op4_of_a", "op5_of_b", "op6_of_last"});
  const Joined begun_inside(Recording().replay(piece).replay({{"last", 1}}).replay({{"first", 1}}).replay(piece), {capture});
  CHECK(begun_inside.operators() == Names{"op4_of_a", "op5_of_b", "op6_of_last", "op1_of_first", "op2_of_a", "op3_of_b"});
  const Joined unknown(Recording().replay(piece), {capture});
  CHECK(unknown.operators() == Names{"-", "-"});
  CHECK(unknown.work->reasons()[0].find("2 captures are alike") != std::string::npos);
}

TEST_CASE("a recording of a capture is called one, and one that ran more than it captured is not") {
  CHECK(bool(capture_recording(*load_text(Recording().capture({"a", "b"}).text()))));
  CHECK(!capture_recording(*load_text(Recording().capture({"a", "b"}).replay({{"a", 1}, {"b", 1}}).text())));
  CHECK(!capture_recording(*load_text(Recording().replay({{"a", 1}}).text())));
}

TEST_CASE("no verdict and no finding is about the idle GPU of a capture") {
  const Diagnosed capture(load_text(Recording().replay({{"w", 1}}).capture({"a", "b", "c"}).replay({{"w", 1}}).text()));
  CHECK(
      capture.diagnosis.verdict.starts_with("Not judged: this is a recording of a graph capture: 3 launches made nodes of 1 "
                                            "graph, and 2 pieces of work ran on the GPU"));
  for (const RankedFinding& f : capture.diagnosis.findings) CHECK(f.finding.rule->rule_class != RuleClass::problem);
  const bool said = std::any_of(capture.diagnosis.unjudged.begin(), capture.diagnosis.unjudged.end(),
                                [](const auto& u) { return u.why.starts_with("This is a recording of a graph capture"); });
  CHECK(said);
  const Diagnosed twin(load_text(Recording().replay({{"w", 1}}).capture({"a"}).replay({{"w", 1}}).text()));
  CHECK(twin.diagnosis.verdict.find("graph capture") == std::string::npos);
}

TEST_CASE("all of vLLM's replay has its operators, modules and Python lines") {
  if (!has_shared("the join of vLLM's capture")) return;
  const auto path = shared_folder() / "traces/public/tracelens_mi300_graph_execution.json.gz";
  const auto loaded = load_captured_trace(path.string());
  REQUIRE(loaded.ok());
  const Trace& trace = **loaded;
  const CapturedWork* work = trace.captured.get();
  REQUIRE(work != nullptr);
  CHECK(work->counts().pieces == 421);
  CHECK(work->counts().joined == 421);
  CHECK(work->counts().by_order == 0);
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  std::size_t kernels = 0;
  for (const GpuRow& row : trace.gpu) {
    if (trace.kind(row.slice) != Kind::kernel) continue;
    ++kernels;
    const OperatorCall by = operator_call(trace, links, row);
    REQUIRE(by);
    REQUIRE(by.call);
    const CallPlace place = place_of_call(*by.trace, by.call);
    CHECK(!place.python.empty());
    CHECK((by.joined ? !place.module.empty() : by.trace == &trace));
  }
  CHECK(kernels == 425);
}
