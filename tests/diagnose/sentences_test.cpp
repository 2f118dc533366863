// Sentences that were false or clumsy on some trace, each on the smallest trace that shows it.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/view/document.h"
#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr const char* kMm = "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT";

// A recording of one operator from 0 on, written piece by piece; times in microseconds.
class Script {
 public:
  explicit Script(int op_us, std::string_view op = "aten::mm") { add(slice(op, "0", std::to_string(op_us))); }

  Script& add(const std::string& event) {
    events_.push_back(event);
    return *this;
  }
  Script& call(std::string_view name, int at, int length = 1) {
    return add(slice(name, std::to_string(at), std::to_string(length), "", "cuda_runtime"));
  }
  // A launch at `at` and its kernel.
  Script& kernel(std::string_view name, int at, int begin, int length, std::string_view args = "") {
    ++correlation_;
    add(slice("cudaLaunchKernel", std::to_string(at), "1", fmt::format(", \"args\": {{\"correlation\": {}}}", correlation_),
              "cuda_runtime"));
    return work("kernel", name, begin, length, correlation_, args);
  }
  // A launch without its work.
  Script& lost_launch(int at) {
    return add(slice("cudaLaunchKernel", std::to_string(at), "1", R"(, "args": {"correlation": 899})", "cuda_runtime"));
  }
  // GPU work without its launch.
  Script& unlinked(std::string_view cat, std::string_view name, int begin, int length) {
    return work(cat, name, begin, length, 900 + ++correlation_);
  }
  Script& work(std::string_view cat, std::string_view name, int begin, int length, int correlation,
               std::string_view args = "") {
    const int stream = cat == "kernel" ? 7 : 8;
    return add(
        slice(name, std::to_string(begin), std::to_string(length),
              fmt::format(", \"args\": {{\"correlation\": {}, \"device\": 0, \"stream\": {}{}}}", correlation, stream, args),
              cat, std::to_string(70 + stream)));
  }
  Script& device(int major, std::string_view name = "X") {
    device_ = fmt::format(
        "\"deviceProperties\": [{{\"id\": 0, \"name\": \"{}\", \"computeMajor\": {}, \"computeMinor\": 0}}], ", name, major);
    return *this;
  }
  std::string text() const {
    std::string all;
    for (const std::string& event : events_) all += (all.empty() ? "" : ",") + event;
    return "{" + device_ + "\"traceEvents\": [" + all + "]}";
  }

 private:
  std::vector<std::string> events_;
  std::string device_;
  int correlation_ = 0;
};

Finding the_finding(const Diagnosed& d, std::string_view rule) {
  const auto found = d.findings(rule);
  REQUIRE(found.size() == 1);
  return *found.front();
}
Finding the_finding(const std::string& text, std::string_view rule) { return the_finding(Diagnosed(load_text(text)), rule); }

bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a hotspot of exactly the lead that is asked for is one, whatever fractions round to") {
  // 35 % against 28 %: in floating point 1.25 x 0.28 is more than 0.35.
  const auto text = [](int second) {
    return Script(1000)
        .kernel("one", 0, 10, 350)
        .kernel("two", 1, 400, second)
        .kernel("three", 2, 700, 480 - second)
        .kernel("four", 3, 910, 170)
        .text();
  };
  CHECK(Diagnosed(load_text(text(280))).fires("gpu_hotspot"));
  CHECK_FALSE(Diagnosed(load_text(text(281))).fires("gpu_hotspot"));
}

