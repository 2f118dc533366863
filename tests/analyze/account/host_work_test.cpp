// What exactly the host was in: the operator, the Python frame, the call and who made it, the data loader.
#include <doctest/doctest.h>

#include "core/analyze/account/host_work.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Gap {
  explicit Gap(const std::string& inside)
      : trace(load_text(events(inside))), lanes(*trace), links(*trace, lanes), account(*trace, links, gpu_ops(*trace, links)) {
    REQUIRE(account.devices().size() == 1);
    REQUIRE(!account.devices()[0].gaps.empty());
    const DeviceGap& gap = account.devices()[0].gaps[0];
    works = host_work(*trace, lanes, account, gap, gap.span);
  }
  std::string name(SliceId s) const { return s ? std::string(trace->name(s)) : "-"; }
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  TimeAccount account;
  std::vector<HostWork> works;
};

const std::string kLaunchAndKernel =
    slice("cudaLaunchKernel", "100", "10", ", \"args\": {\"correlation\": 1}", "cuda_runtime") + "," +
    slice("gemm", "110", "10", ", \"args\": {\"correlation\": 1, \"device\": 0, \"stream\": 7}", "kernel", "70");

}  // namespace

TEST_CASE("an operator comes with the program's own Python frame before PyTorch's") {
  const Gap gap(slice("train.py(12): step", "0", "120", "", "python_function") + "," +
                slice("torch/nn/modules/linear.py(134): forward", "0", "110", "", "python_function") + "," +
                slice("<built-in method linear>", "0", "110", "", "python_function") + "," + slice("aten::linear", "0", "110") +
                "," + kLaunchAndKernel);
  REQUIRE(gap.works.size() == 2);
  CHECK(gap.works[0].cause == IdleCause::op);
  CHECK(gap.works[0].time == 100 * kNsPerUs);
  CHECK(gap.name(gap.works[0].slice) == "aten::linear");
  CHECK(gap.name(gap.works[0].python) == "train.py(12): step");
  CHECK(gap.works[1].cause == IdleCause::launching);
  CHECK(gap.name(gap.works[1].op) == "aten::linear");
}

TEST_CASE("without a frame of the program the innermost one of PyTorch stands") {
  const Gap gap(slice("torch/optim/adam.py(1): step", "0", "120", "", "python_function") + "," +
                slice("torch/optim/adam.py(9): inner", "0", "110", "", "python_function") + "," +
                slice("aten::add_", "0", "110") + "," + kLaunchAndKernel);
  CHECK(gap.name(gap.works[0].python) == "torch/optim/adam.py(9): inner");
}

TEST_CASE("a synchronization comes with the operator that made it, and pieces of one name are one entry") {
  const Gap gap(slice("aten::item", "0", "40") + "," + slice("cudaStreamSynchronize", "5", "30", "", "cuda_runtime") + "," +
                slice("aten::item", "50", "40") + "," + slice("cudaStreamSynchronize", "55", "30", "", "cuda_runtime") + "," +
                kLaunchAndKernel);
  REQUIRE(gap.works.size() == 4);  // the synchronizations, the operators, what is not recorded between, the launch
  CHECK(gap.works[0].cause == IdleCause::synchronizing);
  CHECK(gap.works[0].time == 60 * kNsPerUs);
  CHECK(gap.name(gap.works[0].slice) == "cudaStreamSynchronize");
  CHECK(gap.name(gap.works[0].op) == "aten::item");
  Ns sum = 0;
  for (const HostWork& work : gap.works) sum += work.time;
  CHECK(sum == gap.account.devices()[0].gaps[0].span.length());
}

TEST_CASE("data loading comes with the loader, not with what it calls") {
  const Gap gap(slice("enumerate(DataLoader)#Single.__next__", "0", "90", "", "user_annotation") + "," +
                slice("aten::stack", "10", "70") + "," + kLaunchAndKernel);
  CHECK(gap.works[0].cause == IdleCause::data_loading);
  CHECK(gap.works[0].time == 90 * kNsPerUs);
  CHECK(gap.name(gap.works[0].slice) == "enumerate(DataLoader)#Single.__next__");
}

TEST_CASE("what the host was in during the longest gaps of each recording adds up to these gaps") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Trace& trace = *load_once(path);
    const LaneIndex lanes(trace);
    const LinkIndex links(trace, lanes);
    const TimeAccount account(trace, links, gpu_ops(trace, links));
    for (const DeviceAccount& device : account.devices())
      for (const std::size_t i : device.longest_gaps(3)) {
        Ns sum = 0;
        for (const HostWork& work : host_work(trace, lanes, account, device.gaps[i], device.gaps[i].span)) sum += work.time;
        CHECK(sum == device.gaps[i].span.length());
      }
  }
}
