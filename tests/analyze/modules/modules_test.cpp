// Modules in traces made by hand and by chance, against a second way of computing them that looks at everything each time.
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/modules/modules.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Events of a trace, in microseconds.
class Events {
 public:
  Events& frame(const std::string& name, int begin, int length, int tid = 1) {
    return x("python_function", "nn.Module: " + name, begin, length, tid, "");
  }
  Events& region(const std::string& name, int begin, int length, int tid = 1) {
    return x("user_annotation", name, begin, length, tid, "");
  }
  Events& op(int begin, int length, int tid = 1) { return x("cpu_op", "aten::op", begin, length, tid, ""); }
  Events& call(const std::string& name, int begin, int correlation, int tid = 1, const std::string& more = "") {
    return x("cuda_runtime", name, begin, 1, tid, fmt::format("\"correlation\": {}{}", correlation, more));
  }
  Events& kernel(int begin, int length, int correlation, const std::string& more = "", const std::string& name = "k") {
    return x("kernel", name, begin, length, 7,
             fmt::format("\"correlation\": {}, \"device\": 0, \"stream\": 7{}", correlation, more), 0);
  }
  // A launch and its kernel, which runs much later.
  Events& work(int at, int length, int tid = 1) {
    const int id = ++work_;
    call("cudaLaunchKernel", at, id, tid);
    return kernel(1'000'000 + 10'000 * id, length, id);
  }
  Events& arrow(int id, int from, int from_tid, int to, int to_tid) {
    add(fmt::format(R"({{"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":{},"pid":7,"tid":{},"ts":{}}})", id, from_tid, from));
    return add(fmt::format(R"({{"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":{},"pid":7,"tid":{},"ts":{}}})", id,
                           to_tid, to));
  }
  // Bytes of GPU memory, positive for an allocation, at an address; what the device holds then.
  Events& memory(int at, int bytes, int address, int total, int tid = 1, int device_type = 1) {
    return add(fmt::format(R"({{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":7,"tid":{},"ts":{},)"
                           R"("args":{{"Bytes":{},"Addr":{},"Total Allocated":{},"Device Id":0,"Device Type":{}}}}})",
                           tid, at, bytes, address, total, device_type));
  }
  Events& add(const std::string& text) {
    all_ += (all_.empty() ? "" : ",\n") + text;
    return *this;
  }
  std::string text() const { return events(all_); }

 private:
  Events& x(const std::string& cat, const std::string& name, int begin, int length, int tid, const std::string& args,
            int pid = 7) {
    return add(fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", cat, name,
                           pid, tid, begin, length, args));
  }
  std::string all_;
  int work_ = 0;
};

struct Used {
  explicit Used(const Events& events, const Events* capture = nullptr)
      : trace(joined(events, capture)), lanes(*trace), links(*trace, lanes), ops(gpu_ops(*trace, links)) {
    use = module_use(*trace, ops, work_table(*trace, lanes, links, {}));
  }
  static std::shared_ptr<const Trace> joined(const Events& events, const Events* capture) {
    std::shared_ptr<const Trace> loaded = load_text(events.text());
    std::vector<std::shared_ptr<const Trace>> others;
    if (capture != nullptr) others.push_back(load_text(capture->text()));
    loaded->captured = std::make_unique<const CapturedWork>(*loaded, std::move(others), ReadNodeArgs());
    return loaded;
  }
  const ModuleRow* row(const std::string& name) const {
    for (const ModuleRow& r : use.rows)
      if (r.name == name) return &r;
    return nullptr;
  }
  // Forward, backward, self forward, self backward in microseconds.
  std::array<Ns, 4> times(const std::string& name) const {
    const ModuleRow* r = row(name);
    REQUIRE(r != nullptr);
    return {r->totals.forward / 1000, r->totals.backward / 1000, r->totals.self_forward / 1000, r->totals.self_backward / 1000};
  }
  std::set<std::string> parents(const std::string& name) const {
    std::set<std::string> found;
    for (const std::uint32_t p : row(name)->parents) found.insert(use.rows[p].name);
    return found;
  }
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  std::vector<GpuOp> ops;
  ModuleUse use;
};

