#include "core/analyze/kernel_name/name_words.h"

#include <array>
#include <cctype>
#include <utility>

namespace gapscope {
namespace {

constexpr std::array<std::pair<Text, Text>, 38> kTypes = {{
    {"bf16", "bf16"},
    {"BFloat16", "bf16"},
    {"bfloat16", "bf16"},
    {"bfloat16_t", "bf16"},
    {"__nv_bfloat16", "bf16"},
    {"__hip_bfloat16", "bf16"},
    {"f16", "fp16"},
    {"fp16", "fp16"},
    {"Half", "fp16"},
    {"__half", "fp16"},
    {"half_t", "fp16"},
    {"half", "fp16"},
    {"f32", "fp32"},
    {"fp32", "fp32"},
    {"float", "fp32"},
    {"tf32", "tf32"},
    {"f64", "fp64"},
    {"double", "fp64"},
    {"e4m3", "fp8 e4m3"},
    {"e5m2", "fp8 e5m2"},
    {"Float8_e4m3fn", "fp8 e4m3"},
    {"Float8_e5m2", "fp8 e5m2"},
    {"float_e4m3_t", "fp8 e4m3"},
    {"float_e5m2_t", "fp8 e5m2"},
    {"mxfp4", "mxfp4"},
    {"Fp32", "fp32"},
    {"Fp16", "fp16"},
    {"Bfloat16", "bf16"},
    {"E4m3", "fp8 e4m3"},
    {"E5m2", "fp8 e5m2"},
    {"MxE4m3", "mxfp8 e4m3"},
    {"MxE2m1", "mxfp4"},
    {"E2m1", "fp4 e2m1"},
    {"int", "int32"},
    {"long", "int64"},
    {"bool", "bool"},
    {"s8", "int8"},
    {"i8", "int8"},
}};

}  // namespace

std::string lower(Text t) {
  std::string out(t);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Text digits_after(Text text, Text key) {
  const std::size_t at = text.find(key);
  if (at == Text::npos) return {};
  std::size_t end = at + key.size();
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(at + key.size(), end - at - key.size());
}

std::vector<Text> split(Text text, char separator) {
  std::vector<Text> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    out.push_back(text.substr(at, end == Text::npos ? end : end - at));
    if (end == Text::npos) return out;
    at = end + 1;
  }
}

std::vector<Text> split_arguments(Text text) {
  std::vector<Text> out;
  int open = 0;
  std::size_t begin = 0;
  const auto take = [&](std::size_t end) {
    Text part = text.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) out.push_back(part);
    begin = end + 1;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(' || c == '{') ++open;
    if (c == '>' || c == ')' || c == '}') --open;
    if (c == ',' && open == 0) take(at);
  }
  take(text.size());
  return out;
}

Text type_word(Text text) {
  for (const Text prefix : {Text("c10::"), Text("cutlass::"), Text("at::")})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  for (const auto& [spelling, word] : kTypes)
    if (text == spelling) return word;
  return {};
}

bool is_tile(Text token) {
  const auto parts = split(token, 'x');
  return parts.size() >= 2 && parts.size() <= 4 && std::all_of(parts.begin(), parts.end(), all_digits);
}

Text generation_of(Text token) {
  constexpr std::array<Text, 6> kNames = {"Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Hopper"};
  for (const Text name : kNames)
    if (lower(name) == token) return name;
  return {};
}

void read_arch(Text token, KernelName& out) {
  if (token.starts_with("sm") && token.size() > 3 && is_digit(token[2])) out.arch = std::string(token);
  if (const Text generation = generation_of(token); !generation.empty()) out.arch = std::string(generation);
}

bool is_layout(Text t) {
  return (t.size() == 2 || t.size() == 3) && std::all_of(t.begin(), t.end(), [](char c) { return c == 'n' || c == 't'; });
}

void add_epilogue(KernelName& out, Text what) {
  if (has(out.epilogue, what)) return;
  out.epilogue += (out.epilogue.empty() ? "" : ", ") + std::string(what);
}

void read_epilogue_token(Text t, KernelName& out) {
  for (const Text word : {Text("gelu"), Text("bias"), Text("swiglu")}) {
    if (lower(t) == word) add_epilogue(out, word);
  }
}

Text type_of_letter(char c) {
  switch (c) {
    case 's': return "fp32";
    case 'h': return "fp16";
    case 'd': return "fp64";
    case 'i': return "int32";
    case 'c': return "complex64";
    case 'z': return "complex128";
    default: return {};
  }
}

}  // namespace gapscope
