#include "core/analyze/operators/flops.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/parse_json.h"
#include "core/base/saturating.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;
using Dims = std::vector<double>;
using Shapes = std::vector<Dims>;

constexpr std::string_view kNoShapes = "The shapes are not recorded: PyTorch writes them with record_shapes=True.";
constexpr std::string_view kOddShapes = "The recorded shapes are not those that this operator takes.";
constexpr std::string_view kNoStride = "A convolution's result depends on stride and padding, which are not recorded here.";

Flops counted(double count) { return {count, {}}; }
Flops uncounted(std::string_view why) { return {{}, why}; }

// [[2, 3], [], [4]]: what is no list of numbers (a scalar, a list of tensors) is an empty shape.
std::optional<Shapes> parse_shapes(std::string_view text) {
  const Result<Json> json = parse_json(text);
  if (!json || !json->is_array()) return {};
  Shapes out;
  for (const auto& item : *json) {
    Dims dims;
    if (item.is_array())
      for (const auto& size : item)
        if (size.is_number()) dims.push_back(size.get<double>());
    out.push_back(std::move(dims));
  }
  return out;
}

double product(const Dims& dims, std::size_t first = 0, std::size_t end = ~std::size_t{0}) {
  double out = 1;
  for (std::size_t i = first; i < std::min(end, dims.size()); ++i) out *= dims[i];
  return out;
}

Flops matrix(const Dims& a, const Dims& b) {
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0]) return uncounted(kOddShapes);
  return counted(2 * a[0] * a[1] * b[1]);
}

Flops batched(const Dims& a, const Dims& b) {
  if (a.size() != 3 || b.size() != 3 || a[0] != b[0] || a[2] != b[1]) return uncounted(kOddShapes);
  return counted(2 * a[0] * a[1] * a[2] * b[2]);
}

Flops linear(const Dims& x, const Dims& weight) {
  if (x.empty() || weight.size() != 2 || x.back() != weight[1]) return uncounted(kOddShapes);
  return counted(2 * product(x) * weight[0]);
}

// Scores and their product with the values, over all but the last two dimensions of the query.
Flops attention(const Dims& q, const Dims& k, const Dims& v, bool backward) {
  if (q.size() < 3 || k.size() != q.size() || v.size() != q.size()) return uncounted(kOddShapes);
  const std::size_t n = q.size();
  if (q[n - 1] != k[n - 1] || k[n - 2] != v[n - 2]) return uncounted(kOddShapes);
  const double pairs = product(q, 0, n - 2) * q[n - 2] * k[n - 2];
  const double scores = 2 * pairs * q[n - 1], values = 2 * pairs * v[n - 1];
  // Backward: scores again, gradients of scores and values, gradients of query and key.
  return counted(backward ? 3 * scores + 2 * values : scores + values);
}

Dims heads_first(Dims dims) {
  if (dims.size() == 4) std::swap(dims[1], dims[2]);
  return dims;
}

// Each result element sums over the weights of one output channel.
double convolution_from(const Dims& result, const Dims& weight, bool transposed, const Dims& input) {
  const Dims& places = transposed ? input : result;
  return 2 * product(places, 2) * places[0] * product(weight);
}

std::vector<double> numbers(const Json& item) {
  std::vector<double> out;
  const Result<Json> json = item.is_string() ? parse_json(item.get<std::string>()) : item;
  if (json && json->is_array())
    for (const auto& n : *json)
      if (n.is_number()) out.push_back(n.get<double>());
  return out;
}

// Where "Concrete Inputs" holds what a convolution's result depends on.
struct ConvolutionInputs {
  std::size_t stride, padding, dilation;
  std::optional<std::size_t> transposed;
};
constexpr ConvolutionInputs kAtenInputs = {3, 4, 5, 6};
constexpr ConvolutionInputs kLibraryInputs = {3, 2, 4, {}};

