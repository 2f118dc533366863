// What helps, as the trace at hand asks for.
#include "core/diagnose/advice.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/gpu/gpu_ops.h"
#include "tests/support/diagnosed.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string linked(std::string_view cat, std::string_view name, int call, int call_us, int begin, int us, int correlation) {
  return "," +
         slice("cudaLaunchKernel", std::to_string(call), std::to_string(call_us),
               fmt::format(", \"args\": {{\"correlation\": {}}}", correlation), "cuda_runtime") +
         "," +
         slice(name, std::to_string(begin), std::to_string(us),
               fmt::format(", \"args\": {{\"correlation\": {}, \"device\": 0, \"stream\": 7}}", correlation), cat, "70");
}

struct Accounted {
  explicit Accounted(const std::string& more)
      : trace(load_text(events(slice("aten::mm", "0", "2000") + more))),
        lanes(*trace),
        links(*trace, lanes),
        ops(gpu_ops(*trace, links)),
        account(*trace, links, ops),
        practices(*trace),
        device(*account.busiest()) {}
  std::string on(IdleCause cause) const {
    return said(practices, idle_advice({*trace, account, practices, lanes}, device, device.window, cause)).text;
  }
  std::string on_communication() const {
    return said(practices, communication_advice({*trace, account, practices, lanes}, device, device.window)).text;
  }
  std::string on_copies() const {
    return said(practices, copy_advice({*trace, account, practices, lanes}, device, device.window)).text;
  }

  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  std::vector<GpuOp> ops;
  TimeAccount account;
  Practices practices;
  const DeviceAccount& device;
};

const std::string kOneKernel = linked("kernel", "k", 10, 5, 20, 5, 1);
bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("usual launches are to be fewer, one slow launch is a matter of warming up") {
  CHECK(holds(Accounted(kOneKernel).on(IdleCause::launching), "Make fewer launches: torch.compile"));
  const Accounted slow(linked("kernel", "k", 10, 400, 415, 5, 1) + linked("kernel", "k", 500, 5, 510, 5, 2));
  CHECK(holds(slow.on(IdleCause::launching), "a single launch took 400 µs"));
  const Accounted many(linked("kernel", "k", 10, 210, 225, 5, 1) + linked("kernel", "k", 300, 210, 515, 5, 2));
  CHECK(holds(many.on(IdleCause::launching), "Make fewer launches"));
}

TEST_CASE("a start that takes long is asked after, usual ones are not") {
  CHECK(holds(Accounted(kOneKernel).on(IdleCause::starting), "A few microseconds per launch are usual"));
  CHECK(holds(Accounted(linked("kernel", "k", 10, 5, 1015, 5, 1)).on(IdleCause::starting), "began 1.00 ms after its launch"));
}

