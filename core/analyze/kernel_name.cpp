#include "core/analyze/kernel_name.h"

#include <array>

#include "core/analyze/kernel_patterns.h"
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
    {"architecture", "arch",
     "The GPU that the kernel was built for; an older one than the GPU at hand can cost speed."},
    {"input type", "input_type", "The data type of the operands."},
    {"compute type", "compute_type",
     "The type in which products are formed or summed. tf32 multiplies fp32 operands with 10 bits of mantissa."},
    {"output type", "output_type", "The data type of the result."},
    {"tensor core", "tensor_core",
     "Whether the matrix units (tensor cores, matrix cores) do the work. Without them a matmul is many times slower."},
    {"tile", "tile", "The piece of the result that one block computes: m x n, and where told the k of one pass."},
    {"stages", "stages", "How many pieces of the operands are loaded ahead, to hide the memory's latency."},
    {"cluster", "cluster", "Blocks that run side by side and share their shared memory (Hopper and later)."},
    {"layout", "layout",
     "Which operand is read transposed (t) or not (n), column-major as BLAS counts: x @ W.t() appears as tn."},
    {"split-K", "split_k",
     "The sum over k is divided among blocks and added up afterwards, to fill the GPU when m and n are small."},
    {"epilogue", "epilogue",
     "What the kernel can do to the result before it is stored. cuBLAS and cuDNN run relu kernels for plain products "
     "too."},
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

template <class... Parts>
bool has_any(std::string_view text, Parts... parts) {
  return (has(text, parts) || ...);
}

// "gemm" other than the one in "fbgemm", whose kernels are mostly no matrix products.
bool has_gemm(std::string_view text) {
  for (std::size_t at = text.find("gemm"); at != std::string_view::npos; at = text.find("gemm", at + 1)) {
    if (at < 2 || text.substr(at - 2, 2) != "fb") return true;
  }
  return false;
}

// Without namespaces: the last word of a qualified name.
std::string short_name(std::string_view head) {
  const std::size_t at = head.rfind("::");
  return std::string(at == std::string_view::npos ? head : head.substr(at + 2));
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
  out.short_name = short_name(parts.head);
  if (parts.head.empty()) return out;
  out.kind = KernelKind::other;
  if (const KernelPattern* pattern = pattern_of(parts)) {
    out.kind = pattern->kind;
    out.family = std::string(pattern->family);
    if (pattern->read) pattern->read(parts, out);
    if (out.family.starts_with("ATen") && !out.operation.empty()) out.short_name += ": " + out.operation;
  }
  return out;
}

std::vector<KernelFieldValue> told_fields(const KernelName& n) {
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

RuleFamily rule_family(std::string_view name) {
  if (has_any(name, "nccl", "rccl", "all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter", "multimem"))
    return RuleFamily::comm;
  if (name.starts_with("triton_")) return RuleFamily::triton;
  if (has_any(name, "flash_fwd", "flash_bwd", "flash_fprop", "flash_bprop", "flash_attn", "fmha", "sdpa", "attn_fwd"))
    return RuleFamily::attention;
  if (has_any(name, "fprop", "dgrad", "wgrad", "implicit_gemm", "convolve", "winograd", "scudnn"))
    return RuleFamily::conv;
  if (has_any(name, "nvjet", "Cijk_", "gemv", "cublasLt::", "splitKreduce") || name.starts_with("bmm_") ||
      has_gemm(name))
    return RuleFamily::gemm;
  if (has(name, "elementwise")) return RuleFamily::elementwise;
  return RuleFamily::other;
}

}  // namespace gapscope
