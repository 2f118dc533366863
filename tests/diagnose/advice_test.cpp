// What helps, as the trace at hand asks for.
#include "core/diagnose/advice.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/gpu/gpu_ops.h"
#include "tests/support/load_text.h"

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
  std::string on(IdleCause cause) const { return idle_advice({*trace, account, practices}, device, device.window, cause); }
  std::string on_copies() const { return copy_advice({*trace, account, practices}, device, device.window); }

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
  CHECK(holds(slow.on(IdleCause::launching), "one launch alone took 400 µs"));
  const Accounted many(linked("kernel", "k", 10, 210, 225, 5, 1) + linked("kernel", "k", 300, 210, 515, 5, 2));
  CHECK(holds(many.on(IdleCause::launching), "Make fewer launches"));
}

TEST_CASE("a start that takes long is asked after, usual ones are not") {
  CHECK(holds(Accounted(kOneKernel).on(IdleCause::starting), "A few microseconds each are usual"));
  CHECK(holds(Accounted(linked("kernel", "k", 10, 5, 1015, 5, 1)).on(IdleCause::starting), "began 1.00 ms after its launch"));
}

TEST_CASE("nobody is told to do what the trace already does") {
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

TEST_CASE("frames are asked for where there are none") {
  CHECK(holds(Accounted(kOneKernel).on(IdleCause::python), "with_stack=True"));
  const std::string frame = "," + slice("train.py(1): f", "30", "10", "", "python_function");
  CHECK_FALSE(holds(Accounted(kOneKernel + frame).on(IdleCause::python), "with_stack=True"));
}

TEST_CASE("a loader without workers needs workers, one with workers needs more") {
  const auto advice = [](std::string_view loader) {
    return Accounted(kOneKernel + "," + slice(loader, "30", "10")).on(IdleCause::data_loading);
  };
  CHECK(advice("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__") == kUseWorkers);
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
  CHECK(holds(Accounted(late).on(IdleCause::op), "the first aten::mm alone took 1.90 ms"));
}

TEST_CASE("operators that were stopped are no matter of fewer operators") {
  std::string list;
  for (int i = 0; i < 20; ++i) {
    const int us = i == 5 || i == 9 || i == 13 || i == 17 ? 2000 : 10, at = 3000 + i * 3000;
    list += "," + slice("aten::empty", std::to_string(at), std::to_string(us), ", \"args\": {\"Input Dims\": [[]]}") +
            linked("kernel", "k", at + us + 5, 5, at + us + 12, 5, i + 1);
  }
  const std::string advice = Accounted(list).on(IdleCause::op);
  CHECK(holds(advice, "the thread was not running"));
  CHECK(holds(advice, "every 12.0 ms"));
}

TEST_CASE("the code that torch.compile wrote is named so") {
  const std::string graph = "," + slice("## Call CompiledFxGraph abc ##", "2100", "3000", "", "user_annotation");
  const std::string advice = Accounted(graph + linked("kernel", "k", 5000, 5, 5010, 5, 1)).on(IdleCause::python);
  CHECK(holds(advice, "the wrapper that torch.compile wrote"));
  CHECK(holds(advice, "reduce-overhead"));
}

TEST_CASE("copies that are pinned, not waited for and on their own stream are to be fewer") {
  const std::string pinned =
      Accounted(kOneKernel + linked("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 100, 5, 110, 50, 2)).on_copies();
  CHECK_FALSE(holds(pinned, "pin_memory"));
  CHECK(holds(pinned, "a stream of its own"));
}
