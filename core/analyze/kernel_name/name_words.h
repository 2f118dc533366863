#pragma once
// Pieces that the names of many conventions are made of.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/text.h"

namespace gapscope {

using Text = std::string_view;

inline bool has(Text text, Text part) { return text.find(part) != Text::npos; }
inline bool all_digits(Text t) { return !t.empty() && std::all_of(t.begin(), t.end(), is_digit); }
std::string lower(Text t);
// The digits behind `key`.
Text digits_after(Text text, Text key);
std::vector<Text> split(Text text, char separator);
std::vector<Text> split_arguments(Text text);  // at commas outside all brackets
// "bf16" from "bf16", "c10::BFloat16", "__nv_bfloat16", "cutlass::bfloat16_t", ...; empty for anything else.
Text type_word(Text text);
bool is_tile(Text token);  // "128x64", "64x64x32"
// A generation as cuBLAS and cuDNN spell it: "sm80" from "ampere"; empty for anything else.
Text generation_of(Text token);
// The generation, where the token is one: "sm80".
void read_arch(Text token, KernelName& out);
bool is_layout(Text t);  // "tn", "NNT": of the operands and the result
// "fp32" of the s of "sgemm".
Text type_of_letter(char c);
// What is done to a product before it is stored.
void add_epilogue(KernelName& out, Text what);
void read_epilogue_token(Text t, KernelName& out);

}  // namespace gapscope
