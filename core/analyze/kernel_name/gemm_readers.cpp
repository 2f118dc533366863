// Matrix products and convolutions: of the libraries of NVIDIA and AMD, MAGMA, TensorRT-LLM, Triton, and what goes with them.
#include <algorithm>
#include <array>
#include <utility>

#include "core/analyze/kernel_name/name_reader.h"
#include "core/analyze/kernel_name/name_words.h"

namespace gapscope {
namespace {

// cuBLAS, cuDNN and CUTLASS run kernels that can end with a ReLU for plain products as well.
void read_relu_variant(Text t, KernelName& out) {
  if (t == "relu") add_epilogue(out, "relu variant");
}

// "s16816gemm": the accumulator's letter, the shape of one matrix instruction, the word. Without a shape ("sgemm") the
// ordinary cores do it. "gcgemm" is a complex product like "cgemm".
struct GemmWord {
  char letter = 0;
  Text shape;
  Text type;  // "tf32" in s1688tf32gemm
  bool found = false;
};

GemmWord gemm_word(Text token) {
  GemmWord out;
  std::size_t end = Text::npos;
  for (const Text word : {Text("gemm"), Text("fprop"), Text("dgrad"), Text("wgrad"), Text("scudnn")}) {
    if (const std::size_t at = token.find(word); at != Text::npos) {
      end = word == "scudnn" ? 1 : at;
      break;
    }
  }
  if (end == Text::npos || end == 0) return out;
  Text before = token.substr(0, end);
  if (before.size() == 2 && before[0] == 'g' && (before[1] == 'c' || before[1] == 'z')) before.remove_prefix(1);
  if (Text("shdicz").find(before[0]) == Text::npos) return out;
  std::size_t at = 1;
  while (at < before.size() && (is_digit(before[at]) || before[at] == 'x')) ++at;
  // The rest may name the multiplied type.
  if (const Text rest = before.substr(at); !rest.empty() && type_word(rest).empty()) return out;
  return {before[0], before.substr(1, at - 1), before.substr(at), true};
}

void take_gemm_word(const GemmWord& word, KernelName& out) {
  out.compute_type = std::string(type_of_letter(word.letter));
  out.tensor_core = !word.shape.empty();
  if (!word.type.empty()) out.input_type = std::string(type_word(word.type));
  if (word.shape.empty() && out.input_type.empty()) out.input_type = out.compute_type;
}

// "f16f16", "tf32f32": two types without a separator.
std::pair<Text, Text> two_types(Text token) {
  for (std::size_t at = 2; at + 1 < token.size(); ++at) {
    const Text a = token.substr(0, at), b = token.substr(at);
    if (!type_word(a).empty() && !type_word(b).empty()) return {type_word(a), type_word(b)};
  }
  return {};
}

// "tile" and "64x3", the k of one pass and the stages behind it: "128x256x64" and "3".
void add_depth(Text token, KernelName& out) {
  const std::size_t x = token.find('x');
  if (!out.tile.empty()) out.tile += "x" + std::string(token.substr(0, x));
  out.stages = std::string(token.substr(x + 1));
}

// The letters after the index letters name operands, result and accumulator: BBS, or B_BS. One letter alone represents all
// three. Flags follow, apart or not: B (adds to the result) and H (16-bit types add up in fp32).
void read_tensile_types(const std::vector<Text>& tokens, std::size_t at, KernelName& out) {
  const auto type = [](char c) -> Text {
    switch (c) {
      case 'B': return "bf16";
      case 'H': return "fp16";
      case 'S': return "fp32";
      case 'D': return "fp64";
      case 'I': return "int8";
      default: return {};
    }
  };
  const auto token = [&](std::size_t i) { return i < tokens.size() ? tokens[i] : Text{}; };
  const auto is_flags = [](Text t) { return t == "B" || t == "BH" || t == "H"; };
  const Text letters = token(at);
  if (letters.empty() || letters.size() > 3) return;
  out.input_type = std::string(type(letters[0]));
  const Text apart = letters.size() == 1 && token(at + 1).size() == 2 && is_flags(token(at + 2)) ? token(at + 1) : Text{};
  if (!apart.empty() || (letters.size() == 3 && is_flags(token(at + 1)))) {
    const Text two = apart.empty() ? letters.substr(1) : apart;
    out.output_type = std::string(type(two[0])), out.compute_type = std::string(type(two[1]));
    return;
  }
  const Text flags = letters.size() > 1 ? letters.substr(1) : token(at + 1);
  if (!is_flags(flags)) return;
  out.output_type = out.input_type;
  const bool adds_in_fp32 = flags.ends_with('H') && (out.input_type == "bf16" || out.input_type == "fp16");
  out.compute_type = adds_in_fp32 ? "fp32" : out.input_type;
}

}  // namespace

void read_nvjet(const NameParts& parts, KernelName& out) {
  out.tensor_core = true;  // nvjet exists for Hopper's and later tensor cores only
  std::vector<Text> tiles;
  const auto tokens = split(parts.head, '_');
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const Text t = tokens[i];
    read_arch(t, out);
    const bool letters = t.size() == 3 && t.find_first_not_of("hst") == Text::npos;
    if (letters && out.input_type.empty()) {  // in, compute, out
      const auto type = [](char c) { return c == 't' ? "bf16" : c == 'h' ? "fp16" : "fp32"; };
      out.input_type = type(t[0]), out.compute_type = type(t[1]), out.output_type = type(t[2]);
    }
    if (is_tile(t)) tiles.push_back(t);
    if (t == "bias") add_epilogue(out, "bias");
    if (t == "badd") add_epilogue(out, "accumulate");
    if (t == "gelu" || t == "relu") add_epilogue(out, t);
    if (t == "splitK") out.split_k = "yes";
    if (i + 1 == tokens.size() && t.size() == 3 && t.find_first_not_of("NT") == Text::npos) out.layout = lower(t.substr(0, 2));
  }
  if (!tiles.empty()) out.tile = std::string(tiles[0]);
  if (tiles.size() > 1) add_depth(tiles[1], out);
  if (tiles.size() > 2) out.cluster = std::string(tiles[2]);
}