TEST_CASE("a hotspot marks only the work that its sentence counts") {
  const Finding f = the_finding(Script(1000)
                                    .unlinked("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 100)
                                    .kernel("small", 0, 110, 10)
                                    .kernel("large", 1, 200, 300)
                                    .unlinked("kernel", "large", 600, 300)
                                    .text(),
                                "gpu_hotspot");
  CHECK(holds(f.summary, "300 µs in 1 call"));
  CHECK(f.spans.size() == 1);
}

TEST_CASE("how far grids fill the GPU is judged by what the file says, not by its nearest float") {
  const auto fill = [](std::string_view blocks) {
    return Diagnosed(load_text(Script(200).kernel(kMm, 0, 10, 100, fmt::format(", \"blocks per SM\": {}", blocks)).text()));
  };
  CHECK_FALSE(fill("0.65").fires("low_sm_fill"));
  CHECK(fill("0.649").fires("low_sm_fill"));
  CHECK(fill("0.9").fires("grid_covers_sms"));
  CHECK_FALSE(fill("0.899").fires("grid_covers_sms"));
}

TEST_CASE("a query of occupancy speaks of a kernel only where a launch of the same operator follows") {
  const auto text = [](int query, int launch) {
    return Script(50).call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", query).kernel(kMm, launch, 100, 10).text();
  };
  const Diagnosed asked(load_text(text(5, 10)));
  CHECK(the_finding(asked, "occupancy_query_before_launch").summary.starts_with("1 call queried occupancy, in 1.00 µs."));
  for (const auto& times : {std::pair(10, 5), std::pair(5, 60), std::pair(60, 70)}) {
    const int query = times.first, launch = times.second;
    CAPTURE(query);
    const Diagnosed d(load_text(text(query, launch)));
    CHECK_FALSE(d.fires("occupancy_query_before_launch"));
    CHECK_FALSE(d.fires("launch_without_occupancy_query"));
  }
}

TEST_CASE("a DataLoader without workers is reported") {
  const auto finding = [](std::string_view loader) {
    return the_finding(Script(10).add(slice(loader, "20", "900")).kernel(kMm, 1, 930, 10).text(), "dataloader_wait");
  };
  const Finding alone = finding("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  CHECK(holds(meaning_of(alone), "no workers (num_workers=0)"));
  CHECK(holds(remedy_of(alone), "num_workers above 0"));
  const Finding with_workers = finding("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
  CHECK(holds(meaning_of(with_workers), "what the workers did"));
  CHECK(holds(remedy_of(with_workers), "more workers"));
}

TEST_CASE("no one is advised to use TF32 on a GPU that has none") {
  const auto finding = [](int major) {
    return the_finding(Script(500).kernel("volta_sgemm_64x64_nn", 0, 10, 400).device(major).text(), "fp32_gemm_cuda_cores");
  };
  CHECK(holds(remedy_of(finding(8)), "which allows TF32"));
  CHECK(holds(remedy_of(finding(7)), "the tensor cores of this GPU do not support TF32"));
  CHECK(holds(meaning_of(finding(6)), "no tensor cores"));
  CHECK(finding(7).cost == 350'000);
  CHECK(finding(6).cost == 200'000);
}

TEST_CASE("what tensor cores would give is by the peaks of the GPU at hand") {
  const auto finding = [](std::string_view name) {
    return the_finding(Script(500).kernel("ampere_sgemm_64x64_nn", 0, 10, 400).device(8, name).text(), "fp32_gemm_cuda_cores");
  };
  const Finding a100 = finding("NVIDIA A100-SXM4-80GB"), geforce = finding("NVIDIA GeForce RTX 4090");
  CHECK(holds(meaning_of(a100), "about 8 times the peak rate in TF32, and 16 times in bfloat16"));
  CHECK(holds(remedy_of(a100), "which allows TF32"));
  CHECK(a100.cost == 350'000);
  CHECK(holds(meaning_of(geforce), "about 2 times the peak rate in bfloat16"));
  CHECK(holds(remedy_of(geforce), "TF32 is no faster on this GPU"));
  CHECK_FALSE(holds(remedy_of(geforce), "set_float32_matmul_precision"));
  CHECK(geforce.cost == 200'000);
  CHECK_FALSE(holds(meaning_of(finding("X")), "of this GPU"));
}

TEST_CASE("one name is no \"most often\", and neither is the first of many that occur once") {
  const auto products = [](std::vector<std::string_view> names) {
    Script script(500);
    for (std::size_t i = 0; i < names.size(); ++i)
      script.kernel(names[i], static_cast<int>(i), 10 + 20 * static_cast<int>(i), 10);
    return the_finding(script.text(), "gemm_kernel_name").summary;
  };
  constexpr const char* kOther = "volta_sgemm_64x64_nn";
  CHECK(holds(products({kMm, kMm}), "2 matrix products under 1 name, 100 % of the GPU time: nvjet"));
  CHECK(holds(products({kMm, kOther}), "2 matrix products under 2 names, 100 % of the GPU time, for example "));
  CHECK(holds(products({kMm, kOther, kMm}), "3 matrix products under 2 names, 100 % of the GPU time. Most often nvjet"));
}

TEST_CASE("matrix products are counted as their share is: those whose launch is in the file") {
  const Finding f = the_finding(Script(500).unlinked("kernel", kMm, 1, 5).kernel(kMm, 0, 10, 10).text(), "gemm_kernel_name");
  CHECK(f.summary.starts_with("1 matrix product under 1 name, 100 % of the GPU time"));
  const Finding only = the_finding(Script(500).unlinked("kernel", kMm, 1, 5).kernel("k", 0, 10, 15).text(), "gemm_kernel_name");
  CHECK(only.summary.starts_with("1 matrix product under 1 name, 25 % of the GPU time"));
}

TEST_CASE("what happened in one place only is no \"most often\" or \"most of it\"") {
  CHECK(the_finding(Script(500, "aten::item").call("cudaStreamSynchronize", 5, 10).call("cudaStreamSynchronize", 20, 10).text(),
                    "implicit_sync")
            .summary == "Operators synchronized with the GPU twice, 20.0 µs in total: aten::item.");
  CHECK(the_finding(Script(500).kernel("triton_poi_fused_add_0", 0, 10, 10).text(), "triton_fused_kernel").summary ==
        "1 run of Inductor's own kernels took 100 % of the GPU time: triton_poi_fused_add_0.");
  CHECK(the_finding(Script(500).kernel("cutlass_75_tensorop_f16_s1688gemm_f16_128x128_nn_align1", 0, 10, 10).text(),
                    "gemm_misaligned")
            .summary.find("takes 100 % of the GPU time (10.0 µs): cutlass_75") != std::string::npos);
  const std::string graph = "## Call CompiledFxGraph fabc ##";
  CHECK(the_finding(Script(9).add(slice(graph, "10", "5")).add(slice(graph, "20", "5")).text(), "fx_graph_cache_hit").summary ==
        "The only compiled graph, fabc, was called twice.");
}

TEST_CASE("an example of a layout shows its letters") {
  const std::string cut =
      "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_transOut_noShflA_clmp_swiGlu_"
      "dynBatch_sm100f";
  const Finding f =
      the_finding(Script(500).kernel(cut, 0, 10, 30).kernel("volta_sgemm_64x64_tn", 1, 50, 10).text(), "gemm_layout_suffix");
  CHECK(holds(f.summary, "Example: volta_sgemm_64x64_tn."));
}

TEST_CASE("the longest chain is the one that takes longest, and says so") {
  constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";
  Script script(900, "aten::a");
  const auto chain = [&](int at, int count, int us) {
    for (int i = 0; i < count; ++i) {
      script.add(slice("aten::mul", std::to_string(at + i * 10), "9"));
      script.kernel(kAdd, at + i * 10 + 1, at + 100 + i * us, us);
    }
    script.kernel("other", at + 90, at + 100 + count * us, 1);
  };
  chain(100, 4, 2);
  chain(300, 2, 50);
  const Finding found = the_finding(script.text(), "unfused_elementwise_chain");
  CHECK(holds(found.summary, "in 2 chains of back-to-back elementwise kernels. The longest takes 100 µs in 2 kernels."));
  CHECK(found.cost == 54'000);  // no step is marked: half
}

TEST_CASE("a split-K product is not called one kernel") {
  const Finding f = the_finding(
      Script(500, "aten::addmm")
          .kernel("volta_sgemm_64x32_sliced1x4_tn", 0, 10, 30)
          .kernel("void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, false>(float*)", 2,
                  50, 10)
          .text(),
      "gemm_bias_epilogue");
  CHECK(holds(f.summary, "needed one kernel, besides the one that adds up the parts of a split-K product, so"));
}

TEST_CASE("times too large to be added up end at the largest, and turn no finding into its opposite") {
  std::string text;
  for (int i = 1; i <= 3; ++i)
    text += fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{0},"dur":1,"args":{{"correlation":{0}}}}},
           {{"ph":"X","cat":"kernel","name":"volta_sgemm_64x64_nn","pid":0,"tid":{0},"ts":10,"dur":4000000000000000,
             "args":{{"device":0,"stream":{0},"correlation":{0}}}}},)",
        i);
  const Diagnosed d(load_text(events(text + slice("aten::mm", "0", "100"))));
  CHECK(holds(the_finding(d, "fp32_gemm_cuda_cores").summary, "100 % of the GPU time"));
  for (const RankedFinding& f : d.diagnosis.findings) CHECK(f.finding.cost >= 0);
}

TEST_CASE("thousands are written with a comma, also of ratios") {
  CHECK(format_times(2330.4) == "2,330");
  CHECK(format_times(999.4) == "999");
  CHECK(format_times(34.56) == "34.6");
}

TEST_CASE("a wait that ends a recording without GPU work says nothing of the GPU") {
  const Finding f = the_finding(Script(100).call("cudaDeviceSynchronize", 110, 50).text(), "final_device_sync");
  CHECK(f.summary == "The last synchronization took 50.0 µs, 50 % of the window of 100 µs.");
}

TEST_CASE("what a cut file lacks is no fault of how it was recorded") {
  const std::string whole = Script(100).text();
  const auto why = [](const std::string& text) {
    const Diagnosed d(load_text(text));
    for (const auto& unjudged : d.diagnosis.unjudged)
      if (unjudged.rule->id == "heavyweight_kernel") return unjudged.why;
    return std::string();
  };
  CHECK(holds(why(whole), ": record with ProfilerActivity.CUDA."));
  CHECK(why(whole.substr(0, whole.size() - 2) + ", {\"ph\"") ==
        "No kernel, copy or memset is in this trace, whose end is missing: export it again.");
}

TEST_CASE("shares of the GPU time say that they leave out work without a launch") {
  const Script script = Script(500).kernel(kMm, 0, 10, 10);
  CHECK(Diagnosed(load_text(script.text())).diagnosis.trust.empty());
  const Diagnosed d(load_text(Script(script).unlinked("kernel", kMm, 50, 10).text()));
  CHECK(holds(d.diagnosis.trust, " whose launch is in the file."));
}

TEST_CASE("at the start of a process no one is advised to make bigger batches") {
  const Diagnosed d(load_text(
      Script(100)
          .add(slice("cudaDeviceGetStreamPriorityRange", "0", "20000", ", \"args\": {\"correlation\": 99}", "cuda_runtime"))
          .kernel(kMm, 20'010, 20'020, 5)
          .text()));
  REQUIRE(d.diagnosis.verdict.starts_with("Start-up: "));
  for (const char* rule : {"overhead_bound", "low_gpu_utilization"}) {
    const Finding f = the_finding(d, rule);
    CHECK(remedy_of(f).starts_with("Record again after a few warm-up steps"));
  }
}

TEST_CASE("a run that one part without a cause limits is not told that no part does") {
  const Diagnosed starting(load_text(Script(5).kernel(kMm, 0, 400, 600).text()));
  CHECK(starting.diagnosis.verdict.starts_with("Mixed: no part with a known cause limits the run: the GPU is busy 60.0 %"));
}

TEST_CASE("copies whose launch is not in the file cost time, too, and the sentence says so") {
  const Finding f =
      the_finding(Script(1000)
                      .unlinked("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 10, 300)
                      .work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 400, 100, 1)
                      .kernel("k", 0, 480, 40)
                      .add(slice("cudaMemcpyAsync", "350", "1", ", \"args\": {\"correlation\": 1}", "cuda_runtime"))
                      .text(),
                  "memcpy_heavy");
  CHECK(f.cost == 380'000);
  CHECK(holds(f.summary, "with copies whose launch is not in the file, the GPU copies for 380 µs while no kernel runs."));
}

TEST_CASE("a closing wait longer than the window is no share of it") {
  const auto summary = [](int length) {
    return the_finding(Script(100).kernel(kMm, 0, 10, 100).call("cudaDeviceSynchronize", 105, length).text(),
                       "final_device_sync")
        .summary;
  };
  CHECK(holds(summary(500), "took 500 µs, more than the window of 110 µs"));
  CHECK(holds(summary(55), "took 55.0 µs, 50 % of the window of 110 µs"));
}

TEST_CASE("of two launches one is slower than the other, of one there is no other") {
  const auto summary = [](int launches) {
    Script script(3000);
    script.call("cudaLaunchKernel", 0, 400);
    for (int i = 1; i < launches; ++i) script.call("cudaLaunchKernel", 500 + 10 * i, 5);
    script.add(slice("Lazy Function Loading", "10", "300", "", "overhead", "0"));
    return the_finding(script.text(), "lazy_module_loading").summary;
  };
  CHECK(holds(summary(1), "The only launch took 400 µs."));
  CHECK(holds(summary(2), "The slower launch took 400 µs, the other 5.00 µs."));
  CHECK(holds(summary(3), "The slowest launch took 400 µs, the median is 5.00 µs."));
}

TEST_CASE("an occupancy of 0 % that a profiler writes everywhere is no low occupancy") {
  // A million blocks of 256 threads, 32 registers and 64 KiB or 1 KiB of shared memory each.
  const auto file = [](std::string_view device, int shared_memory) {
    std::string list;
    for (int i = 0; i < 4; ++i)
      list += fmt::format(
          R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{0},"dur":2,"args":{{"correlation":{0}}}}},
             {{"ph":"X","cat":"kernel","name":"reduce_rows","pid":0,"tid":7,"ts":{1},"dur":90,"args":{{"device":0,"stream":7,
               "correlation":{0},"registers per thread":32,"shared memory":{2},"blocks per SM":7500.0,"warps per SM":60000.0,
               "grid":[1000000,1,1],"block":[256,1,1],"est. achieved occupancy %":0}}}},)",
          i + 1, 10 + 100 * i, shared_memory);
    return fmt::format(R"({{"deviceProperties":[{}],"traceEvents":[{}]}})", device, list + slice("aten::sum", "0", "450"));
  };
  constexpr std::string_view kH200 =
      R"({"id":0,"name":"NVIDIA H200","totalGlobalMem":150000000000,"computeMajor":9,"computeMinor":0,"maxThreadsPerBlock":1024,
          "maxThreadsPerMultiprocessor":2048,"regsPerBlock":65536,"regsPerMultiprocessor":65536,"warpSize":32,
          "sharedMemPerBlock":49152,"sharedMemPerMultiprocessor":233472,"sharedMemPerBlockOptin":232448,"numSms":132})";
  constexpr std::string_view kMi300 =
      R"({"id":0,"name":"AMD Instinct MI300X","totalGlobalMem":150000000000,"computeMajor":9,"computeMinor":4,
          "maxThreadsPerBlock":1024,"maxThreadsPerMultiprocessor":2048,"regsPerBlock":65536,"regsPerMultiprocessor":65536,
          "warpSize":64,"sharedMemPerBlock":65536,"sharedMemPerMultiprocessor":65536,"numSms":304})";
  const Diagnosed large(load_text(file(kH200, 65536))), small(load_text(file(kH200, 1024)));
  const Diagnosed amd(load_text(file(kMi300, 65536))), unknown(load_text(file("", 65536)));
  for (const Diagnosed* d : {&large, &small, &amd, &unknown}) {
    CHECK(d->facts.linked == 4);
    CHECK_FALSE(d->fires("low_occupancy"));
  }
  // What makes NVIDIA's zeros is known; nothing is said of others.
  CHECK(holds(the_finding(large, "occupancy_zero_artifact").summary, "more than 48 KiB"));
  CHECK_FALSE(small.fires("occupancy_zero_artifact"));
  CHECK_FALSE(amd.fires("occupancy_zero_artifact"));
}

