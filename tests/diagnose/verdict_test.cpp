// What limits each recording at hand, as an expert would say it, and the rule at its edges.
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/captured/captures.h"
#include "core/base/text.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/profiler_cost.h"
#include "core/diagnose/record_again.h"
#include "core/diagnose/verdict.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Judged {
  explicit Judged(std::shared_ptr<const Trace> loaded)
      : trace(std::move(loaded)),
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
};

Judged judged(const std::filesystem::path& path) { return Judged(load_once(path)); }

struct Expected {
  const char* name;
  Bound bound;
  const char* reason;
};
constexpr Expected kExpected[] = {
    // Pairs of ranks: one computes or dawdles, the other waits in NCCL.
    {"ddp_rank0", Bound::host, "66 % host, led by operators: this is the rank that rank 1 waits for"},
    {"ddp_rank1", Bound::communication, "51 % in NCCL with nothing beside it: it waits for rank 0"},
    {"ddp_delayed_rank0", Bound::communication, "74 % in NCCL: rank 1 sleeps for 20 ms"},
    {"ddp_delayed_rank1", Bound::host, "78 % host, led by Python, in which the planted sleep lies"},
    {"fsdp_rank0", Bound::communication, "89 % in NCCL: it is not compute-bound, it waits for rank 1"},
    {"fsdp_rank1", Bound::host, "89 % host, led by Python: AdamW and FSDP's hooks"},
    {"tp_rank0", Bound::not_judged, "65 % before work whose launch is not in the file"},
    {"tp_rank1", Bound::host, "57 % host against 26 % NCCL"},
    {"pp_rank0", Bound::host, "47 % host against 39 % compute"},
    {"pp_rank1", Bound::not_judged, "93 % before work whose launch is not in the file"},
    // 64 x 64 products: nothing to compute, so dispatch and launches are everything.
    {"matmul_add_64_cold_eager", Bound::host, "1 % compute"},
    {"matmul_add_64_warm_eager", Bound::host, "3 % compute"},
    {"matmul_add_64_no_wait", Bound::host, "host 57 % over the profiler's 36 %"},
    {"matmul_add_64_active20", Bound::host, "host 70 %, the profiler 16 %"},
    {"matmul_add_64_bmm8", Bound::host, "2.5 % compute"},
    {"matmul_add_64_warm_compile", Bound::host, "0.6 % compute; Dynamo's guards and prologue are host time"},
    // 4096 x 4096 products: 180 us each.
    {"matmul_add_4096_cold_eager", Bound::compute, "84 % compute"},
    {"matmul_add_4096_warm_eager", Bound::compute, "86 % compute"},
    {"matmul_add_4096_active20", Bound::compute, "78 % compute over 20 steps"},
    {"matmul_add_4096_warm_compile", Bound::host,
     "the compiled function costs the host more than the product costs the GPU: 50 % against 45 %"},
    {"addmm_4096_eager", Bound::compute, "77 % compute"},
    {"low_occupancy", Bound::compute, "one long kernel, 78 %"},
    // Small models and functions.
    {"linear_eager", Bound::host, "2 % compute"},
    {"linear_compile", Bound::host, "1 % compute"},
    {"mlp_geglu_eager", Bound::host, "10 % compute"},
    {"mlp_geglu_compile", Bound::host, "7 % compute"},
    {"mlp_geglu_reduce_overhead", Bound::host, "12 % compute: graph replays wait for Python"},
    {"muladd_eager", Bound::host, "44 % host over 35 % allocating and the profiler"},
    {"muladd_compile_cold", Bound::compiling, "78 % in Dynamo and Inductor"},
    {"muladd_compile_cold_no_return", Bound::no_gpu_work, "the result is not used, so nothing was launched"},
    {"muladd_compile_warm_no_return", Bound::no_gpu_work, "the result is not used, so nothing was launched"},
    {"muladd_compile_cudagraph", Bound::mixed, "62 % compute and no other part of 25 %"},
    {"softmax_eager", Bound::host, "4 % compute"},
    {"softmax_inductor", Bound::host, "3 % compute"},
    {"softmax_cudagraphs", Bound::host, "5 % compute"},
    {"graph_breaks", Bound::host, "2 % compute"},
    {"graph_breaks_stack", Bound::host, "3 % compute"},
    {"graph_breaks_recompile", Bound::compiling, "95 % compiling"},
    {"recompiled_region", Bound::host, "1 % compute"},
    {"needless_sync", Bound::host, "the syncs are short; what they cost shows as host time that could have run ahead"},
    {"transformer_baseline", Bound::host, "8 % compute"},
    {"transformer_optimized", Bound::host, "65 % compute is below the cut, and 31 % is the host's"},
    {"llama_train_stack", Bound::host, "7 % compute, with stacks recorded"},
    {"cold_process_64", Bound::start_up, "the first of three steps is 99.8 % and makes the context"},
    {"launch_blocking", Bound::not_judged, "launches waited for their kernels"},
    // Recorded by this program.
    {"recorded_add_counters", Bound::compute, "94 % compute"},
    {"recorded_geglu_counters", Bound::compute, "87 % compute"},
    {"recorded_gemm_counters", Bound::compute, "91 % compute"},
    {"recorded_addmm_4096_copy", Bound::compute, "80 % compute"},
    {"recorded_geglu_mlp_train", Bound::compute, "83 % compute"},
    {"recorded_matmul_add_4096", Bound::compute, "89 % compute"},
    {"recorded_matmul_add_64_cold", Bound::start_up,
     "the first step loads cuBLAS and takes a thousand times as long as the others"},
    {"recorded_mul_add_graph", Bound::mixed, "43 % compute; the rest is launch latency, which is no bound of its own"},
    {"recorded_streams", Bound::transfer, "82 % exposed copies"},
    {"recorded_syncs", Bound::host, "58 % host"},
    // By others.
    {"hta_a100_simple_add", Bound::start_up, "no steps, and the first CUDA call takes 25 of 42 s"},
    {"hta_ddp_ns_resolution", Bound::compute, "97 % compute"},
    {"kineto_2021_resnet50", Bound::input, "the data loader runs in the training process: 33 %"},
    {"tracelens_b200_vllm_moe", Bound::host, "46 % Python and 28 % operators"},
    {"tracelens_h100_bert_small", Bound::host, "7 % compute"},
    {"tracelens_mi300_bert_small", Bound::host, "10 % compute"},
    {"tracelens_mi300_graph_capture", Bound::not_judged, "a capture: its launches start no work by design"},
    {"tracelens_mi300_graph_execution", Bound::mixed, "56 % compute, and 41 % between the kernels of replayed graphs"},
    {"tracelens_mi210_gpu_only", Bound::compute, "89 % compute"},
};