void read_xmma(const NameParts& parts, KernelName& out) {
  std::vector<std::pair<Text, Text>> types;
  for (const Text t : split(parts.head, '_')) {
    read_arch(t, out);
    if (const auto two = two_types(t); !two.first.empty()) types.push_back(two);
    if (t.starts_with("tilesize") && is_tile(t.substr(8))) out.tile = std::string(t.substr(8));
    if (t.starts_with("stage") && all_digits(t.substr(5))) out.stages = std::string(t.substr(5));
    if (t.starts_with("cluster") && is_tile(t.substr(7))) out.cluster = std::string(t.substr(7));
    if (t.starts_with("tensor") && is_tile(t.substr(6))) out.tensor_core = true;
    if (t.starts_with("splitk") || t.starts_with("splitK")) out.split_k = "yes";
    if (t.starts_with("alignc") && all_digits(t.substr(6))) out.alignment = std::string(t.substr(6));
    if (is_layout(t) && out.layout.empty()) out.layout = std::string(t);
    read_epilogue_token(t, out);
    read_relu_variant(t, out);
  }
  if (types.empty()) return;
  out.input_type = types[0].first == "tf32" ? "fp32" : std::string(types[0].first);
  if (types.size() < 2) return;
  const bool tf32 = types[1].first == "tf32";
  out.compute_type = tf32 ? "tf32" : std::string(types[1].second);
  const bool narrow = out.input_type == "bf16" || out.input_type == "fp16" || out.input_type.starts_with("fp8");
  if (tf32 || narrow) out.tensor_core = true;
  if (out.input_type == "fp32" && !tf32) out.tensor_core = false;
}

