// What a program does already, and advice without it.
#include "core/analyze/practices/practices.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/diagnose/catalogue.h"
#include "tests/support/diagnosed.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/source_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string copy(std::string_view name, int stream, std::string_view call, int correlation, std::string_view next = "") {
  std::string text = slice(call, "10", "5", fmt::format(", \"args\": {{\"correlation\": {}}}", correlation), "cuda_runtime");
  if (!next.empty()) text += "," + slice(next, "16", "5", ", \"args\": {\"correlation\": 99}", "cuda_runtime");
  return text + "," +
         slice(name, "30", "100",
               fmt::format(", \"args\": {{\"correlation\": {}, \"device\": 0, \"stream\": {}, \"bytes\": 4000000}}",
                           correlation, stream),
               "gpu_memcpy", std::to_string(stream));
}
const std::string kKernel =
    slice("k", "0", "100", ", \"args\": {\"correlation\": 7, \"device\": 0, \"stream\": 7}", "kernel", "7");

Remedies set_of(std::initializer_list<Remedy> list) {
  Remedies out;
  for (const Remedy r : list) out.add(r);
  return out;
}
std::string remedies_refused(const Practices& practices, Remedies named) {
  std::string out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Remedy::count_); ++i)
    if (const auto r = static_cast<Remedy>(i); named.has(r) && practices.refuses(r)) out += std::string(remedy_key(r)) + " ";
  return out;
}

Practices of(const std::string& list) { return Practices(*load_text(events(kKernel + "," + list))); }

}  // namespace

TEST_CASE("copies: pinned, not waited for, on a stream of their own") {
  const Practices good = of(copy("Memcpy HtoD (Pinned -> Device)", 20, "cudaMemcpyAsync", 1));
  CHECK(good.follows(Practice::pinned_memory));
  CHECK(good.follows(Practice::non_blocking_copies));
  CHECK(good.follows(Practice::copy_stream));
  const Practices bad = of(copy("Memcpy HtoD (Pageable -> Device)", 7, "cudaMemcpyAsync", 1, "cudaStreamSynchronize"));
  CHECK_FALSE(bad.follows(Practice::pinned_memory));
  CHECK_FALSE(bad.follows(Practice::non_blocking_copies));
  CHECK_FALSE(bad.follows(Practice::copy_stream));
  CHECK_FALSE(of(copy("Memcpy HtoD (Pinned -> Device)", 20, "hipMemcpyWithStream", 1)).follows(Practice::non_blocking_copies));
}

TEST_CASE("choices that are followed go, and sentences without a choice left with them") {
  constexpr std::string_view kAdvice =
      "First. Do it: {compile}, {larger_batch}. Use torch.compile{compile!}. Hide: {non_blocking}.";
  const Practices none = of(slice("aten::mm", "0", "10"));
  CHECK(fitted(none, kAdvice) == "First. Do it: torch.compile or a larger batch. Use torch.compile. Hide: non_blocking=True.");
  const Practices compiled = of(slice("Torch-Compiled Region: 0/0", "0", "10") + "," +
                                copy("Memcpy HtoD (Pinned -> Device)", 20, "cudaMemcpyAsync", 1));
  CHECK(fitted(compiled, kAdvice) == "First. Do it: a larger batch.");
  CHECK(fitted(compiled, "Use torch.compile{compile!}.").empty());
}

TEST_CASE("a recurrent layer as a whole is for programs that call its cell") {
  constexpr std::string_view kAdvice =
      "Have fewer: {whole_sequence|torch.nn.LSTM or GRU over the whole sequence}, {larger_batch}.";
  CHECK(fitted(of(slice("aten::mm", "0", "10")), kAdvice) == "Have fewer: a larger batch.");
  CHECK(fitted(of(slice("aten::lstm_cell", "0", "10")), kAdvice) ==
        "Have fewer: torch.nn.LSTM or GRU over the whole sequence or a larger batch.");
}

TEST_CASE("on AMD's GPUs calls have HIP's names") {
  const Practices amd = of(slice("hipLaunchKernel", "0", "10", "", "cuda_runtime"));
  CHECK(amd.vendor == Vendor::amd);
  CHECK(fitted(amd, "Call cudaDeviceSynchronize, not torch.cuda.synchronize.") ==
        "Call hipDeviceSynchronize, not torch.cuda.synchronize.");
}

