// Files of other producers than PyTorch: who wrote them, and what their lanes and slices are.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/steps.h"
#include "core/trace/trace.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::size_t count_of(const Trace& trace, Kind kind) {
  std::size_t n = 0;
  for (std::size_t s = 0; s < trace.slice_count(); ++s) n += trace.kind(SliceId(s)) == kind ? 1 : 0;
  return n;
}

// Of a slice by its name: the row of GPU work, or null.
const GpuRow* row_named(const Trace& trace, std::string_view name) {
  for (const GpuRow& row : trace.gpu)
    if (trace.name(row.slice) == name) return &row;
  return nullptr;
}

constexpr std::string_view kJax = R"json({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:3"}},
{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Memset,Compute)"}},
{"ph":"M","pid":1,"tid":15,"name":"thread_name","args":{"name":"Stream #15(MemcpyH2D)"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"XLA Ops"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":701,"tid":9,"name":"thread_name","args":{"name":"python3"}},
{"ph":"X","pid":701,"tid":9,"ts":10,"dur":900,"name":"$train.py:12 step"},
{"ph":"X","pid":701,"tid":9,"ts":20,"dur":800,"name":"train","args":{"step_num":"0"}},
{"ph":"X","pid":701,"tid":9,"ts":30,"dur":700,"name":"PjitFunction(step)"},
{"ph":"X","pid":701,"tid":9,"ts":100,"dur":50,"name":"cuGraphLaunch (CudaGraph:51)","args":{"correlation_id":"49","device_id":"0"}},
{"ph":"X","pid":701,"tid":7,"ts":160,"dur":5,"name":"BUFFER_FLUSH"},
{"ph":"X","pid":1,"tid":14,"ts":200.5,"dur":60.25,"name":"loop_fusion","args":{"correlation_id":"49","cuda_graph_id":"51",
 "cuda_graph_node_id":"219043332096","hlo_module":"jit_step","hlo_op":"fusion.1","tf_op":"jit(step)/dense/dot_general",
 "kernel_details":"regs:32 static_shared:128 dynamic_shared:1024 grid:64,2,1 block:256,1,1 occ_pct:62.5"}},
{"ph":"X","pid":1,"tid":15,"ts":120,"dur":20,"name":"MemcpyH2D","args":{"memcpy_details":"kind_src:pinned kind_dst:device size:65536 dest:0 async:1"}},
{"ph":"X","pid":1,"tid":2,"ts":200.5,"dur":60.25,"name":"fusion.1","args":{"hlo_module":"jit_step"}},
{}]})json";

}  // namespace

TEST_CASE("JAX: streams are work with what kernel_details say, calls and frames are the host's, steps have their number") {
  const auto trace = load_text(kJax);
  CHECK(trace->producer->id == "jax");
  CHECK_FALSE(trace->producer->is_pytorch);
  CHECK(count_of(*trace, Kind::kernel) == 1);
  CHECK(count_of(*trace, Kind::memcpy) == 1);
  CHECK(count_of(*trace, Kind::python) == 1);
  CHECK(count_of(*trace, Kind::overhead) == 1);
  CHECK(count_of(*trace, Kind::annotation) == 1);
  CHECK(count_of(*trace, Kind::runtime) == 1);
  REQUIRE(trace->gpu.size() == 2);
  const GpuRow* const kernel = row_named(*trace, "loop_fusion");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->device == 3);
  CHECK(kernel->stream == 14);
  CHECK(kernel->correlation == 49);
  CHECK(kernel->graph_id == 51);
  CHECK(kernel->graph_node_id == 219043332096);
  CHECK(kernel->registers == 32);
  CHECK(kernel->shared_memory == 1152);
  CHECK(kernel->grid == Dim3{64, 2, 1});
  CHECK(kernel->block == Dim3{256, 1, 1});
  CHECK(kernel->occupancy_percent == 62.5F);
  CHECK(trace->strings[kernel->hlo_op] == "\"fusion.1\"");
  CHECK(trace->strings[kernel->hlo_module] == "\"jit_step\"");
  CHECK(trace->begin(kernel->slice) == 200'500);
  const GpuRow* const copy = row_named(*trace, "MemcpyH2D");
  REQUIRE(copy != nullptr);
  CHECK(copy->bytes == 65536);
  REQUIRE(trace->calls.size() == 1);
  CHECK(trace->calls[0].correlation == 49);
  CHECK(trace->strings[trace->step_name] == "train");
}