void read_cutlass(const NameParts& parts, KernelName& out) {
  const Text from = has(parts.arguments, "cutlass") ? parts.arguments : parts.head;
  const bool three = has(from, "cutlass3x_");
  const std::size_t at = from.find(three ? "cutlass3x_" : "cutlass_");
  if (at == Text::npos) return;
  const Text name = from.substr(at, from.find_first_of("<>(:, ", at) - at);
  const auto tokens = split(name, '_');
  std::vector<Text> types, tiles;
  bool after_word = false;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const Text t = tokens[i];
    if (i == 1 && all_digits(t)) out.arch = "sm" + std::string(t);
    read_arch(t, out);
    if (const GemmWord word = gemm_word(t); word.found && !after_word) {
      take_gemm_word(word, out);
      after_word = true;
      if (has(t, "prop") || has(t, "grad")) out.kind = KernelKind::convolution;
    } else if (const Text type = type_word(t); !type.empty()) {
      if (!after_word) out.input_type = std::string(type);
      if (after_word) types.push_back(type);
    } else if (is_tile(t)) {
      tiles.push_back(t);
    }
    if (is_layout(t)) out.layout = std::string(t.substr(0, 2));
    if (t.starts_with("align") && all_digits(t.substr(5))) out.alignment = std::string(t.substr(5));
    if (t == "splitK" || t == "splitk") out.split_k = "yes";
    if (three && tiles.size() == 2 && all_digits(t) && t != "0") out.stages = std::string(t);
    read_epilogue_token(t, out);
    read_relu_variant(t, out);
  }
  out.short_name = std::string(name);
  if (tokens.size() > 2 && tokens[2] == "simt") out.tensor_core = false;
  if (three) {  // A, B, accumulator, C, D
    if (types.size() >= 3) out.input_type = std::string(types[0]), out.compute_type = std::string(types[2]);
    if (types.size() >= 5) out.output_type = std::string(types[4]);
    if (!tiles.empty()) out.tile = std::string(tiles[0]);
    if (tiles.size() > 1) out.cluster = std::string(tiles[1]);
    return;
  }
  if (!types.empty()) out.output_type = std::string(types[0]);
  if (!tiles.empty()) out.tile = std::string(tiles[0]);
  if (tiles.size() > 1) add_depth(tiles[1], out);
  // From sm80 on, a 1688 instruction whose types go unnamed multiplies fp32 operands as tf32.
  const bool unnamed = out.input_type.empty() && types.empty();
  if (unnamed && has(name, "s1688gemm") && (out.arch == "sm80" || out.arch == "sm86" || out.arch == "sm90"))
    out.input_type = "fp32", out.compute_type = "tf32", out.output_type = "fp32";
  if (out.input_type.empty() && out.tensor_core == true && !types.empty()) out.input_type = std::string(types[0]);
  if (out.input_type == "tf32") {  // a way to multiply: fp32 goes in and comes out
    out.input_type = "fp32", out.compute_type = "tf32";
    if (out.output_type == "tf32") out.output_type = "fp32";
  }
}

void read_cublas(const NameParts& parts, KernelName& out) {
  const auto tokens = split(parts.head, '_');
  bool after_word = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Text t = tokens[i];
    read_arch(t, out);
    if (const GemmWord word = gemm_word(t); word.found && !after_word) {
      take_gemm_word(word, out);
      after_word = true;
    } else if (const Text type = type_word(t); !type.empty()) {
      (after_word ? out.output_type : out.input_type) = std::string(type);
    } else if (is_tile(t)) {
      if (i > 0 && tokens[i - 1] == "stages")
        add_depth(t, out);
      else if (out.tile.empty())
        out.tile = std::string(t);
    }
    if (t.starts_with("ldg") && all_digits(t.substr(3)) && out.tensor_core == true) out.alignment = std::string(t.substr(3));
    if (t == "splitK") out.split_k = "yes";
    if (is_layout(t)) out.layout = std::string(t);
    read_epilogue_token(t, out);
    read_relu_variant(t, out);
  }
  if (out.input_type == "tf32") out.input_type = "fp32", out.compute_type = "tf32";
}