// A thread of 1,000 us with one kernel over its first `compute` us, then `rest`: name, category, length in us.
std::shared_ptr<const Trace> made_up(int compute, const std::vector<std::tuple<std::string, std::string, int>>& rest) {
  std::string list = slice("before", "0", fmt::format("{}", compute)) + "," +
                     slice("cudaLaunchKernel", "0", "0", ", \"args\": {\"correlation\": 1}", "cuda_runtime") + "," +
                     slice("gemm", "0", fmt::format("{}", compute),
                           ", \"args\": {\"correlation\": 1, \"device\": 0, \"stream\": 7}", "kernel", "70");
  int at = compute;
  for (const auto& [name, cat, us] : rest) {
    list += "," + slice(name, fmt::format("{}", at), fmt::format("{}", us), "", cat);
    at += us;
  }
  REQUIRE(at == 1000);
  return load_text(events(list));
}

Bound bound_of(int compute, const std::vector<std::tuple<std::string, std::string, int>>& rest) {
  return Judged(made_up(compute, rest)).verdict.bound;
}

}  // namespace

TEST_CASE("each recording's verdict is what an expert would say") {
  for (const Expected& expected : kExpected) {
    CAPTURE(expected.name);
    CAPTURE(expected.reason);
    const auto path = recording_or_none(expected.name);
    if (path.empty()) {
      REQUIRE(!has_shared("the verdict on recordings by others"));
      continue;
    }
    const Judged j = judged(path);
    CHECK(bound_name(j.verdict.bound) == bound_name(expected.bound));
  }
}

