// Rules about what a step does besides its model: tensors that it copies to the CPU, adapters next to their layers.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/diagnosed.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string us(int at) { return std::to_string(at); }

// A list of slices, and launches of GPU work with them.
struct Slices {
  std::string text;
  int id = 0;

  void add(const std::string& one) { text += (text.empty() ? "" : ",") + one; }
  void launch(int at, const std::string& call, const std::string& work, const std::string& cat, int length) {
    const std::string args = R"(, "args": {"correlation": )" + std::to_string(++id);
    add(slice(call, us(at), "5", args + "}", "cuda_runtime"));
    add(slice(work, us(at + 8), us(length), args + R"(, "device": 0, "stream": 7})", cat, "70"));
  }
};

Ns time_of(const Finding& finding) {
  Ns out = 0;
  for (const FindingSpan& at : finding.spans) out += at.span.length();
  return out;
}

enum class Frames { none, hook, forward };

// Three steps of five layers, each followed by a copy to the CPU and 500 us in which the host launches nothing.
std::string layers_with_copies(Frames frames, bool copies_back, bool adds = false, bool trains = true) {
  Slices s;
  for (int step = 0; step < 3; ++step) {
    const int begin = 10'000 * step;
    s.add(slice("ProfilerStep#" + std::to_string(step), us(begin), "9000", "", "user_annotation"));
    for (int layer = 0; layer < 5; ++layer) {
      const int at = begin + 100 + 1000 * layer;
      s.add(slice("aten::linear", us(at), "50"));
      s.launch(at + 10, "cudaLaunchKernel", "gemm", "kernel", 20);
      if (frames != Frames::none) {
        const std::string name = frames == Frames::hook ? "hook" : "forward";
        s.add(slice("torch/nn/modules/module.py(1795): inner", us(at + 60), "700", "", "python_function"));
        s.add(slice("train.py(7): " + name, us(at + 70), "680", "", "python_function"));
      }
      s.add(slice("aten::to", us(at + 100), "100"));
      s.launch(at + 110, "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", "gpu_memcpy", 10);
      s.add(slice("cudaStreamSynchronize", us(at + 120), "20", "", "cuda_runtime"));
      if (adds) s.add(slice("aten::add_", us(at + 210), "20"));
      if (!copies_back) continue;
      s.add(slice("aten::copy_", us(at + 800), "50"));
      s.launch(at + 810, "cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 10);
    }
    s.add(slice("aten::sum", us(begin + 6000), "50"));
    s.launch(begin + 6010, "cudaLaunchKernel", "reduce", "kernel", 20);
    if (trains) s.add(slice("autograd::engine::evaluate_function: SumBackward0", us(begin + 6100), "20"));
  }
  return events(s.text);
}

// Three steps of ten layers [1024, 1024], with adapters of this rank.
std::string adapters(int rank, bool trained) {
  Slices s;
  int at = 0;
  const auto op = [&](const std::string& name, const std::string& dims) {
    s.add(slice(name, us(at), "50", dims.empty() ? "" : R"(, "args": {"Input Dims": [)" + dims + "]}"));
    s.launch(at + 10, "cudaLaunchKernel", "k", "kernel", 10);
    at += 60;
  };
  for (int step = 0; step < 3; ++step) {
    at = 10'000 * step + 10;
    s.add(slice("ProfilerStep#" + std::to_string(step), us(10'000 * step), "9000", "", "user_annotation"));
    for (int layer = 0; layer < 10; ++layer) {
      op("aten::linear", "[8, 1024], [1024, 1024], [1024]");
      op("aten::linear", fmt::format("[8, 1024], [{}, 1024], []", rank));
      op("aten::linear", fmt::format("[8, {0}], [1024, {0}], []", rank));
      op("aten::mul", "[8, 1024], []");
      op("aten::add", "[8, 1024], [8, 1024], []");
    }
    if (trained) op("autograd::engine::evaluate_function: AddBackward0", "");
  }
  return events(s.text);
}

}  // namespace

TEST_CASE("tensors copied to the CPU layer by layer are a cause, from the copy to the next launch") {
  const Diagnosed lean(load_text(layers_with_copies(Frames::none, false)));
  REQUIRE(lean.fires("tensors_read_in_step"));
  CHECK(time_of(*lean.findings("tensors_read_in_step")[0]) == 3 * (4 * 900 + 1800) * kNsPerUs);
  CHECK(lean.findings("tensors_read_in_step")[0]->code.starts_with("if step % 100 == 0:"));  // the host works on the copies
  CHECK_FALSE(Diagnosed(load_text(layers_with_copies(Frames::none, true))).fires("tensors_read_in_step"));
  // What a program that trains nothing reads, it needs.
  const Diagnosed infers(load_text(layers_with_copies(Frames::none, false, false, /*trains=*/false)));
  REQUIRE(infers.fires("tensors_read_in_step"));
  CHECK(infers.findings("tensors_read_in_step")[0]->code.starts_with("scores = torch.where("));
}

TEST_CASE("averages of weights on the CPU belong on the GPU") {
  const Diagnosed d(load_text(layers_with_copies(Frames::none, false, true)));
  REQUIRE(d.fires("tensors_read_in_step"));
  CHECK(d.findings("tensors_read_in_step")[0]->code.starts_with("average = copy.deepcopy(model)"));
}

TEST_CASE("what is particular to a program goes before what a compiler fuses, where it gives half as much") {
  const auto first = [](int copies) {
    KinetoText text;
    int id = 0;
    for (int step = 0; step < 4; ++step) {
      const double length = 3'120 + 450 * copies, begin = length * step;
      double at = begin + 10;
      text.slice("user_annotation", fmt::format("ProfilerStep#{}", step), "100", "1", begin, length - 10);
      for (int i = 0; i < 20; ++i, at += 10) {
        text.slice("cpu_op", i % 2 == 0 ? "aten::mul" : "aten::add", "100", "1", at, 9);
        text.launched(++id, at + 1, begin + 20 + 150 * i, 150,
                      fmt::format("void at::native::vectorized_elementwise_kernel<4, at::native::F{}>(int)", i % 2));
      }
      at = begin + 3'100;
      for (int c = 0; c < copies; ++c, at += 450) {
        text.slice("cpu_op", "aten::to", "100", "1", at, 100);
        text.slice("cuda_runtime", "cudaMemcpyAsync", "100", "1", at + 10, 10, fmt::format("\"correlation\":{}", ++id));
        text.slice("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", "0", "7", at + 20, 20,
                   fmt::format("\"device\":0,\"stream\":7,\"correlation\":{},\"bytes\":4000", id));
        text.slice("cuda_runtime", "cudaStreamSynchronize", "100", "1", at + 30, 40);
        text.slice("cpu_op", "aten::mul", "100", "1", at + 430, 9);
        text.launched(++id, at + 431, at + 440, 5, "gemm");
      }
    }
    const Diagnosed d(load_text(text.text()));
    const auto& items = d.diagnosis.plan.items;
    return items.empty() ? std::string()
                         : std::string(d.diagnosis.findings[static_cast<std::size_t>(items[0].finding)].finding.rule->id);
  };
  CHECK(first(6) == "tensors_read_in_step");
  CHECK(first(2) == "unfused_elementwise_chain");
}

TEST_CASE("the hook that copies tensors to the CPU is named, whole") {
  const Diagnosed hook(load_text(layers_with_copies(Frames::hook, false)));
  REQUIRE(hook.fires("tensors_read_in_step"));
  const Finding& finding = *hook.findings("tensors_read_in_step")[0];
  CHECK(time_of(finding) == 15 * 680 * kNsPerUs);
  REQUIRE(finding.where);
  CHECK(finding.where->function == "hook");
  CHECK(finding.where->source.line == 7);
  CHECK_FALSE(finding.code.starts_with("if step"));
  const Diagnosed forward(load_text(layers_with_copies(Frames::forward, false)));
  REQUIRE(forward.fires("tensors_read_in_step"));
  CHECK(time_of(*forward.findings("tensors_read_in_step")[0]) == 3 * (4 * 900 + 1800) * kNsPerUs);
}

TEST_CASE("adapters next to their layers are found by their rank, and left alone while they are trained") {
  const Diagnosed d(load_text(adapters(16, false)));
  REQUIRE(d.fires("adapters_not_merged"));
  CHECK(time_of(*d.findings("adapters_not_merged")[0]) == 30 * 240 * kNsPerUs);
  CHECK_FALSE(Diagnosed(load_text(adapters(512, false))).fires("adapters_not_merged"));
  CHECK_FALSE(Diagnosed(load_text(adapters(16, true))).fires("adapters_not_merged"));
}

TEST_CASE("functions that run often in a pause are said to, with how often") {
  const auto found = [](int calls) {
    KinetoText text;
    for (int i = 0; i < 4; ++i) {
      const double at = 20'000.0 * i;
      text.slice("user_annotation", fmt::format("ProfilerStep#{}", i + 2), "100", "1", at, 19'990);
      text.launched(i + 1, at + 10, at + 20, 20);
      text.slice("cpu_op", "aten::mm", "100", "1", at + 5, 20);
      text.slice("python_function", "train.py(40): sample", "100", "1", at + 100, 15'000);
      for (int c = 0; c < calls; ++c) text.slice("python_function", "tree.py(8): find", "100", "1", at + 200 + 100 * c, 90);
    }
    const Diagnosed d(load_text(text.text()));
    REQUIRE(d.fires("host_pause"));
    return Finding(*d.findings("host_pause")[0]);
  };
  const Finding often = found(140), seldom = found(90);
  CHECK(often.summary.find("tree.py(8): find ran 140 times a step.") != std::string::npos);
  CHECK_FALSE(gives_of(often).exact);  // the whole batch at once takes time, too
  CHECK(seldom.summary.find("times a step") == std::string::npos);
  CHECK(seldom.summary.find("train.py(40): sample") != std::string::npos);
  CHECK(gives_of(seldom).exact);
}

TEST_CASE("a wait for data is in the program's function that loads, and reading a list leads it") {
  const auto loading = [](const char* call) {
    KinetoText text;
    for (int i = 0; i < 4; ++i) {
      const double at = 20'000.0 * i;
      text.slice("user_annotation", fmt::format("ProfilerStep#{}", i + 2), "100", "1", at, 19'990);
      text.slice("python_function", "train.py(7): batches", "100", "1", at + 1, 18'500);
      text.slice("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "100", "1", at + 10, 18'000);
      text.slice("python_function", "data.py(3): __getitem__", "100", "1", at + 20, 1000);
      text.slice("python_function", "data.py(20): collate", "100", "1", at + 2000, 15'900);
      text.slice("python_function", call, "100", "1", at + 2010, 15'800);
      text.slice("cpu_op", "aten::mm", "100", "1", at + 19'000, 50);
      text.launched(i + 1, at + 19'010, at + 19'020, 300);
    }
    return text.text();
  };
  const Diagnosed d(load_text(loading("<built-in method tensor of type object at 0x7f00>")));
  REQUIRE(d.fires("dataloader_wait"));
  REQUIRE(d.findings("dataloader_wait")[0]->where);
  CHECK(d.findings("dataloader_wait")[0]->where->function == "collate");
  REQUIRE(d.fires("tensor_from_list"));
  CHECK(d.findings("tensor_from_list")[0]->where->function == "collate");
  REQUIRE_FALSE(d.diagnosis.plan.items.empty());
  CHECK(d.diagnosis.findings[static_cast<std::size_t>(d.diagnosis.plan.items[0].finding)].finding.rule->id ==
        "tensor_from_list");
  CHECK_FALSE(Diagnosed(load_text(loading("<built-in function read>"))).fires("tensor_from_list"));
}

TEST_CASE("first calls of a library in several steps belong to sizes that change") {
  // In each step four products of its own size: the first takes long.
  const auto steps = [](bool differ) {
    KinetoText text;
    int id = 0;
    for (int i = 0; i < 6; ++i) {
      const double at = 20'000.0 * i;
      text.slice("user_annotation", fmt::format("ProfilerStep#{}", i + 2), "100", "1", at, 19'990);
      for (int call = 0; call < 4; ++call) {
        const double begin = at + (call == 0 ? 10 : 5'000 + 1'000 * call);
        text.slice("cpu_op", "aten::mm", "100", "1", begin, call == 0 ? 5'000 : 50,
                   fmt::format(R"("Input Dims":[[{},8],[8,8]])", 64 * (i + 1)));
        text.launch(++id, begin + 10);
        text.slice("kernel", "gemm", "0", "7", begin + 20, 20,
                   fmt::format(R"("device":0,"stream":7,"correlation":{},"grid":[{},1,1],"block":[128,1,1])", id,
                               differ ? 100 * (i % 3 + 1) : 100));
      }
    }
    return text.text();
  };
  const Diagnosed d(load_text(steps(true)));
  CHECK_FALSE(d.fires("cold_library_calls"));
  REQUIRE(d.fires("work_differs_by_step"));
  CHECK(d.findings("work_differs_by_step")[0]->summary.find("6 first calls of a library came with new sizes") !=
        std::string::npos);
  CHECK(Diagnosed(load_text(steps(false))).fires("cold_library_calls"));
}