void read_tensile(const NameParts& parts, KernelName& out) {
  const auto tokens = split(parts.head, '_');
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].starts_with("Ai") && !tokens[i].starts_with("Al")) continue;
    const Text b = tokens[i + 1];
    out.layout = std::string(tokens[i].starts_with("Al") ? "t" : "n") + (b.starts_with("Bl") ? "n" : "t");
    read_tensile_types(tokens, i + 2, out);
    break;
  }
  for (const Text t : tokens) {
    if (t == "MX" && out.input_type == "fp32") out.compute_type = "tf32";  // XF32: 32-bit floats cut to 19 bits
    if (t.starts_with("MT") && is_tile(t.substr(2))) out.tile = std::string(t.substr(2));
    if (t.starts_with("MI") && is_tile(t.substr(2))) out.tensor_core = true;
    if (t.starts_with("ISA") && t.size() >= 6) out.arch = "gfx" + std::string(t.substr(3));
    if (t.starts_with("GSU") && all_digits(t.substr(3)) && t != "GSU0" && t != "GSU1") out.split_k = std::string(t.substr(3));
    if (t.starts_with("PGR") && all_digits(t.substr(3))) out.stages = std::string(t.substr(3));
  }
}

void read_trtllm_bmm(const NameParts& parts, KernelName& out) {
  const auto tokens = split(parts.head, '_');
  if (tokens.size() > 3) {  // result, both operands, accumulator
    out.output_type = std::string(type_word(tokens[1]));
    const std::size_t second = tokens[2].find("Mx", 2);
    const Text a = type_word(tokens[2].substr(0, second));
    const Text b = second == Text::npos ? Text{} : type_word(tokens[2].substr(second));
    out.input_type = std::string(a) + (b.empty() || a == b ? "" : " x " + std::string(b));
    out.compute_type = std::string(type_word(tokens[3]));
  }
  for (const Text t : tokens) {
    if (t.starts_with("t") && is_tile(t.substr(1, t.find('u') - 1))) out.tile = std::string(t.substr(1, t.find('u') - 1));
    if (t.size() > 1 && t[0] == 's' && all_digits(t.substr(1))) out.stages = std::string(t.substr(1));
    if (t.starts_with("cga") && is_tile(t.substr(3))) out.cluster = std::string(t.substr(3));
    if (t.size() == 2 && t.find_first_not_of("NT") == Text::npos) out.layout = lower(t);
    if (t.starts_with("bias")) add_epilogue(out, "bias");
    if (t.starts_with("splitK")) out.split_k = "yes";
    read_epilogue_token(t, out);
    read_arch(t, out);
  }
  if (out.input_type.find("mx") != std::string::npos) out.tensor_core = true;  // only tensor cores take block-scaled types
}

void read_matmul_ogs(const NameParts& parts, KernelName& out) {
  for (const Text t : split(parts.head, '_')) {
    const auto pieces = split(t, 'x');
    if (is_tile(t) && pieces.size() == 4) {  // m, n, k, parts of k
      out.tile = std::string(t.substr(0, t.rfind('x')));
      if (pieces[3] != "1") out.split_k = std::string(pieces[3]);
    }
    // Result and both operands; "mxfp4" holds the separator itself.
    std::vector<Text> types;
    for (Text rest = t; !rest.empty();) {
      std::size_t end = rest.find('x', rest.starts_with("mx") ? 2 : 0);
      types.push_back(type_word(rest.substr(0, end)));
      rest = end == Text::npos ? Text{} : rest.substr(end + 1);
    }
    if (types.size() == 3 && std::none_of(types.begin(), types.end(), [](Text x) { return x.empty(); })) {
      out.output_type = std::string(types[0]);
      out.input_type = std::string(types[1]) + (types[1] == types[2] ? "" : " x " + std::string(types[2]));
    }
    read_epilogue_token(t, out);
  }
}