TEST_CASE("XLA on a TPU: without streams its operations are the work") {
  const auto trace = load_text(R"json({"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:TPU:1"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"Steps"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}},
{"ph":"M","pid":1,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}},
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"7"},
{"ph":"X","pid":1,"tid":2,"ts":0,"dur":100,"name":"jit_step(1)"},
{"ph":"X","pid":1,"tid":3,"ts":10,"dur":40,"name":"fusion.3"},
{"ph":"X","pid":1,"tid":3,"ts":50,"dur":40,"name":"all-reduce.1"}]})json");
  CHECK(trace->producer->id == "jax");
  REQUIRE(trace->gpu.size() == 2);
  CHECK(trace->gpu[0].device == 1);
}

TEST_CASE("Ascend: streams of the NPU and groups of HCCL are work, what is made from them is none") {
  const auto trace = load_text(R"json([
{"ph":"M","pid":9000,"tid":0,"name":"process_name","args":{"name":"Python"}},
{"ph":"M","pid":8800,"tid":0,"name":"process_name","args":{"name":"CANN"}},
{"ph":"M","pid":419,"tid":0,"name":"process_name","args":{"name":"Ascend Hardware"}},
{"ph":"M","pid":419,"tid":2,"name":"thread_name","args":{"name":"Stream 2"}},
{"ph":"M","pid":420,"tid":0,"name":"process_name","args":{"name":"Communication"}},
{"ph":"M","pid":420,"tid":0,"name":"thread_name","args":{"name":"Group 0 Communication"}},
{"ph":"M","pid":420,"tid":1,"name":"thread_name","args":{"name":"Plane 0"}},
{"ph":"M","pid":421,"tid":0,"name":"process_name","args":{"name":"Overlap Analysis"}},
{"ph":"M","pid":421,"tid":0,"name":"process_labels","args":{"labels":"NPU"}},
{"ph":"M","pid":421,"tid":0,"name":"thread_name","args":{"name":"Computing"}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9000,"tid":1,"ts":"1699529623107000.000","dur":60},
{"ph":"s","cat":"async_npu","name":"torch_to_npu","id":"1","pid":9000,"tid":1,"ts":"1699529623107000.000"},
{"ph":"X","name":"MatMulV2","pid":419,"tid":2,"ts":"1699529623107080.000","dur":100.02,"args":{"Physic Stream Id":2,"Task Type":"AI_CORE"}},
{"ph":"f","bp":"e","cat":"async_npu","name":"torch_to_npu","id":"1","pid":419,"tid":2,"ts":"1699529623107080.000"},
{"ph":"X","name":"EVENT_WAIT","pid":419,"tid":2,"ts":"1699529623107190.000","dur":10,"args":{}},
{"ph":"X","name":"hcom_allReduce__000_0_1","pid":420,"tid":0,"ts":"1699529623107190.000","dur":50,"args":{}},
{"ph":"X","name":"Memcpy","pid":420,"tid":1,"ts":"1699529623107195.000","dur":20,"args":{}},
{"ph":"X","name":"Computing","pid":421,"tid":0,"ts":"1699529623107080.000","dur":100.02,"args":{}}])json");
  CHECK(trace->producer->id == "ascend");
  CHECK(count_of(*trace, Kind::kernel) == 2);
  CHECK(count_of(*trace, Kind::memcpy) == 0);
  CHECK(count_of(*trace, Kind::sync) == 1);
  const GpuRow* const product = row_named(*trace, "MatMulV2");
  REQUIRE(product != nullptr);
  CHECK(product->stream == 2);
  // The arrow says what launched it.
  REQUIRE(trace->calls.size() == 1);
  CHECK(trace->name(trace->calls[0].slice) == "aten::mm");
  CHECK(trace->calls[0].correlation == product->correlation);
  const Doubt* const waits = find_doubt(trace->doubts, DoubtKind::device_waits);
  REQUIRE(waits != nullptr);
  CHECK(waits->count == 1);
}

TEST_CASE("Proton: kernels by stream, with and without the host's scopes") {
  const auto old = load_text(R"json({"displayTimeUnit":"us","traceEvents":[
{"ph":"X","cat":"kernel","name":"mm","tid":7,"ts":0.0,"dur":60.0,"args":{"call_stack":["ROOT","mm"]}},
{"ph":"X","cat":"kernel","name":"add","tid":13,"ts":20.0,"dur":20.0,"args":{"call_stack":["ROOT","add"]}}]})json");
  CHECK(old->producer->id == "proton");
  REQUIRE(old->gpu.size() == 2);
  CHECK(row_named(*old, "add")->stream == 13);
  const Doubt* const ids = find_doubt(old->doubts, DoubtKind::no_device_ids);
  REQUIRE(ids != nullptr);
  CHECK(ids->count == 2);
  const auto scopes = load_text(R"json({"displayTimeUnit":"us","traceEvents":[
{"ph":"M","pid":0,"tid":1,"name":"thread_name","args":{"name":"CPU Thread 0"}},
{"ph":"M","pid":0,"tid":2000007,"name":"thread_name","args":{"name":"GPU Stream 7"}},
{"ph":"X","cat":"scope","name":"step","pid":0,"tid":1,"ts":0,"dur":10,"args":{}},
{"ph":"s","cat":"flow","name":"launch->kernel","id":0,"pid":0,"tid":1,"ts":0},
{"ph":"f","cat":"flow","name":"launch->kernel","id":0,"pid":0,"tid":2000007,"ts":20,"bp":"e"},
{"ph":"X","cat":"kernel","name":"mm","pid":0,"tid":2000007,"ts":20,"dur":60,"args":{}}]})json");
  REQUIRE(scopes->gpu.size() == 1);
  CHECK(scopes->gpu[0].stream == 7);
  REQUIRE(scopes->calls.size() == 1);
  CHECK(scopes->name(scopes->calls[0].slice) == "step");
}