using Times = std::array<Ns, 4>;

// --- The second way: everything that is around an instant, looked up again each time.

std::vector<SliceId> around(const Trace& t, LaneId lane, Ns time, Kind kind) {
  std::vector<SliceId> found;
  for (std::size_t s = 0; s < t.slice_count(); ++s) {
    const SliceId id(s);
    if (t.lane_id(id) != lane || t.kind(id) != kind || !t.span_of(id).contains(time)) continue;
    if (kind != Kind::python || t.name(id).starts_with("nn.Module: ")) found.push_back(id);
  }
  std::sort(found.begin(), found.end(), [&](SliceId a, SliceId b) {
    return std::tuple(-t.begin(a), t.end(a), ~t.slices.offset[a.index()]) <
           std::tuple(-t.begin(b), t.end(b), ~t.slices.offset[b.index()]);
  });
  return found;
}

struct Naive {
  std::map<std::string, Times> modules;
  Ns outside_forward = 0, outside_backward = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> memory;  // allocated, of that at the peak; "" is outside
};

// The frames that what happens at a moment belongs to.
std::pair<std::vector<SliceId>, bool> frames_of(const Trace& t, LaneId lane, Ns time) {
  std::vector<SliceId> frames = around(t, lane, time, Kind::python);
  if (!frames.empty()) return {frames, false};
  for (const SliceId cpu_op : around(t, lane, time, Kind::op)) {
    const Flow* arrow = nullptr;
    for (const Flow& flow : t.flows)
      if (!arrow && t.lane_id(flow.to) == t.lane_id(cpu_op) && t.begin(flow.to) == t.begin(cpu_op)) arrow = &flow;
    if (arrow) return {around(t, t.lane_id(arrow->from), t.begin(arrow->from), Kind::python), true};
  }
  return {{}, false};
}

// Whether what record `i` allocated was still there when the device's total was highest.
bool is_there_at_peak(const Trace& t, std::size_t i) {
  const MemoryRow& row = t.memory[i];
  const auto same_device = [&](const MemoryRow& other) {
    return other.device == row.device && other.device_type == row.device_type && !other.out_of_memory;
  };
  std::size_t peak = i;
  for (std::size_t k = t.memory.size(); k-- > 0;)
    if (same_device(t.memory[k]) && t.memory[k].total_allocated >= t.memory[peak].total_allocated) peak = k;
  if (i > peak) return false;
  for (std::size_t k = i + 1; k <= peak; ++k)
    if (same_device(t.memory[k]) && t.memory[k].address == row.address) return false;
  return true;
}

void add_memory(const Trace& t, Naive& out) {
  for (std::size_t i = 0; i < t.memory.size(); ++i) {
    const MemoryRow& row = t.memory[i];
    if (row.device_type == 0 || row.bytes <= 0 || row.out_of_memory) continue;
    std::set<std::string> names;
    for (const SliceId frame : frames_of(t, row.lane, row.time).first) names.emplace(module_instance(t.name(frame)));
    if (names.empty()) names.insert("");
    for (const std::string& name : names) {
      out.memory[name].first += row.bytes;
      out.memory[name].second += is_there_at_peak(t, i) ? row.bytes : 0;
    }
  }
}

Naive naive(const Trace& t, const std::vector<GpuOp>& ops) {
  Naive out;
  for (std::size_t s = 0; s < t.slice_count(); ++s)
    if (t.kind(SliceId(s)) == Kind::python) out.modules[std::string(module_instance(t.name(SliceId(s))))];
  for (const GpuOp& op : ops) {
    if (!op.linked()) continue;
    const Ns length = op.span.length();
    const auto [frames, backward] = frames_of(t, t.lane_id(op.launch), op.launch_span.begin);
    if (frames.empty()) (backward ? out.outside_backward : out.outside_forward) += length;
    std::set<std::string> seen;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const std::string name(module_instance(t.name(frames[f])));
      if (f == 0) out.modules[name][backward ? 3 : 2] += length;
      if (seen.insert(name).second) out.modules[name][backward ? 1 : 0] += length;
    }
  }
  add_memory(t, out);
  return out;
}

}  // namespace

