// Advice without what is done already, and in the words of the GPU's vendor.
#include <algorithm>
#include <array>
#include <vector>

#include "core/analyze/practices/practices.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// A text that holds `words` asks for a practice. `needs` must be followed for it to make sense.
struct Asking {
  std::string_view words;
  Practice practice;
  Practice needs = Practice::count_;
};
constexpr std::array kAsking = {
    Asking{"torch.compile", Practice::compiled},
    Asking{"compile the rest", Practice::mostly_compiled, Practice::compiled},
    Asking{"reduce-overhead", Practice::cuda_graphs},
    Asking{"CUDAGraph", Practice::cuda_graphs},
    Asking{"as a CUDA graph", Practice::cuda_graphs},
    Asking{"CUDA graphs", Practice::cuda_graphs},
    Asking{"into each CUDA graph", Practice::count_, Practice::cuda_graphs},
    Asking{"pin_memory", Practice::pinned_memory},
    Asking{"pinned memory", Practice::pinned_memory},
    Asking{"cudaMallocHost", Practice::pinned_memory},
    Asking{"non_blocking", Practice::non_blocking_copies},
    Asking{"cudaMemcpyAsync", Practice::non_blocking_copies},
    Asking{"torch.cuda.Stream", Practice::copy_stream},
    Asking{"a stream of its own", Practice::copy_stream},
    Asking{"num_workers above 0", Practice::loader_workers},
    Asking{"torch.autocast", Practice::half_precision},
    Asking{"bfloat16", Practice::half_precision},
    Asking{"set_float32_matmul_precision", Practice::tf32},
    Asking{"CUBLAS_TF32_TENSOR_OP_MATH", Practice::tf32},
    Asking{"foreach=True", Practice::foreach_optimizer, Practice::optimizer},
    Asking{"fused=True", Practice::fused_optimizer, Practice::optimizer},
    Asking{"more of the step in each CUDA graph", Practice::count_, Practice::cuda_graphs},
    Asking{"over the whole sequence", Practice::count_, Practice::recurrent_cells},
    Asking{"more workers", Practice::count_, Practice::loader_workers},
    Asking{"precision of the other products", Practice::count_, Practice::half_precision},
    Asking{"fused attention that other calls use", Practice::count_, Practice::fused_attention},
    Asking{"cpp_wrapper", Practice::cuda_graphs, Practice::inductor},
    Asking{"gradient_as_bucket_view", Practice::bucket_views},
    Asking{"limit_all_gathers=False", Practice::fsdp_any_gathers},
    Asking{"channels_last", Practice::channels_last},
    Asking{"scaled_dot_product_attention", Practice::fused_attention},
    Asking{"with_stack=True", Practice::python_frames},
    Asking{"record_function", Practice::python_frames},
    Asking{"record_shapes=True", Practice::shapes},
    Asking{"schedule(wait", Practice::warm_up},
    Asking{"a larger batch", Practice::count_},
};
static_assert(kAsking.size() <= 64, "a bit each (Practices::was_named)");

// Where one graph for the launches of a step is not to be had just so: the CUDA graphs page of PyTorch's notes.
constexpr std::string_view kGraphsOfDdp =
    "DistributedDataParallel makes that one graph a bucket of gradients; torch.cuda.graph holds a whole step, captured after "
    "11 eager ones.";
constexpr std::string_view kGraphsOfFsdp = "The hooks of sharded modules split that into one graph for each of them.";

bool is_done(const Practices& practices, Practice practice) {
  return practice != Practice::count_ && practices.follows(practice);
}

bool names_graphs(std::string_view text) {
  return text.find("reduce-overhead") != text.npos || text.find("CUDA graph") != text.npos ||
         text.find("HIP graph") != text.npos;
}

// What PyTorch 1 does not have.
bool needs_torch_2(std::string_view text) {
  constexpr std::array<std::string_view, 5> kWords = {"torch.compile", "reduce-overhead", "fused=True",
                                                      "make_graphed_callables", "scaled_dot_product_attention"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return text.find(word) != text.npos; });
}

// What an engine does for its model: its user does not write it.
bool is_of_the_engine(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords = {"torch.compile", "compile the rest", "reduce-overhead",
                                                      "make_graphed_callables"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return text.find(word) != text.npos; });
}
constexpr std::string_view kOfTheEngine =
    "the engine's own compilation and CUDA graphs (vLLM: no enforce_eager, cudagraph_capture_sizes up to the tokens of this "
    "pass; SGLang: no --disable-cuda-graph)";

bool is_refused(const Practices& practices, std::string_view text) {
  if (practices.follows(Practice::before_torch_2) && needs_torch_2(text)) return true;
  return std::any_of(kAsking.begin(), kAsking.end(), [&](const Asking& asking) {
    if (text.find(asking.words) == text.npos) return false;
    if (practices.was_named(static_cast<std::size_t>(&asking - kAsking.data()))) return true;
    return is_done(practices, asking.practice) || (asking.needs != Practice::count_ && !practices.follows(asking.needs));
  });
}

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

// "Fuse them: {a}, {b}." without the choices that are done; empty where none is left.
std::string fitted_sentence(const Practices& practices, std::string_view sentence) {
  const std::size_t first = sentence.find('{'), last = sentence.rfind('}');
  if (first == sentence.npos || last == sentence.npos || last < first)
    return is_refused(practices, sentence) ? std::string() : std::string(sentence);
  std::vector<std::string_view> left;
  std::string_view choices = sentence.substr(first, last + 1 - first);
  while (!choices.empty()) {
    const std::size_t end = choices.find('}');
    if (end == choices.npos) break;
    const std::string_view choice = choices.substr(1, end - 1);
    const bool by_engine = practices.follows(Practice::serving) && is_of_the_engine(choice);
    if (by_engine && !is_refused(practices, "CUDA graphs") && std::find(left.begin(), left.end(), kOfTheEngine) == left.end())
      left.push_back(kOfTheEngine);
    if (!by_engine && !is_refused(practices, choice)) left.push_back(choice);
    choices.remove_prefix(std::min(choices.find('{', end), choices.size()));
  }
  if (left.empty()) return {};
  return std::string(sentence.substr(0, first)) + joined(left) + std::string(sentence.substr(last + 1));
}

