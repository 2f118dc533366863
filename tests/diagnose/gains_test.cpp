// What remedies are taken to change, on small traces whose gains can be counted.
#include "core/diagnose/gains.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/text.h"
#include "core/diagnose/verdict.h"
#include "core/replay/plain_program.h"
#include "core/replay/replay.h"
#include "core/view/document.h"
#include "tests/support/diagnosed.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

const RankedFinding* finding_of(const Diagnosis& d, std::string_view rule) {
  for (const RankedFinding& f : d.findings)
    if (f.finding.rule->id == rule) return &f;
  return nullptr;
}

}  // namespace

TEST_CASE("a graph is offered after the waits that its capture forbids") {
  const Document& d = diagnosed_once(recording("needless_sync")).document;
  CHECK(d.diagnosis()->plan.waits_inside == 21);
  const RankedFinding* host = finding_of(*d.diagnosis(), "overhead_bound");
  REQUIRE(host != nullptr);
  CHECK(gain_words(*d.diagnosis(), *host).ends_with("as one graph, after removing 7 synchronizations a step"));
  const Document& eager = diagnosed_once(recording("mlp_geglu_eager")).document;
  CHECK(eager.diagnosis()->plan.waits_inside == 0);
}

TEST_CASE("a bound holds wherever in its range the plain step is") {
  const std::filesystem::path path = recordings_folder() / "plain" / "hooks_numpy_lean.json.xz";
  const Document estimated(load_plain(path));
  estimated.diagnose();
  const Document stated(load_plain(path, StepTime(estimated.diagnosis()->plain->step)));
  stated.diagnose();
  std::size_t wider = 0;
  for (const Document* d : {&estimated, &stated})
    for (const Plan::Item& item : d->diagnosis()->plan.items) {
      CHECK(item.most >= item.saved);
      CHECK(item.least <= item.after);
      if (item.exact || d == &stated) CHECK(item.most == item.saved);
      if (d == &estimated) wider += item.most > item.saved ? 1 : 0;
    }
  CHECK(wider > 0);
}

