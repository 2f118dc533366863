// Files of producers that are known by little: names in the place of ids, one category, device lanes next to PyTorch's
// operators.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "core/analyze/steps.h"
#include "core/trace/trace.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Work {
  std::size_t kernels = 0, waits = 0, annotations = 0, calls = 0;
  std::vector<std::int32_t> devices;  // in ascending order
};

Work work_of(const Trace& trace) {
  Work out;
  for (std::size_t s = 0; s < trace.slice_count(); ++s) {
    const Kind kind = trace.kind(SliceId(s));
    out.kernels += kind == Kind::kernel ? 1 : 0;
    out.waits += kind == Kind::sync ? 1 : 0;
    out.annotations += kind == Kind::annotation ? 1 : 0;
    out.calls += is_call(kind) ? 1 : 0;
  }
  for (const GpuRow& row : trace.gpu) out.devices.push_back(row.device);
  std::sort(out.devices.begin(), out.devices.end());
  out.devices.erase(std::unique(out.devices.begin(), out.devices.end()), out.devices.end());
  return out;
}

using Devices = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("text in the place of ids names a device and its streams, as converters of Nsight's reports write") {
  KinetoText text;
  for (int i = 0; i < 4; ++i) {
    text.slice("cuda", "gemm", "\"Device 0\"", "\"Stream 7\"", 100.0 * i, 60);
    text.slice("cuda", "gemm", "\"Device 1\"", "\"Stream 7\"", 100.0 * i, 60);
    text.slice("nvtx-kernel", "step", "\"Device 0\"", "\"NVTX Kernel Thread 1\"", 100.0 * i, 90);
  }
  const auto trace = load_text(text.text());
  CHECK(work_of(*trace).kernels == 8);
  CHECK(work_of(*trace).devices == Devices{0, 1});
}

TEST_CASE("what is called a GPU's process without a number is no device") {
  KinetoText text;
  text.name("process_name", "5", "0", "GPU Process").name("thread_name", "5", "1", "CrGpuMain");
  text.slice("gpu", "Graphics.Pipeline", "5", "1", 10, 5);
  CHECK(work_of(*load_text(text.text())).kernels == 0);
}

TEST_CASE("torch.autograd.profiler's own export has its kernels in a process of that name") {
  KinetoText text;
  text.slice("cpu_to_cuda", "aten::mm", "\"CPU functions\"", "1", 10, 5);
  text.slice("cpu_to_cuda", "aten::mm", "\"CUDA functions\"", "0", 20, 50);
  CHECK(work_of(*load_text(text.text())).kernels == 1);
}