TEST_CASE("on AMD's GPUs all words are AMD's, names of kernels stay") {
  CHECK(in_words_of(Vendor::amd, "An SM of 304 SMs, in tensor-core kernels, 12 % of the CUDA time, k_SM_90, SMALL") ==
        "A CU of 304 CUs, in matrix-core kernels, 12 % of the GPU time, k_SM_90, SMALL");
  CHECK(in_words_of(Vendor::amd, "tensor core: yes; without tensor cores") == "matrix core: yes; without matrix cores");
  CHECK(in_words_of(Vendor::nvidia, "An SM of the CUDA time") == "An SM of the CUDA time");
  CHECK(in_words_of(Vendor::amd, "my_NCCL_sum of NCCL, cuDNNish, cuDNN's, CUDA graphs") ==
        "my_NCCL_sum of RCCL, cuDNNish, MIOpen's, HIP graphs");
}

TEST_CASE("once a remedy is named another need not name it, and may build on it") {
  constexpr std::string_view kAdvice = "Do it: {compile}, {compile_rest}, {cuda_graph}, {larger_graphs}, {larger_batch}.";
  const Practices none = of(slice("aten::mm", "0", "10"));
  const Practices compiled = none.after(set_of({Remedy::compile}));
  CHECK(fitted(compiled, kAdvice) == "Do it: mode=\"reduce-overhead\" or a larger batch.");
  CHECK(fitted(compiled.after(set_of({Remedy::cuda_graph})), kAdvice) ==
        "Do it: more of the step in each CUDA graph or a larger batch.");
  const Remedies all = set_of({Remedy::cuda_graph, Remedy::larger_graphs, Remedy::compile, Remedy::larger_batch});
  CHECK(fitted(none.after(all), kAdvice).empty());
  CHECK(said(none, advice_of(kAdvice)).remedies.has(Remedy::larger_batch));
}

TEST_CASE("more work in each graph is for programs that launch some of it themselves") {
  const auto launched = [](const char* call, int id, int kernels) {
    const std::string args = ", \"args\": {\"correlation\": " + std::to_string(id) + ", \"device\": 0, \"stream\": 7}";
    std::string out = slice(call, std::to_string(1000 * id), "5", args, "cuda_runtime");
    for (int k = 0; k < kernels; ++k) out += "," + slice("k", std::to_string(1000 * id + 6 + 4 * k), "3", args, "kernel", "7");
    return out;
  };
  const auto advice = [](const std::string& text) { return fitted(of(text), "{larger_graphs}."); };
  const std::string graph = launched("cudaGraphLaunch", 1, 120);
  CHECK(advice(graph).empty());
  CHECK(advice(graph + "," + launched("cudaLaunchKernel", 2, 20)) == "more of the step in each CUDA graph.");
  CHECK(advice(launched("cudaGraphLaunch", 1, 20) + "," + launched("cudaGraphLaunch", 2, 20)) ==
        "more of the step in each CUDA graph.");
}

TEST_CASE("convolutions in TF32, which cuDNN takes unasked, do not say that products may") {
  const auto kernel = [](std::string_view name, std::string_view us) {
    return slice(name, "0", us, ", \"args\": {\"correlation\": 7, \"device\": 0, \"stream\": 7}", "kernel", "7");
  };
  const std::string tf32 = kernel("cutlass_80_tensorop_s1688gemm_128x128_nn_align4", "100");
  CHECK(of(tf32).follows(Practice::tf32));
  CHECK_FALSE(of(tf32 + "," + kernel("ampere_sgemm_128x64_tn", "200")).follows(Practice::tf32));
  CHECK(of(tf32 + "," + kernel("ampere_sgemm_128x64_tn", "50")).follows(Practice::tf32));
}

TEST_CASE("fused=True is offered for optimizers that have it") {
  constexpr std::string_view kAdvice = "Do it: {fused_optimizer}, {larger_batch}.";
  CHECK(fitted(of(slice("Optimizer.step#AdamW.step", "0", "10")), kAdvice).find("fused=True") != std::string::npos);
  CHECK(fitted(of(slice("Optimizer.step#RMSprop.step", "0", "10")), kAdvice) == "Do it: a larger batch.");
  // One launch of fifty is the optimizer's, and two microseconds of the GPU's hundred.
  std::string few = slice("Optimizer.step#AdamW.step", "0", "10", "", "user_annotation");
  for (int i = 0; i < 50; ++i) {
    const std::string args = R"(, "args": {"device": 0, "stream": 7, "correlation": )" + std::to_string(i + 1) + "}";
    few += "," + slice("cudaLaunchKernel", std::to_string(5 + 20 * i), "2", args, "cuda_runtime") + "," +
           slice("k", std::to_string(8 + 20 * i), "2", args, "kernel", "70");
  }
  CHECK(fitted(of(few), kAdvice) == "Do it: a larger batch.");
}