TEST_CASE("a fused attention replaces its mask and its backward pass, too") {
  // Three steps of a busy GPU: product, mask, softmax, product, and behind them their backward work and what is none of theirs.
  std::string text;
  int correlation = 0, arrow = 0;
  const auto work = [&](const char* op, int at, int gpu_at, const char* kernel, int thread) {
    ++correlation;
    const std::string args = fmt::format(R"(, "args": {{"correlation": {}, "device": 0, "stream": 7}})", correlation);
    const std::string tid = std::to_string(thread);
    text += (text.empty() ? "" : ",") + slice(op, std::to_string(at), "80", "", "cpu_op", tid) + "," +
            slice("cudaLaunchKernel", std::to_string(at + 10), "5", args, "cuda_runtime", tid) + "," +
            slice(kernel, std::to_string(gpu_at), "1000", args, "kernel", "70");
  };
  for (int step = 0; step < 3; ++step) {
    const int at = 7000 * step, gpu = at + 200;
    text += (text.empty() ? "" : ",") +
            slice("ProfilerStep#" + std::to_string(step), std::to_string(at), "7000", "", "user_annotation");
    work("aten::bmm", at + 100, gpu, "gemm", 1);
    work("aten::masked_fill_", at + 200, gpu + 1000, "fill", 1);
    work("aten::_softmax", at + 300, gpu + 2000, "softmax", 1);
    work("aten::bmm", at + 400, gpu + 3000, "gemm", 1);
    work("aten::add", at + 500, gpu + 4000, "add", 1);
    work("MaskedFillBackward0", at + 600, gpu + 5000, "fill", 2);
    ++arrow;
    text += fmt::format(R"(,{{"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":{0},"pid":7,"tid":1,"ts":{1}}},
{{"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":{0},"pid":7,"tid":2,"ts":{2}}})",
                        arrow, at + 200, at + 600);
  }
  const Document d(load_text(events(text)));
  d.diagnose();
  const RankedFinding* attention = finding_of(*d.diagnosis(), "unfused_attention");
  REQUIRE(attention != nullptr);
  CHECK(attention->finding.summary.find("9.00 ms") != std::string::npos);   // its three parts
  CHECK(attention->finding.summary.find("15.0 ms.") != std::string::npos);  // and the mask, and that backward
  CHECK(attention->finding.code == "F.scaled_dot_product_attention(q, k, v, attn_mask=~mask)");
  REQUIRE(attention->gain);
  REQUIRE(attention->gain->change);
  const std::vector<Ns>& lasts = attention->gain->change->lasts;
  CHECK(std::count(lasts.begin(), lasts.end(), 500'000) == 15);
  CHECK(std::count(lasts.begin(), lasts.end(), 1'000'000) == 3);
}

TEST_CASE("pageable copies from pinned memory give back the host's time in their calls and in the wait after them") {
  // Three steps of 20 ms: a copy whose call moves the data by itself for 6 ms, the wait after it, then a kernel.
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const int at = 20'000 * i;
    const auto args = [&](int n) { return R"(, "args": {"correlation": )" + std::to_string(2 * i + n); };
    const auto on_gpu = [&](int n) { return args(n) + R"(, "bytes": 60000000, "device": 0, "stream": 7})"; };
    const auto us = [&](int t) { return std::to_string(at + t); };
    text += (i > 0 ? "," : "") + slice("ProfilerStep#" + std::to_string(i), us(0), "20000", "", "user_annotation") + "," +
            slice("aten::copy_", us(100), "6100", "", "cpu_op") + "," +
            slice("cudaMemcpyAsync", us(110), "6000", args(1) + "}", "cuda_runtime") + "," +
            slice("Memcpy HtoD (Pageable -> Device)", us(150), "6000", on_gpu(1), "gpu_memcpy", "70") + "," +
            slice("cudaStreamSynchronize", us(6115), "50", "", "cuda_runtime") + "," +
            slice("aten::mm", us(7000), "100", "", "cpu_op") + "," +
            slice("cudaLaunchKernel", us(7010), "10", args(2) + "}", "cuda_runtime") + "," +
            slice("gemm", us(7030), "100", on_gpu(2), "kernel", "70");
  }
  const Document d(load_text(events(text)));
  d.diagnose();
  const RankedFinding* copies = finding_of(*d.diagnosis(), "pageable_memcpy");
  REQUIRE(copies != nullptr);
  REQUIRE(copies->gain);
  CHECK(copies->gain->time > 3 * 5'900'000);
  CHECK(copies->gain->time < 3 * 6'200'000);
}

TEST_CASE("the plan takes what gives most, the surer before a bound that gives no more after it, the roofline last") {
  std::size_t planned = 0;
  for (const auto& path : real_traces()) {
    if (path.string().find("llama") != std::string::npos) continue;  // long
    CAPTURE(path.string());
    const Document& d = diagnosed_once(path).document;
    const Plan& plan = d.diagnosis()->plan;
    Ns length = plan.run;
    bool roofline = false;
    Practices done(d.trace);
    for (const Plan::Item& item : plan.items) {
      CAPTURE(item.remedy);
      CHECK_FALSE(item.remedy.empty());
      for (std::size_t i = 0; i < static_cast<std::size_t>(Remedy::count_); ++i)  // by the program, or by a remedy before it
        if (const auto r = static_cast<Remedy>(i); item.remedies.has(r)) CHECK_FALSE(done.refuses(r));
      done = done.after(item.remedies);
      const RankedFinding& f = d.diagnosis()->findings[static_cast<std::size_t>(item.finding)];
      CHECK(plan.share(item.saved) >= kLeastOfPlan);
      CHECK(item.after == length - item.saved);
      CHECK(planned_words(*d.diagnosis(), item)
                .starts_with(&item == plan.items.data() ? "saves "
                             : item.exact               ? "then about "
                                                        : "then down to "));
      CHECK_FALSE((roofline && f.finding.rule->gives.cure != Cure::roofline));
      roofline |= f.finding.rule->gives.cure == Cure::roofline;
      length = item.after;
      ++planned;
    }
    // A bound does not go before what is just the remedy and gives far more: at most where it is the cause of that.
    const auto gain_of = [&](const Plan::Item& item) {
      return *d.diagnosis()->findings[static_cast<std::size_t>(item.finding)].gain;
    };
    for (const RankedFinding& f : d.diagnosis()->findings)
      if (!plan.items.empty() && !gain_of(plan.items.front()).exact && f.gain && f.gain->exact &&
          f.finding.severity != Severity::informational)
        CHECK_MESSAGE(f.gain->time <= 2 * gain_of(plan.items.front()).time, f.finding.rule->id);
    // A remedy outside the plan gives no more than a surer one that goes first: nothing is left out that is worth it.
    for (const RankedFinding& f : d.diagnosis()->findings)
      if (plan.items.empty() && f.gain) CHECK(plan.share(f.gain->time) < kLeastOfPlan);
  }
  CHECK(planned > 20);
}

