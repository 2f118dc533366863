#include "core/analyze/operators/flops.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/analyze/gpu/devices.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/work/work.h"
#include "core/base/parse_json.h"
#include "core/base/saturating.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNoShapes = "The shapes are not recorded: record with record_shapes=True.";
constexpr std::string_view kOddShapes = "The recorded shapes are not those that this operator takes.";
constexpr std::string_view kNoStride = "A convolution's result depends on stride and padding, which are not known here.";

MathType math_of_word(std::string_view word, std::optional<MathType> otherwise, bool& found) {
  found = true;
  if (word == "tf32") return MathType::tf32;
  if (word == "bf16") return MathType::bf16;
  if (word == "fp16") return MathType::fp16;
  if (word == "fp64") return MathType::fp64;
  if (word == "fp32") return MathType::fp32;
  if (word.starts_with("fp8")) return MathType::fp8;
  found = false;
  return otherwise.value_or(MathType::fp32);
}

// Of the first tensor: ["float", "c10::BFloat16", ...]. fp32 may run as tf32, so it says nothing.
std::optional<MathType> math_of_types(std::string_view types) {
  const Result<Json> json = parse_json(types);
  if (!json || !json->is_array() || json->empty() || !json->front().is_string()) return {};
  const auto first = json->front().get<std::string>();
  if (first == "c10::BFloat16") return MathType::bf16;
  if (first == "c10::Half") return MathType::fp16;
  if (first == "double") return MathType::fp64;
  return {};
}

struct Sum {
  std::uint64_t calls = 0;
  Ns gpu_time = 0;
  Ns longest = 0;
  StringId kernel;  // the name of the longest multiplying kernel
  std::int32_t device = -1;
};

std::optional<MathType> math_of(const Trace& trace, const Sum& sum, StringId types) {
  const auto math = sum.kernel ? math_of_kernel(decode(trace.strings[sum.kernel])) : std::nullopt;
  return math ? math : math_of_types(types ? trace.strings[types] : std::string_view{});
}

// Operations a second, and their share of what the device can do, where both are known.
std::pair<std::optional<double>, std::optional<double>> rates(const Trace& trace, const Sum& sum, const Flops& each,
                                                              std::optional<MathType> math) {
  if (!each.count || sum.gpu_time <= 0) return {};
  const double per_second = *each.count * static_cast<double>(sum.calls) / (static_cast<double>(sum.gpu_time) * 1e-9);
  const auto peak = math ? dense_peak(trace.stated.roofs, gpu_name(trace, sum.device), *math) : std::nullopt;
  // Over the peak it did less than its shapes say, or its kernel's name gave the wrong type: not known.
  const bool known = peak && per_second <= *peak;
  return {per_second, known ? std::optional(per_second / *peak) : std::nullopt};
}

void add_work(const Trace& trace, const GpuRow& gpu, Sum& sum) {
  const Ns duration = trace.duration(gpu.slice);
  add_saturating(sum.gpu_time, duration);
  sum.device = gpu.device;
  if (duration > sum.longest) sum.longest = duration, sum.kernel = trace.name_id(gpu.slice);
}

// Kernels launched by anything inside `op`. No product has thousands of slices inside: such a one is left without time.
void add_launched(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, SliceId op, Sum& sum) {
  constexpr std::size_t kMostInside = 10'000;
  std::vector<SliceId> open{op};
  for (std::size_t looked_at = 0; !open.empty(); ++looked_at) {
    const SliceId slice = open.back();
    open.pop_back();
    for (const SliceId work : links.launched_by(slice)) {
      const GpuRow* gpu = trace.gpu_row(work);
      if (gpu && trace.kind(work) == Kind::kernel) add_work(trace, *gpu, sum);
    }
    const std::vector<SliceId> children = lanes.children(slice);
    open.insert(open.end(), children.begin(), children.end());
    if (looked_at + open.size() > kMostInside) return void(sum.gpu_time = 0);
  }
}

}  // namespace

// fp32 operands go through the matrix units only as tf32.
std::optional<MathType> math_of_kernel(const KernelName& kernel) {
  const bool multiplies =
      kernel.kind == KernelKind::gemm || kernel.kind == KernelKind::convolution || kernel.kind == KernelKind::attention;
  if (!multiplies) return {};
  if (kernel.compute_type == "tf32") return MathType::tf32;
  bool found = false;
  const MathType math = math_of_word(kernel.input_type, {}, found);
  if (!found) return {};
  if (math == MathType::fp32 && kernel.tensor_core == true) return MathType::tf32;
  return math;
}

std::string shapes_text(std::string_view json) {
  std::string out;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool escaped = in_text && i > 0 && json[i - 1] == '\\';
    if (c == '"' && !escaped) in_text = !in_text;
    if (!in_text && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) continue;
    out += c;
    if (!in_text && c == ',') out += ' ';
  }
  return out;
}

bool counts_flops(std::string_view op) {
  const WorkModel* model = work_model(op);
  return model && model->is_product;
}

Flops flops_of(std::string_view op, std::string_view input_dims, std::string_view concrete_inputs) {
  if (!counts_flops(op)) return {};
  if (input_dims.empty()) return {{}, kNoShapes};
  const auto call = parse_call(op, input_dims, {}, concrete_inputs);
  if (!call) return {{}, kOddShapes};
  const Work work = work_of(*call);
  if (work.flops) return {work.flops, {}};
  const bool strides = work_model(op)->needs == kNeedsValues && concrete_inputs.empty();
  return {{}, strides && work.why != kOddShapes ? kNoStride : work.why};
}

std::optional<OpRate> rate_of(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, SliceId op,
                              std::string_view concrete_inputs) {
  if (!op || trace.kind(op) != Kind::op || !counts_flops(trace.name(op))) return {};
  const OpRow* row = trace.op_row(op);
  OpRate out;
  out.flops =
      flops_of(trace.name(op), row && row->input_dims ? trace.strings[row->input_dims] : std::string_view{}, concrete_inputs);
  Sum sum;
  sum.calls = 1;
  add_launched(trace, lanes, links, op, sum);
  out.gpu_time = sum.gpu_time;
  out.math = math_of(trace, sum, row ? row->input_types : StringId{});
  std::tie(out.per_second, out.peak_share) = rates(trace, sum, out.flops, out.math);
  return out;
}

}  // namespace gapscope