// The end of the first sentence: behind a full stop that a capital letter, a number, or nothing, follows.
std::size_t end_of_sentence(std::string_view text) {
  for (std::size_t at = text.find(". "); at != text.npos; at = text.find(". ", at + 1))
    if (at + 2 < text.size() && ((text[at + 2] >= 'A' && text[at + 2] <= 'Z') || text[at + 2] == '`' || is_digit(text[at + 2])))
      return at + 1;
  return text.size();
}

struct Renamed {
  std::string_view from, to;
  bool whole = false;  // not inside another word, as in the name of a kernel
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
    Renamed{"cuDNN", "MIOpen"},
    Renamed{"cuBLAS", "hipBLASLt"},
    Renamed{"CUDA driver", "HIP driver"},
    Renamed{"CUDA runtime", "HIP runtime"},
    Renamed{"tensor core", "matrix core"},
    Renamed{"tensor-core", "matrix-core"},
    Renamed{"CUDA time", "GPU time", true},
    Renamed{"an SM", "a CU", true},
    Renamed{"An SM", "A CU", true},
    Renamed{"SMs", "CUs", true},
    Renamed{"SM", "CU", true},
};

// Of the others: their own names where PyTorch has some, else what all have.
constexpr std::array kOnIntel = {
    Renamed{"ProfilerActivity.CUDA", "ProfilerActivity.XPU"},
    Renamed{"torch.cuda.", "torch.xpu."},
    Renamed{"cudaDeviceSynchronize", "torch.xpu.synchronize"},
    Renamed{"NCCL", "oneCCL"},
    Renamed{"cuDNN", "oneDNN"},
    Renamed{"cuBLAS", "oneMKL"},
    Renamed{"tensor core", "XMX engine"},
    Renamed{"an SM", "an Xe core", true},
    Renamed{"SMs", "Xe cores", true},
    Renamed{"SM", "Xe core", true},
};
constexpr std::array kOnHuawei = {
    Renamed{"ProfilerActivity.CUDA", "ProfilerActivity.NPU"},
    Renamed{"torch.cuda.", "torch.npu."},
    Renamed{"cudaDeviceSynchronize", "torch.npu.synchronize"},
    Renamed{"NCCL", "HCCL"},
    Renamed{"tensor core", "cube unit"},
    Renamed{"an SM", "an AI Core", true},
    Renamed{"SMs", "AI Cores", true},
    Renamed{"SM", "AI Core", true},
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
    Renamed{"CUDA time", "device time", true},
    Renamed{"cudaDeviceSynchronize", "a device synchronization"},
    Renamed{"cudaStreamSynchronize", "a stream synchronization"},
    Renamed{"cudaMemcpyAsync", "an asynchronous copy"},
    Renamed{"cudaMallocHost", "pinned memory"},
    Renamed{"NCCL", "the collectives' library"},
    Renamed{"tensor core", "matrix unit"},
    Renamed{"tensor-core", "matrix-unit"},
    Renamed{"SMs", "cores", true},
    Renamed{"SM", "core", true},
    Renamed{"CUDA", "GPU", true},
};

bool is_of_a_word(char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_whole_word(std::string_view text, std::size_t at, std::size_t length) {
  return (at == 0 || !is_of_a_word(text[at - 1])) && (at + length >= text.size() || !is_of_a_word(text[at + length]));
}

}  // namespace

std::string in_words_of(Vendor vendor, std::string_view text) {
  std::string out(text);
  const auto rename = [&](const auto& words) {
    for (const Renamed& word : words)
      for (std::size_t at = out.find(word.from); at != out.npos; at = out.find(word.from, at)) {
        const bool is_it = !word.whole || is_whole_word(out, at, word.from.size());
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

std::string fitted(const Practices& practices, std::string_view advice) {
  std::string out;
  while (!advice.empty()) {
    const std::size_t end = end_of_sentence(advice);
    const std::string sentence = fitted_sentence(practices, advice.substr(0, end));
    if (!sentence.empty()) out += (out.empty() ? "" : " ") + sentence;
    advice.remove_prefix(std::min(advice.find_first_not_of(' ', end), advice.size()));
  }
  return in_words_of(practices.vendor, out);
}

std::string with_whole_step_caveat(const Practices& practices, std::string remedy) {
  if (!names_graphs(remedy)) return remedy;
  if (practices.follows(Practice::fsdp)) return remedy.append(" ").append(kGraphsOfFsdp);
  if (practices.follows(Practice::ddp)) return remedy.append(" ").append(kGraphsOfDdp);
  return remedy;
}

Practices Practices::after(std::string_view remedy) const {
  Practices out = *this;
  for (std::size_t i = 0; i < kAsking.size(); ++i) {
    if (remedy.find(in_words_of(vendor, kAsking[i].words)) == remedy.npos) continue;
    out.named_ |= std::uint64_t{1} << i;
    if (kAsking[i].practice != Practice::count_) out.set(kAsking[i].practice, true);
  }
  // Who compiles, compiles all of it.
  if (out.follows(Practice::compiled) && !follows(Practice::compiled)) out.set(Practice::mostly_compiled, true);
  return out;
}

}  // namespace gapscope
