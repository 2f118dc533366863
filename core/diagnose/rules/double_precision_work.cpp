#include <vector>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastDoubleShare = 0.10;  // of the GPU time
constexpr double kNearlyAllDouble = 0.5;    // of the kernels' time: then copies on the device are of such tensors, too

// As an element's type: of a template's argument, of an elementwise kernel's lambda(double), or behind a pointer. Other
// parameters of functions are scalars: normal_kernel(TensorBase const&, double, double) draws numbers of any type.
bool has_double_elements(std::string_view text) {
  constexpr std::string_view kDouble = "double";
  if (text.find(kDouble) == text.npos) return false;
  std::vector<bool> in_lambda;  // by open parenthesis
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') in_lambda.push_back(text.substr(0, i).ends_with("lambda"));
    if (text[i] == ')' && !in_lambda.empty()) in_lambda.pop_back();
    if (!text.substr(i).starts_with(kDouble)) continue;
    std::string_view behind = text.substr(i + kDouble.size());
    if (behind.starts_with('>')) behind.remove_prefix(1);  // c10::complex<double>*
    if (in_lambda.empty() || in_lambda.back() || behind.starts_with('*') || behind.starts_with(" const*")) return true;
  }
  return false;
}

// By the name: its types, or those of its elements (complex numbers have them, too).
bool is_double(const KernelName& name, std::string_view text) {
  return name.input_type == "fp64" || name.compute_type == "fp64" || text.find("dgemm") != std::string_view::npos ||
         has_double_elements(text);
}

// Kernels that move elements know their size alone: of 64-bit floats where nearly all others are.
bool moves_elements(std::string_view text) {
  return text.find("OpaqueType<8u>") != text.npos || text.find("OpaqueType<16u>") != text.npos;
}

// A convolution takes weights of its input's type, and an optimizer works on parameters.
bool is_of_weights(const KernelName& name, std::string_view text) {
  return name.kind == KernelKind::convolution ||
         (name.kind == KernelKind::optimizer && text.find("float") == std::string_view::npos);
}

std::vector<Finding> check_double_precision_work(const Facts& facts) {
  std::vector<GpuOp> found, copies;
  Ns time = 0, kernels = 0, products = 0, complex = 0;
  bool has_weights = false;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked()) continue;
    const std::string_view text = facts.trace.name(op.slice);
    if (!op.is_kernel()) {
      if (is_copy_on_device(text)) copies.push_back(op);
      continue;
    }
    add_saturating(kernels, op.span.length());
    const KernelName& name = facts.decoded(op);
    if (moves_elements(text)) copies.push_back(op);
    if (!is_double(name, text)) continue;
    if (text.find("complex<double>") != text.npos) add_saturating(complex, op.span.length());
    found.push_back(op);
    add_saturating(time, op.span.length());
    has_weights |= is_of_weights(name, text);
    if (name.kind == KernelKind::gemm || name.kind == KernelKind::convolution) add_saturating(products, op.span.length());
  }
  if (share_of(time, kernels) >= kNearlyAllDouble)
    for (const GpuOp& op : copies) {
      found.push_back(op);
      add_saturating(time, op.span.length());
    }
  const double share = share_of(time, facts.gpu_sum);
  if (found.empty() || share < kLeastDoubleShare) return {};
  const GpuOp most = most_costly_name(facts, found);
  Finding finding;
  finding.severity = Severity::costly;
  // Half the bytes; products may become many times faster, by the GPU.
  finding.cost = products + (time - products) / 2;
  finding.summary = fmt::format("{} of the GPU time ({}) is in {} on 64-bit floats, most in {}.", format_share(share),
                                format_duration(time), counted(found.size(), "GPU operation"), shown_kernel(facts.name(most)));
  finding.evidence = Evidence({{"n", found.size()},
                               {"share", share},
                               {"total_us", as_us(time)},
                               {"products_us", as_us(products)},
                               {"most_time_in", facts.name(most)}});
  if (has_weights && facts.practices().program == ProgramKind::python) {
    finding.advice = advice_of(
        "Convert the weights to 32 bits (no model.double()), and data where it enters: torch.from_numpy(array).float(). Keep "
        "64 bits only where the result needs them, and compare the results once.");
    finding.code = "model = model.float()  # and its data: x.float()";
  }
  if (complex > time / 2 && facts.practices().program == ProgramKind::python) {
    finding.advice = advice_of(
        "Use torch.complex64: convert where data enters (torch.from_numpy(array).to(torch.complex64)), and pass dtype= where "
        "tensors are made. Keep 64 bits only where the result needs them, and compare the results once.");
    finding.code = "x = x.to(torch.complex64)  # where data enters";
  }
  mark_slices(finding, facts.trace, slices_of(found));
  return {std::move(finding)};
}

}  // namespace

extern const Rule double_precision_work = {
    .id = "double_precision_work",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "The GPU works on 64-bit floats",
    .meaning =
        "Arrays of NumPy and Python's own numbers are 64-bit floats, and torch.from_numpy() keeps them. They take twice the "
        "memory traffic of 32 bits, and most GPUs multiply them many times slower.",
    .remedy =
        "Convert to 32 bits where data enters: torch.from_numpy(array).float(). Keep 64 bits only where the result needs them, "
        "and compare the results once.",
    .check = check_double_precision_work,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 262, .explains = {"unfused_elementwise_chain", "hidden_memcpy"}},
    .other_meaning = "64-bit floats take twice the memory traffic of 32 bits, and most GPUs multiply them many times slower.",
    .other_remedy = "Use 32-bit floats where the result allows it, and compare the results once.",
    .evidence_names = {{{"products_us", "in products of matrices"}}},
    .code = "x = torch.from_numpy(array).float().to(device)",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
