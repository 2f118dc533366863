#include "core/analyze/work/call_context.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "core/analyze/inference/serving_step.h"

namespace gapscope {
namespace {

constexpr std::string_view kOddShapes = "The recorded shapes are not those that this operator takes.";
constexpr std::string_view kNoShapes = "The shapes are not recorded: record with record_shapes=True.";

std::string text_of(const Sizes& sizes) { return fmt::format("{}", fmt::join(sizes, ",")); }

std::string_view text(const Trace& trace, StringId id) { return id ? trace.strings[id] : std::string_view{}; }

}  // namespace

CallContext::CallContext(const OperatorRecording& gpu, const OperatorRecording& of, const ArgTexts& values)
    : gpu_(*gpu.trace), gpu_lanes_(*gpu.lanes), trace_(*of.trace), lanes_(*of.lanes), values_(values) {
  learn_results();
  learn_parameters();
}

// Files of 2021 hold no strides: a convolution's result is as large as the gradient that its backward takes, with the same
// input and weight. What two calls state differently is unknown.
void CallContext::learn_results() {
  const StringId cudnn = trace_.strings.find("aten::cudnn_convolution_backward");
  const StringId miopen = trace_.strings.find("aten::miopen_convolution_backward");
  if (!cudnn && !miopen) return;
  std::map<StringId, bool> seen;
  for (const OpRow& row : trace_.ops) {
    const StringId name = trace_.name_id(row.slice);
    if (!row.input_dims || (name != cudnn && name != miopen) || !seen.try_emplace(row.input_dims).second) continue;
    const auto call = parse_call(trace_.name(row.slice), trace_.strings[row.input_dims], {}, {});
    if (!call || call->size() < 3) continue;
    const auto [at, is_new] = results_.try_emplace({text_of(call->sizes(0)), text_of(call->sizes(2))}, call->sizes(1));
    if (!is_new && at->second != call->sizes(1)) at->second.clear();
  }
}

// Gradients are summed once a step for each parameter: in which proportion sizes occur.
void CallContext::learn_parameters() {
  const StringId accumulate = trace_.strings.find("torch::autograd::AccumulateGrad");
  if (!accumulate) return;
  std::map<StringId, std::uint64_t> by_dims;
  for (const OpRow& row : trace_.ops)
    if (row.input_dims && trace_.name_id(row.slice) == accumulate) ++by_dims[row.input_dims];
  std::uint64_t common = 0;
  for (const auto& [dims, count] : by_dims) common = std::gcd(common, count);
  for (const auto& [dims, count] : by_dims)
    if (const auto call = parse_call({}, trace_.strings[dims], {}, {}); call && call->size() > 0)
      parameters_.emplace_back(elements(call->sizes(0)), static_cast<double>(count) / static_cast<double>(common));
}

// Elements of a list as long as the parameters, whole or one of so many shards: where the blocks that were launched, one for
// each 65536 elements of a tensor (multi_tensor_apply), are those of the parameters or a multiple of them.
double CallContext::long_list(std::span<const OwnedWork> work) const {
  constexpr double kChunk = 65536;
  double blocks = 0;
  for (const OwnedWork& w : work) {
    if (gpu_.name(w.gpu->slice).find("multi_tensor_apply") == std::string_view::npos) return 0;
    blocks += w.gpu->grid[0];
  }
  for (const double shards : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
    double chunks = 0, sum = 0;
    for (const auto& [count, times] : parameters_) {
      const double own = std::ceil(count / shards);
      chunks += times * std::ceil(own / kChunk);
      sum += times * own;
    }
    if (chunks > 0 && std::fmod(blocks, chunks) == 0) return sum * (blocks / chunks);
  }
  return 0;
}

// Around the operator, or around the launch that replayed it.
SliceId CallContext::annotation_of(const OwnedWork& work) const {
  for (SliceId s = gpu_lanes_.parent(work.replay ? work.replay : work.op); s; s = gpu_lanes_.parent(s))
    if (gpu_.kind(s) == Kind::annotation && serving_step(gpu_.name(s))) return s;
  return {};
}

void CallContext::fill(WorkCall& call, const WorkModel& model, std::span<const OwnedWork> work, const GpuRow& longest) const {
  if ((model.needs & kNeedsKernel) != 0) {
    call.kernel = gpu_.name(longest.slice);
    call.grid_x = longest.grid[0], call.grid_y = longest.grid[1];
    for (const OwnedWork& w : work) call.kernels.push_back(gpu_.name(w.gpu->slice));
    const OpRow* row = gpu_.op_row(longest.slice);
    if (row && row->collective_args) call.collective = gpu_.strings[row->collective_args];
    call.list_elements = long_list(work);
  }
  if ((model.needs & kNeedsAnnotation) != 0)
    if (const SliceId step = annotation_of(work.front())) call.annotation = gpu_.name(step);
  if ((model.needs & kNeedsMade) != 0)
    for (const SliceId child : made_inside(trace_, lanes_, work.front().op))
      if (const auto made = parse_call({}, "[[]]", {}, values_.of(child)); made && made->size() > 0)
        call.made.push_back(made->numbers(0));
  if (call.has_values || !model.is_product) return;
  const auto at = results_.find({text_of(call.sizes(0)), text_of(call.sizes(1))});
  if (at != results_.end()) call.result = at->second;
  const auto works_out = [&](std::string_view word) {
    return std::any_of(work.begin(), work.end(),
                       [&](const OwnedWork& w) { return trace_.name(w.owner).find(word) != std::string_view::npos; });
  };
  call.input_gradient = works_out("backward_input");
  call.weight_gradient = works_out("backward_weight");
}

CountedCall CallContext::count(std::span<const OwnedWork> work, const GpuRow& longest) {
  const SliceId op = work.front().op;
  const OpRow* row = trace_.op_row(op);
  const WorkModel* model = work_model(trace_.name(op));
  const StringId dims = row ? row->input_dims : StringId{}, types = row ? row->input_types : StringId{};
  if (!dims) return {row, model, {{}, {}, model ? kNoShapes : std::string_view{}}, nullptr};
  const std::uint8_t needs = model ? model->needs : 0;
  const bool by_kernel = (needs & kNeedsKernel) != 0;
  const OpRow* gpu = by_kernel ? gpu_.op_row(longest.slice) : nullptr;
  const SliceId step = (needs & kNeedsAnnotation) != 0 ? annotation_of(work.front()) : SliceId{};
  const Key key{trace_.name_id(op),
                dims,
                types,
                values_.place(op),
                by_kernel ? gpu_.name_id(longest.slice) : StringId{},
                gpu    ? gpu->collective_args.value
                : step ? gpu_.name_id(step).value
                       : 0,
                static_cast<std::uint32_t>(work.size()),
                by_kernel ? longest.grid[0] : 0};
  const auto [at, is_new] = known_.try_emplace(key);
  Known& known = at->second;
  if (!is_new) return {row, model, known.work, known.call ? &*known.call : nullptr};
  known.call = parse_call(trace_.name(op), trace_.strings[dims], text(trace_, types), values_.of(op));
  if (!known.call) {
    if (model) known.work.why = kOddShapes;
    return {row, model, known.work, nullptr};
  }
  if (model) {
    fill(*known.call, *model, work, longest);
    known.work = work_of(*known.call);
  }
  return {row, model, known.work, &*known.call};
}

}  // namespace gapscope