TEST_CASE("bytes that are not recorded are not said to be none") {
  const Finding f = the_finding(
      Script(1000).kernel("k", 0, 10, 10).work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 100, 300, 1).text(),
      "memcpy_heavy");
  CHECK_FALSE(holds(f.summary, "0 B"));
  CHECK_FALSE(holds(f.summary, "GB/s"));
}

TEST_CASE("the host is not behind and ahead in one report") {
  Script script(4000);
  for (int i = 0; i < 20; ++i) script.kernel(kMm, 10 * i, 100 + 40 * i, 40);
  const Diagnosed d(load_text(script.text()));
  CHECK(d.fires("overhead_bound"));
  CHECK_FALSE(d.fires("gpu_backlog"));
}

TEST_CASE("a product that lies wholly under a copy costs nothing") {
  const auto cost = [](int copy_us) {
    return the_finding(Script(1000)
                           .kernel("volta_sgemm_64x64_nn", 0, 100, 400)
                           .work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 50, copy_us, 1)
                           .text(),
                       "fp32_gemm_cuda_cores")
        .cost;
  };
  CHECK(cost(600) == 0);
  CHECK(cost(60) > 0);
}

TEST_CASE("a wait that fills the window is what limits the run") {
  const Diagnosed d(load_text(Script(5).kernel(kMm, 0, 900, 20).text()));
  CHECK(d.diagnosis.verdict.starts_with("Latency-bound: the GPU is idle due to launch latency for 97"));
}