TEST_CASE("a collective that takes many times the median waited for another rank, which is said first") {
  const auto reduced = [](int last_us) {
    std::string text;
    for (int i = 0; i < 5; ++i)
      text +=
          linked("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 200 * i, 5, 200 * i + 10, i < 4 ? 60 : last_us, i + 1);
    return Accounted(text).on_communication();
  };
  CHECK(reduced(700).starts_with("Another rank may be late: one of these takes 700 µs, the median 60.0 µs."));
  CHECK(reduced(500).ends_with(
      "Find the late rank: with the other ranks' traces, gapscope ranks separates waiting from transfer."));
}

TEST_CASE("no one is advised to do what the trace already does") {
  const std::string region = "," + slice("Torch-Compiled Region: 0/0", "30", "10");
  const std::string replay = "," + slice("cudaGraphLaunch", "50", "10", "", "cuda_runtime");
  CHECK(holds(Accounted(kOneKernel).on(IdleCause::op), "torch.compile, mode="));
  const std::string compiled = Accounted(kOneKernel + region).on(IdleCause::op);
  CHECK_FALSE(holds(compiled, "torch.compile"));
  CHECK(holds(compiled, "compile the rest of the step, mode="));
  CHECK(holds(Accounted(kOneKernel + region + replay).on(IdleCause::op), "more of the step in each CUDA graph"));
  CHECK(holds(Accounted(kOneKernel + replay).on(IdleCause::launching), "more of the step in each CUDA graph"));
  CHECK(holds(Accounted(kOneKernel + replay).on(IdleCause::starting), "more of the step in each CUDA graph"));
  CHECK(holds(Accounted(kOneKernel + region).on(IdleCause::python), "compile the rest of the step"));
}

TEST_CASE("signatures that are read anew in each call are named with who reads them") {
  const auto frame = [](const char* name, int begin, int us) {
    return "," + slice(name, std::to_string(begin), std::to_string(us), "", "python_function");
  };
  const auto advice = [&](int inspect_us) {
    const std::string text = "{\"traceEvents\": [" + slice("aten::mm", "0", "5") + frame("chunks.py(186): apply", 8, 300) +
                             frame("inspect.py(3346): signature", 10, inspect_us) +
                             frame("inspect.py(3089): parameters", 11, inspect_us - 2) + linked("kernel", "k", 1, 2, 4, 2, 1) +
                             linked("kernel", "k", 310, 2, 314, 5, 2) + "]}";
    const auto trace = load_text(text);
    const LaneIndex lanes(*trace);
    const LinkIndex links(*trace, lanes);
    const std::vector<GpuOp> ops = gpu_ops(*trace, links);
    const TimeAccount account(*trace, links, ops);
    const DeviceAccount& device = *account.busiest();
    return said(Practices(*trace),
                idle_advice({*trace, account, Practices(*trace), lanes}, device, device.window, IdleCause::python))
        .text;
  };
  CHECK(advice(100).ends_with(
      " 100 µs of it is in Python's inspect module, called by chunks.py(186): apply: cache its results."));
  CHECK_FALSE(holds(advice(10), "inspect"));
}

TEST_CASE("frames are asked for where there are none") {
  CHECK(holds(Accounted(kOneKernel).on(IdleCause::python), "with_stack=True"));
  const std::string frame = "," + slice("train.py(1): f", "30", "10", "", "python_function");
  CHECK_FALSE(holds(Accounted(kOneKernel + frame).on(IdleCause::python), "with_stack=True"));
}

TEST_CASE("a loader without workers needs workers, one with workers needs more") {
  const auto advice = [](std::string_view loader) {
    return Accounted(kOneKernel + "," + slice(loader, "30", "10")).on(IdleCause::data_loading);
  };
  CHECK(holds(advice("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"), "set num_workers above 0"));
  CHECK(holds(advice("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"), "more workers (num_workers)"));
}

TEST_CASE("what helps against copies depends on which they are") {
  const auto advice = [](std::string_view cat, std::string_view name) {
    return Accounted(kOneKernel + linked(cat, name, 100, 5, 110, 50, 2)).on_copies();
  };
  CHECK(holds(advice("gpu_memcpy", "Memcpy DtoD (Device -> Device)"), "copy on the device"));
  CHECK(holds(advice("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"), "pinned memory"));
  CHECK_FALSE(holds(advice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"), "pinned memory"));
  CHECK(holds(advice("gpu_memset", "Memset (Device)"), "fill memory"));
}

TEST_CASE("an operator's first use is a matter of warming up, not of fewer operators") {
  const std::string late = linked("kernel", "k", 1900, 5, 1910, 5, 1);
  CHECK(holds(Accounted(late).on(IdleCause::op), "the first aten::mm took 1.90 ms"));
}

TEST_CASE("operators that were stopped are no matter of fewer operators") {
  std::string list;
  for (int i = 0; i < 20; ++i) {
    const int us = i == 5 || i == 9 || i == 13 || i == 17 ? 2000 : 10, at = 3000 + i * 3000;
    list += "," + slice("aten::empty", std::to_string(at), std::to_string(us), ", \"args\": {\"Input Dims\": [[]]}") +
            linked("kernel", "k", at + us + 5, 5, at + us + 12, 5, i + 1);
  }
  const std::string advice = Accounted(list).on(IdleCause::op);
  CHECK(holds(advice, "The thread seems not to have run"));
  CHECK(holds(advice, "every 12.0 ms"));
}

TEST_CASE("the code that torch.compile wrote is named so") {
  const std::string graph = "," + slice("## Call CompiledFxGraph abc ##", "2100", "3000", "", "user_annotation");
  const std::string advice = Accounted(graph + linked("kernel", "k", 5000, 5, 5010, 5, 1)).on(IdleCause::python);
  CHECK(holds(advice, "is Inductor's wrapper around its kernels"));
  CHECK(holds(advice, "reduce-overhead"));
  const std::string region = "," + slice("Torch-Compiled Region: 0/0", "2100", "3000");
  const std::string other = Accounted(region + linked("kernel", "k", 5000, 5, 5010, 5, 1)).on(IdleCause::op);
  CHECK(holds(other, "is the wrapper around compiled code"));
  CHECK_FALSE(holds(other, "cpp_wrapper"));
}

TEST_CASE("a replayed graph runs no wrapper around its kernels") {
  const std::string graph = "," + slice("## Call CompiledFxGraph abc ##", "2100", "3000", "", "user_annotation") + "," +
                            slice("cudaGraphLaunch", "4990", "20", ", \"args\": {\"correlation\": 9}", "cuda_runtime");
  const std::string advice = Accounted(graph + linked("kernel", "k", 5020, 5, 5030, 5, 1)).on(IdleCause::python);
  CHECK(holds(advice, "around replayed graphs"));
  CHECK(holds(advice, "more of the step in each CUDA graph"));
  CHECK_FALSE(holds(advice, "cpp_wrapper"));
}

TEST_CASE("kernels are made faster by what is in them") {
  const auto advice = [](std::string_view kernel, std::string_view more = "") {
    const Accounted all(linked("kernel", kernel, 10, 5, 20, 500, 1) + std::string(more));
    return said(all.practices, compute_advice({*all.trace, all.account, all.practices, all.lanes})).text;
  };
  const std::string_view elementwise =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";
  CHECK(holds(advice(elementwise), "torch.compile, which fuses small ones"));
  CHECK_FALSE(holds(advice(elementwise), "torch.autocast"));
  CHECK(holds(advice("ampere_sgemm_128x64_nn"), "torch.autocast"));
  CHECK_FALSE(holds(advice("ampere_sgemm_128x64_nn"), "torch.compile"));
  CHECK(advice("k") == "Make the kernels faster: better shapes or a better algorithm.");
}

TEST_CASE("who runs a serving engine is told of its own options") {
  const std::string frame =
      "," + slice("vllm/v1/worker/gpu_model_runner.py(2907): execute_model", "2100", "10", "", "python_function");
  for (const IdleCause cause : {IdleCause::op, IdleCause::launching, IdleCause::starting}) {
    const std::string advice = Accounted(kOneKernel + frame).on(cause);
    CHECK(holds(advice, "enforce_eager"));
    CHECK_FALSE(holds(advice, "reduce-overhead"));
    CHECK_FALSE(holds(advice, "torch.compile"));
  }
  CHECK_FALSE(holds(Accounted(kOneKernel).on(IdleCause::op), "enforce_eager"));
}

TEST_CASE("shards are fetched earlier by what this FSDP has, and that is not in use") {
  const auto advice = [](std::string_view mark) {
    const Accounted all("," + slice(mark, "5", "3", "", "user_annotation") +
                        linked("kernel", "ncclDevKernel_AllGather_RING_LL", 10, 5, 20, 500, 1));
    return said(all.practices,
                communication_advice({*all.trace, all.account, all.practices, all.lanes}, all.device, all.device.window))
        .text;
  };
  CHECK(holds(advice("FSDP::all_gather (0)"), "set_modules_to_forward_prefetch"));
  CHECK_FALSE(holds(advice("FSDP::all_gather (0)"), "BACKWARD_PRE"));
  CHECK(holds(advice("FullyShardedDataParallel.forward"), "forward_prefetch=True"));
  CHECK_FALSE(holds(advice("FullyShardedDataParallel.forward"), "limit_all_gathers"));
  CHECK(holds(advice("FullyShardedDataParallel.rate_limiter"), "limit_all_gathers=False"));
}

TEST_CASE("copies that are pinned, not waited for and on their own stream are to be fewer") {
  const std::string pinned =
      Accounted(kOneKernel + linked("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 100, 5, 110, 50, 2)).on_copies();
  CHECK_FALSE(holds(pinned, "pin_memory"));
  CHECK(holds(pinned, "a stream of its own"));
}

TEST_CASE("the function of the program that the GPU waits for is named, with what it calls") {
  // load() sleeps for 900 of the 1000 µs before the launch; the Python around it is PyTorch's.
  const std::string frames = "," + slice("train.py(7): load", "2100", "900", "", "python_function") + "," +
                             slice("<built-in function sleep>", "2110", "850", "", "python_function");
  const std::string late = linked("kernel", "k", 3000, 5, 3010, 5, 1);
  CHECK(holds(Accounted(frames + late).on(IdleCause::python),
              "900 µs of it is in train.py(7): load, most of it in <built-in function sleep>. Move this out of the loop"));
  const std::string range = "," + slice("wait for data", "2100", "900", "", "user_annotation");
  CHECK(holds(Accounted(range + late).on(IdleCause::python), "900 µs of it is in wait for data, in one call."));
  // A range around the work itself is no place to move.
  const std::string around = "," + slice("step", "2000", "6000", "", "user_annotation");
  CHECK(holds(Accounted(around + late).on(IdleCause::python), "Run less Python between the launches"));
  const std::string torch = "," + slice("torch/optim/adam.py(1): f", "2100", "900", "", "python_function");
  CHECK(holds(Accounted(torch + late).on(IdleCause::python), "Run less Python between the launches"));
}

TEST_CASE("a range of the program is no first use of a library") {
  const std::string late = "," + slice("planted_delay", "2000", "1900", "", "user_annotation");
  CHECK_FALSE(holds(Accounted(late + linked("kernel", "k", 3900, 5, 3910, 5, 1)).on(IdleCause::python), "The first use"));
}

TEST_CASE("the first work of a window waits for what came before it") {
  const std::string first = Accounted(linked("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 10, 5, 1515, 5, 1) +
                                      linked("kernel", "k", 1600, 5, 1610, 5, 2))
                                .on(IdleCause::starting);
  CHECK(holds(first, "The first work of the window began 1.50 ms after its launch"));
}

TEST_CASE("many long starts with an idle GPU point to another process") {
  std::string many;
  for (int i = 0; i < 4; ++i) many += linked("kernel", "k", 100 + i * 1000, 5, 700 + i * 1000, 5, i + 1);
  CHECK(holds(Accounted(many).on(IdleCause::starting),
              "4 operations began 200 µs or more after their launch, 2.38 ms in total, while the GPU did nothing of this "
              "recording. Look for another process on the GPU (nvidia-smi)"));
}

namespace {

// One thread's operators, one after another.
class Program {
 public:
  // That launches a kernel, or nothing.
  void op(const std::string& name, int dur, bool launches = true) {
    add(slice(name, us(0), std::to_string(dur)));
    if (launches) gpu("k", 3, 2, "kernel", 0);
    at_ += dur + 2;
  }
  void copy(const std::string& name, int dur, const std::string& kind, int bytes) {
    add(slice(name, us(0), std::to_string(dur)));
    gpu(kind, dur - 4, dur - 6, "gpu_memcpy", bytes);
    add(slice("cudaStreamSynchronize", us(dur - 3), "2", "", "cuda_runtime"));
    at_ += dur + 2;
  }
  void read() {
    add(slice("aten::item", us(0), "20"));
    add(slice("aten::_local_scalar_dense", us(1), "18"));
    gpu("Memcpy DtoH (Device -> Pageable)", 4, 2, "gpu_memcpy", 4);
    add(slice("cudaStreamSynchronize", us(7), "10", "", "cuda_runtime"));
    at_ += 22;
  }
  void load() {
    add(slice("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", us(0), "5", "", "user_annotation"));
    at_ += 6;
  }
  void pause(int time) { at_ += time; }
  std::string text() const { return events(all_); }

 private:
  std::string us(int after) const { return std::to_string(at_ + after); }
  void add(const std::string& text) { all_ += (all_.empty() ? "" : ",") + text; }
  void gpu(const std::string& name, int call, int dur, const std::string& kind, int bytes) {
    const std::string args = R"(, "args": {"correlation": )" + std::to_string(++id_);
    add(slice(kind == "kernel" ? "cudaLaunchKernel" : "cudaMemcpyAsync", us(1), std::to_string(call), args + "}",
              "cuda_runtime"));
    add(slice(name, us(4), std::to_string(dur), args + R"(, "device": 0, "stream": 7, "bytes": )" + std::to_string(bytes) + "}",
              kind, "70"));
  }

  std::string all_;
  int at_ = 10, id_ = 0;
};

std::string line_of(const Diagnosed& d, const char* rule) {
  const auto found = d.findings(rule);
  return found.empty() ? "-" : found[0]->code;
}

}  // namespace

TEST_CASE("copies of single values are no copies to overlap") {
  const auto copies_of = [](int bytes) {
    Program program;
    for (int i = 0; i < 10; ++i) {
      program.op("aten::mul", 10);
      program.copy("aten::to", 40, "Memcpy DtoH (Device -> Pageable)", bytes);
    }
    return Diagnosed(load_text(program.text())).fires("memcpy_heavy");
  };
  CHECK(copies_of(4'000));
  CHECK_FALSE(copies_of(8));
}

TEST_CASE("without frames values are read one at a time where nothing is launched between them") {
  const auto gain_after = [](bool launches) {
    Program program;
    for (int i = 0; i < 20; ++i) {
      program.op("aten::select", 10, launches);
      program.read();
    }
    const Diagnosed d(load_text(program.text()));
    for (const RankedFinding& f : d.diagnosis.findings)
      if (f.finding.rule->id == "item_in_loop") return f.gain ? f.gain->time : 0;
    return Ns{-1};
  };
  // All but the first read, 20 us each, not just the wait in each.
  CHECK(gain_after(false) > 300'000);
  CHECK(gain_after(true) == -1);
}

TEST_CASE("values that the same operators compute one by one are computed in one call") {
  const auto said = [](bool computes) {
    KinetoText text;
    int id = 0;
    const auto launch = [&](double at, double dur) {
      text.slice("cpu_op", "aten::mean", "1", "1", at, 20);
      text.launched(++id, at + 5, at + 10, dur, "reduce", "1");
    };
    for (int step = 0; step < 3; ++step) {
      const double begin = 10'000.0 * step;
      text.slice("user_annotation", fmt::format("ProfilerStep#{}", step + 2), "1", "1", begin, 9'990);
      text.slice("python_function", "train.py(7): log", "1", "1", begin + 1, 9'980);
      for (int i = 0; i < 40; ++i) {
        const double at = begin + 10 + 200 * i;
        if (computes || i == 0) launch(at, 60);  // longer than those of same_work_in_a_loop
        text.slice("cpu_op", "aten::item", "1", "1", at + 80, 40);
        text.slice("cpu_op", "aten::_local_scalar_dense", "1", "1", at + 81, 38);
        text.slice("cuda_runtime", "cudaStreamSynchronize", "1", "1", at + 82, 30);
      }
    }
    const Diagnosed d(load_text(text.text()));
    const auto found = d.findings("item_in_loop");
    REQUIRE(found.size() == 1);
    return std::string(remedy_of(*found[0])) + " In code: " + found[0]->code;
  };
  CHECK(said(true).starts_with("Compute the values of all iterations in one call"));
  CHECK(said(true).find("In code: values = function(x).tolist()") != std::string::npos);
  CHECK(said(false).starts_with("Leave the values on the GPU"));
}

TEST_CASE("convolutions in FP32 are not asked to use what matrix products alone obey") {
  const auto code = [](const char* kernel) {
    KinetoText text;
    text.slice("user_annotation", "ProfilerStep#1", "100", "1", 0, 1000);
    for (int i = 0; i < 8; ++i) {
      text.slice("cpu_op", "aten::mm", "100", "1", 5 + 100 * i, 20);
      text.launched(i + 1, 10 + 100 * i, 20 + 100 * i, 70, kernel);
    }
    const Diagnosed found(load_text(text.text(
        R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0, "numSms": 132}],)")));
    const auto findings = found.findings("fp32_gemm_cuda_cores");
    REQUIRE(findings.size() == 1);
    return findings.front()->code + " | " + findings.front()->remedy;
  };
  CHECK(holds(code("ampere_sgemm_128x64_tn"), "torch.set_float32_matmul_precision(\"high\")"));
  const std::string said = code("void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false, false, true>(int)");
  CHECK(said.starts_with("with torch.autocast"));
  CHECK(holds(said, "torch.backends.cudnn.allow_tf32"));
  CHECK_FALSE(holds(said, "set_float32_matmul_precision"));
}

TEST_CASE("a branch on a value that ends a compiled function is not to be read later") {
  const auto breaks = diagnosed_once(recording("graph_breaks")).findings("graph_breaks");
  REQUIRE(breaks.size() == 1);
  CHECK(holds(breaks.front()->code, "torch.where"));
  CHECK(holds(breaks.front()->remedy, "torch.cond()"));
}

TEST_CASE("where no launch is in the file, nothing promises the causes of idle time") {
  KinetoText text;
  text.slice("cpu_op", "aten::mm", "100", "1", 0, 900);
  for (int i = 0; i < 8; ++i) text.slice("kernel", "gemm", "0", "7", 100 * i, 10, R"("device":0,"stream":7)");
  const Diagnosed found(load_text(text.text()));
  const auto idle = found.findings("low_gpu_utilization");
  REQUIRE(idle.size() == 1);
  CHECK(holds(meaning_of(*idle.front()), "no launch of its work is in the file"));
}

TEST_CASE("kernels of doubles are those whose elements are, not those that take a double") {
  const auto fires = [](const std::string& kernel) {
    KinetoText text;
    text.slice("user_annotation", "ProfilerStep#1", "1", "1", 0, 1000);
    for (int i = 0; i < 8; ++i) text.launched(i + 1, 10 + 100 * i, 20 + 100 * i, 50, kernel, "1");
    return Diagnosed(load_text(text.text())).fires("double_precision_work");
  };
  CHECK_FALSE(
      fires("void at::native::distribution_elementwise_grid_stride_kernel<float, 4, at::native::templates::cuda::normal_kernel"
            "<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}>(long)"));
  CHECK(
      fires("void at::native::elementwise_kernel<128, 2, at::native::sin_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
            "operator()() const::{lambda(double)#1}>(int)"));
  CHECK(fires("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<double> >(int)"));
  CHECK(fires("scale(double const*, int)"));
  CHECK(fires("scale(c10::complex<double>*, int)"));
}

TEST_CASE("only a program with a DataLoader is asked to let it pin memory") {
  const auto line = [](bool loads) {
    Program program;
    for (int i = 0; i < 10; ++i) {
      if (loads) program.load();
      program.op("aten::mul", 10);
      program.copy("aten::to", 40, "Memcpy HtoD (Pageable -> Device)", 1'000'000);
    }
    return line_of(Diagnosed(load_text(program.text())), "pageable_memcpy");
  };
  CHECK(line(true) == "DataLoader(dataset, pin_memory=True)");
  CHECK(line(false) == "data = data.pin_memory()  # once, before the loop");
}

TEST_CASE("tensors made of nothing on the CPU are to be made on the GPU, and their copies go with them") {
  const auto made_by = [](const char* maker, int making, int pause) {
    Program program;
    for (int i = 0; i < 5; ++i) {
      program.op("aten::add", 10);
      program.op(maker, making, false);
      program.op("aten::mul", 400, false);
      program.pause(pause);
      program.copy("aten::to", 300, "Memcpy HtoD (Pageable -> Device)", 1'000'000);
    }
    return program.text();
  };
  const Diagnosed constant(load_text(made_by("aten::arange", 20, 10)));
  CHECK(line_of(constant, "tensors_on_cpu") == "x = torch.arange(n, device=\"cuda\")  # once, if it is the same in each step");
  REQUIRE(constant.fires("tensors_on_cpu"));
  // 400 us in the operator and 340 of the others and the gaps, five times.
  CHECK(constant.findings("tensors_on_cpu")[0]->stake > 3'500'000);
  CHECK(line_of(Diagnosed(load_text(made_by("aten::randn", 900, 10))), "tensors_on_cpu") ==
        "x = torch.randn(size, device=\"cuda\")");
  // What takes longer than the operator before it is something else than to free its tensor.
  const Diagnosed paused(load_text(made_by("aten::arange", 20, 5'000)));
  REQUIRE(paused.fires("tensors_on_cpu"));
  CHECK(paused.findings("tensors_on_cpu")[0]->stake < 5'000'000);
  // Data of the program is copied in any case.
  CHECK(line_of(Diagnosed(load_text(made_by("aten::index", 20, 10))), "tensors_on_cpu").starts_with("x = x.to"));
}