TEST_CASE("no recording is without an expected verdict") {
  for (const auto& path : real_traces()) {
    const std::string name = path.filename().string().substr(0, path.filename().string().find(".json"));
    CAPTURE(name);
    CHECK(std::any_of(std::begin(kExpected), std::end(kExpected), [&](const Expected& e) { return name == e.name; }));
  }
}

TEST_CASE("a verdict is one line with its name, its share, the compute share and what comes next") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.filename().string());
    const Judged j = judged(path);
    const std::string& text = j.verdict.text;
    CAPTURE(text);
    CHECK(text.starts_with(std::string(bound_name(j.verdict.bound)) + ": "));
    CHECK(text.ends_with("."));
    CHECK(text.find('\n') == std::string::npos);
    // Its words are the text without what the parts below it show.
    const VerdictWords& words = j.verdict.words;
    CHECK(text.starts_with(words.what.substr(0, words.what.size() - 1)));
    CHECK(text.ends_with(words.caveat));
    CHECK(words.what.find("; ") == std::string::npos);
    const DeviceAccount* d = j.account.busiest();
    if (d == nullptr || capture_recording(*j.trace)) continue;
    // Busy as everywhere, unless much of it is communication or copies.
    const AccountTimes& t = d->times;
    const bool parted = std::max(t.exposed_communication, t.exposed_copies) >= t.window / 20;
    const Ns busy = t.compute + t.exposed_communication + t.exposed_copies;
    const auto said = [&](std::string_view what, Ns time) {
      return text.find(std::string(what) + format_percent(static_cast<double>(time) / static_cast<double>(t.window))) !=
             std::string::npos;
    };
    CHECK((said("is busy ", busy) || (parted && said("computes for ", t.compute))));
    const bool tells_next = text.find("largest") != std::string::npos || text.find("next") != std::string::npos ||
                            text.find("Next") != std::string::npos;
    CHECK((tells_next || j.trust.launch_blocked));
  }
}

TEST_CASE("a verdict's shares are the account's: what it names, and the largest part beside that") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.filename().string());
    const Judged j = judged(path);
    const DeviceAccount* d = j.account.busiest();
    if (d == nullptr || j.trust.cut_off || j.trust.launch_blocked || capture_recording(*j.trace)) continue;
    using enum IdleCause;
    const AccountTimes& t = d->times;
    const bool parted = j.verdict.text.find("computes for ") != std::string::npos;
    const Ns copying = t.exposed_communication + t.exposed_copies;
    const std::pair<Bound, Ns> groups[] = {{Bound::compute, t.compute + (parted ? 0 : copying)},
                                           {Bound::communication, parted ? t.exposed_communication : 0},
                                           {Bound::transfer, parted ? t.exposed_copies : 0},
                                           {Bound::host, t.of(op) + t.of(python) + t.of(launching) + t.of(cuda_call)},
                                           {Bound::input, t.of(data_loading)},
                                           {Bound::synchronization, t.of(synchronizing)},
                                           {Bound::compiling, t.of(IdleCause::compiling)},
                                           {Bound::start_up, t.of(loading) + t.of(allocating) + t.of(profiler)},
                                           {Bound::latency, t.of(starting)},
                                           {Bound::not_judged, t.of(unrecorded) + t.of(unlinked)}};
    Ns all = 0, beside = 0;
    const auto is_told = [&](Ns part) {
      return j.verdict.text.find(format_percent(static_cast<double>(part) / static_cast<double>(t.window))) !=
             std::string::npos;
    };
    CAPTURE(j.verdict.text);
    for (const auto& [bound, time] : groups) {
      all += time;
      if (bound == j.verdict.bound && bound != Bound::start_up && bound != Bound::mixed && bound != Bound::latency)
        CHECK(is_told(time));
      if (bound != j.verdict.bound) beside = std::max(beside, time);
    }
    CHECK(all == t.window);
    CHECK(is_told(beside));
    if (j.verdict.bound == Bound::host) {
      const IdleCause lead =
          std::max({op, python, launching, cuda_call}, [&](IdleCause a, IdleCause b) { return t.of(a) < t.of(b); });
      CHECK(j.verdict.text.find("mostly for " + std::string(idle_cause_title(lead, program_kind(*j.trace)))) !=
            std::string::npos);
      CHECK(is_told(t.of(lead)));
    }
  }
}