TEST_CASE("code that is compiled again and again is not to be called a few times before") {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += (i == 0 ? "" : ",") + slice(fmt::format("Torch-Compiled Region: 0/{}", i), std::to_string(100 * i), "50") + "," +
            slice("dynamo (dynamo_timed)", std::to_string(100 * i + 50), "40", "", "user_annotation");
  const Finding f = the_finding(events(text), "compile_inside_window");
  CHECK(holds(remedy_of(f), "3 later versions"));
  CHECK(holds(remedy_of(f), "dynamic=True"));
}

// Allocator's calls of two steps, each with an operator at 10 that lasts 40.
std::string two_steps(const std::vector<std::pair<std::string_view, int>>& calls) {
  std::string text;
  for (int step = 0; step < 2; ++step) {
    const int at = 100 * step;
    text += (step == 0 ? "" : ",") +
            slice(fmt::format("ProfilerStep#{}", step), std::to_string(at), "95", "", "user_annotation") + "," +
            slice("aten::mm", std::to_string(at + 10), "40");
    for (const auto& [name, when] : calls) text += "," + slice(name, std::to_string(at + when), "2", "", "cuda_runtime");
  }
  return events(text);
}

TEST_CASE("what to do about calls to the driver's allocator is said by where memory is given back") {
  const auto remedy = [](const std::vector<std::pair<std::string_view, int>>& calls) {
    return std::string(remedy_of(the_finding(two_steps(calls), "cuda_malloc_in_window")));
  };
  const std::string emptied = remedy({{"cudaMalloc", 12}, {"cudaFree", 60}, {"cudaFree", 64}});
  CHECK(holds(emptied, "empty_cache"));
  CHECK_FALSE(holds(emptied, "a smaller batch"));
  CHECK(holds(remedy({{"cudaMalloc", 12}, {"cudaFree", 16}, {"cudaFree", 20}, {"cudaMalloc", 24}}), "a smaller batch"));
  const std::string uncached = remedy({{"cudaMalloc", 12}, {"cudaMalloc", 16}, {"cudaFree", 20}, {"cudaFree", 60}});
  CHECK(holds(uncached, "PYTORCH_NO_CUDA_MEMORY_CACHING"));
  CHECK_FALSE(holds(uncached, "empty_cache"));
}