TEST_CASE("ONNX Runtime: nodes are operators, kernels state their shape one number at a time") {
  const auto trace = load_text(R"json([
{"cat":"Session","pid":42,"tid":42,"dur":900,"ts":10,"ph":"X","name":"model_run","args":{}},
{"cat":"Node","pid":42,"tid":42,"dur":300,"ts":20,"ph":"X","name":"Conv_0_kernel_time","args":{"op_name":"Conv"}},
{"cat":"Kernel","pid":-1,"tid":-1,"dur":500,"ts":30,"ph":"X","name":"sgemm","args":{"stream":"7","grid_x":"4","grid_y":"2","grid_z":"1","block_x":"256","block_y":"1","block_z":"1"}}])json");
  CHECK(trace->producer->id == "onnxruntime");
  CHECK(count_of(*trace, Kind::op) == 1);
  REQUIRE(trace->gpu.size() == 1);
  CHECK(trace->gpu[0].stream == 7);
  CHECK(trace->gpu[0].grid == Dim3{4, 2, 1});
  CHECK(trace->gpu[0].block == Dim3{256, 1, 1});
}

TEST_CASE("TensorFlow's timeline: numbered streams are work, the stream of all repeats them") {
  const auto trace = load_text(R"json({"traceEvents":[
{"ph":"M","pid":0,"name":"process_name","args":{"name":"/job:localhost/replica:0/task:0/device:CPU:0 Compute"}},
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0/stream:all Compute"}},
{"ph":"M","pid":2,"name":"process_name","args":{"name":"/device:GPU:0/stream:13 Compute"}},
{"ph":"X","cat":"Op","pid":0,"tid":0,"ts":0,"dur":10,"name":"MatMul"},
{"ph":"X","cat":"Op","pid":1,"tid":0,"ts":20,"dur":30,"name":"MatMul"},
{"ph":"X","cat":"Op","pid":2,"tid":0,"ts":20,"dur":30,"name":"MatMul"}]})json");
  CHECK(trace->producer->id == "tensorflow");
  REQUIRE(trace->gpu.size() == 1);
  CHECK(trace->gpu[0].stream == 13);
  CHECK(count_of(*trace, Kind::op) == 1);
}

TEST_CASE("rocprof: kernels by GPU, the host's calls, joined by arrows") {
  const auto trace = load_text(R"json({"traceEvents":[
{"ph":"M","pid":2,"name":"process_name","args":{"name":"CPU HIP API"}},
{"ph":"M","pid":6,"name":"process_name","args":{"name":"GPU1"}},
{"ph":"X","pid":2,"tid":5,"ts":0,"dur":10,"name":"hipLaunchKernel","args":{}},
{"ph":"s","cat":"DataFlow","name":"dep","id":1,"pid":2,"tid":5,"ts":0},
{"ph":"f","cat":"DataFlow","name":"dep","id":1,"pid":6,"tid":0,"ts":20},
{"ph":"X","pid":6,"tid":0,"ts":20,"dur":30,"name":"gemm","args":{"dev-id":"1","queue-id":"4"}}]})json");
  CHECK(trace->producer->id == "rocprof");
  REQUIRE(trace->gpu.size() == 1);
  CHECK(trace->gpu[0].device == 1);
  CHECK(trace->gpu[0].stream == 4);
  REQUIRE(trace->calls.size() == 1);
  CHECK(count_of(*trace, Kind::runtime) == 1);
}

