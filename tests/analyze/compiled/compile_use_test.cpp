// What torch.compile's code did: by hand, against a second way that climbs from every launch, and in recordings.
#include <map>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/compiled/compile_id.h"
#include "core/analyze/compiled/compile_use.h"
#include "core/load/args.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Compiled {
  explicit Compiled(std::shared_ptr<const Trace> t, const ArgOf& arg_of = {})
      : trace(std::move(t)), lanes(*trace), links(*trace, lanes) {
    ops = gpu_ops(*trace, links);
    const ArgOf from_file = [&](SliceId slice, std::string_view key) -> std::string {
      const auto args = read_args(*trace, trace->slices.offset[slice.index()]);
      if (args.ok())
        for (const Arg& arg : *args)
          if (arg.key == key) return arg.value;
      return {};
    };
    use = compile_use(*trace, lanes, links, ops, arg_of ? arg_of : from_file);
  }
  const CompiledRegion& region(std::string_view id) const {
    const auto at = std::find_if(use.regions.begin(), use.regions.end(), [&](const CompiledRegion& r) { return r.id == id; });
    REQUIRE_MESSAGE(at != use.regions.end(), std::string(id));
    return *at;
  }
  std::string_view name(StringId id) const { return trace->strings[id]; }

  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  std::vector<GpuOp> ops;
  CompileUse use;
};

Compiled recorded(const std::string& name) {
  const auto path = recording_or_none(name);
  REQUIRE(!path.empty());
  return Compiled(load_once(path));
}

// Events of a thread, in microseconds.
class Calls {
 public:
  Calls& x(const std::string& name, int begin, int length, const std::string& cat = "cpu_op", int tid = 1,
           const std::string& args = "") {
    all_ += (all_.empty() ? "" : ",\n") +
            slice(name, std::to_string(begin), std::to_string(length), ", \"args\": {" + args + "}", cat, std::to_string(tid));
    return *this;
  }
  // An operator that launches a kernel of its name.
  Calls& launch(const std::string& name, int begin, int gpu, int tid = 1) {
    const int id = ++launches_;
    const std::string joined = fmt::format("\"correlation\": {}, \"device\": 0, \"stream\": 7, \"External id\": {}", id, id);
    x(name, begin, 4, "cpu_op", tid, fmt::format("\"External id\": {}", id));
    x("cuLaunchKernel", begin + 1, 2, "cuda_driver", tid, fmt::format("\"correlation\": {}, \"External id\": {}", id, id));
    return x(name, 10'000 + 100 * id, gpu, "kernel", 7, joined);
  }
  Compiled read() const {
    const auto trace = load_text(events(all_));
    return Compiled(trace, [trace](SliceId slice, std::string_view key) -> std::string {
      const bool has_it = key == "kernel_file" && trace->name(slice) == "triton_poi_fused_add_mul_0";
      return has_it ? "/tmp/torchinductor_me/ab/cab.py" : "";
    });
  }

 private:
  std::string all_;
  int launches_ = 0;
};

// One call of a function that broke at line 25: guards, a piece with a graph, Python, guards, the rest with a graph.
Calls& broken_call(Calls& e, int t) {
  e.x("TorchDynamo Cache Lookup", t, 5).x("Torch-Compiled Region: 0/0", t + 10, 90);
  e.x("a/model.py(20): forward", t + 11, 88, "python_function");
  e.x("## Call CompiledFxGraph fabcdef ##", t + 15, 20)
      .x("/tmp/torchinductor_me/xy/cxy.py(9): call", t + 16, 18, "python_function");
  e.launch("triton_poi_fused_add_mul_0", t + 20, 7);
  e.x("aten::item", t + 40, 10).x("aten::_local_scalar_dense", t + 41, 8);
  e.x("TorchDynamo Cache Lookup", t + 55, 3).x("Torch-Compiled Region: 1/0", t + 60, 35);
  e.x("a/model.py(20): torch_dynamo_resume_in_forward_at_25", t + 61, 33, "python_function");
  return e.x("## Call CompiledFxGraph fuvwxyz ##", t + 65, 20).launch("triton_red_fused_sum_1", t + 70, 11);
}

}  // namespace

