#include "core/analyze/kernel_name/kernel_name.h"

#include <array>
#include <utility>

#include "core/analyze/kernel_name/kernel_patterns.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/demangle.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

struct FieldText {
  std::string_view name, key, meaning;
};

// In the order of KernelField.
constexpr std::array<FieldText, static_cast<std::size_t>(KernelField::count_)> kFields = {{
    {"family", "family", "The library or generator that the name comes from."},
    {"kind", "kind", "What sort of work the kernel does, by its name; a heuristic."},
    {"operation", "operation", "What the kernel computes, as its name or its functor says."},
    {"architecture", "arch", "The GPU that the kernel was built for; an older one than the GPU at hand can cost speed."},
    {"input type", "input_type", "The data type of the operands."},
    {"compute type", "compute_type",
     "The type in which products are formed or summed. tf32 multiplies fp32 operands with 10 bits of mantissa."},
    {"output type", "output_type", "The data type of the result."},
    {"tensor core", "tensor_core",
     "Whether the matrix units (tensor cores, matrix cores) do the work. Without them a matmul is many times slower."},
    {"tile", "tile", "The piece of the result that one block computes: m x n, and the k of one pass where the name has it."},
    {"stages", "stages", "How many pieces of the operands are loaded ahead, to hide the memory's latency."},
    {"cluster", "cluster", "Blocks that run side by side and share their shared memory (Hopper and later)."},
    {"layout", "layout",
     "Which operand is read transposed (t) or not (n), column-major as BLAS counts: x @ W.t() appears as tn."},
    {"split-K", "split_k",
     "The sum over k is divided among blocks and added up afterwards, to fill the GPU when m and n are small."},
    {"epilogue", "epilogue",
     "What the kernel does to the result before it is stored. A relu variant can end with a ReLU: libraries run it for "
     "plain products too."},
    {"alignment", "alignment",
     "Elements of one aligned load. 1 or 2 with 16-bit types means that a size is no multiple of 8, which is slow."},
    {"fused operators", "fused",
     "Operators in one generated kernel. Their names are joined by underscores: a rare one may appear in pieces."},
}};

constexpr std::array<std::string_view, kKernelKinds> kKinds = {
    "gemm",       "attention", "convolution", "elementwise", "reduction", "normalization", "softmax", "indexing",
    "collective", "copy",      "memset",      "optimizer",   "random",    "other",         "unknown"};

constexpr std::array<std::string_view, 7> kRuleFamilies = {"comm", "triton",      "attention", "conv",
                                                           "gemm", "elementwise", "other"};

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& item : list) out += (out.empty() ? "" : ", ") + item;
  return out;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Libraries whose kernels are known by their namespace alone.
std::string_view family_of_namespace(std::string_view head) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNamespaces = {{{"at::native::", "ATen"},
                                                                                         {"aiter::", "AITER"},
                                                                                         {"ck::", "Composable Kernel"},
                                                                                         {"ck_tile::", "Composable Kernel"},
                                                                                         {"flashinfer::", "FlashInfer"},
                                                                                         {"tensorrt_llm::", "TensorRT-LLM"},
                                                                                         {"vllm::", "vLLM"}}};
  for (const auto& [space, family] : kNamespaces)
    if (head.starts_with(space)) return family;
  return {};
}

}  // namespace

std::string_view kernel_kind_name(KernelKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view field_name(KernelField field) { return kFields[static_cast<std::size_t>(field)].name; }
std::string_view field_key(KernelField field) { return kFields[static_cast<std::size_t>(field)].key; }
std::string_view explain(KernelField field) { return kFields[static_cast<std::size_t>(field)].meaning; }
std::string_view rule_family_name(RuleFamily family) { return kRuleFamilies[static_cast<std::size_t>(family)]; }

KernelName decode(std::string_view name) {
  const std::string readable = demangle(name);
  const NameParts parts = parts_of(readable);
  KernelName out;
  if (parts.head.empty()) return out;
  out.kind = KernelKind::other;
  if (const KernelPattern* pattern = pattern_of(parts)) {
    out.kind = pattern->kind;
    out.family = std::string(pattern->family);
    if (pattern->read) pattern->read(parts, out);
  }
  if (out.family.empty()) out.family = std::string(family_of_namespace(parts.head));
  out.short_name = name_to_show(parts, out);
  return out;
}

std::vector<KernelFieldValue> decoded_fields(const KernelName& n) {
  std::vector<KernelFieldValue> out;
  const auto add = [&](KernelField field, std::string value) {
    if (!value.empty()) out.push_back({field, std::move(value)});
  };
  add(KernelField::family, n.family);
  add(KernelField::kind, std::string(kernel_kind_name(n.kind)));
  add(KernelField::operation, n.operation);
  add(KernelField::arch, n.arch);
  add(KernelField::input_type, n.input_type);
  add(KernelField::compute_type, n.compute_type);
  add(KernelField::output_type, n.output_type);
  add(KernelField::tensor_core, n.tensor_core ? (*n.tensor_core ? "yes" : "no") : "");
  add(KernelField::tile, n.tile);
  add(KernelField::stages, n.stages);
  add(KernelField::cluster, n.cluster);
  add(KernelField::layout, n.layout);
  add(KernelField::split_k, n.split_k);
  add(KernelField::epilogue, n.epilogue);
  add(KernelField::alignment, n.alignment);
  add(KernelField::fused, joined(n.fused));
  return out;
}

RuleFamily rule_family(const KernelName& name) {
  if (name.kind == KernelKind::collective) return RuleFamily::comm;
  if (name.family.starts_with("Triton (Inductor)")) return RuleFamily::triton;
  switch (name.kind) {
    case KernelKind::attention: return RuleFamily::attention;
    case KernelKind::convolution: return RuleFamily::conv;
    case KernelKind::gemm: return RuleFamily::gemm;
    case KernelKind::elementwise:
    case KernelKind::random: return RuleFamily::elementwise;
    case KernelKind::copy: return name.family == "ATen copy" ? RuleFamily::elementwise : RuleFamily::other;
    default: return RuleFamily::other;
  }
}

bool is_fused_attention(const KernelName& name) {
  return name.kind == KernelKind::attention && name.operation != kAttentionHelper;
}

bool is_fp32_on_plain_cores(const KernelName& name) {
  const bool product = name.kind == KernelKind::gemm || name.kind == KernelKind::convolution;
  return product && name.input_type == "fp32" && name.compute_type == "fp32" && name.tensor_core == false;
}

bool is_tf32(const KernelName& name) { return name.compute_type == "tf32"; }

bool is_copy_on_device(std::string_view copy) { return has(copy, "DtoD") || has(copy, "DeviceToDevice"); }
bool is_pageable_copy(std::string_view copy) { return has(copy, "Pageable"); }

}  // namespace gapscope
