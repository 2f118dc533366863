// Advice without what is done already, and in the words of the GPU's vendor.
#include <algorithm>
#include <array>
#include <vector>

#include "core/analyze/practices/practices.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// What marks a remedy as done, and what must be followed for it to make sense.
struct Conditions {
  Remedy remedy;
  Practice done = Practice::count_;
  Practice needs = Practice::count_;
  std::optional<Remedy> contradicts = std::nullopt;
  bool of_torch_2 = false;  // PyTorch 1 has it not
  bool of_engine = false;   // what an engine of vLLM's kind does for its model: its user does not write it
};
constexpr std::array kConditions = {
    Conditions{.remedy = Remedy::compile,
               .done = Practice::compiled,
               .contradicts = Remedy::eager,
               .of_torch_2 = true,
               .of_engine = true},
    Conditions{
        .remedy = Remedy::compile_rest, .done = Practice::mostly_compiled, .needs = Practice::compiled, .of_engine = true},
    Conditions{.remedy = Remedy::eager, .contradicts = Remedy::compile},
    Conditions{.remedy = Remedy::cuda_graph, .done = Practice::cuda_graphs, .of_torch_2 = true, .of_engine = true},
    Conditions{.remedy = Remedy::larger_graphs, .done = Practice::whole_graphs, .needs = Practice::cuda_graphs},
    Conditions{.remedy = Remedy::cpp_wrapper, .done = Practice::cuda_graphs, .needs = Practice::inductor},
    Conditions{.remedy = Remedy::pinned_memory, .done = Practice::pinned_memory},
    Conditions{.remedy = Remedy::non_blocking, .done = Practice::non_blocking_copies},
    Conditions{.remedy = Remedy::own_stream, .done = Practice::copy_stream},
    Conditions{.remedy = Remedy::workers, .done = Practice::loader_workers},
    Conditions{.remedy = Remedy::more_workers, .needs = Practice::loader_workers},
    Conditions{.remedy = Remedy::autocast, .done = Practice::half_precision},
    Conditions{.remedy = Remedy::other_precision, .needs = Practice::half_precision},
    Conditions{.remedy = Remedy::tf32, .done = Practice::tf32},
    Conditions{
        .remedy = Remedy::fused_optimizer, .done = Practice::fused_optimizer, .needs = Practice::optimizer, .of_torch_2 = true},
    Conditions{.remedy = Remedy::whole_sequence, .needs = Practice::recurrent_cells},
    Conditions{.remedy = Remedy::fused_attention, .done = Practice::fused_attention, .of_torch_2 = true},
    Conditions{.remedy = Remedy::shared_attention, .needs = Practice::fused_attention},
    Conditions{.remedy = Remedy::bucket_views, .done = Practice::bucket_views},
    Conditions{.remedy = Remedy::any_gathers, .done = Practice::fsdp_any_gathers},
    Conditions{.remedy = Remedy::channels_last, .done = Practice::channels_last},
    Conditions{.remedy = Remedy::larger_batch, .contradicts = Remedy::smaller_batch},
    Conditions{.remedy = Remedy::smaller_batch, .contradicts = Remedy::larger_batch},
    Conditions{.remedy = Remedy::record_frames, .done = Practice::python_frames},
    Conditions{.remedy = Remedy::record_shapes, .done = Practice::shapes},
    Conditions{.remedy = Remedy::warm_up, .done = Practice::warm_up},
};
constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kConditions.size(); ++i)
    if (static_cast<std::size_t>(kConditions[i].remedy) != i) return false;
  return kConditions.size() == static_cast<std::size_t>(Remedy::count_);
}
static_assert(are_in_order());
const Conditions& conditions_of(Remedy remedy) { return kConditions[static_cast<std::size_t>(remedy)]; }

// Where the launches of a step do not become one graph: the CUDA graphs page of PyTorch's notes.
constexpr std::string_view kGraphsOfDdp =
    "DistributedDataParallel splits that into one graph per bucket of gradients. torch.cuda.graph can hold a whole step, "
    "captured after 11 eager steps.";
constexpr std::string_view kGraphsOfFsdp = "The hooks of sharded modules split that into one graph per module.";

constexpr std::string_view kOfTheEngine =
    "the engine's own compilation and CUDA graphs (vLLM: no enforce_eager, cudagraph_capture_sizes up to the tokens of this "
    "pass; SGLang: no --disable-cuda-graph)";

// A comma that no parentheses are around: what follows explains.
bool has_bare_comma(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && text.substr(i, 2) == ", ") return true;
  }
  return false;
}

