#pragma once
// What a kernel's name shows: who wrote it, what it does, for which GPU, in which types and tiles. Only what is in
// the name by a known convention is filled in; everything else stays empty and is never guessed.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

enum class KernelKind : std::uint8_t {
  gemm,       // matrix times matrix or vector
  attention,  // fused attention, forward or backward
  convolution,
  elementwise,
  reduction,      // sums, maxima, pooling, losses
  normalization,  // layer, RMS, batch, group norm
  softmax,
  indexing,    // gather, scatter, embedding, sort, scan, top-k, routing
  collective,  // communication between GPUs
  copy,        // moves, casts, transposes or concatenates data
  memset,
  optimizer,  // foreach kernels over many tensors
  random,
  other,    // named by its author (Triton, extern "C") or a helper: the name does not say what it computes
  unknown,  // no name at all
  count_
};
constexpr std::size_t kKernelKinds = static_cast<std::size_t>(KernelKind::count_);
std::string_view kernel_kind_name(KernelKind kind);  // "gemm", "attention", ...

enum class KernelField : std::uint8_t {
  family,
  kind,
  operation,
  arch,
  input_type,
  compute_type,
  output_type,
  tensor_core,
  tile,
  stages,
  cluster,
  layout,
  split_k,
  epilogue,
  alignment,
  fused,
  count_
};
std::string_view field_name(KernelField field);  // "tensor core", as a person reads it
std::string_view field_key(KernelField field);   // "tensor_core", as JSON names it
std::string_view explain(KernelField field);     // one line for hovering

struct KernelName {
  KernelKind kind = KernelKind::unknown;
  std::string family;      // "nvjet", "CUTLASS", "cuDNN", "Triton (Inductor)", ...; empty where not stated
  std::string short_name;  // as it is shown everywhere: shown_name.h
  std::string operation;   // what it computes: "add", "sum", "AllReduce"
  std::string arch;        // "sm90", "gfx942", or a generation's name ("Volta") where the name says no more
  std::string input_type, compute_type, output_type;  // "bf16", "fp32", "tf32", ...
  std::optional<bool> tensor_core;
  std::string tile;                // "256x128x64": m, n, k of one block
  std::string stages;              // depth of the software pipeline
  std::string cluster;             // "1x2": blocks that work together
  std::string layout;              // "nn", "nt", "tn", "tt"
  std::string split_k;             // "yes" or the number of parts
  std::string epilogue;            // "bias", "gelu", "accumulate", "relu variant", comma separated
  std::string alignment;           // elements
  std::vector<std::string> fused;  // operators in a generated kernel
};

KernelName decode(std::string_view name);

struct KernelFieldValue {
  KernelField field;
  std::string value;
};
// The fields that are reported, in the order of KernelField.
std::vector<KernelFieldValue> decoded_fields(const KernelName& name);

// The coarse families that the diagnostics are defined on. Elementwise is what computes each result from the operands at
// its own place: random numbers and recasting copies of ATen too.
enum class RuleFamily : std::uint8_t { comm, triton, attention, conv, gemm, elementwise, other };
RuleFamily rule_family(const KernelName& name);
std::string_view rule_family_name(RuleFamily family);

// Scores, softmax and values in one kernel. The small kernels that prepare its operands or finish its result are
// attention by kind, and their operation is kAttentionHelper.
constexpr std::string_view kAttentionHelper = "beside attention";
bool is_fused_attention(const KernelName& name);

// A product or convolution that multiplies in plain FP32 on the ordinary cores, and one whose FP32 operands go through
// tensor cores as TF32: only where the name says so.
bool is_fp32_on_plain_cores(const KernelName& name);
bool is_tf32(const KernelName& name);

// Of copies, as CUPTI and ROCm name them: "Memcpy DtoD (Device -> Device)", "Memcpy HtoD (Pageable -> Device)".
bool is_copy_on_device(std::string_view copy);
bool is_pageable_copy(std::string_view copy);

}  // namespace gapscope