TEST_CASE("compute of 70 % is compute-bound, less is bound by the largest other part from 25 % on") {
  CHECK(bound_of(700, {{"aten::mm", "cpu_op", 300}}) == Bound::compute);
  CHECK(bound_of(699, {{"aten::mm", "cpu_op", 301}}) == Bound::host);
  CHECK(bound_of(650, {{"aten::mm", "cpu_op", 250}, {"cudaMalloc", "cuda_runtime", 100}}) == Bound::host);
  CHECK(bound_of(651, {{"aten::mm", "cpu_op", 249}, {"cudaMalloc", "cuda_runtime", 100}}) == Bound::mixed);
  // The host's parts count together: 13 + 13 % are more than 20 %.
  CHECK(bound_of(540,
                 {{"aten::mm", "cpu_op", 130}, {"f.py(1): f", "python_function", 130}, {"cudaMalloc", "cuda_runtime", 200}}) ==
        Bound::host);
  CHECK(bound_of(300, {{"enumerate(DataLoader)#X.__next__", "user_annotation", 400}, {"aten::mm", "cpu_op", 300}}) ==
        Bound::input);
  CHECK(bound_of(300, {{"cudaStreamSynchronize", "cuda_runtime", 400}, {"aten::mm", "cpu_op", 300}}) == Bound::synchronization);
  CHECK(bound_of(300, {{"cudaMalloc", "cuda_runtime", 400}, {"aten::mm", "cpu_op", 300}}) == Bound::start_up);
  CHECK(bound_of(300, {{"backend_compile (dynamo_timed)", "user_annotation", 400}, {"aten::mm", "cpu_op", 300}}) ==
        Bound::compiling);
}

TEST_CASE("a verdict stands where no part could overtake the largest one with what is not explained") {
  AccountTimes t;
  t.window = 1'000;
  t.idle[index_of(IdleCause::op)] = 400;
  t.idle[index_of(IdleCause::synchronizing)] = 380;
  t.idle[index_of(IdleCause::unlinked)] = 15;
  CHECK(verdict_stands(t, 15));
  CHECK_FALSE(verdict_stands(t, 20));  // all of it synchronization: as much as the operators
  t.idle[index_of(IdleCause::op)] = t.idle[index_of(IdleCause::synchronizing)] = 240;
  CHECK(verdict_stands(t, 9));
  CHECK_FALSE(verdict_stands(t, 10));  // no single part, or one of 25 %
  t.idle[index_of(IdleCause::unlinked)] = 300;
  CHECK_FALSE(verdict_stands(t, 300));
  t.compute = 700;
  CHECK(verdict_stands(t, 300));
}

TEST_CASE("a window without length is not judged") {
  const Judged j(load_text(
      events(slice("cudaLaunchKernel", "0", "0", ", \"args\": {\"correlation\": 1}", "cuda_runtime") + "," +
             slice("gemm", "0", "0", ", \"args\": {\"correlation\": 1, \"device\": 0, \"stream\": 7}", "kernel", "70"))));
  CHECK(j.verdict.text == "Not judged: the recording's window has no length.");
}

