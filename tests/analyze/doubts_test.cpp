// Doubts that need launches joined, and what doubts do to the account and the verdict.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/analyze/account/time_account.h"
#include "core/analyze/doubts.h"
#include "core/analyze/gpu/gpu_ops.h"
#include "core/analyze/practices/practices.h"
#include "core/diagnose/record_again.h"
#include "core/diagnose/verdict.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Read {
  explicit Read(const std::string& text)
      : trace(load_text(text)),
        lanes(*trace),
        links(*trace, lanes),
        ops(gpu_ops(*trace, links)),
        account(*trace, links, ops),
        trust(trust_of(*trace, ops, account)),
        verdict(verdict_of(*trace, account, trust)) {}
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  std::vector<GpuOp> ops;
  TimeAccount account;
  Trust trust;
  Verdict verdict;
  const Doubt* doubt(DoubtKind kind) const { return find_doubt(trust.doubts, kind); }
};

// Forty launches; those from `first` to before `last` have no kernel.
std::string losing(int first, int last) {
  KinetoText text;
  for (int i = 0; i < 40; ++i) {
    const double at = 5e6 + 100 * i;
    if (first <= i && i < last)
      text.launch(i + 1, at);
    else
      text.launched(i + 1, at, at + 10, 60);
  }
  return text.text();
}

}  // namespace

TEST_CASE("launches without any recorded kernel are lost ones") {
  const Read read(losing(0, 40));
  const Doubt* const d = read.doubt(DoubtKind::lost_kernels);
  REQUIRE(d != nullptr);
  CHECK(d->said == "The GPU work of 40 of 40 launches is missing.");
  CHECK(d->forbids_verdict);
}

TEST_CASE("launches without their kernels are counted and placed, and from one in ten on there is no verdict") {
  struct Case {
    int first, last;
    bool said, judged;
    const char* where;
  };
  for (const Case& c : {Case{0, 30, true, false, ""}, Case{0, 15, true, false, "first half"},
                        Case{10, 15, true, false, "first half"}, Case{30, 40, true, false, "at the end"},
                        Case{0, 2, true, true, "first half"}, Case{0, 1, false, true, ""}, Case{0, 0, false, true, ""}}) {
    CAPTURE(c.first);
    CAPTURE(c.last);
    const Read read(losing(c.first, c.last));
    const Doubt* const d = read.doubt(DoubtKind::lost_kernels);
    REQUIRE((d != nullptr) == c.said);
    CHECK((read.verdict.bound == Bound::not_judged) != c.judged);
    if (!c.said) continue;
    CHECK(d->count == static_cast<std::uint64_t>(c.last - c.first));
    CHECK(d->said.find(" of 40 launches is missing") != std::string::npos);
    CHECK(d->said.find(c.where) != std::string::npos);
    CHECK(trust_text(read.trust).find(d->said) != std::string::npos);
    CHECK(d->instead.starts_with(c.last == 40 ? "When recording again" : "Record again"));
    if (!c.judged) CHECK(record_again(*read.trace, read.trust, read.verdict.bound) == d->instead);
  }
}

TEST_CASE("a recording that ends while the GPU works on earlier launches is judged") {
  for (const double busy_us : {199.0, 60.0}) {  // of each kernel: until the last launch, or long idle by then
    CAPTURE(busy_us);
    KinetoText text;
    for (int i = 0; i < 40; ++i) text.launch(i + 1, 5e6 + 100 * i);
    for (int i = 0; i < 20; ++i)
      text.slice("kernel", "gemm", "0", "7", 5e6 + 20 + std::max(busy_us, 100.0) * i, busy_us,
                 fmt::format(R"("device":0,"stream":7,"correlation":{})", i + 1));
    const Read read(text.text());
    const Doubt* const d = read.doubt(DoubtKind::lost_kernels);
    REQUIRE(d != nullptr);
    CHECK(d->count == 20);
    CHECK((read.verdict.bound == Bound::not_judged) == (busy_us < 100));
    CHECK((d->said.find("still busy with earlier work") != std::string::npos) == (busy_us > 100));
  }
}

TEST_CASE("launches into a graph that is captured lose nothing") {
  KinetoText text;
  text.slice("cuda_runtime", "cudaStreamBeginCapture", "100", "1", 4.9e6, 5, R"("correlation":900)");
  for (int i = 0; i < 10; ++i) text.launch(i + 1, 4.9e6 + 10 + 10 * i);
  text.slice("cuda_runtime", "cudaStreamEndCapture", "100", "1", 4.9e6 + 300, 5, R"("correlation":901)");
  for (int i = 0; i < 40; ++i) text.launched(100 + i, 5e6 + 100 * i, 5e6 + 100 * i + 10, 60);
  CHECK(Read(text.text()).doubt(DoubtKind::lost_kernels) == nullptr);
}