TEST_CASE("work that the end of a file cuts off was not lost") {
  const auto meaning = [](bool at_end) {
    Script script(100);
    if (!at_end) script.lost_launch(5);
    script.kernel(kMm, 10, 20, 5);
    if (at_end) script.lost_launch(30);
    return std::string(meaning_of(the_finding(script.text(), "launches_without_gpu_op")));
  };
  CHECK(meaning(/*at_end=*/true).starts_with("The file ends before"));
  CHECK(meaning(/*at_end=*/false).starts_with("Records of kernels were lost"));
}

TEST_CASE("what the compiler took of the host and of the GPU are distinguished") {
  const Diagnosed& d = diagnosed_once(recording("muladd_compile_cold"));
  const std::vector<const Finding*> found = d.findings("compile_inside_window");
  REQUIRE(found.size() == 1);
  CHECK(holds(found[0]->summary, "The compiler ran for 289 ms, "));
  CHECK(holds(found[0]->summary, "The GPU waited for it for " + format_duration(found[0]->cost) + "."));
}

TEST_CASE("Python of PyTorch itself between operators is no pause that one could move out of a step") {
  const auto fires = [](std::string_view frame) {
    Script script(100);
    script.add(slice("ProfilerStep#1", "0", "20000", "", "user_annotation")).kernel("k", 10, 20, 50);
    script.add(slice(frame, "1000", "15000", "", "python_function"));
    return Diagnosed(load_text(script.add(slice("aten::mm", "18000", "100")).kernel("k", 18010, 18020, 50).text()))
        .fires("host_pause");
  };
  CHECK(fires("train.py(9): read"));
  CHECK(fires("torch/serialization.py(940): save"));
  CHECK_FALSE(fires("torch/optim/adam.py(139): _init_group"));
  CHECK_FALSE(fires("/venv/lib/python3.12/site-packages/torch/nn/utils/clip_grad.py(49): _get_total_norm"));
}

TEST_CASE("heads that are copied for attention are seen without shapes, by what comes before each attention") {
  const auto fires = [](std::string_view before) {
    Script script(10);
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 2; ++k) {
        const int at = 100 + 1000 * i + 200 * k;
        script.add(slice(before, std::to_string(at), "10"))
            .add(slice("aten::reshape", std::to_string(at + 20), "40"))
            .add(slice("aten::clone", std::to_string(at + 22), "30"))
            .kernel("copy", at + 30, at + 50, 100);
      }
      script.add(slice("aten::scaled_dot_product_attention", std::to_string(600 + 1000 * i), "50"))
          .kernel("flash_fwd_kernel", 610 + 1000 * i, 640 + 1000 * i, 100);
    }
    return Diagnosed(load_text(script.text())).fires("repeated_kv_heads");
  };
  CHECK(fires("aten::expand"));
  CHECK_FALSE(fires("aten::transpose"));
}

