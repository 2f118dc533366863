// Matrix products and convolutions of NVIDIA's libraries.
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

}  // namespace gapscope