TEST_CASE("the time between two recordings of one file is nobody's") {
  KinetoText text;
  for (int w = 0; w < 2; ++w) {
    const double from = 5e6 + 3e7 * w;
    text.slice("Trace", "PyTorch Profiler (0)", "\"Spans\"", "\"PyTorch Profiler\"", from, 3000);
    for (int i = 0; i < 3; ++i)
      text.slice("user_annotation", "ProfilerStep#" + std::to_string(3 * w + i), "100", "1", from + 1000 * i, 990);
    for (int i = 0; i < 30; ++i) text.launched(30 * w + i + 1, from + 100 * i, from + 100 * i + 10, 60);
  }
  const Read read(text.text());
  REQUIRE(read.account.busiest() != nullptr);
  const AccountTimes& t = read.account.busiest()->times;
  CHECK(t.window <= 6 * kNsPerMs);
  CHECK(t.window == t.compute + t.exposed_communication + t.exposed_copies + t.idle_total());
  CHECK(t.compute == 60 * 60 * kNsPerUs);
  CHECK(read.account.recorded() <= 6 * kNsPerMs);
  for (const auto& step : read.account.steps()) CHECK(step.span.length() <= kNsPerMs);
  AccountTimes sum;
  for (const auto& step : read.account.steps()) sum += read.account.times_in(*read.account.busiest(), step.span);
  CHECK(sum == t);
  CHECK(read.verdict.text.find("30.0 s") == std::string::npos);
}

TEST_CASE("a doubt that forbids it leaves no verdict, and says what to record instead") {
  KinetoText text;
  for (int i = 0; i < 20; ++i)
    text.launched(i + 1, i % 2 == 0 ? 0 : 5e6 + 100 * i, i % 2 == 0 ? 0 : 5e6 + 100 * i + 10, i % 2 == 0 ? 0 : 60);
  const Read read(text.text());
  CHECK(read.verdict.bound == Bound::not_judged);
  CHECK(read.verdict.text.find("Record again") != std::string::npos);
}

TEST_CASE("collectives of any library are communication, in the classes and in the account") {
  KinetoText text;
  int i = 0;
  for (const char* name :
       {"oneccl_reduce_base<float, 2>", "void deep_ep::intranode::dispatch<8>(int)", "mscclKernel_Sum_half_LL",
        "hcom_allReduce__000", "all-reduce.1", "void quickreduce::twoshot<2>(int)", "rcclGenericKernel<1, false>"}) {
    text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, 60, name);
    ++i;
  }
  text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, 60, "gemm");
  const Read read(text.text());
  CHECK(read.account.busiest()->times.exposed_communication == i * 60 * kNsPerUs);
  CHECK(read.account.busiest()->times.compute == 60 * kNsPerUs);
}

TEST_CASE("words are those of the device's vendor") {
  CHECK(in_words_of(Vendor::nvidia, "CUDA graphs on SMs") == "CUDA graphs on SMs");
  CHECK(in_words_of(Vendor::amd, "CUDA graphs on SMs") == "HIP graphs on CUs");
  CHECK(in_words_of(Vendor::intel, "ProfilerActivity.CUDA, torch.cuda.Stream, CUDA graphs, NCCL") ==
        "ProfilerActivity.XPU, torch.xpu.Stream, device graphs, oneCCL");
  CHECK(in_words_of(Vendor::other, "a CUDA call") == "a runtime call");
  KinetoText text;
  text.slice("xpu_runtime", "urEnqueueKernelLaunch", "100", "1", 0, 5, R"("correlation":1)");
  text.slice("kernel", "gemm", "0", "0", 10, 5, R"("correlation":1,"device":0,"sycl queue":64)");
  const Read read(text.text());
  CHECK(vendor_of(*read.trace) == Vendor::intel);
  CHECK(read.trace->gpu[0].stream == 64);
}