TEST_CASE("of a GPU without TF32 the line of code is not TF32's, and where TF32 is in use it is autocast's") {
  const auto code = [](int major) {
    return the_finding(Script(1000).device(major).kernel("ampere_sgemm_128x64_tn", 0, 10, 900).text(), "fp32_gemm_cuda_cores")
        .code;
  };
  CHECK(code(8) == "torch.set_float32_matmul_precision(\"high\")");
  CHECK(code(7) == "with torch.autocast(\"cuda\", torch.float16):");
}

TEST_CASE("a pause is named by the range that the program put around it, and is not to be named by another") {
  const Diagnosed& d = diagnosed_once(recording("ddp_delayed_rank1"));
  const std::vector<const Finding*> found = d.findings("host_pause");
  REQUIRE(found.size() == 1);
  CHECK(found[0]->summary.ends_with(" The longest one was mostly in planted_delay."));
  CHECK(remedy_of(*found[0]).starts_with("Move it out of the step"));
  CHECK_FALSE(holds(remedy_of(*found[0]), "record_function"));
}

TEST_CASE("a pause for the profiler's buffers has no remedy and is in no plan") {
  const Diagnosed& d = diagnosed_once(recording("pp_rank0"));
  const std::vector<const Finding*> found = d.findings("gpu_gap_in_step");
  REQUIRE(found.size() == 1);
  CHECK(found[0]->severity == Severity::informational);
  CHECK(holds(remedy_of(*found[0]), "The program needs no change"));
  for (const Plan::Item& item : d.diagnosis.plan.items)
    CHECK(d.diagnosis.findings[static_cast<std::size_t>(item.finding)].finding.rule->id != "gpu_gap_in_step");
}

TEST_CASE("a graph of a whole step is not promised to DDP and FSDP without what stands against it") {
  const auto remedy = [](const char* name) {
    const Diagnosed& d = diagnosed_once(recording(name));
    const std::vector<const Finding*> found = d.findings("overhead_bound");
    REQUIRE(found.size() == 1);
    return std::string(remedy_of(*found[0]));
  };
  CHECK(holds(remedy("ddp_rank0"), "DistributedDataParallel splits that into one graph per bucket"));
  CHECK(holds(remedy("fsdp_rank1"), "The hooks of sharded modules split that"));
  CHECK_FALSE(holds(remedy("needless_sync"), "DistributedDataParallel"));
}

TEST_CASE("the first step says which call of it was a first use, and how long that takes later") {
  std::string text = slice("ProfilerStep#1", "0", "5000", "", "user_annotation") + "," + slice("aten::conv2d", "100", "4200") +
                     "," + slice("aten::cudnn_convolution", "150", "4000") + "," + slice("aten::relu", "4400", "300");
  for (int i = 1; i < 4; ++i) {
    const auto at = [&](int us) { return std::to_string(5000 * i + us); };
    text += "," + slice(fmt::format("ProfilerStep#{}", i + 1), at(0), "900", "", "user_annotation") + "," +
            slice("aten::conv2d", at(100), "200") + "," + slice("aten::cudnn_convolution", at(150), "30") + "," +
            slice("aten::relu", at(400), "300");
  }
  const Finding f = the_finding(events(text), "first_step_slow");
  CHECK(f.summary.ends_with(
      " Its longest first call is aten::cudnn_convolution with 4.00 ms, and 30.0 µs (median) in later steps."));
}

TEST_CASE("a lost event of a thousand is no caveat, one of four is") {
  const auto trust = [](int events_us) {
    Script script(100);
    for (int i = 0; i < events_us; ++i) script.add(slice("aten::mm", std::to_string(100 + i), "1"));
    return Diagnosed(load_text(script.add("{\"ph\": \"E\", \"ts\": 1, \"pid\": 99, \"tid\": 9}").text())).diagnosis.trust;
  };
  CHECK(holds(trust(2), "The file is damaged"));
  CHECK(trust(1000).empty());
}

TEST_CASE("a copy that begins milliseconds after its launch had to wait for work from before the recording") {
  const auto text = [](std::string_view cat) {
    return Script(5000)
        .call("cudaMemcpyAsync", 10)
        .add(slice("cudaMemcpyAsync", "20", "5", ", \"args\": {\"correlation\": 77}", "cuda_runtime"))
        .work(cat, "Memcpy DtoD (Device -> Device)", 4000, 5, 77)
        .kernel(kMm, 30, 4010, 900)
        .text();
  };
  CHECK(holds(the_finding(text("gpu_memcpy"), "cut_out_window").summary, "behind earlier work of its stream"));
  CHECK(Diagnosed(load_text(text("kernel"))).findings("cut_out_window").empty());  // a kernel's first use may take as long
}

TEST_CASE("what a share of the GPU time is of is said where much of it has no launch") {
  const auto text = [](int unlinked) {
    return Script(2000).kernel(kMm, 0, 10, 1000).unlinked("kernel", "k", 1010, unlinked).text();
  };
  CHECK(holds(Diagnosed(load_text(text(300))).diagnosis.trust,
              "Findings count only the 1.00 ms of 1.30 ms of GPU work whose launch is in the file."));
  CHECK_FALSE(holds(Diagnosed(load_text(text(5))).diagnosis.trust, "Findings count only"));
}