void read_igemm(const NameParts& parts, KernelName& out) {
  const auto tokens = split(parts.head, '_');
  for (const Text t : tokens) {
    if (t == "fwd") out.operation = "forward";
    if (t == "bwd") out.operation = "gradient of the input";
    if (t == "wrw") out.operation = "gradient of the weights";
    if (t.starts_with("gtcx")) out.tensor_core = true;
    if (const Text type = type_word(t); !type.empty() && out.input_type.empty()) out.input_type = std::string(type);
    if (t.starts_with("bt") && is_tile(t.substr(2))) out.tile = std::string(t.substr(2));
    if (t == "gkgs") out.split_k = "yes";
  }
}

void read_split_k(const NameParts&, KernelName& out) {
  out.operation = "adds up the parts of a split-K product";
  out.split_k = "yes";
}

void read_epilogue_kernel(const NameParts&, KernelName& out) { out.operation = "epilogue of a product"; }

// The first argument that is a type of real numbers is the operands'; "int" before it counts elements.
void read_plain_cores(const NameParts& parts, KernelName& out) {
  out.tensor_core = false;
  for (const Text argument : split_arguments(parts.arguments)) {
    const Text type = type_word(argument);
    if (type.empty() || type.starts_with("int")) continue;
    out.input_type = std::string(type);
    break;
  }
  for (const Text t : split(parts.head, '_')) {
    if (t == "sgemm") out.compute_type = "fp32";  // implicit_convolve_sgemm
    if (parts.head.starts_with("gemmSN") && t.size() == 2 && t.find_first_not_of("NT") == Text::npos) out.layout = lower(t);
  }
  if (out.compute_type.empty() && (out.kind == KernelKind::gemm || has(parts.head, "_engine")))
    out.compute_type = out.input_type;
}

// The letter names the arithmetic; which of the types are the operands' is reported only where all are one.
void read_magma(const NameParts& parts, KernelName& out) {
  out.tensor_core = false;
  const std::size_t gemm = parts.head.find("gemm");
  if (gemm != Text::npos && gemm > 0) out.compute_type = std::string(type_of_letter(parts.head[gemm - 1]));
  const auto arguments = split_arguments(parts.arguments);
  if (arguments.size() < 3 || arguments[0] != arguments[1] || arguments[0] != arguments[2]) return;
  out.input_type = out.output_type = std::string(type_word(arguments[0]));
}

void read_composable(const NameParts& parts, KernelName& out) {
  if (has(parts.head, "xdl") || has(parts.head, "wmma")) out.tensor_core = true;  // AMD's matrix instructions
  if (has(parts.head, "_fwd")) out.operation = "forward";
  if (has(parts.head, "_bwd_data")) out.operation = "gradient of the input";
  if (has(parts.head, "_bwd_weight")) out.operation = "gradient of the weights";
}

void read_aiter(const NameParts& parts, KernelName& out) {
  const Text name = parts.head.substr(parts.head.rfind(':') + 1);
  if (name.starts_with("bf16gemm")) out.input_type = "bf16";
  if (name.starts_with("fp8gemm")) out.input_type = "fp8";
  if (name.starts_with("f4gemm")) out.input_type = "fp4";
  if (name.starts_with("fmha_fwd")) out.operation = "forward";
  if (name.starts_with("fmha_bwd")) out.operation = "backward";
  for (const Text t : split(name, '_')) {
    if (is_tile(t) && out.tile.empty()) out.tile = std::string(t);
    if (is_layout(t) && out.layout.empty()) out.layout = std::string(t);
    if (const Text type = type_word(t); !type.empty() && out.kind == KernelKind::attention && out.input_type.empty())
      out.input_type = std::string(type);
    if (lower(t) == "splitk") out.split_k = "yes";
    if (t == "bias") add_epilogue(out, t);
  }
}

}  // namespace gapscope