TEST_CASE("an input-bound verdict names the data loader") {
  const Judged j(made_up(300, {{"enumerate(DataLoader)#X.__next__", "user_annotation", 400}, {"aten::mm", "cpu_op", 300}}));
  CHECK(j.verdict.text == "Input-bound: the GPU waits for data for 40.0 % of the window of " + format_duration(kNsPerMs) +
                              ", in enumerate(DataLoader)#X.__next__. It is busy 30.0 %, the second largest part.");
}

TEST_CASE("a GPU that is busy for longer than it waits is said to be busy first, and the named time is the wait's") {
  const Judged j(made_up(600, {{"aten::mm", "cpu_op", 300}, {"cudaStreamSynchronize", "cuda_runtime", 100}}));
  CHECK(j.verdict.bound == Bound::host);
  CHECK(
      j.verdict.text.starts_with("Host-bound: the GPU is busy 60.0 % of the window of 1.00 ms and waits 30.0 % for the host, "
                                 "mostly for operators (30.0 %). The next part is synchronization, 10.0 %."));
  const AccountTimes& t = j.account.busiest()->times;
  CHECK(bound_time(Bound::host, t) == 3 * t.window / 10);
  CHECK(bound_time(Bound::compute, t) == t.compute);
  CHECK_FALSE(bound_time(Bound::mixed, t));
  CHECK_FALSE(bound_time(Bound::start_up, t));
}

TEST_CASE("of several GPUs the busiest is judged") {
  const auto trace = load_text(
      events(slice("aten::mm", "0", "2000") + "," +
             slice("cudaLaunchKernel", "0", "0", ", \"args\": {\"correlation\": 1}", "cuda_runtime") + "," +
             slice("cudaLaunchKernel", "1", "0", ", \"args\": {\"correlation\": 2}", "cuda_runtime") + "," +
             slice("gemm", "0", "100", ", \"args\": {\"correlation\": 1, \"device\": 0, \"stream\": 7}", "kernel", "70") + "," +
             slice("gemm", "0", "1900", ", \"args\": {\"correlation\": 2, \"device\": 1, \"stream\": 7}", "kernel", "71")));
  const Judged j(trace);
  CHECK(j.verdict.text.starts_with("Compute-bound: GPU 1, the busiest of 2, is busy 95.0 % of the window of "));
}

TEST_CASE(
    "a step ten times as long as the others that makes the context is start-up, and so is a recording without steps that "
    "does") {
  const auto text = [](const char* first_step_us, bool steps) {
    std::string list =
        slice("cudaDeviceGetStreamPriorityRange", "10", "12000", ", \"args\": {\"correlation\": 9}", "cuda_runtime") + "," +
        slice("cudaLaunchKernel", "19000", "10", ", \"args\": {\"correlation\": 1}", "cuda_runtime") + "," +
        slice("gemm", "19020", "10", ", \"args\": {\"correlation\": 1, \"device\": 0, \"stream\": 7}", "kernel", "70");
    if (steps)
      list += "," + slice("ProfilerStep#0", "0", first_step_us, "", "user_annotation") + "," +
              slice("ProfilerStep#1", first_step_us, "2000", "", "user_annotation");
    return events(list);
  };
  CHECK(Judged(load_text(text("20000", true))).verdict.bound == Bound::start_up);
  CHECK(Judged(load_text(text("19500", true))).verdict.bound != Bound::start_up);
  CHECK(Judged(load_text(text("20000", false))).verdict.bound == Bound::start_up);
}