TEST_CASE("a plan names no remedy twice: of a later one it says what is new, and leaves out one that says nothing new") {
  const Document& compiled = diagnosed_once(recording("softmax_inductor")).document;
  const Plan& plan = compiled.diagnosis()->plan;
  REQUIRE(plan.items.size() == 2);
  CHECK(plan.items[0].remedy.find("mode=\"reduce-overhead\"") != std::string::npos);
  CHECK(plan.items[1].remedy == "Then use more of the step in each CUDA graph.");
  const Document& graphs = diagnosed_once(recording("softmax_cudagraphs")).document;
  CHECK(graphs.diagnosis()->plan.items.size() == 1);
}

TEST_CASE("what is at stake is stated as what is left of the work") {
  // In each of three steps the host waits for a product in FP32 without tensor cores.
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const auto us = [&](int t) { return std::to_string(1000 * i + t); };
    const std::string args = R"(, "args": {"correlation": )" + std::to_string(i + 1);
    text += (i > 0 ? "," : "") + slice("ProfilerStep#" + std::to_string(i + 1), us(0), "1000", "", "user_annotation") + "," +
            slice("aten::mm", us(0), "20") + "," + slice("cudaLaunchKernel", us(5), "5", args + "}", "cuda_runtime") + "," +
            slice("ampere_sgemm_128x64_nn", us(15), "980", args + R"(, "device": 0, "stream": 7})", "kernel", "70") + "," +
            slice("cudaDeviceSynchronize", us(30), "967", "", "cuda_runtime");
  }
  const Document d(load_text(events(text)));
  d.diagnose();
  const RankedFinding* products = finding_of(*d.diagnosis(), "fp32_gemm_cuda_cores");
  REQUIRE(products != nullptr);
  REQUIRE(products->gain);
  const Ns time = 3 * 980 * kNsPerUs;
  const double left = 1 - static_cast<double>(products->finding.stake) / static_cast<double>(time);
  CHECK(std::abs(products->gain->left - left) < 0.001);
  CHECK(gain_words(*d.diagnosis(), *products).ends_with(": this GPU work in " + format_percent(left) + " of its time"));
}