// "a", "a or b", "a, b or c".
std::string joined(const std::vector<std::string_view>& choices) {
  std::string out;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool last = i + 1 == choices.size();
    // Behind a choice that explains itself ("torch.compile, which fuses them") the last one needs a comma of its own.
    const bool explained = i > 0 && has_bare_comma(choices[i - 1]);
    out += i == 0 ? "" : !last ? ", " : explained ? ", or " : " or ";
    out += choices[i];
  }
  return out;
}

// The choices that are left, and what they name.
std::vector<std::string_view> choices_left(const Practices& practices, const Advice::Sentence& sentence, Remedies& named) {
  std::vector<std::string_view> left;
  for (const Advice::Choice& choice : sentence.choices) {
    Remedy remedy = choice.remedy.value_or(Remedy::count_);
    std::string_view words = choice.words;
    if (choice.remedy && conditions_of(remedy).of_engine && practices.follows(Practice::serving))
      remedy = Remedy::cuda_graph, words = kOfTheEngine;
    if (choice.remedy && practices.refuses(remedy)) continue;
    if (words == kOfTheEngine && std::find(left.begin(), left.end(), words) != left.end()) continue;
    left.push_back(words);
    if (choice.remedy) named.add(remedy);
  }
  return left;
}

struct Renamed {
  std::string_view from, to;
};
constexpr std::array kOnAmd = {
    Renamed{"cudaDeviceSynchronize", "hipDeviceSynchronize"},
    Renamed{"cudaStreamSynchronize", "hipStreamSynchronize"},
    Renamed{"cudaMemcpyAsync", "hipMemcpyAsync"},
    Renamed{"cudaMallocHost", "hipHostMalloc"},
    Renamed{"cudaHostRegister", "hipHostRegister"},
    Renamed{"cudaMallocAsync", "hipMallocAsync"},
    Renamed{"CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING"},
    Renamed{"CUDA_MODULE_LOADING=EAGER", "HIP_ENABLE_DEFERRED_LOADING=0"},
    Renamed{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"},
    Renamed{"CUDA graph", "HIP graph"},
    Renamed{"CUDA call", "HIP call"},
    Renamed{"NCCL", "RCCL"},
    Renamed{"NVTX range", "roctx range"},
    Renamed{"cuDNN", "MIOpen"},
    Renamed{"cuBLAS", "hipBLASLt"},
    Renamed{"CUDA driver", "HIP driver"},
    Renamed{"CUDA runtime", "HIP runtime"},
    Renamed{"tensor core", "matrix core"},
    Renamed{"tensor-core", "matrix-core"},
    Renamed{"CUDA time", "GPU time"},
    Renamed{"an SM", "a CU"},
    Renamed{"An SM", "A CU"},
    Renamed{"SMs", "CUs"},
    Renamed{"SM", "CU"},
};

// Of the others: their own names where PyTorch has some, else what all have.
constexpr std::array kOnIntel = {
    Renamed{"ProfilerActivity.CUDA", "ProfilerActivity.XPU"},
    Renamed{"torch.cuda.", "torch.xpu."},
    Renamed{"cudaDeviceSynchronize", "torch.xpu.synchronize"},
    Renamed{"NCCL", "oneCCL"},
    Renamed{"NVTX range", "ITT range"},
    Renamed{"cuDNN", "oneDNN"},
    Renamed{"cuBLAS", "oneMKL"},
    Renamed{"tensor core", "XMX engine"},
    Renamed{"an SM", "an Xe core"},
    Renamed{"SMs", "Xe cores"},
    Renamed{"SM", "Xe core"},
};
constexpr std::array kOnHuawei = {
    Renamed{"ProfilerActivity.CUDA", "ProfilerActivity.NPU"},
    Renamed{"torch.cuda.", "torch.npu."},
    Renamed{"cudaDeviceSynchronize", "torch.npu.synchronize"},
    Renamed{"NCCL", "HCCL"},
    Renamed{"NVTX range", "mstx range"},
    Renamed{"tensor core", "cube unit"},
    Renamed{"an SM", "an AI Core"},
    Renamed{"SMs", "AI Cores"},
    Renamed{"SM", "AI Core"},
};
constexpr std::array kOnMeta = {
    Renamed{"ProfilerActivity.CUDA", "ProfilerActivity.MTIA"},
    Renamed{"torch.cuda.", "torch.mtia."},
    Renamed{"cudaDeviceSynchronize", "torch.mtia.synchronize"},
};
constexpr std::array kOnOthers = {
    Renamed{"CUDA_LAUNCH_BLOCKING=1", "blocking launches"},
    Renamed{"CUDA_LAUNCH_BLOCKING", "blocking launches"},
    Renamed{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"},
    Renamed{"CUDA graph", "device graph"},
    Renamed{"CUDA call", "runtime call"},
    Renamed{"CUDA driver", "device driver"},
    Renamed{"CUDA runtime", "device runtime"},
    Renamed{"CUDA time", "device time"},
    Renamed{"cudaDeviceSynchronize", "a device synchronization"},
    Renamed{"cudaStreamSynchronize", "a stream synchronization"},
    Renamed{"cudaMemcpyAsync", "an asynchronous copy"},
    Renamed{"cudaMallocHost", "pinned memory"},
    Renamed{"NCCL", "the collectives' library"},
    Renamed{"NVTX range", "annotation"},
    Renamed{"tensor core", "matrix unit"},
    Renamed{"tensor-core", "matrix-unit"},
    Renamed{"SMs", "cores"},
    Renamed{"SM", "core"},
    Renamed{"CUDA", "GPU"},
};

bool is_of_a_word(char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
// "CUDA graph" in "CUDA graphs" is a word, too; "CUDA" in "ProfilerActivity.CUDA" is code.
bool is_whole_word(std::string_view text, std::size_t at, std::size_t length) {
  std::size_t end = at + length;
  if (is_of_a_word(text[at]) && at > 0 && (is_of_a_word(text[at - 1]) || text[at - 1] == '.')) return false;
  if (!is_of_a_word(text[end - 1])) return true;
  end += end < text.size() && text[end] == 's' ? 1 : 0;
  return end >= text.size() || !is_of_a_word(text[end]);
}

}  // namespace

bool Practices::refuses(Remedy remedy) const {
  const Conditions& is = conditions_of(remedy);
  if (differentiates_twice && (remedy == Remedy::compile || remedy == Remedy::compile_rest)) return true;
  if (named_.has(remedy) || (is.of_torch_2 && follows(Practice::before_torch_2))) return true;
  return (is.done != Practice::count_ && follows(is.done)) || (is.needs != Practice::count_ && !follows(is.needs));
}

Practices Practices::after(Remedies done) const {
  Practices out = *this;
  for (const Conditions& of : kConditions) {
    if (!done.has(of.remedy)) continue;
    out.named_.add(of.remedy);
    if (of.contradicts) out.named_.add(*of.contradicts);
    if (of.done != Practice::count_) out.set(of.done, true);
  }
  // Who compiles, compiles all of it.
  if (out.follows(Practice::compiled) && !follows(Practice::compiled)) out.set(Practice::mostly_compiled, true);
  return out;
}

std::string in_words_of(Vendor vendor, std::string_view text) {
  std::string out(text);
  const auto rename = [&](const auto& words) {
    for (const Renamed& word : words)
      for (std::size_t at = out.find(word.from); at != out.npos; at = out.find(word.from, at)) {
        const bool is_it = is_whole_word(out, at, word.from.size());
        if (is_it) out.replace(at, word.from.size(), word.to);
        at += is_it ? word.to.size() : word.from.size();
      }
  };
  switch (vendor) {
    case Vendor::nvidia: return out;
    case Vendor::amd: rename(kOnAmd); return out;
    case Vendor::intel: rename(kOnIntel); break;
    case Vendor::huawei: rename(kOnHuawei); break;
    case Vendor::meta: rename(kOnMeta); break;
    case Vendor::google:
    case Vendor::other: break;
  }
  rename(kOnOthers);
  return out;
}

Said said(const Practices& practices, const Advice& advice) {
  Said out;
  for (const Advice::Sentence& sentence : advice.sentences) {
    bool is_refused = false;
    for (const Conditions& of : kConditions) is_refused |= sentence.names.has(of.remedy) && practices.refuses(of.remedy);
    const std::vector<std::string_view> left = choices_left(practices, sentence, out.remedies);
    if (is_refused || (left.empty() && !sentence.choices.empty())) continue;
    out.remedies.add(sentence.names);
    out.text += (out.text.empty() ? "" : " ") + sentence.before + joined(left) + sentence.after;
  }
  out.text = in_words_of(practices.vendor, out.text);
  return out;
}

std::string fitted(const Practices& practices, std::string_view words) { return said(practices, advice_of(words)).text; }

Said with_whole_step_caveat(const Practices& practices, Said remedy) {
  if (!remedy.remedies.has(Remedy::cuda_graph) && !remedy.remedies.has(Remedy::larger_graphs)) return remedy;
  if (practices.follows(Practice::fsdp))
    remedy.text.append(" ").append(kGraphsOfFsdp);
  else if (practices.follows(Practice::ddp))
    remedy.text.append(" ").append(kGraphsOfDdp);
  return remedy;
}

}  // namespace gapscope