TEST_CASE("rocprof: ranges of roctx are annotations, and steps where they are numbered so") {
  std::string text = R"json({"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"Markers and Ranges"}},
{"ph":"M","pid":2,"name":"process_name","args":{"name":"CPU HIP API"}},
{"ph":"M","pid":6,"name":"process_name","args":{"name":"GPU0"}})json";
  for (int i = 0; i < 4; ++i)
    text += fmt::format(R"(,
{{"ph":"X","pid":1,"tid":5,"ts":{0},"dur":900,"name":"step {1}"}},
{{"ph":"X","pid":2,"tid":5,"ts":{2},"dur":10,"name":"hipLaunchKernel"}},
{{"ph":"s","cat":"DataFlow","name":"dep","id":{1},"pid":2,"tid":5,"ts":{2}}},
{{"ph":"f","cat":"DataFlow","name":"dep","id":{1},"pid":6,"tid":0,"ts":{3}}},
{{"ph":"X","pid":6,"tid":0,"ts":{3},"dur":30,"name":"gemm"}})",
                        1000 * i, i, 1000 * i + 10, 1000 * i + 30);
  const auto trace = load_text(text + "]}");
  CHECK(count_of(*trace, Kind::annotation) == 4);
  CHECK(count_of(*trace, Kind::runtime) == 4);
  CHECK(profiler_steps(*trace).size() == 4);
}

TEST_CASE("steps of PyTorch's profiler are steps in files of others, too, where they have no category") {
  const auto trace = load_text(R"json([
{"ph":"M","pid":1,"name":"process_name","args":{"name":"Ascend Hardware"}},
{"ph":"M","pid":2,"name":"process_name","args":{"name":"python"}},
{"ph":"X","pid":2,"tid":5,"ts":0,"dur":900,"name":"ProfilerStep#1"},
{"ph":"X","pid":2,"tid":5,"ts":1000,"dur":900,"name":"ProfilerStep#2"},
{"ph":"X","pid":1,"tid":0,"ts":20,"dur":30,"name":"MatMul"}])json");
  CHECK(trace->producer->id == "ascend");
  CHECK(count_of(*trace, Kind::annotation) == 2);
  CHECK(profiler_steps(*trace).size() == 2);
}

TEST_CASE("what records no device says so; any other writer's device lanes are work") {
  CHECK(
      load_text(R"json([{"ph":"X","cat":"dynamo_timed","name":"dynamo","pid":0,"tid":0,"ts":1,"dur":5}])json")->producer->id ==
      "torch_compile");
  const auto functions = load_text(
      R"json({"viztracer_metadata":{"version":"1"},"traceEvents":[{"ph":"X","cat":"FEE","name":"f (a.py:1)","pid":1,"tid":1,"ts":1,"dur":5}]})json");
  CHECK(functions->producer->id == "viztracer");
  CHECK(count_of(*functions, Kind::python) == 1);
  const auto other = load_text(R"json({"traceEvents":[
{"ph":"M","pid":9,"name":"process_name","args":{"name":"NPU 2"}},
{"ph":"M","pid":9,"tid":1,"name":"thread_name","args":{"name":"Compute engine"}},
{"ph":"M","pid":9,"tid":2,"name":"thread_name","args":{"name":"Summary"}},
{"ph":"X","pid":9,"tid":1,"ts":1,"dur":5,"name":"conv"},
{"ph":"X","pid":9,"tid":2,"ts":1,"dur":5,"name":"layer"}]})json");
  CHECK(other->producer->id == "unknown");
  REQUIRE(other->gpu.size() == 1);
  CHECK(other->gpu[0].device == 2);
  CHECK(other->name(other->gpu[0].slice) == "conv");
}

TEST_CASE("MTIA: waits among the device's work are waits") {
  const auto trace = load_text(R"json({"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"mtia_ccp_events","name":"linear","pid":17,"tid":1,"ts":1,"dur":5,"args":{"correlation":1,"stream":104}},
{"ph":"X","cat":"mtia_ccp_events","name":"dma_request","pid":17,"tid":2,"ts":10,"dur":5,"args":{"correlation":1,"stream":108}},
{"ph":"X","cat":"mtia_ccp_events","name":"event_wait","pid":17,"tid":2,"ts":1,"dur":9,"args":{"stream":108}}]})json");
  CHECK(trace->producer->is_pytorch);
  CHECK(count_of(*trace, Kind::kernel) == 1);
  CHECK(count_of(*trace, Kind::memcpy) == 1);
  CHECK(count_of(*trace, Kind::sync) == 1);
}

TEST_CASE("Kineto's files are PyTorch's, whatever else is in them") {
  KinetoText text;
  text.launched(1, 10, 20, 5).slice("collective_comm", "x", "3", "4", 1, 2, R"json("device":0,"stream":7)json");
  const auto trace = load_text(text.text("\"schemaVersion\": 1, "));
  CHECK(trace->producer->id == "pytorch");
  CHECK(trace->gpu.size() == 1);  // the row of a category that is no GPU work is none
  CHECK(trace->doubts.empty());
}