TEST_CASE("a surer remedy that gives more at once goes before a bound that gives more after it") {
  // Three steps: data for 12 ms, a product of 0.5 ms that the host waits for, one of 11 ms that runs while the next data come.
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const int at = 12'600 * i;
    const auto us = [&](int t) { return std::to_string(at + t); };
    const auto product = [&](int n, int called, int begin, int length) {
      const std::string args = R"(, "args": {"correlation": )" + std::to_string(2 * i + n);
      return "," + slice("aten::mm", us(called), "20") + "," +
             slice("cudaLaunchKernel", us(called + 5), "5", args + "}", "cuda_runtime") + "," +
             slice("ampere_sgemm_128x64_nn", us(begin), std::to_string(length), args + R"(, "device": 0, "stream": 7})",
                   "kernel", "70");
    };
    text += (i > 0 ? "," : "") + slice("ProfilerStep#" + std::to_string(i + 1), us(0), "12600", "", "user_annotation") + "," +
            slice("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", us(0), "12000", "", "user_annotation") +
            product(1, 12'000, 12'020, 500) + "," + slice("cudaDeviceSynchronize", us(12'030), "492", "", "cuda_runtime") +
            product(2, 12'530, 12'550, 11'000);
  }
  const Document d(load_text(events(text)));
  d.diagnose();
  const Plan& plan = d.diagnosis()->plan;
  REQUIRE(plan.items.size() >= 2);
  const auto rule = [&](std::size_t i) {
    return d.diagnosis()->findings[static_cast<std::size_t>(plan.items[i].finding)].finding.rule->id;
  };
  CHECK(rule(0) == "dataloader_wait");
  CHECK(rule(1) == "fp32_gemm_cuda_cores");
  CHECK(plan.items[1].saved > plan.items[0].saved);
}

TEST_CASE("of an optimizer only what updates the embeddings can go with their dense gradients") {
  // A table of 1000 x 8, another parameter of `rows` x 8, and an optimizer of 600 us a step.
  const auto cost = [](int rows) -> std::optional<Ns> {
    std::string text;
    for (int step = 0; step < 3; ++step) {
      const auto us = [&](int t) { return std::to_string(1000 * step + t); };
      const auto op = [&](const char* name, int at, const std::string& dims) {
        text += "," + slice(name, us(at), "40",
                            R"(, "args": {"Input Dims": [)" + dims + R"(], "Input type": ["float", "long int"]})");
      };
      const auto work = [&](int at, int begin, int length) {
        const std::string args =
            R"(, "args": {"device": 0, "stream": 7, "correlation": )" + std::to_string(1000 * step + at) + "}";
        text += "," + slice("cudaLaunchKernel", us(at), "5", args, "cuda_runtime") + "," +
                slice("multi_tensor_apply_kernel", us(begin), std::to_string(length), args, "kernel", "70");
      };
      text += (step > 0 ? "," : "") + slice("ProfilerStep#" + std::to_string(step + 1), us(0), "1000", "", "user_annotation");
      op("aten::embedding", 10, "[1000, 8], [10]");
      op("aten::embedding_dense_backward", 60, "[10, 8], [10]");
      work(70, 100, 100);
      op("torch::autograd::AccumulateGrad", 110, "[1000, 8]");
      op("torch::autograd::AccumulateGrad", 160, "[" + std::to_string(rows) + ", 8]");
      text += "," + slice("Optimizer.step#Adam.step", us(210), "100", "", "user_annotation");
      work(220, 250, 600);
    }
    const Diagnosed found(load_text(events(text)));
    const auto findings = found.findings("dense_embedding_gradients");
    return findings.empty() ? std::nullopt : std::optional(findings.front()->stake);
  };
  CHECK(cost(0) == 3 * 700'000);
  CHECK(cost(1000) == 3 * (300'000 + 100'000));
  CHECK(!cost(9000));
}

TEST_CASE("work that one remedy takes away is no other's to fuse") {
  // Three steps in which the optimizer updates a table of embeddings by eight kernels.
  std::string text;
  int correlation = 0;
  for (int step = 0; step < 3; ++step) {
    const auto us = [&](int t) { return std::to_string(1000 * step + t); };
    const auto work = [&](const char* op, int at, int begin, int length) {
      const std::string args = R"(, "args": {"device": 0, "stream": 7, "correlation": )" + std::to_string(++correlation) + "}";
      text += "," + slice(op, us(at), "40") + "," + slice("cudaLaunchKernel", us(at + 20), "5", args, "cuda_runtime") + "," +
              slice("void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >(int)", us(begin),
                    std::to_string(length), args, "kernel", "70");
    };
    text += (step > 0 ? "," : "") + slice("ProfilerStep#" + std::to_string(step + 1), us(0), "1000", "", "user_annotation");
    work("aten::embedding_dense_backward", 10, 40, 60);
    text += "," + slice("Optimizer.step#Adam.step", us(60), "440", "", "user_annotation");
    for (int i = 0; i < 8; ++i) work(i % 2 == 0 ? "aten::mul_" : "aten::add_", 70 + 50 * i, 100 + 110 * i, 110);
    text += "," + slice("cudaDeviceSynchronize", us(510), "475", "", "cuda_runtime");
  }
  const Document d(load_text(events(text)));
  d.diagnose();
  const RankedFinding* chain = finding_of(*d.diagnosis(), "unfused_elementwise_chain");
  REQUIRE(chain != nullptr);
  REQUIRE(chain->gain);
  CHECK(chain->gain->time > 0);
  CHECK(chain->gain->later == 0);
  const Plan& plan = d.diagnosis()->plan;
  REQUIRE(!plan.items.empty());
  const auto rule = [&](const Plan::Item& item) {
    return d.diagnosis()->findings[static_cast<std::size_t>(item.finding)].finding.rule->id;
  };
  CHECK(rule(plan.items.front()) == "dense_embedding_gradients");
  CHECK(std::none_of(plan.items.begin(), plan.items.end(),
                     [&](const Plan::Item& item) { return rule(item) == "unfused_elementwise_chain"; }));
}

TEST_CASE("waits are planned before the graph that they forbid, and do not count any more where they are gone") {
  const Document& d = diagnosed_once(recording("needless_sync")).document;
  const Plan& plan = d.diagnosis()->plan;
  bool freed = false;
  for (const Plan::Item& item : plan.items) {
    const Cure cure = d.diagnosis()->findings[static_cast<std::size_t>(item.finding)].finding.rule->gives.cure;
    if (cure == Cure::graph) CHECK((!freed || item.waits_inside < plan.waits_inside));
    freed |= cure == Cure::waits;
  }
  REQUIRE(!plan.items.empty());
  CHECK(freed);
}

TEST_CASE("indexing with masks takes its waits along, and then the launches of a step can be one graph") {
  const Document& d = diagnosed_once(recordings_folder() / "replay/masks.json.gz").document;
  const Plan& plan = d.diagnosis()->plan;
  CHECK(plan.waits_inside == 96);  // 24 masks, forward and backward, in two steps
  std::vector<std::string_view> rules;
  for (const Plan::Item& item : plan.items)
    rules.push_back(d.diagnosis()->findings[static_cast<std::size_t>(item.finding)].finding.rule->id);
  REQUIRE(rules.size() >= 2);
  CHECK(rules[0] == "mask_index");
  CHECK(rules[1] == "host_gaps");  // although the GPU is busy for less than half of the time
  CHECK(plan.items[1].waits_inside == 0);
  CHECK(std::find(rules.begin(), rules.end(), "implicit_sync") == rules.end());
}

TEST_CASE("one long pause that a step begins with is a cause of its own, before the graph of the step") {
  const Document& d = diagnosed_once(recording("ddp_delayed_rank1")).document;
  const Plan& plan = d.diagnosis()->plan;
  REQUIRE(!plan.items.empty());
  CHECK(d.diagnosis()->findings[static_cast<std::size_t>(plan.items[0].finding)].finding.rule->id == "host_pause");
  CHECK(plan.items[0].saved > 18 * kNsPerMs);  // of the 20 planted
  CHECK(plan.items[0].saved < 21 * kNsPerMs);
}

TEST_CASE("a hot kernel of which no floor is known has a place and no gain, else that of its roofline") {
  const Document& unknown = diagnosed_once(recording("addmm_4096_eager")).document;
  const RankedFinding* hot = finding_of(*unknown.diagnosis(), "gpu_hotspot");
  REQUIRE(hot != nullptr);
  CHECK_FALSE(hot->gain);
  const Document& known = diagnosed_once(recording("recorded_addmm_4096_copy")).document;
  hot = finding_of(*known.diagnosis(), "gpu_hotspot");
  REQUIRE(hot != nullptr);
  REQUIRE(hot->gain);
  CHECK(gain_words(*known.diagnosis(), *hot).ends_with("these kernels at 80 % of their roofline"));
}

TEST_CASE("nothing is promised of a recording that is not one of a run") {
  for (const char* name : {"cold_process_64", "launch_blocking", "muladd_compile_cold"}) {
    CAPTURE(name);
    const Document& d = diagnosed_once(recording(name)).document;
    CHECK(d.diagnosis()->plan.run == 0);
    CHECK(plan_lines(*d.diagnosis()).empty());
    for (const RankedFinding& f : d.diagnosis()->findings) CHECK(gain_words(*d.diagnosis(), f).empty());
  }
  // One that is compiled in every of its steps is slow in every step.
  std::string text;
  for (int i = 0; i < 3; ++i)
    text += (i > 0 ? "," : "") +
            slice("ProfilerStep#" + std::to_string(i + 3), std::to_string(10'000 * i), "10000", "", "user_annotation") + "," +
            slice("backend_compile (dynamo_timed)", std::to_string(10'000 * i + 100), "9000", "", "user_annotation") + "," +
            slice("cudaLaunchKernel", std::to_string(10'000 * i + 9'200), "10",
                  R"(, "args": {"correlation": )" + std::to_string(i + 1) + "}", "cuda_runtime") +
            "," +
            slice("gemm", std::to_string(10'000 * i + 9'220), "100",
                  R"(, "args": {"correlation": )" + std::to_string(i + 1) + R"(, "device": 0, "stream": 7})", "kernel", "70");
  const Document again(load_text(events(text)));
  again.diagnose();
  CHECK(again.diagnosis()->bound == Bound::compiling);
  CHECK(again.diagnosis()->plan.run > 0);
}

TEST_CASE("what each line of the plan saves is of the run as it is now") {
  const Document& d = diagnosed_once(recording("needless_sync")).document;
  const Plan& plan = d.diagnosis()->plan;
  REQUIRE(plan.items.size() > 1);
  const Plan::Item& last = plan.items.back();
  CHECK(last.saved < plan.run - last.after);
  const std::vector<PlanLine> lines = plan_lines(*d.diagnosis());
  const int percent =
      static_cast<int>(std::lround(100 * (1 - static_cast<double>(last.after) / static_cast<double>(plan.run))));
  CHECK(lines[plan.items.size()].value.find(std::to_string(percent) + " % less than now") != std::string::npos);
}

TEST_CASE("the plan says that it counts what is between steps only where that shows in the figure") {
  const Document& d = diagnosed_once(recording("needless_sync")).document;
  Diagnosis found = *d.diagnosis();
  REQUIRE(found.plan.step.steps > 1);
  const auto says = [&](Ns between) {
    found.plan.step.between = between;
    return plan_lines(found)[0].value.find("steps and the time between them)") != std::string::npos;
  };
  CHECK_FALSE(says(0));
  CHECK(says(found.plan.step.stepped / 10));
  CHECK_FALSE(says(found.plan.step.stepped / 1'000'000));
}

TEST_CASE("what a finding gives at once, and once the plan is done, is what replaying both tells") {
  std::size_t later = 0;
  for (const char* name : {"needless_sync", "mlp_geglu_eager", "softmax_inductor"}) {
    const Document& d = diagnosed_once(recording(name)).document;
    const Diagnosis& found = *d.diagnosis();
    const auto model = ReplayModel::make(d.trace, d.names, gpu_ops(d.trace, d.links));
    Change as_it_is;
    as_it_is.full_queues = true;
    CHECK(replay(*model, as_it_is).after == found.plan.run);
    Change all = as_it_is;
    for (const Plan::Item& item : found.plan.items)
      all = both(all, *found.findings[static_cast<std::size_t>(item.finding)].gain->change);
    const Ns then = replay(*model, all).after;
    if (!found.plan.items.empty()) CHECK(then == found.plan.items.back().after);
    for (const RankedFinding& f : found.findings) {
      if (!f.gain || !f.gain->change) continue;
      CHECK(f.gain->time == std::max<Ns>(0, found.plan.run - replay(*model, both(as_it_is, *f.gain->change)).after));
      CHECK(f.gain->later == std::max<Ns>(0, then - replay(*model, both(all, *f.gain->change)).after));
      later += f.gain->later > 0 ? 1 : 0;
    }
  }
  CHECK(later > 0);
}

TEST_CASE("a step after a remedy is as much shorter as its line says, also where steps begin before the run") {
  if (recording_or_none("tracelens_b200_vllm_moe").empty()) return;
  const Document& d = diagnosed_once(recording("tracelens_b200_vllm_moe")).document;
  const Plan& plan = d.diagnosis()->plan;
  REQUIRE(plan.step.outside > 0);
  REQUIRE_FALSE(plan.items.empty());
  const Ns now = plan.length(plan.run), then = plan.length(plan.items[0].after);
  const auto percent = std::lround(100 * (1 - static_cast<double>(then) / static_cast<double>(now)));
  CHECK(plan_lines(*d.diagnosis())[1].value.find(
            fmt::format("{} a step, {} % less than now", format_duration(then), percent)) != std::string::npos);
}

TEST_CASE("a plan of nothing names the finding whose remedy cannot be replayed") {
  const Document& d = diagnosed_once(recording("linear_eager")).document;
  REQUIRE(d.diagnosis()->plan.items.empty());
  const std::string then = plan_lines(*d.diagnosis()).back().value;
  CHECK(then.find(", and \"The GPU is idle most of the time\" has no such remedy") != std::string::npos);
}

TEST_CASE("what a run would be without collectives that other streams wait for is not reported") {
  // A collective of 5 ms on a stream of its own in each step, and what comes after it: on another stream behind an event, or
  // on the same one.
  const auto gain = [](int stream_after) {
    std::string text;
    for (int i = 0; i < 4; ++i) {
      const int at = 6'000 * i;
      const auto op = [&](std::string_view name, int call, int begin, int length, int n, int stream) {
        const std::string args = R"(, "args": {"correlation": )" + std::to_string(4 * i + n);
        return "," + slice("cudaLaunchKernel", std::to_string(300 * i + call), "5", args + "}", "cuda_runtime") + "," +
               slice(name, std::to_string(at + begin), std::to_string(length),
                     args + R"(, "device": 0, "stream": )" + std::to_string(stream) + "}", "kernel", std::to_string(stream));
      };
      text += (i > 0 ? "," : "") + slice("aten::mm", std::to_string(300 * i), "290") + op("gemm", 10, 1'300, 400, 1, 7) +
              op("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 30, 1'750, 5'000, 2, 20) +
              op("gemm", 50, 6'755, 400, 3, stream_after);
    }
    const Document d(load_text(events(text)));
    d.diagnose();
    const RankedFinding* found = finding_of(*d.diagnosis(), "exposed_communication");
    REQUIRE(found != nullptr);
    return found->gain;
  };
  CHECK_FALSE(gain(7));
  REQUIRE(gain(20));
  CHECK(gain(20)->time > 0);
}

TEST_CASE("what is between the recordings of one file is no time of the run, and nothing is replayed over it") {
  KinetoText text;
  for (int w = 0; w < 2; ++w) {
    const double begin = 5e6 + 3e7 * w;
    text.slice("Trace", "PyTorch Profiler (0)", "\"Spans\"", "\"PyTorch Profiler\"", begin, 3000);
    for (int i = 0; i < 10; ++i) text.launched(10 * w + i + 1, begin + 300 * i, begin + 300 * i + 10, 60);
  }
  const Diagnosed d(load_text(text.text()));
  REQUIRE(d.facts.trace.recordings.size() == 2);
  CHECK(d.facts.window.length() > 30 * kNsPerS);
  CHECK(d.facts.window_length < 7 * kNsPerMs);
  CHECK(d.facts.gpu_util.value() > 0.15);
  CHECK(d.analysis->usage().devices.at(0).over.length() <= 3 * kNsPerMs);
  CHECK(d.diagnosis.plan.run == 0);
}

TEST_CASE("where lost kernels forbid a verdict, nothing is advised against idle time, and why is said") {
  const auto diagnosed = [](int lost) {
    KinetoText text;
    for (int i = 0; i < 40; ++i) {
      const double at = 5e6 + 300 * i;
      text.slice("cpu_op", "aten::mm", "100", "1", at - 5, 250);
      if (i < lost)
        text.slice("cuda_runtime", "cudaLaunchKernel", "100", "1", at, 5, fmt::format("\"correlation\":{}", i + 1));
      else
        text.launched(i + 1, at, at + 10, 40);
    }
    return Diagnosed(load_text(text.text()));
  };
  const auto judges_idle_time = [](const Diagnosed& d) {
    return d.fires("overhead_bound") || d.fires("low_gpu_utilization") || d.fires("host_gaps");
  };
  CHECK(judges_idle_time(diagnosed(0)));
  const Diagnosed d = diagnosed(20);
  REQUIRE(d.diagnosis.bound == Bound::not_judged);
  CHECK_FALSE(judges_idle_time(d));
  CHECK(std::any_of(d.diagnosis.unjudged.begin(), d.diagnosis.unjudged.end(),
                    [](const Unjudged& u) { return u.why.starts_with("The GPU work of 20 of 40 launches is missing"); }));
}