TEST_CASE("advice is read by its keys, not by its English") {
  const Practices none = of(slice("aten::mm", "0", "10"));
  const Practices compiled = of(slice("Torch-Compiled Region: 0/0", "0", "10"));
  // Words alone refuse nothing; names of a file are no keys.
  CHECK(fitted(compiled, "See: {|what torch.compile made}.") == "See: what torch.compile made.");
  const Said name = said(compiled, plain_advice("Most of it is in {compile!}torch.compile."));
  CHECK(name.text == "Most of it is in {compile!}torch.compile.");
  CHECK(name.remedies.empty());
  // What contradicts a remedy that is planned is said no more.
  CHECK(fitted(none, "Do not: {eager}.") == "Do not: leave it eager.");
  CHECK(fitted(none.after(set_of({Remedy::compile})), "Do not: {eager}.").empty());
  CHECK(fitted(none.after(set_of({Remedy::larger_batch})), "Leave room: {smaller_batch}.").empty());
  CHECK_FALSE(is_sound_advice("Use {torch.compile}."));
  CHECK_FALSE(is_sound_advice("Use {compile."));
  CHECK_FALSE(is_sound_advice("Use fused=True{fused!}."));
  CHECK(is_sound_advice("Use {compile}, {compile|it}, {|a name}. Use it{compile!}."));
}

TEST_CASE("FSDP and DDP: which, and what of it is in use") {
  const Practices second = of(slice("FSDP::all_gather (0)", "0", "10"));
  CHECK(second.is_fsdp2);
  CHECK_FALSE(second.is_fsdp1);
  const std::string first = slice("FullyShardedDataParallel.forward", "0", "10");
  CHECK(of(first).is_fsdp1);
  CHECK(of(first).follows(Practice::fsdp_any_gathers));
  CHECK_FALSE(of(first + "," + slice("FullyShardedDataParallel.rate_limiter", "1", "2")).follows(Practice::fsdp_any_gathers));
  const std::string ddp = slice("DistributedDataParallel.forward", "0", "10");
  CHECK(of(ddp).follows(Practice::bucket_views));
  CHECK_FALSE(
      of(ddp + "," + slice("torch.distributed.ddp.reducer::copy_bucket_to_grad", "1", "2")).follows(Practice::bucket_views));
}

TEST_CASE("no recording and no fixture is told to do what it does") {
  std::vector<std::filesystem::path> paths = real_traces();
  for (const Rule* rule : all_rules()) paths.push_back(source_folder() / "tests/fixtures" / (std::string(rule->id) + ".json"));
  for (const auto& path : paths) {
    CAPTURE(path.filename().string());
    const Diagnosed& d = diagnosed_once(path);
    const Practices practices(d.document.trace);
    for (const RankedFinding& f : d.diagnosis.findings) {
      CAPTURE(std::string(f.finding.rule->id));
      const std::string_view remedy = remedy_of(f.finding);
      CAPTURE(std::string(remedy));
      CHECK(remedies_refused(practices, f.finding.remedies).empty());
      CHECK(remedy.find_first_of("{}") == std::string_view::npos);
      CHECK_FALSE(remedy.empty());
      const std::string words = f.finding.summary + std::string(f.finding.rule->title);
      CHECK((practices.vendor == Vendor::nvidia || words.find("CUDA graph") == std::string::npos));
    }
  }
}

TEST_CASE("steps of several ranks are not sizes that change") {
  // Steps of one thread or, in turn, of two, which overlap; the grid differs from one to the next.
  const auto differs = [](int ranks) {
    KinetoText text;
    for (int i = 0; i < 8; ++i) {
      const int step = i / ranks, rank = i % ranks;
      const double at = 5e6 + 1000.0 * step + 7.0 * rank;
      const std::string host = std::to_string(100 + rank);
      text.slice("user_annotation", fmt::format("ProfilerStep#{}", step), host, "1", at, 990);
      text.launch(i + 1, at + 10, host);
      text.slice("kernel", "gemm", std::to_string(rank), "7", at + 20, 60,
                 fmt::format(R"("device":{},"stream":7,"correlation":{},"grid":[{},1,1],"block":[128,1,1])", rank, i + 1,
                             i % 2 == 0 ? 100 : 200));
    }
    return Practices(*load_text(text.text())).work_differs_by_step();
  };
  CHECK(differs(1));
  CHECK_FALSE(differs(2));
}

TEST_CASE("what is differentiated twice is not compiled") {
  const auto with = [](const char* node) {
    return of(slice(std::string("autograd::engine::evaluate_function: ") + node, "10", "5"));
  };
  CHECK(with("TanhBackwardBackward0").refuses(Remedy::compile));
  CHECK_FALSE(with("TanhBackward0").refuses(Remedy::compile));
}