Flops convolution(const Dims& input, const Dims& weight, std::string_view concrete_inputs, const ConvolutionInputs& where) {
  if (input.size() < 3 || weight.size() != input.size()) return uncounted(kOddShapes);
  const Result<Json> parsed = parse_json(concrete_inputs);
  if (!parsed || !parsed->is_array() || parsed->size() <= where.transposed.value_or(where.dilation))
    return uncounted(kNoStride);
  const Json& json = *parsed;
  const std::size_t places = input.size() - 2;
  const auto stride = numbers(json[where.stride]), padding = numbers(json[where.padding]),
             dilation = numbers(json[where.dilation]);
  const auto at = [](const std::vector<double>& list, std::size_t i) { return list[list.size() == 1 ? 0 : i]; };
  for (const auto* list : {&stride, &padding, &dilation})
    if (list->size() != 1 && list->size() != places) return uncounted(kNoStride);
  const bool transposed = where.transposed && (json[*where.transposed] == "True" || json[*where.transposed] == "true");
  Dims result = {input[0], weight[0]};
  for (std::size_t i = 0; i < places; ++i) {
    if (at(stride, i) < 1) return uncounted(kOddShapes);
    const double room = input[i + 2] + 2 * at(padding, i) - at(dilation, i) * (weight[i + 2] - 1) - 1;
    result.push_back(static_cast<double>(static_cast<std::int64_t>(room / at(stride, i))) + 1);
  }
  return counted(convolution_from(result, weight, transposed, input));
}

// Gradients of input and weight, each as much work as the forward pass; the result's size is that of its gradient.
Flops convolution_backward(const Dims& gradient, const Dims& input, const Dims& weight) {
  if (gradient.size() < 3 || weight.size() != gradient.size() || input.size() != gradient.size()) return uncounted(kOddShapes);
  return counted(2 * convolution_from(gradient, weight, false, input));
}

enum class Formula : std::uint8_t {
  mm,
  addmm,
  bmm,
  baddbmm,
  linear,
  convolution,
  library_convolution,  // padding stands before stride
  convolution_backward,
  attention,  // batch, heads, places, features
  attention_backward,
  attention_bshd,  // batch, places, heads, features
  attention_bshd_backward,
};
struct KnownOp {
  std::string_view name;
  Formula formula;
};
constexpr auto kOps = std::to_array<KnownOp>({
    {"aten::mm", Formula::mm},
    {"aten::addmm", Formula::addmm},
    {"aten::_addmm_activation", Formula::addmm},
    {"aten::bmm", Formula::bmm},
    {"aten::baddbmm", Formula::baddbmm},
    {"aten::linear", Formula::linear},
    {"aten::convolution", Formula::convolution},
    {"aten::_convolution", Formula::convolution},
    {"aten::cudnn_convolution", Formula::library_convolution},
    {"aten::miopen_convolution", Formula::library_convolution},
    {"aten::convolution_backward", Formula::convolution_backward},
    {"aten::scaled_dot_product_attention", Formula::attention},
    {"aten::_scaled_dot_product_flash_attention", Formula::attention},
    {"aten::_scaled_dot_product_efficient_attention", Formula::attention},
    {"aten::_scaled_dot_product_cudnn_attention", Formula::attention},
    {"aten::_cudnn_attention_forward", Formula::attention},
    {"aten::_cudnn_attention_backward", Formula::attention_backward},
    {"aten::_flash_attention_forward", Formula::attention_bshd},
    {"aten::_efficient_attention_forward", Formula::attention_bshd},
    {"aten::_flash_attention_backward", Formula::attention_bshd_backward},
    {"aten::_efficient_attention_backward", Formula::attention_bshd_backward},
    {"aten::_scaled_dot_product_flash_attention_backward", Formula::attention_backward},
    {"aten::_scaled_dot_product_efficient_attention_backward", Formula::attention_backward},
    {"aten::_scaled_dot_product_cudnn_attention_backward", Formula::attention_backward},
});

const KnownOp* known_op(std::string_view name) {
  const auto at = std::find_if(kOps.begin(), kOps.end(), [&](const KnownOp& op) { return op.name == name; });
  return at == kOps.end() ? nullptr : &*at;
}

// How many shapes a formula looks at.
std::size_t shapes_needed(Formula formula) {
  switch (formula) {
    case Formula::addmm:
    case Formula::baddbmm:
    case Formula::convolution_backward:
    case Formula::attention:
    case Formula::attention_bshd: return 3;
    case Formula::attention_backward:
    case Formula::attention_bshd_backward: return 4;
    default: return 2;
  }
}

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

// Of the first tensor: ["float", "c10::BFloat16", ...]. fp32 may run as tf32, so it tells nothing.
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