TEST_CASE("a remedy that names what the file says is not taken for one that is followed") {
  // The wrapper's sentence stays whole in a finding's remedy, though the program is compiled already.
  Script script(5);
  script.add(slice("Torch-Compiled Region: 0/0", "10", "4000"));
  script.add(slice("## Call CompiledFxGraph abc ##", "20", "3900", "", "user_annotation"));
  for (int i = 0; i < 3; ++i) script.kernel(kMm, 1000 + i * 1000, 1010 + i * 1000, 5);
  const Diagnosed d(load_text(script.text()));
  for (const Finding* f : d.findings("overhead_bound")) {
    CHECK(holds(f->remedy, "Start with the largest of these parts"));
    CHECK(holds(f->remedy, "is Inductor's wrapper around its kernels."));
  }
  CHECK(d.findings("overhead_bound").size() == 1);
}

TEST_CASE("what helps compiled code depends on how much a call holds, and on whether it is split") {
  // Calls of one region, each with so many kernels; `split`: the region is left for another one in between.
  const auto remedy = [](int kernels, bool split) {
    Script script(5, "aten::empty");
    for (int i = 0; i < 3; ++i) {
      const int at = 1000 + 4000 * i;
      script.add(slice("TorchDynamo Cache Lookup", std::to_string(at), "5"));
      script.add(slice("Torch-Compiled Region: 0/0", std::to_string(at + 10), "3000"));
      if (split) {
        script.add(slice("## Call CompiledFxGraph abc ##", std::to_string(at + 20), "1000", "", "user_annotation"));
        script.add(slice("TorchDynamo Cache Lookup", std::to_string(at + 1100), "5"));
        script.add(slice("Torch-Compiled Region: 1/0", std::to_string(at + 1500), "1400"));
        script.add(slice("## Call CompiledFxGraph def ##", std::to_string(at + 1510), "1300", "", "user_annotation"));
      }
      for (int k = 0; k < kernels; ++k) script.kernel("triton_poi_fused_add_0", at + 30 + 500 * k, at + 40 + 500 * k, 5);
    }
    return std::string(remedy_of(the_finding(script.text(), "compile_cpu_tax")));
  };
  CHECK(holds(remedy(1, false), "Do not compile single operators"));
  CHECK_FALSE(holds(remedy(4, false), "single operators"));
  CHECK(holds(remedy(4, false), "reduce-overhead"));
  CHECK_FALSE(holds(remedy(4, false), "fullgraph"));
  CHECK(holds(remedy(4, true), "fullgraph=True"));
}

TEST_CASE("the time of compiled code that is compiling is separate") {
  const auto summary = [](std::string_view inside) {
    return the_finding(events(slice("Torch-Compiled Region: 0/0", "0", "1000") + "," +
                              slice(inside, "100", "600", "", "user_annotation")),
                       "compiled_region")
        .summary;
  };
  CHECK(holds(summary("backend_compile (dynamo_timed)"), "1.00 ms on the host (600 µs of it compiling)"));
  CHECK(holds(summary("other"), "1.00 ms on the host, with"));
}

TEST_CASE("who is promised the gain of a graph is told of the graph") {
  Script script(5);
  script.add(slice("step", "10", "4000", "", "user_annotation"));
  for (int i = 0; i < 3; ++i) script.kernel(kMm, 1000 + i * 1000, 1010 + i * 1000, 5);
  const Finding f = the_finding(script.text(), "overhead_bound");
  CHECK(holds(f.remedy, "(Python). "));
  CHECK(holds(f.remedy, "a CUDA graph of the step (mode=\"reduce-overhead\")"));
  CHECK_FALSE(
      holds(the_finding(Script(script).call("cudaGraphLaunch", 3900).text(), "overhead_bound").remedy, "reduce-overhead"));
}

TEST_CASE("calls of an AMD GPU's runtime are not CUDA's") {
  const auto summary = [](std::string_view name) {
    Script script(4000);
    script.device(9, name).call("hipEventQuery", 100, 900);
    return the_finding(script.kernel(kMm, 1100, 1110, 5).kernel(kMm, 3000, 3010, 5).text(), "overhead_bound").summary;
  };
  CHECK(holds(summary("AMD Instinct MI300X"), "inside other runtime calls"));
  CHECK_FALSE(holds(summary("AMD Instinct MI300X"), "CUDA"));
}

TEST_CASE("MIOpen's transposes around convolutions are conversions of the layout") {
  const auto script = [](std::string_view kernel) {
    return Script(1000)
        .device(9, "AMD Instinct MI210")
        .kernel(kernel, 0, 10, 100)
        .kernel("igemm_fwd_gtcx2_nhwc_bf16", 1, 120, 400);
  };
  const Finding f = the_finding(script("batched_transpose_16x64_pack_1x4_ediv_1x2_half").text(), "layout_conversions");
  CHECK(holds(f.summary, "1 kernel of MIOpen turns"));
  CHECK(holds(remedy_of(f), "PYTORCH_MIOPEN_SUGGEST_NHWC=1"));
  CHECK_FALSE(Diagnosed(load_text(script("transpose_readWrite_alignment_kernel").text())).fires("layout_conversions"));
}