TEST_CASE("on a TPU a loop holds its body, and counts once") {
  KinetoText text;
  text.name("process_name", "1", "0", "/device:TPU:0").name("thread_name", "1", "2", "XLA Ops");
  text.name("process_name", "701", "0", "/host:CPU").name("thread_name", "701", "9", "tf_XLAEigen/9");
  for (int i = 0; i < 10; ++i) {
    text.slice("", "while.7", "1", "2", 1'000.0 * i, 600);
    for (int k = 0; k < 2; ++k) text.slice("", "fusion.3", "1", "2", 1'000.0 * i + 200 * k, 200);
    text.slice("", "fusion.9", "1", "2", 1'000.0 * i + 600, 100);
  }
  const auto trace = load_text(text.text());
  CHECK(trace->producer->id == "jax");  // by its threads' names, too
  CHECK(find_doubt(trace->doubts, DoubtKind::impossible_durations) == nullptr);
  CHECK(work_of(*trace).kernels == 20);
}

TEST_CASE("ONNX Runtime: process -1 is the GPU, what WebGPU runs is of category Api, and a run is a step") {
  KinetoText text;
  for (int i = 0; i < 4; ++i) {
    text.slice("Session", "model_run", "7", "7", 1'000.0 * i, 900);
    text.slice("Node", "MatMul_kernel_time", "7", "7", 1'000.0 * i + 10, 500);
    text.slice("Api", "MatMul", "-1", "-1", 1'000.0 * i + 50, 100, R"("shapes":"[2,3]")");
  }
  const auto trace = load_text(text.text());
  CHECK(trace->producer->id == "onnxruntime");
  CHECK(work_of(*trace).kernels == 4);
  CHECK(work_of(*trace).devices == Devices{0});
  CHECK(profiler_steps(*trace).size() == 4);
}

TEST_CASE("Ascend: a lane that is just called Communication, and devices that no name numbers") {
  KinetoText text;
  int lanes = 0;
  for (const char* pid : {"10", "20"}) {
    text.name("process_name", pid, "0", "Ascend Hardware").name("thread_name", pid, "3", "Stream 3");
    text.slice("", "MatMul", pid, "3", 100, 50);
  }
  for (const char* pid : {"11", "21"}) {
    text.name("process_name", pid, "0", "Communication").name("thread_name", pid, "1", "Communication");
    text.name("thread_name", pid, "2", "Plane 0");
    text.slice("", "hcom_allReduce__1", pid, "1", 200, 50);
    text.slice("", "Memcpy", pid, "2", 210, 5);
    ++lanes;
  }
  const auto trace = load_text(text.text());
  CHECK(work_of(*trace).kernels == 4);
  CHECK(work_of(*trace).devices == Devices{0, 1});
}

TEST_CASE("Intel's unitrace: calls of the host and kernels of the engines, joined by arrows") {
  KinetoText text;
  text.name("process_name", "12", "0", "HOST<node1>").name("process_name", "99", "0", "DEVICE<node1>[0000:3a:00.0]");
  text.name("thread_name", "99", "11", "L0 Engine #0");
  for (int i = 0; i < 3; ++i) {
    text.slice("cpu_op", "zeCommandListAppendLaunchKernel", "12", "12", 100.0 * i, 8);
    text.slice("gpu_op", "gemm_kernel", "99", "11", 100.0 * i + 20, 60);
    text.arrow('s', i + 1, "12", "12", 100.0 * i + 1).arrow('t', i + 1, "99", "11", 100.0 * i + 20);
  }
  const auto trace = load_text(text.text());
  CHECK(trace->producer->id == "unitrace");
  CHECK(work_of(*trace).kernels == 3);
  CHECK(trace->calls.size() == 3);
}

TEST_CASE("PyTorch's operators next to the lanes of another device, and without any of Apple's or Intel's") {
  KinetoText gaudi;
  gaudi.name("process_name", "5", "0", "HPU 0").name("thread_name", "5", "1", "MME");
  gaudi.slice("cpu_op", "aten::linear", "100", "100", 10, 50).slice("", "gemm", "5", "1", 60, 100);
  CHECK(work_of(*load_text(gaudi.text())).kernels == 1);
  KinetoText idle;  // Kineto names GPUs that nothing ran on
  idle.name("process_labels", "0", "0", "GPU 0").slice("cpu_op", "aten::linear", "100", "100", 10, 50);
  CHECK(load_text(idle.text())->producer->is_pytorch);
  KinetoText mac;
  mac.slice("cpu_op", "aten::_mps_convolution", "100", "100", 10, 50);
  CHECK(load_text(mac.text())->producer->no_gpu_work.find("Instruments") != std::string_view::npos);
  KinetoText intel;
  intel.slice("cpu_op", "aten::linear", "100", "100", 10, 50);
  const auto of_intel = load_text(intel.text(R"("deviceProperties":[{"id":0,"name":"Intel(R) Data Center GPU Max 1550"}],)"));
  CHECK(of_intel->producer->no_gpu_work.find("ProfilerActivity.XPU") != std::string_view::npos);
  CHECK(of_intel->producer->is_pytorch);
  CHECK(of_intel->producer->wait.find("torch.xpu.synchronize()") != std::string_view::npos);
  KinetoText mlu;
  mlu.slice("cpu_op", "aten::linear", "100", "100", 10, 50).slice("privateuse1_runtime", "cnInvokeKernel", "100", "100", 20, 5);
  const auto of_mlu = load_text(mlu.text());
  CHECK(of_mlu->producer->no_gpu_work.find("ProfilerActivity.PrivateUse1") != std::string_view::npos);
  CHECK(of_mlu->producer->wait.find("torch") == std::string_view::npos);
}

TEST_CASE("categories of devices that are not known by name are made alike") {
  CHECK(kind_from_category("musa_runtime") == Kind::runtime);
  CHECK(kind_from_category("gcu_driver") == Kind::driver);
  CHECK(kind_from_category("mlu_memcpy") == Kind::memcpy);
  CHECK(kind_from_category("mlu_memset") == Kind::memset);
  CHECK(kind_from_category("mlu_user_annotation") == Kind::gpu_annotation);
  CHECK(kind_from_category("user_annotation") == Kind::annotation);
  CHECK(kind_from_category("runtime_error") == Kind::other);
}

TEST_CASE("numbered annotations are steps where nothing is launched, too, and layers are none") {
  KinetoText steps, layers;
  for (int i = 0; i < 6; ++i) {
    steps.slice("user_annotation", "train_step " + std::to_string(i), "100", "100", 1'000.0 * i, 900);
    steps.slice("cpu_op", "aten::mm", "100", "100", 1'000.0 * i + 10, 800);
    layers.slice("user_annotation", "block " + std::to_string(i), "100", "100", 1'000.0 * i, 900);
  }
  CHECK(profiler_steps(*load_text(steps.text())).size() == 6);
  CHECK(profiler_steps(*load_text(layers.text())).empty());
}

TEST_CASE("arrows whose ends slices state themselves go where they say, and launch what is on a device") {
  for (const char* yes : {"true", "\"true\"", "1"}) {
    CAPTURE(std::string(yes));
    const auto bound = [&](const char* key, const char* id) { return fmt::format(R"(,"bind_id":{},"{}":{})", id, key, yes); };
    const std::string text =
        R"({"traceEvents":[
{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0"}},
{"ph":"M","pid":3,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}},
{"ph":"M","pid":3,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":701,"tid":9,"name":"thread_name","args":{"name":"python3"}},
{"ph":"X","pid":701,"tid":9,"ts":10,"dur":50,"name":"outer"},
{"ph":"X","pid":701,"tid":9,"ts":10,"dur":20,"name":"launch")" +
        bound("flow_out", "\"0x1f\"") + R"(},
{"ph":"X","pid":701,"tid":9,"ts":10,"dur":5,"name":"inner"},
{"ph":"X","pid":701,"tid":9,"ts":200,"dur":20,"name":"enqueue")" +
        bound("flow_out", "77") + R"(},
{"ph":"X","pid":3,"tid":3,"ts":60,"dur":30,"name":"fusion.1")" +
        bound("flow_in", "\"0x1f\"") + R"(},
{"ph":"X","pid":3,"tid":2,"ts":300,"dur":100,"name":"jit_step")" +
        bound("flow_in", "77") + R"(},
{"ph":"X","pid":3,"tid":3,"ts":310,"dur":30,"name":"fusion.2"},
{"ph":"X","pid":3,"tid":3,"ts":350,"dur":30,"name":"fusion.3"}]})";
    const auto trace = load_text(text);
    REQUIRE(trace->flows.size() == 2);
    CHECK(trace->flow_counts.bound == 2);
    for (const Flow& flow : trace->flows)
      CHECK(std::pair(trace->name(flow.from), trace->name(flow.to)) ==
            (trace->name(flow.from) == "launch" ? std::pair<std::string_view, std::string_view>("launch", "fusion.1")
                                                : std::pair<std::string_view, std::string_view>("enqueue", "jit_step")));
    const auto launch_of = [&](std::string_view work) {
      for (const GpuRow& row : trace->gpu)
        for (const Call& call : trace->calls)
          if (trace->name(row.slice) == work && row.correlation == call.correlation)
            return std::string(trace->name(call.slice));
      return std::string();
    };
    CHECK(launch_of("fusion.1") == "launch");
    CHECK(launch_of("fusion.2") == "enqueue");
    CHECK(launch_of("fusion.3") == "enqueue");
  }
}

TEST_CASE("a slice may be the end of one arrow and the begin of the next") {
  const auto trace = load_text(
      R"([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a","bind_id":5,"flow_out":true},
{"ph":"X","pid":1,"tid":2,"ts":3,"dur":1,"name":"b","bind_id":5,"flow_in":true,"flow_out":true},
{"ph":"X","pid":1,"tid":3,"ts":5,"dur":1,"name":"c","bind_id":5,"flow_in":true},
{"ph":"X","pid":1,"tid":4,"ts":7,"dur":1,"name":"d","bind_id":5,"flow_in":false}])");
  REQUIRE(trace->flows.size() == 2);
  CHECK(trace->name(trace->flows[0].from) == "a");
  CHECK(trace->name(trace->flows[0].to) == "b");
  CHECK(trace->name(trace->flows[1].to) == "c");
}

TEST_CASE(
    "work of a device that is written as begins and ends is work, by category or by lane, and counts once where it nests") {
  const auto half = [](char phase, const char* category, const char* name, int ts, const char* args) {
    return fmt::format(R"({{"ph":"{}","cat":"{}","name":"{}","pid":0,"tid":7,"ts":{},"args":{{{}}}}},)", phase, category, name,
                       ts, args);
  };
  for (const bool by_category : {true, false}) {
    CAPTURE(by_category);
    const char* const category = by_category ? "kernel" : "";
    const char* const args = by_category ? R"("device":0,"stream":7,"correlation":3)" : "\"correlation\":3";
    std::string text = "[";
    if (!by_category)
      text += R"({"ph":"M","pid":0,"name":"process_name","args":{"name":"GPU 0"}},
{"ph":"M","pid":0,"tid":7,"name":"thread_name","args":{"name":"stream 7"}},)";
    text += fmt::format(R"({{"ph":"X","cat":"{}","name":"launch","pid":9,"tid":9,"ts":1,"dur":5,"args":{{"correlation":3}}}},)",
                        by_category ? "cuda_runtime" : "");
    text += half('B', category, "gemm", 10, args) + half('E', category, "gemm", 30, "") + half('B', category, "outer", 40, "") +
            half('B', category, "inner", 45, "") + half('E', category, "inner", 50, "") + half('E', category, "outer", 80, "");
    text.back() = ']';
    const auto trace = load_text(text);
    REQUIRE(trace->gpu.size() == 2);
    CHECK(trace->name(trace->gpu[0].slice) == "gemm");
    CHECK(trace->gpu[0].correlation == 3);
    CHECK(trace->gpu[0].stream == 7);
    CHECK(trace->gpu[0].device == 0);
    CHECK(trace->kind(trace->gpu[0].slice) == Kind::kernel);
    CHECK(trace->name(trace->gpu[1].slice) == "outer");
    CHECK(trace->duration(trace->gpu[1].slice) == 40 * kNsPerUs);
    CHECK(trace->slice_count() == 4);
    CHECK(trace->lane(trace->gpu[0].slice).kind == LaneKind::gpu_stream);
    CHECK(find_doubt(trace->doubts, DoubtKind::impossible_durations) == nullptr);
  }
}