TEST_CASE("a driver's call in the runtime's launch is part of it, whether its id is its own or not") {
  for (const bool shares : {true, false}) {
    KinetoText text;
    for (int i = 0; i < 40; ++i) {
      const double at = 5e6 + 100 * i;
      text.launched(i + 1, at, at + 10, 60);
      text.slice("xpu_driver", "zeCommandListAppendLaunchKernel", "100", "1", at + 1, 3,
                 fmt::format(R"("correlation":{})", shares ? i + 1 : 1'000 + i));
    }
    CHECK(Read(text.text()).doubt(DoubtKind::lost_kernels) == nullptr);
  }
}

TEST_CASE("launches are known by what most calls of their name did, and copies by having none at all") {
  const auto launched_by = [](std::string_view name, int lost) {
    KinetoText text;
    for (int i = 0; i < 60; ++i) {
      const double at = 5e6 + 100 * i;
      text.slice("privateuse1_runtime", name, "100", "1", at, 5, fmt::format(R"("correlation":{})", i + 1));
      if (i % 3 != 0 || i / 3 >= lost)
        text.slice("kernel", "gemm", "0", "7", at + 10, 60, fmt::format(R"("device":0,"stream":7,"correlation":{})", i + 1));
    }
    return text.text();
  };
  REQUIRE(Read(launched_by("cnInvokeKernel", 20)).doubt(DoubtKind::lost_kernels) != nullptr);
  CHECK(Read(launched_by("cnInvokeKernel", 20)).doubt(DoubtKind::lost_kernels)->count == 20);
  CHECK(Read(launched_by("cnInvokeKernel", 0)).doubt(DoubtKind::lost_kernels) == nullptr);
  // Of a name that says so all launches count, whatever they started.
  for (const int kernels : {0, 1}) {
    KinetoText text;
    for (int i = 0; i < 48; ++i)
      text.slice("privateuse1_runtime", "cnInvokeKernel", "100", "1", 5e6 + 100 * i, 5,
                 fmt::format(R"("correlation":{})", i + 1));
    if (kernels > 0) text.slice("kernel", "gemm", "0", "7", 5e6 + 10, 60, R"("device":0,"stream":7,"correlation":1)");
    const Read read(text.text());
    REQUIRE(read.doubt(DoubtKind::lost_kernels) != nullptr);
    CHECK(read.doubt(DoubtKind::lost_kernels)->count == static_cast<std::uint64_t>(48 - kernels));
    CHECK(read.doubt(DoubtKind::lost_kernels)->forbids_verdict);
  }
  const auto with_copies = [](int copies) {
    KinetoText text;
    for (int i = 0; i < 40; ++i) text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, 60);
    for (int i = 0; i < copies; ++i)
      text.slice("cuda_runtime", "cudaMemcpyAsync", "100", "1", 5e6 + 100 * i + 50, 5,
                 fmt::format(R"("correlation":{})", 1'000 + i));
    return text.text();
  };
  CHECK(Read(with_copies(24)).doubt(DoubtKind::lost_kernels)->count == 24);
  CHECK(Read(with_copies(4)).doubt(DoubtKind::lost_kernels) == nullptr);
}

TEST_CASE("lost kernels are counted at whatever depths their launches lie") {
  for (const bool deeper : {false, true}) {
    KinetoText text;
    for (int i = 0; i < 48; ++i) {
      const double at = 5e6 + 100 * i;
      if (deeper && i % 2 == 1) text.slice("cpu_op", "aten::mm", "100", "1", at - 5, 50);
      if (deeper && i % 3 == 1) text.slice("cpu_op", "aten::addmm", "100", "1", at - 2, 40);
      if (i % 2 == 0)
        text.launched(i + 1, at, at + 10, 60);
      else
        text.launch(i + 1, at);
    }
    const Read read(text.text());
    REQUIRE(read.doubt(DoubtKind::lost_kernels) != nullptr);
    CHECK(read.doubt(DoubtKind::lost_kernels)->count == 24);
  }
}

TEST_CASE("of several ranks in one file each GPU's window is what is recorded of its own rank") {
  KinetoText text;
  for (int r = 0; r < 2; ++r)
    for (int i = 0; i < 10; ++i) {
      const double at = 5e6 + 50'000 * r + 100 * i;
      text.launched(100 * r + i + 1, at, at + 10, 90, "gemm", r == 0 ? "\"rank0_500\"" : "\"rank1_500\"",
                    r == 0 ? "\"rank0_0\"" : "\"rank1_0\"");
    }
  const Read read(text.text());
  for (const std::int32_t device : {0, 1}) {
    const DeviceAccount* const account = read.account.device(device);
    REQUIRE(account != nullptr);
    CHECK(account->times.window == 1000 * kNsPerUs);
    CHECK(account->times.compute == 900 * kNsPerUs);
  }
}

TEST_CASE("work without a correlation id, or with another's, may be that of a launch that seems to have none") {
  KinetoText zero, shared;
  for (int i = 0; i < 40; ++i) {
    const double at = 5e6 + 100 * i;
    zero.launch(i + 1, at).slice("kernel", "gemm", "0", "7", at + 10, 60,
                                 fmt::format(R"("device":0,"stream":7,"correlation":{})", i % 4 == 0 ? 0 : i + 1));
    shared.launch(i + 1, at).slice("kernel", "gemm", "0", "7", at + 10, 60,
                                   fmt::format(R"("device":0,"stream":7,"correlation":{})", i % 4 == 1 ? i : i + 1));
  }
  CHECK(Read(zero.text()).doubt(DoubtKind::lost_kernels) == nullptr);
  CHECK(Read(shared.text()).doubt(DoubtKind::lost_kernels) == nullptr);
}