TEST_CASE("batch norms gain by channels last beside the conversions that it spares") {
  Script script(1000);
  script.kernel("void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)0>(int)", 0, 10,
                100);
  CHECK_FALSE(holds(the_finding(script.text(), "layout_conversions").summary, "Batch norms"));
  script.kernel("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float)", 1, 120, 400);
  const Document d(load_text(script.text()));
  d.diagnose();
  const auto& all = d.diagnosis()->findings;
  const auto found =
      std::find_if(all.begin(), all.end(), [](const RankedFinding& f) { return f.finding.rule->id == "layout_conversions"; });
  REQUIRE(found != all.end());
  CHECK(holds(found->finding.summary, "Batch norms with channels first (400 µs) take about half as long"));
  CHECK(found->finding.cost == 100'000);   // of the conversions alone
  CHECK(found->finding.stake == 300'000);  // with half of the batch norm
}

TEST_CASE("chains of an optimizer's kernels ask for its fused one") {
  const auto finding = [](std::string_view around, int steps = 1) {
    Script script(5, "aten::empty");
    for (int i = 0; i < steps; ++i)
      script.add(slice(fmt::format("ProfilerStep#{}", i), std::to_string(1000 / steps * i), std::to_string(1000 / steps), "",
                       "user_annotation"));
    script.add(slice(around, "10", "900", "", "user_annotation"));
    for (int i = 0; i < 4; ++i) {
      script.add(slice(i % 2 == 0 ? "aten::mul_" : "aten::add_", std::to_string(20 + 200 * i), "100"));
      script.kernel("void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >(int)", 30 + 200 * i,
                    50 + 200 * i, 90);
    }
    return the_finding(script.text(), "unfused_elementwise_chain");
  };
  const Finding of_optimizer = finding("Optimizer.step#AdamW.step");
  CHECK(holds(of_optimizer.summary, "100 % of that is the optimizer's."));
  CHECK(holds(remedy_of(of_optimizer), "fused=True in the optimizer"));
  CHECK(of_optimizer.code == "optimizer = torch.optim.AdamW(model.parameters(), fused=True)");
  CHECK(holds(finding("Optimizer.step#SGD.step").code, "torch.optim.SGD("));
  CHECK(of_optimizer.stake == 180'000);  // its states are read and written by one kernel, too
  const Finding of_forward = finding("forward");
  CHECK_FALSE(holds(remedy_of(of_forward), "fused=True"));
  CHECK(of_forward.stake == 300'000);             // of four kernels of 90 us two thirds of one are left
  CHECK(finding("forward", 2).stake == 240'000);  // of each step
  CHECK(finding("forward", 0).stake == 180'000);  // which was not marked
}

TEST_CASE("what is fused with a chain counts for the gain, and is said") {
  constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";
  constexpr const char* kSum =
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
      "at::native::sum_functor<float, float, float> > > >(int)";
  Script script(5, "aten::empty");
  script.add(slice("ProfilerStep#1", "0", "1000", "", "user_annotation"));
  const auto work = [&](const char* op, const char* kernel, int at) {
    script.add(slice(op, std::to_string(at), "90")).kernel(kernel, at + 10, at + 50, 90);
  };
  work("aten::mul", kAdd, 20);
  work("aten::add", kAdd, 120);
  work("aten::sum", kSum, 220);
  work("aten::mm", kMm, 320);
  const Finding found = the_finding(script.text(), "unfused_elementwise_chain");
  CHECK(holds(found.summary, "(180 µs) is in 1 chain of 2 back-to-back elementwise kernels. With the norms, sums and casts"));
  CHECK(holds(found.summary, "which a compiler fuses, too, 270 µs."));
  CHECK(found.cost == 120'000);   // of its places
  CHECK(found.stake == 210'000);  // of three kernels of 90 us two thirds of one are left
}

TEST_CASE("32-bit products of Tensile are TF32 where their name says so") {
  const auto fires = [](std::string_view type) {
    return Diagnosed(
               load_text(
                   Script(1000)
                       .device(9, "AMD Instinct MI300X")
                       .kernel(fmt::format("Cijk_Ailk_Bljk_{}_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN_ISA942", type), 0,
                               10, 500)
                       .text()))
        .fires("tf32_gemm");
  };
  CHECK(fires("S_MX_B"));
  CHECK_FALSE(fires("S_B"));
}

TEST_CASE("how few blocks are too few is said") {
  const Finding f =
      the_finding(Script(1000).kernel(kMm, 0, 10, 500, ", \"blocks per SM\": 0.1, \"grid\": [13, 1, 1]").text(), "small_grid");
  CHECK(holds(f.summary, "with fewer than 0.8 blocks per SM"));
}

TEST_CASE("what spares a hidden copy depends on the operator that makes it") {
  const auto remedy = [](std::string_view op) {
    return std::string(
        remedy_of(the_finding(Script(5, "aten::empty")
                                  .add(slice(op, "10", "500"))
                                  .call("cudaMemcpyAsync", 20)
                                  .add(slice("cudaMemcpyAsync", "30", "5", ", \"args\": {\"correlation\": 77}", "cuda_runtime"))
                                  .work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 40, 100, 77)
                                  .kernel(kMm, 200, 210, 300)
                                  .text(),
                              "hidden_memcpy")));
  };
  CHECK(holds(remedy("aten::select_backward"), "unbind()"));
  CHECK(holds(remedy("aten::addmm"), "a one-dimensional bias"));
}