// GPU time by owning operator, one entry an operator's slice.
std::vector<std::pair<SliceId, const GpuRow*>> owned_work(const Trace& trace, const LinkIndex& links,
                                                          const std::optional<Span>& range) {
  std::vector<std::pair<SliceId, const GpuRow*>> out;
  for (const GpuRow& row : trace.gpu) {
    if (trace.kind(row.slice) != Kind::kernel) continue;
    if (range && !range->contains(trace.begin(row.slice))) continue;
    const SliceId owner = links.owner_op(row.slice);
    if (owner && counts_flops(trace.name(owner))) out.emplace_back(owner, &row);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second->slice) < std::pair(b.first, b.second->slice);
  });
  return out;
}

std::optional<MathType> math_of(const Trace& trace, const Sum& sum, StringId types) {
  const auto math = sum.kernel ? math_of_kernel(decode(trace.strings[sum.kernel])) : std::nullopt;
  return math ? math : math_of_types(types ? trace.strings[types] : std::string_view{});
}

// Operations a second, and their share of what the device can do, where both are known.
std::pair<std::optional<double>, std::optional<double>> rates(const Trace& trace, const Sum& sum, const Flops& each,
                                                              std::optional<MathType> math) {
  if (!each.count || sum.gpu_time <= 0) return {};
  const double per_second = *each.count * static_cast<double>(sum.calls) / (static_cast<double>(sum.gpu_time) * 1e-9);
  const DeviceProperties* device = trace.device(sum.device);
  const auto peak = device && math ? dense_peak(device->name, *math) : std::nullopt;
  return {per_second, peak ? std::optional(per_second / *peak) : std::nullopt};
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

FlopsRow make_row(const Trace& trace, StringId op, StringId dims, StringId types, const Sum& sum) {
  FlopsRow row{op, dims, types, sum.calls, flops_of(trace.strings[op], trace.strings[dims]), sum.gpu_time, {}, {}, {}};
  row.math = math_of(trace, sum, types);
  std::tie(row.per_second, row.peak_share) = rates(trace, sum, row.each, row.math);
  return row;
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

bool counts_flops(std::string_view op) { return known_op(op) != nullptr; }

Flops flops_of(std::string_view op, std::string_view input_dims, std::string_view concrete_inputs) {
  const KnownOp* known = known_op(op);
  if (!known) return {};
  if (input_dims.empty()) return uncounted(kNoShapes);
  const auto shapes = parse_shapes(input_dims);
  if (!shapes || shapes->size() < shapes_needed(known->formula)) return uncounted(kOddShapes);
  const Shapes& s = *shapes;
  switch (known->formula) {
    case Formula::mm: return matrix(s[0], s[1]);
    case Formula::addmm: return matrix(s[1], s[2]);
    case Formula::bmm: return batched(s[0], s[1]);
    case Formula::baddbmm: return batched(s[1], s[2]);
    case Formula::linear: return linear(s[0], s[1]);
    case Formula::convolution: return convolution(s[0], s[1], concrete_inputs, kAtenInputs);
    case Formula::library_convolution: return convolution(s[0], s[1], concrete_inputs, kLibraryInputs);
    case Formula::convolution_backward: return convolution_backward(s[0], s[1], s[2]);
    case Formula::attention: return attention(s[0], s[1], s[2], false);
    case Formula::attention_backward: return attention(s[1], s[2], s[3], true);
    case Formula::attention_bshd: return attention(heads_first(s[0]), heads_first(s[1]), heads_first(s[2]), false);
    case Formula::attention_bshd_backward: return attention(heads_first(s[1]), heads_first(s[2]), heads_first(s[3]), true);
  }
  return {};
}

FlopsTable flops_table(const Trace& trace, const LinkIndex& links, std::optional<Span> range) {
  FlopsTable table;
  table.shapes_recorded =
      std::any_of(trace.ops.begin(), trace.ops.end(), [&](const OpRow& op) { return !trace.strings[op.input_dims].empty(); });
  std::map<std::tuple<StringId, StringId, StringId>, Sum> sums;
  SliceId before;
  for (const auto& [owner, gpu] : owned_work(trace, links, range)) {
    const OpRow* op = trace.op_row(owner);
    Sum& sum = sums[{trace.name_id(owner), op ? op->input_dims : StringId{}, op ? op->input_types : StringId{}}];
    if (owner != before) ++sum.calls;
    before = owner;
    add_work(trace, *gpu, sum);
  }
  for (const auto& [key, sum] : sums)
    table.rows.push_back(make_row(trace, std::get<0>(key), std::get<1>(key), std::get<2>(key), sum));
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const FlopsRow& a, const FlopsRow& b) { return a.gpu_time > b.gpu_time; });
  return table;
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
