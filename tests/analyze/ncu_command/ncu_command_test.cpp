// The command for Nsight Compute: the function's name, its quoting, and the place of a launch among its equals.
#include <cstdio>
#include <memory>
#include <regex>
#include <string>

#include <doctest/doctest.h>

#include "core/analyze/ncu_command/ncu_command.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("a kernel's function is its name without namespaces, template arguments and parameters") {
  CHECK(kernel_function("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
                        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)") ==
        "vectorized_elementwise_kernel");
  CHECK(kernel_function("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float>(float*, float const*, int)") ==
        "cunn_SoftMaxForward");
  CHECK(kernel_function("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(Params)") == "Kernel2");
  CHECK(kernel_function("triton_poi_fused_add_0") == "triton_poi_fused_add_0");
  CHECK(kernel_function("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN") == "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN");
  CHECK(kernel_function("unsigned int foo::Bar<int>::baz(int)") == "baz");
  CHECK(kernel_function("void f<&(g(int))->x, 3>(int)") == "f");
  CHECK(kernel_function("_ZN2at6native13reduce_kernelILi512EfEEvT0_") == "reduce_kernel");
  CHECK(kernel_function("").empty());
  CHECK(kernel_function("<<<>>>(").empty());
}

TEST_CASE("a quoted expression matches its text only, through a shell") {
  for (const std::string text : {"plain_kernel", "a.b", "it's $HOME `x` \"y\"", "a|b(c)[d]{2}+*?^\\"}) {
    FILE* pipe = popen(("printf %s " + quoted_exact_regex(text)).c_str(), "r");
    REQUIRE(pipe != nullptr);
    char buffer[200] = {};
    const std::size_t n = fread(buffer, 1, sizeof buffer - 1, pipe);
    pclose(pipe);
    const std::regex expression(std::string(buffer, n));
    CHECK(std::regex_match(text, expression));
    CHECK(!std::regex_match("x" + text, expression));
    CHECK(!std::regex_match(text + "x", expression));
  }
}

namespace {

std::string kernel(const std::string& name, int launched, int begin, int id) {
  const std::string args = ", \"args\": {\"correlation\": " + std::to_string(id) + ", \"device\": 0, \"stream\": 7}";
  return slice("cudaLaunchKernel", std::to_string(launched), "1", args, "cuda_runtime") + "," +
         slice(name, std::to_string(begin), "1", args, "kernel", "7");
}

}  // namespace

TEST_CASE("a launch's place is that among the launches of its function, in their order") {
  const auto trace = load_text(events(kernel("void a::f<1>(int)", 1, 100, 1) + "," + kernel("g", 2, 101, 2) + "," +
                                      kernel("void f<2>(int)", 3, 120, 3) + "," + kernel("void b::f<1>(int)", 5, 110, 4)));
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const std::vector<GpuOp> ops = gpu_ops(*trace, links);
  const NcuCommands commands(*trace, ops);
  std::string places;
  for (const GpuOp& op : ops) {
    const auto command = commands.of(op.slice);
    REQUIRE(command.has_value());
    places += command->function + std::to_string(command->skip) + "/" + std::to_string(command->of) + " ";
    CHECK(!commands.of(op.launch).has_value());
  }
  CHECK(places == "f0/3 g0/1 f2/3 f1/3 ");
  CHECK(commands.of(ops[3].slice)->command ==
        "ncu --set full --kernel-name regex:'^f$' --launch-skip 1 --launch-count 1 python your_script.py");
  CHECK(!commands.of(SliceId()).has_value());
}

TEST_CASE("a kernel without a call was launched before the next on its stream, and one before the recording is not counted") {
  const auto without_call = [](const std::string& name, int begin) {
    return slice(name, std::to_string(begin), "1", R"(, "args": {"correlation": 0, "device": 0, "stream": 7})", "kernel", "7");
  };
  // As the host runs 100 us ahead: the kernels in the order of the stream.
  const auto trace =
      load_text(events(without_call("f", 90) + "," + kernel("f", 1, 101, 1) + "," + without_call("g", 103) + "," +
                       kernel("f", 2, 105, 2) + "," + kernel("g", 3, 107, 3) + "," + without_call("h", 109)));
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const std::vector<GpuOp> ops = gpu_ops(*trace, links);
  const NcuCommands commands(*trace, ops);
  std::string places;
  for (const GpuOp& op : ops) {
    const auto command = commands.of(op.slice);
    places += command ? command->function + std::to_string(command->skip) + "/" + std::to_string(command->of) + " " : "none ";
  }
  CHECK(places == "none f0/2 g0/2 f1/2 g1/2 h0/1 ");
}

TEST_CASE("communication and kernels of ROCm have no command, and a trace of gapscope record names its program") {
  const auto commands_of = [](const std::string& text) {
    const auto trace = load_text(text);
    const LaneIndex lanes(*trace);
    const LinkIndex links(*trace, lanes);
    const std::vector<GpuOp> ops = gpu_ops(*trace, links);
    const auto command = NcuCommands(*trace, ops).of(ops.at(0).slice);
    return command ? command->command : std::string();
  };
  CHECK(commands_of(events(kernel("ncclDevKernel_AllGather_RING_LL(x)", 1, 100, 1))).empty());
  std::string rocm = kernel("k", 1, 100, 1);
  rocm.replace(rocm.find("cudaLaunchKernel"), 16, "hipLaunchKernel");
  CHECK(commands_of(events(rocm)).empty());
  const std::string recorded = commands_of("{\"command\": \"./train --fast\", " + events(kernel("k", 1, 100, 1)).substr(1));
  CHECK(recorded.ends_with("--launch-count 1 ./train --fast"));
}

TEST_CASE("every kernel of every recording has a function, and places of one function are all different") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Trace& trace = *load_once(path);
    const LaneIndex lanes(trace);
    const LinkIndex links(trace, lanes);
    const std::vector<GpuOp> ops = gpu_ops(trace, links);
    const NcuCommands commands(trace, ops);
    std::size_t kernels = 0, last = 0;
    for (const GpuOp& op : ops) {
      if (op.gpu_class != GpuClass::compute) continue;
      const auto command = commands.of(op.slice);
      if (op.linked() && trace.name(op.launch).starts_with("hip")) CHECK(!command.has_value());
      if (!trace.header.find("hip_runtime_version").empty() || (op.linked() && trace.name(op.launch).starts_with("hip")))
        continue;
      if (!op.linked() && !command) continue;  // launched before the recording began
      REQUIRE_MESSAGE(command.has_value(), std::string(trace.name(op.slice)));
      CHECK(command->function.find_first_of(" <>()") == std::string::npos);
      CHECK(command->skip < command->of);
      ++kernels;
      last += command->skip + 1 == command->of ? 1 : 0;
    }
    CHECK((kernels == 0 || last > 0));
  }
}
