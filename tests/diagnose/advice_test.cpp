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
        device(*account.busiest()) {}
  std::string on(IdleCause cause) const { return idle_advice(*trace, device, device.window, cause); }
  std::string on_copies() const { return copy_advice(*trace, device, device.window); }

  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  std::vector<GpuOp> ops;
  TimeAccount account;
  const DeviceAccount& device;
};

const std::string kOneKernel = linked("kernel", "k", 10, 5, 20, 5, 1);
bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("usual launches are to be fewer, one slow launch is a matter of warming up") {
  CHECK(Accounted(kOneKernel).on(IdleCause::launching) == idle_cause_remedy(IdleCause::launching, ProgramKind::python));
  const Accounted slow(linked("kernel", "k", 10, 400, 415, 5, 1) + linked("kernel", "k", 500, 5, 510, 5, 2));
  CHECK(holds(slow.on(IdleCause::launching), "one launch alone took 400 µs"));
  const Accounted many(linked("kernel", "k", 10, 210, 225, 5, 1) + linked("kernel", "k", 300, 210, 515, 5, 2));
  CHECK(many.on(IdleCause::launching) == idle_cause_remedy(IdleCause::launching, ProgramKind::python));
}

TEST_CASE("a start that takes long is asked after, usual ones are not") {
  CHECK(Accounted(kOneKernel).on(IdleCause::starting) == idle_cause_remedy(IdleCause::starting, ProgramKind::python));
  CHECK(holds(Accounted(linked("kernel", "k", 10, 5, 1015, 5, 1)).on(IdleCause::starting), "began 1.00 ms after its launch"));
}

TEST_CASE("nobody is told to do what the trace already does") {
  const std::string region = "," + slice("Torch-Compiled Region: 0/0", "30", "10");
  const std::string replay = "," + slice("cudaGraphLaunch", "50", "10", "", "cuda_runtime");
  CHECK(holds(Accounted(kOneKernel).on(IdleCause::op), "torch.compile, CUDA graphs"));
  const std::string compiled = Accounted(kOneKernel + region).on(IdleCause::op);
  CHECK_FALSE(holds(compiled, "torch.compile"));
  CHECK(holds(compiled, "CUDA graphs (mode="));
  CHECK(holds(Accounted(kOneKernel + region + replay).on(IdleCause::op), "more of the step in each CUDA graph"));
  CHECK(holds(Accounted(kOneKernel + replay).on(IdleCause::launching), "put more of them into the CUDA graphs"));
  CHECK(holds(Accounted(kOneKernel + replay).on(IdleCause::starting), "put more work into each CUDA graph"));
  CHECK(holds(Accounted(kOneKernel + region).on(IdleCause::python), "into the compiled part"));
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
  CHECK(advice("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__") ==
        idle_cause_remedy(IdleCause::data_loading, ProgramKind::python));
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