TEST_CASE("a launch belongs to the frames around it, and its backward to those around the forward operator") {
  Events e;
  e.frame("Net_0", 0, 100).frame("Linear_0", 10, 20).op(12, 5).work(13, 7).frame("Linear_1", 40, 20).op(42, 10).work(43, 11);
  e.work(80, 2).op(200, 50, 2).op(205, 10, 2).work(206, 5, 2).work(300, 3).arrow(1, 12, 1, 200, 2);
  const Used used(e);
  CHECK(used.times("Linear_0") == Times{7, 5, 7, 5});
  CHECK(used.times("Linear_1") == Times{11, 0, 11, 0});
  CHECK(used.times("Net_0") == Times{20, 5, 2, 0});
  CHECK(used.use.outside_forward == 3000);
  CHECK(used.use.outside_backward == 0);
  CHECK(used.use.linked == 28000);
  CHECK(used.parents("Linear_0") == std::set<std::string>{"Net_0"});
  CHECK(used.row("Net_0")->is_root);
  CHECK(used.row("Net_0")->totals.kernels == 4);
  CHECK(used.row("Linear_1")->totals.host == 20000);
}

TEST_CASE("the operations of an operator count once in each module around it, over the time of its own kernels") {
  Events e;
  e.frame("Net_0", 0, 100).frame("Linear_0", 10, 30);
  e.add(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":1,"ts":12,"dur":20,)"
        R"("args":{"Input Dims":[[2,3],[3,4]]}})");
  e.work(13, 7).work(15, 5);  // a product in two kernels
  e.work(80, 2);              // of no operator that is known
  const Used used(e);
  for (const char* name : {"Net_0", "Linear_0"}) {
    CHECK(used.row(name)->totals.flops == 2 * 2 * 3 * 4);
    CHECK(used.row(name)->totals.flops_time == 12'000);
  }
  CHECK(used.row("Net_0")->totals.flops_per_second() == doctest::Approx(48 / 12e-6));
  REQUIRE(used.use.tree.size() == 2);
  CHECK(used.use.tree[0].totals.flops == 48);
  CHECK(used.use.tree[1].totals.flops_time == 12'000);
}

TEST_CASE("an arrow from an operator outside all modules makes its work backward, and outside") {
  Events e;
  e.frame("Net_0", 0, 10).op(20, 5).op(200, 50, 2).work(206, 5, 2).arrow(1, 20, 1, 200, 2);
  const Used used(e);
  CHECK(used.use.outside_backward == 5000);
  CHECK(used.use.outside_forward == 0);
}

TEST_CASE("an arrow to another operator that begins at the same time, or to none, is looked at as the page says") {
  Events e;
  e.frame("A_0", 0, 10).op(2, 3).op(200, 50, 2).op(200, 5, 2).work(202, 1, 2).work(230, 4, 2).arrow(1, 2, 1, 200, 2);
  CHECK(Used(e).times("A_0") == Times{0, 5, 0, 5});  // the outer operator begins where the arrow ends, too
}

TEST_CASE("a shared module is under each of its parents with the part that belongs there") {
  Events e;
  e.frame("A_0", 0, 50).frame("Shared_0", 10, 10).work(12, 3).frame("B_0", 60, 50).frame("Shared_0", 70, 10).work(72, 5);
  const Used used(e);
  CHECK(used.parents("Shared_0") == std::set<std::string>{"A_0", "B_0"});
  CHECK(used.times("Shared_0") == Times{8, 0, 8, 0});
  std::map<std::string, Ns> parts;
  for (const ModuleNode& n : used.use.tree)
    if (n.parent != ModuleNode::kNoParent) parts[used.use.rows[used.use.tree[n.parent].row].name] = n.totals.forward;
  CHECK(parts == std::map<std::string, Ns>{{"A_0", 3000}, {"B_0", 5000}});
}

TEST_CASE("a module in itself counts its time once") {
  Events e;
  e.frame("Tree_0", 0, 100).frame("Tree_0", 10, 50).frame("Leaf_0", 20, 10).work(22, 3).work(40, 4).work(80, 5);
  const Used used(e);
  CHECK(used.times("Tree_0") == Times{12, 0, 9, 0});
  CHECK(used.row("Tree_0")->totals.host == 100000);
  CHECK(used.row("Tree_0")->totals.calls == 2);
  CHECK(used.parents("Tree_0") == std::set<std::string>{"Tree_0"});
  CHECK(used.use.classes.size() == 2);
}

TEST_CASE("work in two instances of one class counts once for the class") {
  Events e;
  e.frame("Sequential_0", 0, 100).frame("Sequential_1", 10, 50).work(22, 3).work(80, 5);
  const Used used(e);
  REQUIRE(used.use.classes.size() == 1);
  CHECK(used.use.classes[0].name == "Sequential");
  CHECK(used.use.classes[0].instances == 2);
  CHECK(used.use.classes[0].totals.forward == 8000);
  CHECK(used.use.classes[0].totals.host == 100000);
  CHECK(used.use.classes[0].totals.calls == 2);
}

TEST_CASE("a frame that an exception left without its end reaches to the trace's end and takes nothing from those before") {
  Events e;
  e.frame("Net_0", 0, 100).work(5, 1);
  e.add(R"({"ph":"B","cat":"python_function","name":"nn.Module: Bad_0","pid":7,"tid":1,"ts":50})");
  e.work(60, 2).work(200, 4);
  const Used used(e);
  CHECK(used.times("Bad_0") == Times{6, 0, 6, 0});
  CHECK(used.times("Net_0") == Times{3, 0, 1, 0});
  CHECK(used.use.outside_forward == 0);
}

TEST_CASE("without module frames the regions of record_function take their place, steps do not") {
  Events e;
  e.region("ProfilerStep#1", 0, 100).region("load", 10, 20).work(15, 3).region("train_3", 40, 20).work(45, 5).work(90, 1);
  const Used used(e);
  CHECK(used.use.kind == RegionKind::annotations);
  CHECK(used.use.rows.size() == 2);
  CHECK(used.times("train_3") == Times{5, 0, 5, 0});
  CHECK(used.row("train_3")->class_name == "train_3");
  CHECK(used.use.outside_forward == 1000);
  CHECK(missing_modules(used.use).find("with_stack=True, with_modules=True") != std::string::npos);
}

TEST_CASE("a trace with neither says what to record") {
  const Used used(Events().work(5, 2));
  CHECK(used.use.kind == RegionKind::none);
  CHECK(used.use.rows.empty());
  CHECK(used.use.outside_forward == 2000);
  CHECK(missing_modules(used.use).find("with_stack=True") != std::string::npos);
}

namespace {

// A capture of two launches in two modules, in the thread's order of time.
Events& add_capture(Events& e) {
  e.call("cudaStreamBeginCapture", 10, 501).frame("Net_0", 11, 50).frame("Linear_0", 12, 10).call("cudaLaunchKernel", 13, 502);
  return e.frame("ReLU_0", 30, 10).call("cudaLaunchKernel", 33, 503).call("cudaStreamEndCapture", 70, 504);
}
Events& add_replays(Events& e, bool with_ids) {
  for (int r = 0; r < 2; ++r) {
    const int id = 600 + r, at = 1000 + 100 * r;
    const auto node = [&](int n) { return with_ids ? fmt::format(", \"graph id\": 2, \"graph node id\": {}", 900 + n) : ""; };
    e.frame("Caller_0", at, 20)
        .call("cudaGraphLaunch", at + 5, id)
        .kernel(at + 30, 5, id, node(0))
        .kernel(at + 40, 2, id, node(1));
  }
  return e;
}

}  // namespace

TEST_CASE("kernels of a replayed graph go to the modules that captured them, in one recording or two") {
  Events one;
  add_replays(add_capture(one), true);
  const Used used(one);
  CHECK(used.times("Linear_0") == Times{10, 0, 10, 0});
  CHECK(used.times("ReLU_0") == Times{4, 0, 4, 0});
  CHECK(used.times("Net_0") == Times{14, 0, 0, 0});
  CHECK(used.times("Caller_0") == Times{0, 0, 0, 0});
  CHECK(used.use.graphs.told == 4);

  Events capture, replay, bare;
  add_capture(capture);
  add_replays(replay, true);
  add_replays(bare, false);
  for (const Events* e : {&replay, &bare}) {
    const Used both(*e, &capture);
    CHECK(both.times("Linear_0") == Times{10, 0, 10, 0});
    CHECK(both.row("Linear_0")->totals.calls == 0);
    CHECK(both.times("Net_0") == Times{14, 0, 0, 0});
    CHECK(both.use.linked == 14000);
  }
  const Used alone(replay);
  CHECK(alone.times("Caller_0") == Times{14, 0, 14, 0});
  CHECK(alone.use.graphs.pieces == 4);
  CHECK(alone.use.graphs.told == 0);
}

TEST_CASE("a capture with another number of launches says nothing about a graph") {
  Events e;
  e.call("cudaStreamBeginCapture", 10, 501)
      .frame("Net_0", 11, 50)
      .call("cudaLaunchKernel", 13, 502)
      .call("cudaStreamEndCapture", 70, 504);
  add_replays(e, true);
  const Used used(e);
  CHECK(used.times("Net_0") == Times{0, 0, 0, 0});
  CHECK(used.times("Caller_0") == Times{14, 0, 14, 0});
}

TEST_CASE("work launched with a graph node id says whose that node is") {
  Events capture, replay;
  capture.frame("Net_0", 0, 50).call("cudaLaunchKernel", 5, 1).kernel(60, 1, 1, ", \"graph id\": 2, \"graph node id\": 901");
  add_replays(replay, true);
  const Used used(replay, &capture);
  CHECK(used.times("Net_0") == Times{4, 0, 4, 0});
  CHECK(used.times("Caller_0") == Times{10, 0, 10, 0});
}

TEST_CASE("any heap of frames, operators and arrows gives what looking at everything gives") {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Events e;
    std::vector<std::pair<int, int>> ops;  // begin, thread
    for (int i = 0; i < 40; ++i) {
      const int begin = pick(100), tid = 1 + pick(2);
      if (pick(2) == 0) {
        e.frame(fmt::format("M{}_{}", pick(3), pick(3)), begin, pick(40), tid);
      } else {
        e.op(begin, pick(40), tid);
        ops.emplace_back(begin, tid);
      }
    }
    for (int i = 0; i < 12 && ops.size() > 1; ++i) {
      const auto from = ops[static_cast<std::size_t>(pick(static_cast<int>(ops.size())))];
      const auto to = ops[static_cast<std::size_t>(pick(static_cast<int>(ops.size())))];
      e.arrow(i + 1, from.first, from.second, to.first, to.second);
    }
    for (int i = 0; i < 40; ++i) e.work(pick(120), 1 + pick(9), 1 + pick(2));
    for (int i = 0; i < 40; ++i)
      e.memory(pick(120), (pick(3) == 0 ? -1 : 1) * (1 + pick(90)), 1 + pick(12), pick(500), 1 + pick(2), pick(4) == 0 ? 0 : 1);
    const Used used(e);
    const Naive other = naive(*used.trace, used.ops);
    CAPTURE(round);
    CHECK(used.use.outside_forward == other.outside_forward);
    CHECK(used.use.outside_backward == other.outside_backward);
    REQUIRE(used.use.rows.size() == other.modules.size());
    for (const auto& [name, times] : other.modules) {
      const ModuleTotals& t = used.row(name)->totals;
      CHECK(Times{t.forward, t.backward, t.self_forward, t.self_backward} == times);
      const auto memory = other.memory.find(name);
      CHECK(std::pair(t.allocated, t.at_peak) ==
            (memory == other.memory.end() ? std::pair<std::int64_t, std::int64_t>() : memory->second));
    }
    const auto outside = other.memory.find("");
    CHECK(std::pair(used.use.memory.outside_bytes, used.use.memory.outside_at_peak) ==
          (outside == other.memory.end() ? std::pair<std::int64_t, std::int64_t>() : outside->second));
  }
}

TEST_CASE("memory belongs to the modules that asked for it, and what is in use at the peak counts apart") {
  Events e;
  e.frame("Net_0", 0, 100).frame("Linear_0", 10, 20).op(12, 5).op(200, 50, 2).arrow(1, 12, 1, 200, 2);
  e.memory(5, 100, 1, 100).memory(13, 40, 2, 140).memory(20, -40, 2, 100).memory(21, 60, 2, 160);
  e.memory(210, 7, 3, 167, 2).memory(220, -100, 1, 67, 2).memory(300, 9, 4, 76).memory(14, 1000, 9, 5000, 1, 0);
  const Used used(e);
  const ModuleTotals &net = used.row("Net_0")->totals, &linear = used.row("Linear_0")->totals;
  CHECK(net.allocated == 207);
  CHECK(net.at_peak == 167);
  CHECK(linear.allocated == 107);  // 7 of it in its backward
  CHECK(linear.at_peak == 67);
  const AllocatedMemory& all = used.use.memory;
  CHECK(all.allocations == 5);
  CHECK(all.bytes == 216);
  CHECK(all.at_peak == 167);
  CHECK(all.outside_bytes == 9);
  CHECK(all.outside_at_peak == 0);
  CHECK(all.knows_peak);
  e.add(
      R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":7,"tid":1,"ts":301,"args":{"Bytes":5,"Device Type":1}})");
  CHECK_FALSE(Used(e).use.memory.knows_peak);  // a record without address and total
}

TEST_CASE("a module that begins on one thread and ends on another covers nothing of the other") {
  Events e;
  e.add(R"({"ph":"B","cat":"python_function","name":"nn.Module: Net_0","pid":7,"tid":1,"ts":0})");
  e.add(R"({"ph":"E","cat":"python_function","name":"nn.Module: Net_0","pid":7,"tid":2,"ts":50})");
  e.frame("Other_0", 60, 20, 2).work(20, 3, 1).work(20, 4, 2).work(65, 5, 2);
  const Used used(e);
  CHECK(used.times("Net_0") == Times{3, 0, 3, 0});  // open to the trace's end, on its own thread
  CHECK(used.times("Other_0") == Times{5, 0, 5, 0});
  CHECK(used.use.outside_forward == 4000);
  CHECK(used.use.linked == 12000);
}

TEST_CASE("ten thousand instances, one in the other and side by side, take no time to speak of") {
  Events e;
  for (int i = 0; i < 10'000; ++i) e.frame(fmt::format("Deep_{}", i), i, 40'000 - 2 * i);
  for (int i = 0; i < 10'000; ++i) e.frame(fmt::format("Flat_{}", i), 50'000 + 10 * i, 8);
  for (int i = 0; i < 2'000; ++i) e.work(5 * i, 1).work(50'000 + 50 * i, 1);
  const Used used(e);
  CHECK(used.use.rows.size() == 20'000);
  CHECK(used.use.tree.size() == 20'000);
  CHECK(used.times("Deep_0") == Times{2000, 0, 1, 0});
  CHECK(used.times("Flat_5") == Times{1, 0, 1, 0});
}
