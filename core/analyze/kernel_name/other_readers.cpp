// Attention, embeddings, communication, and what PyTorch's templates and torch.compile make.
#include <algorithm>
#include <cctype>

#include "core/analyze/kernel_name/name_reader.h"
#include "core/analyze/kernel_name/name_words.h"
#include "core/analyze/operators/fused_operators.h"

namespace gapscope {
namespace {

// The lambda or functor at the heart of an elementwise kernel, without the namespaces around it.
Text after_namespace(Text name) {
  constexpr Text kUnnamed = "(anonymous namespace)::";
  for (;;) {
    if (name.starts_with(kUnnamed)) {
      name.remove_prefix(kUnnamed.size());
      continue;
    }
    const std::size_t colons = name.find("::");
    if (colons == Text::npos || colons > name.find_first_of("<({")) return name;
    name.remove_prefix(colons + 2);
  }
}

// "GeluBackward" -> "gelu_backward"
std::string words_of(Text name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool word =
        i > 0 && std::isupper(static_cast<unsigned char>(name[i])) && std::islower(static_cast<unsigned char>(name[i - 1]));
    if (word) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

std::string without(Text name, std::initializer_list<Text> prefixes, std::initializer_list<Text> suffixes) {
  for (bool again = true; again;) {
    again = false;
    for (const Text p : prefixes)
      if (name.starts_with(p) && name.size() > p.size()) name.remove_prefix(p.size()), again = true;
    for (const Text s : suffixes)
      if (name.ends_with(s) && name.size() > s.size()) name.remove_suffix(s.size()), again = true;
  }
  return words_of(name);
}

// "add" from "CUDAFunctor_add", "threshold" from "threshold_kernel_impl", "mul" from "MulFunctor".
std::string operation_word(Text functor) {
  return without(functor, {"CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "CUDAFunctor_", "launch_"},
                 {"Functor", "CUDAKernelImpl", "KernelImpl", "CUDAKernel", "_kernel_cuda", "_kernel_impl", "_kernel", "_cuda",
                  "_functor", "Ops", "_impl", "_out", "_scalar", "Scalar"});
}

// The functor inside wrappers that only say how many operands there are.
struct Functor {
  Text name;
  std::vector<Text> arguments;
};

Functor functor_of(Text text) {
  for (int depth = 0; depth < 8; ++depth) {
    text = after_namespace(text);
    const std::size_t open = text.find_first_of("<(");
    const Text name = text.substr(0, open);
    if (open == Text::npos || text[open] == '(') return {name, {}};
    std::size_t close = open;
    int level = 0;
    for (; close < text.size(); ++close) {
      if (text[close] == '<') ++level;
      if (text[close] == '>' && --level == 0) break;
    }
    const auto arguments = split_arguments(text.substr(open + 1, close - open - 1));
    const bool wraps = name == "BinaryFunctor" || name == "AUnaryFunctor" || name == "BUnaryFunctor";
    const bool only_wraps = name == "gpu_kernel_impl_nocast" || name == "gpu_kernel_impl" || (wraps && arguments.size() == 1);
    if (only_wraps && !arguments.empty()) {
      text = arguments[0];
    } else if (wraps && arguments.size() == 4) {
      return {functor_of(arguments[3]).name, {arguments[0], arguments[2]}};
    } else {
      return {name, arguments};
    }
  }
  return {};
}

KernelKind kind_of_template(const std::vector<std::string>& fused, KernelKind otherwise) {
  for (const std::string& op : fused) {
    if (has(op, "attention")) return KernelKind::attention;
    if (has(op, "convolution")) return KernelKind::convolution;
    if (op == "mm" || op == "bmm" || op == "addmm" || op == "baddbmm") return KernelKind::gemm;
  }
  return otherwise;
}

}  // namespace

void read_embedding(const NameParts& parts, KernelName& out) {
  if (has(parts.head, "embedding")) out.operation = "embedding";
}

void read_first_type(const NameParts& parts, KernelName& out) {
  const auto arguments = split_arguments(parts.arguments);
  if (!arguments.empty()) out.input_type = std::string(type_word(arguments[0]));
}

void read_cudnn_attention(const NameParts& parts, KernelName& out) {
  for (const Text t : split(parts.head, '_')) {
    read_arch(t, out);
    if (t == "wgmma" || t == "utcmma" || t == "tcgen05" || t == "mma") out.tensor_core = true;
    if (t == "f16") out.input_type = "16-bit float";  // cuDNN writes f16 for bf16 too
    if (t == "fprop") out.operation = "forward";
    if (t == "bprop") out.operation = "backward";
    if (is_tile(t) && out.tile.empty()) out.tile = std::string(t);
    if (t.starts_with("cga") && is_tile(t.substr(3))) out.cluster = std::string(t.substr(3));
  }
}

void read_attention_helper(const NameParts&, KernelName& out) { out.operation = kAttentionHelper; }

void read_flash(const NameParts& parts, KernelName& out) {
  if (has(parts.whole, "fwd") || has(parts.whole, "Fwd")) out.operation = "forward";
  if (has(parts.whole, "bwd") || has(parts.whole, "Bwd")) out.operation = "backward";
  if (has(parts.whole, "Sm90")) out.arch = "sm90";
  if (has(parts.arguments, "cutlass::bfloat16_t"))
    out.input_type = "bf16";
  else if (has(parts.arguments, "cutlass::half_t"))
    out.input_type = "fp16";
  const std::size_t at = parts.arguments.find("kernel_traits<");
  if (at == Text::npos) return;
  const Text rest = parts.arguments.substr(at + 14);
  const auto numbers = split_arguments(rest.substr(0, rest.find_first_of("<>")));
  if (numbers.size() > 3 && all_digits(numbers[1]) && all_digits(numbers[2]))  // head size, then rows and columns
    out.tile = std::string(numbers[1]) + "x" + std::string(numbers[2]) + "x" + std::string(numbers[0]);
}

void read_fmha(const NameParts& parts, KernelName& out) {
  if (has(parts.head, "fmha_cutlassF")) out.operation = "forward", out.family = "memory-efficient attention";
  if (has(parts.head, "fmha_cutlassB")) out.operation = "backward", out.family = "memory-efficient attention";
  if (parts.head.starts_with("fmhaSm")) {  // fmhaSm100aKernel_QkvE4m3OBfloat16H64...
    out.family = "TensorRT-LLM FMHA";
    const Text digits = digits_after(parts.head, "fmhaSm");
    const Text letter = parts.head.substr(6 + digits.size(), 1);
    out.arch = "sm" + std::string(digits) + (letter == "K" ? "" : std::string(letter));
    for (const Text type : {Text("E4m3"), Text("Bfloat16"), Text("Fp16"), Text("E5m2")}) {
      if (has(parts.head, "Qkv" + std::string(type))) out.input_type = std::string(type_word(type));
      if (has(parts.head, "O" + std::string(type) + "H")) out.output_type = std::string(type_word(type));
    }
    return;
  }
  for (const Text t : split(parts.head, '_')) {
    read_arch(t, out);
    if (const Text type = type_word(t); !type.empty()) out.input_type = std::string(type);
    if (is_tile(t)) out.tile = std::string(t);
  }
}

void read_inductor(const NameParts& parts, KernelName& out) {
  const std::size_t at = parts.head.find("_fused_");
  if (at == Text::npos) return;
  Text list = parts.head.substr(at + 7);
  const std::size_t last = list.rfind('_');
  const Text counter = last == Text::npos ? list : list.substr(last + 1);
  if (all_digits(counter)) list = last == Text::npos ? Text{} : list.substr(0, last);
  out.fused = operators_in(list);
  if (parts.head.starts_with("triton_tem")) out.kind = kind_of_template(out.fused, out.kind);
}

void read_nccl(const NameParts& parts, KernelName& out) {
  const auto tokens = split(parts.head, '_');
  if (tokens.size() > 1) out.operation = std::string(tokens[1]);
  for (const Text t : tokens)
    if (const Text type = type_word(t); !type.empty()) out.input_type = std::string(type);
}

void read_elementwise(const NameParts& parts, KernelName& out) {
  for (const Text argument : split_arguments(parts.arguments)) {
    if (all_digits(argument) || !type_word(argument).empty()) continue;
    const Functor functor = functor_of(argument);
    out.operation = operation_word(functor.name);
    if (functor.arguments.empty()) break;
    out.input_type = std::string(type_word(functor.arguments[0]));
    if (functor.arguments.size() == 2 && has(argument, "naryFunctor<"))
      out.output_type = std::string(type_word(functor.arguments[1]));
    break;
  }
}

void read_reduce(const NameParts& parts, KernelName& out) {
  const std::size_t at = parts.arguments.find("ReduceOp<");
  if (at == Text::npos) return;
  Text inside = parts.arguments.substr(at + 9);
  if (inside.ends_with(' ')) inside.remove_suffix(1);
  if (inside.ends_with('>')) inside.remove_suffix(1);
  const auto arguments = split_arguments(inside);  // operand, operation, index, result, ...
  if (arguments.size() < 2) return;
  out.input_type = std::string(type_word(arguments[0]));
  if (arguments.size() > 3) out.output_type = std::string(type_word(arguments[3]));
  Functor functor = functor_of(arguments[1]);
  if (functor.name == "func_wrapper_t" && functor.arguments.size() > 1) functor = functor_of(functor.arguments[1]);
  out.operation = operation_word(functor.name);
}

void read_foreach(const NameParts& parts, KernelName& out) {
  const auto arguments = split_arguments(parts.arguments);
  if (arguments.size() < 2) return;
  const Functor functor = functor_of(arguments[1]);
  out.operation = operation_word(functor.name);  // of a general functor, the next argument shows what it does
  if (!functor.arguments.empty()) out.input_type = std::string(type_word(functor.arguments[0]));
  if (arguments.size() > 2) {
    const Functor inner = functor_of(arguments[2]);
    if (!inner.name.empty() && type_word(inner.name).empty()) out.operation = operation_word(inner.name);
  }
  if (out.operation == "copy") out.kind = KernelKind::copy;  // as torch.compile brings inputs into a CUDA graph
}

}  // namespace gapscope
