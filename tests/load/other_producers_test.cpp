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