TEST_CASE("a first iteration ten times as long as the others that loads code is start-up where no step is marked") {
  const auto verdict = [](int first_us, const char* loading) {
    std::string list =
        slice("aten::mm", "0", "9000") + "," +
        slice("cudaLaunchKernel", "9000", "10", ", \"args\": {\"correlation\": 1}", "cuda_runtime") + "," +
        slice("gemm", "9020", "10", ", \"args\": {\"correlation\": 1, \"device\": 0, \"stream\": 7}", "kernel", "70") + "," +
        slice(loading, "100", "500", "", "overhead", "71");
    for (int i = 0; i < 3; ++i)
      list += "," + slice("Optimizer.step#SGD.step", std::to_string(first_us - 100 + 1000 * i), "100", "", "user_annotation");
    return Judged(load_text(events(list))).verdict;
  };
  const Verdict cold = verdict(10'000, "Lazy Function Loading");
  CHECK(
      cold.text.starts_with("Start-up: the first iteration takes 83.3 % of the window of 12.0 ms and includes the first use of "
                            "GPU libraries (Lazy Function Loading). "));
  CHECK(cold.bound == Bound::start_up);
  CHECK(verdict(9'900, "Lazy Function Loading").bound == Bound::host);  // nine times
  CHECK(verdict(10'000, "Activity Buffer Request").bound == Bound::host);
}

TEST_CASE("memory that is allocated in every step is no start-up, that of the first one is") {
  // Steps of 100 us: an allocation of `us` of them, then a kernel.
  const auto judged_steps = [](std::initializer_list<int> allocations, bool marked) {
    std::string list = slice("aten::mm", "0", "400");
    int i = 0;
    for (const int us : allocations) {
      const auto at = [&](int t) { return std::to_string(100 * i + t); };
      const std::string args = fmt::format(", \"args\": {{\"correlation\": {}", ++i);
      list += "," +
              slice("cudaMalloc", at(0), std::to_string(us), fmt::format(", \"args\": {{\"correlation\": {}}}", 100 + i),
                    "cuda_runtime") +
              "," + slice("cudaLaunchKernel", at(us), "5", args + "}", "cuda_runtime") + "," +
              slice("gemm", at(us + 5), "5", args + ", \"device\": 0, \"stream\": 7}", "kernel", "70");
      if (marked) list += "," + slice(fmt::format("ProfilerStep#{}", i), at(0), "99", "", "user_annotation");
    }
    return Judged(load_text(events(list))).verdict;
  };
  for (const bool marked : {true, false}) {
    const Verdict again = judged_steps({80, 80, 80, 80}, marked);
    CHECK(again.bound == Bound::allocating);
    CHECK(again.text.starts_with("Allocation-bound: the GPU waits for memory to be allocated or freed for "));
    CHECK(again.text.find(", most of it in cudaMalloc. ") != std::string::npos);
    CHECK(record_again(*load_text(events(slice("aten::mm", "0", "10"))), Trust{}, again.bound).empty());
  }
  CHECK(judged_steps({80, 1, 1, 1}, true).bound != Bound::allocating);
}

TEST_CASE("a file cut in the middle is not judged, whatever is left of it") {
  const std::string whole =
      events(slice("aten::mm", "0", "1000") + "," +
             slice("cudaLaunchKernel", "0", "0", ", \"args\": {\"correlation\": 1}", "cuda_runtime") + "," +
             slice("gemm", "0", "900", ", \"args\": {\"correlation\": 1, \"device\": 0, \"stream\": 7}", "kernel", "70"));
  for (const std::size_t cut : {whole.find("gemm"), whole.find("cudaLaunch"), whole.size() - 20}) {
    const Judged j(load_text(whole.substr(0, cut)));
    CHECK(j.verdict.bound == Bound::not_judged);
    CHECK(j.verdict.text == "Not judged: the file is cut off, so the limit of the run is unknown.");
    CHECK(trust_text(j.trust).starts_with("The file is cut off: "));
  }
  CHECK(Judged(load_text(whole)).verdict.bound == Bound::compute);
}

TEST_CASE("what is missing from a file is said, with what it means") {
  const auto kernel = [](int n, const char* ts, const char* dur) {
    return slice("gemm", ts, dur, fmt::format(", \"args\": {{\"correlation\": {}, \"device\": 0, \"stream\": 7}}", n), "kernel",
                 "70");
  };
  const auto launch = [](int n, const char* ts, const char* dur) {
    return slice("cudaLaunchKernel", ts, dur, fmt::format(", \"args\": {{\"correlation\": {}}}", n), "cuda_runtime");
  };
  const std::string linked = slice("aten::mm", "0", "1000") + "," + launch(1, "0", "5") + "," + kernel(1, "10", "800");

  const Judged healthy(load_text(events(linked)));
  CHECK(trust_text(healthy.trust).empty());

  const Judged damaged(
      load_text("{\"traceEvents\": [" + linked +
                ", {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"lost\", \"pid\": 7, \"tid\": 1, \"dur\": 3}]}"));
  CHECK(trust_text(damaged.trust) == "1 event has no time: left out.");
  CHECK(damaged.verdict.bound == Bound::compute);

  const Judged unlinked(load_text(events(slice("aten::mm", "0", "1000") + "," + kernel(1, "10", "800"))));
  CHECK(trust_text(unlinked.trust).starts_with("No launch of the 1 GPU operation in this file is recorded"));
  CHECK(unlinked.verdict.bound == Bound::not_judged);

  const Judged half(load_text(events(linked + "," + kernel(2, "900", "50"))));
  CHECK(trust_text(half.trust).starts_with("1 of 2 GPU operations (50.0 %) has no launch in the file"));

  const Judged blocked(load_text(events(slice("aten::mm", "0", "1000") + "," + launch(1, "0", "100") + "," +
                                        kernel(1, "10", "80") + "," + launch(2, "100", "100") + "," + kernel(2, "110", "80") +
                                        "," + launch(3, "200", "100") + "," + kernel(3, "210", "80"))));
  CHECK(trust_text(blocked.trust).find("all 3 kernels of 20.0") != std::string::npos);
  CHECK(blocked.verdict.bound == Bound::not_judged);
}

TEST_CASE("a host-bound verdict says how much of it may be the profiler's own work, where that is much") {
  // A step of 1 ms in which a kernel of 10 us runs, and 40 operators of 20 us that each call the runtime.
  const auto step_of = [](int operators) {
    std::string text = slice("ProfilerStep#1", "0", "1000", "", "user_annotation");
    for (int i = 0; i < operators; ++i) text += "," + slice("aten::add", std::to_string(20 * i), "15", "", "cpu_op");
    text += "," + slice("cudaLaunchKernel", "900", "5", R"(, "args": {"correlation": 1})", "cuda_runtime");
    return text + "," + slice("k", "910", "10", R"(, "args": {"correlation": 1, "device": 0, "stream": 7})", "kernel", "70");
  };
  const Judged many(load_text(events(step_of(40))));
  CHECK(many.verdict.bound == Bound::host);
  const ProfilerCost cost = profiler_cost(*many.trace, many.account.window());
  CHECK(cost.records == 42);
  CHECK(cost.frames == 0);
  CHECK(cost.most == 42 * 4'900);
  CHECK(many.verdict.text.find(" Up to 21 % of the window may be the profiler's own work. Time a step without it.") !=
        std::string::npos);
  CHECK(many.verdict.words.caveat.find("Up to 21 % of the window may be the profiler's own work") != std::string::npos);
  CHECK(many.verdict.words.what.ends_with("."));
  const Judged few(load_text(events(step_of(10))));
  CHECK(few.verdict.bound == Bound::host);
  CHECK(few.verdict.text.find("the profiler's own work") == std::string::npos);
}

TEST_CASE("a step without the profiler has none of the profiler's own work, nor calls that nothing recorded") {
  for (const char* name : {"matmul_add_64_no_wait", "matmul_add_64_active20", "muladd_eager"}) {
    CAPTURE(name);
    const TraceSession session(load_plain(recording(name)));
    const std::optional<AccountTimes>& plain = headline_of(session).plain_times;
    REQUIRE(plain);
    CHECK(session.account().busiest()->times.of(IdleCause::profiler) > 0);
    CHECK(plain->of(IdleCause::profiler) == 0);
    CHECK(plain->of(IdleCause::cuda_call) <= session.account().busiest()->times.of(IdleCause::cuda_call));
  }
}