TEST_CASE("a split function is reported with the line that broke, what ran in between, its guards and its kernels") {
  Calls e;
  broken_call(broken_call(e, 100), 300);
  e.x("## Call CompiledFxGraph fback ##", 600, 30, "cpu_op", 2)
      .launch("triton_per_fused_sum_2", 610, 13, 2);  // no region around it
  const Compiled c = e.read();
  REQUIRE(c.use.regions.size() == 2);
  CHECK(c.region("0/0").slices.size() == 2);
  CHECK(c.region("0/0").host == 2 * 55'000);  // without the 35 us of 1/0 in it
  CHECK(c.region("0/0").work.gpu == 14'000);
  CHECK(c.region("1/0").work.gpu == 22'000);
  CHECK(c.region("0/0").lookup_time == 10'000);
  CHECK(c.region("1/0").lookup_time == 6'000);
  CHECK(c.name(c.region("0/0").frame) == "a/model.py(20): forward");
  CHECK(c.use.in_regions.gpu == 36'000);
  CHECK(c.use.in_graphs.gpu == 49'000);
  CHECK(c.use.guards.hits == 4);
  CHECK_FALSE(c.use.is_recompiled(c.region("0/0")));

  REQUIRE(c.use.breaks.size() == 1);
  const SplitFunction& split = c.use.breaks[0];
  CHECK(split.from == "0/0");
  CHECK(split.to == "1/0");
  CHECK(split.slices.size() == 2);
  CHECK(split.between == 2 * 25'000);  // from the graph's end at 35 to the region's begin at 60
  CHECK(split.broke_at == "forward, line 25 of a/model.py");
  REQUIRE(split.between_ops.size() == 1);
  CHECK(c.name(split.between_ops[0]) == "aten::item");

  REQUIRE(c.use.graphs.size() == 3);
  CHECK(c.use.graphs[0].hash == "fuvwxyz");
  const CompiledGraph& first = c.use.graphs[1];
  CHECK(first.hash == "fabcdef");
  CHECK(first.code == "/tmp/torchinductor_me/xy/cxy.py");
  CHECK(first.cache_entry == "/tmp/torchinductor_me/fxgraph/ab/fabcdef");
  REQUIRE(first.kernels.size() == 1);
  const FusedKernel& kernel = c.use.kernels[first.kernels[0]];
  CHECK(c.name(kernel.name) == "triton_poi_fused_add_mul_0");
  CHECK(kernel.operators == std::vector<std::string>{"add", "mul"});
  CHECK(kernel.code == "/tmp/torchinductor_me/ab/cab.py");
  CHECK(kernel.launches.size() == 2);
  CHECK(kernel.slices.size() == 2);
}

TEST_CASE("a lookup is a hit where compiled code runs next below the same caller, else Dynamo compiled or neither") {
  Calls e;
  e.x("TorchDynamo Cache Lookup", 0, 5).x("dynamo", 10, 100).x("dynamo_data: compile_id=0/1", 11, 1, "user_annotation");
  e.x("_compile.compile_inner (dynamo_timed)", 20, 50).x("Torch-Compiled Region: 0/1", 120, 10);
  e.x("caller", 200, 20).x("TorchDynamo Cache Lookup", 205, 5).x("Torch-Compiled Region: 0/0", 230, 10);
  e.x("TorchDynamo Cache Lookup", 250, 5).x("Torch-Compiled Region: 0/1", 260, 10);
  const Compiled c = e.read();
  CHECK(c.use.guards.slices.size() == 3);
  CHECK(c.use.guards.compiled == 1);
  CHECK(c.use.guards.other == 1);
  CHECK(c.use.guards.hits == 1);
  CHECK(c.region("0/1").lookups == 1);
  CHECK(c.region("0/1").compile_time == 100'000);
  REQUIRE(c.use.compilations.size() == 1);
  CHECK(c.use.compilations[0].id == "0/1");
  CHECK(c.use.compile_time == 100'000);
  CHECK(c.use.is_recompiled(c.region("0/0")));  // its frame has a version 1
}

TEST_CASE("what is compiled between two pieces is neither's host time, also below frames of Dynamo's own") {
  Calls e;
  e.x("TorchDynamo Cache Lookup", 0, 5).x("Torch-Compiled Region: 0/0", 10, 500);
  e.x("a/model.py(20): forward", 11, 498, "python_function");
  e.x("## Call CompiledFxGraph fabcdef ##", 15, 20);
  e.x("TorchDynamo Cache Lookup", 55, 3);
  e.x("torch/_dynamo/convert_frame.py(1): __call__", 60, 310, "python_function");
  e.x("entire_frame_compile", 70, 290).x("_compile.compile_inner (dynamo_timed)", 80, 50);
  e.x("dynamo_data: compile_id=1/0", 81, 1, "user_annotation");
  e.x("Torch-Compiled Region: 1/0", 400, 35);
  e.x("a/model.py(20): torch_dynamo_resume_in_forward_at_25", 401, 33, "python_function");
  const Compiled c = e.read();
  CHECK(c.use.guards.hits == 1);
  CHECK(c.use.guards.compiled == 1);
  CHECK(c.use.guards.other == 0);
  CHECK(c.use.compile_time == 290'000);
  CHECK(c.region("1/0").compile_time == 290'000);
  CHECK(c.region("0/0").host == (500 - 35 - 290) * 1'000);
  REQUIRE(c.use.breaks.size() == 1);
  CHECK(c.use.breaks[0].between == (400 - 35 - 290) * 1'000);
}

TEST_CASE("the place of a break is read from the name of the frame that continues") {
  CHECK(break_place("/a b/m.py(3): torch_dynamo_resume_in_run_at_step_at_17") == "run_at_step, line 17 of /a b/m.py");
  for (const char* other : {"", "m.py(3): forward", "torch_dynamo_resume_in_f_at_2", "m.py(3): torch_dynamo_resume_in_",
                            "m.py(3): torch_dynamo_resume_in_f_at_", "m.py(3): torch_dynamo_resume_in_f_at_x"})
    CHECK(break_place(other).empty());
}

TEST_CASE("recordings with breaks, recompilations and generated kernels are reported as they were made") {
  const Compiled broken = recorded("graph_breaks.json.gz");
  REQUIRE(broken.use.regions.size() == 3);
  for (const CompiledRegion& r : broken.use.regions) CHECK(r.slices.size() == 3);
  REQUIRE(broken.use.breaks.size() == 2);
  for (const SplitFunction& s : broken.use.breaks) CHECK(s.slices.size() == 3);
  CHECK(broken.name(broken.use.breaks[0].between_ops.at(0)) == "aten::is_nonzero");
  CHECK(broken.use.guards.hits == 9);

  // made by a function that breaks at its lines 13 and 15, with "b" for its mode in the second of three steps
  const Compiled places = recorded("graph_breaks_stack.json.gz");
  REQUIRE(places.use.regions.size() == 4);
  CHECK(places.region("2/0").slices.size() == 2);
  CHECK(places.region("2/1").slices.size() == 1);
  for (const SplitFunction& s : places.use.breaks)
    CHECK(s.broke_at == fmt::format("forward, line {} of compiled.py", s.from == "0/0" ? 13 : 15));
  CHECK(places.use.guards.hits == 9);

  // the same where "b" is first met in the recording
  const Compiled met = recorded("graph_breaks_recompile.json.gz");
  CHECK(met.use.guards.compiled == 1);
  CHECK(met.use.guards.hits == 8);
  CHECK(met.region("2/1").compile_time > 50'000'000);
  for (const CompiledRegion& r : met.use.regions) CHECK(r.host < 10'000'000);
  for (const SplitFunction& s : met.use.breaks) CHECK(s.between < 10'000'000);

  const Compiled versions = recorded("recompiled_region.json.gz");
  REQUIRE(versions.use.regions.size() == 4);
  for (const CompiledRegion& r : versions.use.regions) CHECK(versions.use.is_recompiled(r));
  CHECK(versions.use.breaks.empty());

  const Compiled geglu = recorded("mlp_geglu_compile.json.gz");
  REQUIRE(geglu.use.kernels.size() == 1);
  CHECK(geglu.use.kernels[0].operators == std::vector<std::string>{"gelu", "mul", "view"});
  CHECK(geglu.use.kernels[0].code == "/tmp/torchinductor_root/nz/cnzipljvhs55ujjn55vxy3abx6i4l2wac3znr7jrifqnuzbg265u.py");
  CHECK(geglu.use.graphs.at(0).cache_entry ==
        "/tmp/torchinductor_root/fxgraph/sj/fsjbay3wisrvrxa25yaqzcaarfjk5kx6jot6qcecpal6yinm3han");

  const Compiled cold = recorded("muladd_compile_cold.json.gz");
  CHECK(cold.use.guards.compiled == 1);
  CHECK(cold.use.compile_time > 200'000'000);
}

namespace {

// The name of the innermost slice around a launch that begins so; empty where none is.
std::string_view around(const Compiled& c, SliceId launch, std::string_view head) {
  const std::vector<SliceId> up = c.lanes.ancestors(launch);
  for (auto at = up.rbegin(); at != up.rend(); ++at)
    if (c.trace->name(*at).starts_with(head) && c.trace->kind(*at) != Kind::python) return c.trace->name(*at);
  return {};
}

}  // namespace

TEST_CASE("GPU work of pieces and graphs is that which climbing from each launch gives, and nothing counts twice") {
  std::size_t compiled = 0;
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Compiled c(load_once(path));
    if (c.use.empty()) continue;
    ++compiled;
    std::map<std::string, Ns, std::less<>> regions, graphs;
    Ns in_regions = 0;
    for (const GpuOp& op : c.ops) {
      if (!op.linked()) continue;
      if (const auto name = around(c, op.launch, kCompiledRegion); !name.empty()) {
        regions[std::string(name.substr(name.rfind(' ') + 1))] += op.span.length();
        in_regions += op.span.length();
      }
      if (const auto name = around(c, op.launch, kCompiledGraph); !name.empty())
        graphs[std::string(name.substr(kCompiledGraph.size() + 1, name.rfind(' ') - kCompiledGraph.size() - 1))] +=
            op.span.length();
    }
    for (const CompiledRegion& r : c.use.regions) CHECK(regions[r.id] == r.work.gpu);
    for (const CompiledGraph& g : c.use.graphs) CHECK(graphs[g.hash] == g.work.gpu);
    CHECK(c.use.in_regions.gpu == in_regions);
    CHECK(c.use.guards.hits + c.use.guards.compiled + c.use.guards.other == c.use.guards.slices.size());
    std::size_t breaks = 0;
    for (const SplitFunction& s : c.use.breaks) breaks += s.slices.size();
    CHECK(breaks <= c.use.guards.slices.size());
  }
  CHECK(compiled >= 8);
}

TEST_CASE("a hundred thousand pieces in each other and side by side take no time to speak of") {
  Calls e;
  for (int i = 0; i < 5'000; ++i) e.x(fmt::format("Torch-Compiled Region: {}/{}", i % 70, i % 90), i, 20'000 - 2 * i);
  for (int i = 0; i < 10'000; ++i) e.x(fmt::format("Torch-Compiled Region: {}/0", i), 30'000 + 4 * i, 3);
  for (int i = 0; i < 10'000; ++i) e.x("TorchDynamo Cache Lookup", 30'000 + 4 * i, 1, "cpu_op", 2);
  const Compiled c = e.read();
  CHECK(c.use.guards.other == 10'000);
  CHECK(c.use.in_regions.pieces == 0);
}
