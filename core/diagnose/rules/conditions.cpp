#include "core/diagnose/rules/conditions.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/text.h"

namespace gapscope {
namespace {

// A long preamble before a single step alone gives a ratio of 2 to 3, and the backward thread counts twice in Self CPU.
constexpr double kLeastHostRatio = 3;
// Above this the GPU is not kept waiting much, however busy the CPU side is.
constexpr double kMostGpuUse = 0.40;

}  // namespace

bool is_overhead_bound(const Facts& facts) {
  if (facts.compiling() || !facts.cpu_to_gpu || !facts.gpu_util) return false;
  return *facts.cpu_to_gpu >= kLeastHostRatio && *facts.gpu_util < kMostGpuUse;
}

std::string format_average(double count) {
  return count == std::floor(count) ? format_count(static_cast<std::int64_t>(count)) : format_significant(count);
}

WorkPerStep work_per_step(const Facts& facts) {
  WorkPerStep out;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const bool counts = facts.steps.empty() ? facts.ops[i].linked() : facts.gpu[i].step >= 0;
    out.ops += counts ? 1 : 0;
    out.kernels += counts && facts.ops[i].is_kernel() ? 1 : 0;
  }
  const auto steps = static_cast<double>(std::max<std::size_t>(facts.step_count(), 1));
  out.ops_each = static_cast<double>(out.ops) / steps;
  out.kernels_each = static_cast<double>(out.kernels) / steps;
  return out;
}

std::optional<double> blocks_per_sm(const Facts& facts, const GpuOp& op) {
  const GpuRow& row = facts.row(op);
  if (!std::isfinite(row.blocks_per_sm) || row.blocks_per_sm < 0) return std::nullopt;
  return static_cast<double>(row.blocks_per_sm);
}

std::optional<SmFill> sm_fill(const Facts& facts) {
  SmFill out;
  double covered = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !op.is_kernel()) continue;
    const std::optional<double> blocks = blocks_per_sm(facts, op);
    if (!blocks) continue;
    covered += std::min(1.0, *blocks) * static_cast<double>(op.span.length());
    out.kernel_time += op.span.length();
  }
  if (out.kernel_time == 0) return std::nullopt;
  out.fill = covered / static_cast<double>(out.kernel_time);
  if (!facts.window.empty()) out.over_window = covered / static_cast<double>(facts.window.length());
  return out;
}

bool in_compiled_code(const Facts& facts, SliceId slice) {
  return slice && ((facts.own(slice) | facts.above(slice)) & (kIsRegion | kIsCompiledGraph)) != 0;
}

bool has_compiled_code(const Facts& facts) {
  const auto is_compiled = [](std::string_view name) {
    return name.starts_with("Torch-Compiled Region") || name.starts_with("## Call CompiledFxGraph");
  };
  return !facts.names_matching(is_compiled).empty();
}

// simt_sgemm: CUTLASS; <arch>_sgemm and scudnn: cuBLAS and cuDNN up to Ampere; ffma and f32f32_f32f32_f32: xmma kernels that
// multiply in FP32; _engine<float: cuDNN's direct convolutions.
bool is_fp32_cuda_core_name(std::string_view name) {
  if (has_any_part(name, "tf32")) return false;
  return has_any_part(name, "simt_sgemm", "volta_sgemm", "turing_sgemm", "ampere_sgemm", "maxwell_sgemm", "f32f32_f32f32_f32", "ffma",
                      "scudnn", "_engine<float");
}

double share_of(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

Ns total_time(const std::vector<GpuOp>& ops) {
  Ns sum = 0;
  for (const GpuOp& op : ops) sum += op.span.length();
  return sum;
}

std::vector<SliceId> slices_of(const std::vector<GpuOp>& ops) {
  std::vector<SliceId> out;
  out.reserve(ops.size());
  for (const GpuOp& op : ops) out.push_back(op.slice);
  return out;
}

GpuOp most_costly_name(const Facts& facts, const std::vector<GpuOp>& ops) {
  std::unordered_map<std::uint32_t, Ns> time;
  const auto time_of = [&](const GpuOp& op) -> Ns& { return time[facts.trace.name_id(op.slice).value]; };
  for (const GpuOp& op : ops) time_of(op) += op.span.length();
  return *std::max_element(ops.begin(), ops.end(), [&](const GpuOp& a, const GpuOp& b) { return time_of(a) < time_of(b); });
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kMostChars = 60;
  return printable(elide_middle(name, kMostChars));
}

std::string shown_count(std::size_t count) { return format_count(static_cast<std::int64_t>(count)); }

std::string shown_kernel(std::string_view name) {
  const std::string brief = decode(name).short_name;
  return shown_name(brief.empty() ? name : std::string_view(brief));
}

std::string counted(std::size_t count, std::string_view noun) {
  return format_count(static_cast<std::int64_t>(count)) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

Ns middle_of(std::vector<Ns> values) {
  if (values.empty()) return 0;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  const Ns lower = *std::max_element(values.begin(), upper);
  return lower + (*upper - lower) / 2;
}

}  // namespace gapscope
