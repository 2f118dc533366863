#include "core/compare/side_reader.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/analyze/inference/serving_passes.h"
#include "core/analyze/named_steps.h"
#include "core/analyze/steps.h"
#include "core/analyze/work/work_table.h"
#include "core/base/span_set.h"
#include "core/base/text.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::string_view kWhole = "the whole trace";
constexpr std::size_t kMostNamed = 5;  // annotations that an error sentence proposes

// Steps never overlap: what begins inside another is left out.
std::vector<SliceId> disjoint(const Trace& trace, std::vector<SliceId> slices) {
  std::sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) {
    return std::tuple(trace.begin(a), -trace.end(a), a) < std::tuple(trace.begin(b), -trace.end(b), b);
  });
  std::vector<SliceId> apart;
  for (const SliceId s : slices)
    if (apart.empty() || trace.begin(s) >= trace.end(apart.back())) apart.push_back(s);
  return apart;
}

// First to last CPU work of the program itself; without any, of the calls.
Span cpu_span(const Trace& trace) {
  Span ops{0, 0}, calls{0, 0};
  bool any_op = false, any_call = false;
  for (std::size_t i = 0; i < trace.slice_count(); ++i) {
    const SliceId s(i);
    const Kind kind = trace.kind(s);
    if (kind == Kind::op || kind == Kind::annotation) {
      ops = any_op ? hull(ops, trace.span_of(s)) : trace.span_of(s);
      any_op = true;
    } else if (is_call(kind)) {
      calls = any_call ? hull(calls, trace.span_of(s)) : trace.span_of(s);
      any_call = true;
    }
  }
  return any_op ? ops : calls;
}

// The passes of a serving engine in one phase, or in the most frequent one: those of different phases are not alike.
std::vector<SliceId> passes_alike(const Trace& trace, std::string_view phase, std::string_view& steps_of) {
  const std::vector<ServingPass> passes = serving_passes(trace, phase);
  std::map<std::string_view, std::vector<SliceId>> by_phase;
  for (const ServingPass& pass : passes) by_phase[pass.step.phase()].push_back(pass.slice);
  const auto most = std::max_element(by_phase.begin(), by_phase.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == by_phase.end()) return {};
  steps_of = most->first;
  return most->second;
}

void find_steps(SideData& data, const CompareOptions& options) {
  const Trace& trace = data.input->session.trace();
  const bool by_name = !options.annotation.empty();
  std::string own_name;
  std::string_view steps_of = by_name ? std::string_view(options.annotation) : kStepPrefix;
  std::vector<SliceId> found = by_name ? steps_named(trace, options.annotation) : profiler_steps(trace);
  if (!by_name && !found.empty() && !trace.name(found.front()).starts_with(kStepPrefix)) {
    own_name = without_numbers(trace.name(found.front()));
    steps_of = own_name;
    data.by_regularity = trace.stated.steps.empty();
  }
  if (found.empty() && (!by_name || is_phase_word(options.annotation)))
    found = passes_alike(trace, options.annotation, steps_of);
  for (const SliceId s : disjoint(trace, std::move(found)))
    data.steps.push_back({s, std::string(trace.name(s)), trace.span_of(s), {}, {}});
  if (data.steps.empty() && !by_name) {
    for (const Iteration& i : iterations(trace)) {
      data.steps.push_back({i.end, iteration_name(data.steps.size()), i.span, {}, {}});
      steps_of = trace.name(i.end);
      data.by_optimizer = true;
    }
  }
  data.side.annotated = !data.steps.empty();
  data.side.steps_of = by_name || data.side.annotated ? std::string(steps_of) : std::string(kWhole);
  if (data.steps.empty()) data.steps.push_back({{}, std::string(kWhole), cpu_span(trace), {}, {}});
}

// In a file of several ranks a step is that of one of them.
bool same_process(const SideData& data, const ComparedStep& step, const GpuOp& op) {
  const Trace& trace = data.input->session.trace();
  return !op.linked() || trace.lane(op.launch).process == trace.lane(step.slice).process;
}

// Work belongs to the step in which it was launched; in a trace without any launch, in which it began.
void share_out_gpu_work(SideData& data) {
  for (std::uint32_t i = 0; i < data.ops().size(); ++i) {
    const GpuOp& op = data.ops()[i];
    if (data.any_linked && !op.linked()) continue;
    if (!data.side.annotated) {
      data.steps.front().ops.push_back(i);
      continue;
    }
    const Ns t = op.linked() ? op.launch_span.begin : op.span.begin;
    auto at = std::upper_bound(data.steps.begin(), data.steps.end(), t,
                               [](Ns time, const ComparedStep& s) { return time < s.cpu.begin; });
    if (at != data.steps.begin() && (--at)->cpu.contains(t) && same_process(data, *at, op)) at->ops.push_back(i);
  }
}

bool is_graph_launch(std::string_view name) { return name == "cudaGraphLaunch" || name == "hipGraphLaunch"; }

// Of the launches of a step: all, and those of graphs.
std::pair<std::int64_t, std::int64_t> count_launches(const SideData& data, const ComparedStep& step) {
  std::vector<SliceId> calls;
  for (const std::uint32_t i : step.ops)
    if (data.ops()[i].linked()) calls.push_back(data.ops()[i].launch);
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  const auto graphs = std::count_if(calls.begin(), calls.end(),
                                    [&](SliceId call) { return is_graph_launch(data.input->session.trace().name(call)); });
  return {static_cast<std::int64_t>(calls.size()), graphs};
}

Span hull_with_gpu(const SideData& data, const ComparedStep& step) {
  Span span = step.cpu;
  for (const std::uint32_t i : step.ops) span.end = std::max(span.end, data.ops()[i].span.end);
  // A recording of the GPU alone has no CPU time to begin with.
  if (step.cpu.empty() && !step.ops.empty()) span.begin = data.ops()[step.ops.front()].span.begin;
  return span;
}

void measure_steps(SideData& data) {
  SpanSet all;
  for (const GpuOp& op : data.ops()) append(all, op.span);
  Ns previous_end = data.steps.front().cpu.begin;
  for (ComparedStep& step : data.steps) {
    const auto value = [&](StepFigure figure) -> std::int64_t& { return step.values[static_cast<std::size_t>(figure)]; };
    SpanSet own;
    for (const std::uint32_t i : step.ops) {
      const GpuOp& op = data.ops()[i];
      append(own, op.span);
      value(StepFigure::gpu_time) += op.span.length();
      value(StepFigure::kernels) += op.is_kernel() ? 1 : 0;
      value(StepFigure::copies) += op.gpu_class == GpuClass::copy ? 1 : 0;
    }
    Span span = hull_with_gpu(data, step);
    if (!step.cpu.empty()) span.begin = std::clamp(previous_end, span.begin, span.end);
    previous_end = span.end;
    value(StepFigure::cpu) = step.cpu.length();
    value(StepFigure::gpu_busy) = length(own);
    value(StepFigure::idle) = data.ops().empty() ? 0 : span.length() - length_within(all, span);
    value(StepFigure::gpu_ops) = static_cast<std::int64_t>(step.ops.size());
    std::tie(value(StepFigure::launches), value(StepFigure::graph_launches)) = count_launches(data, step);
  }
}

void sum_up(SideData& data) {
  Side& side = data.side;
  const std::size_t first = data.steps.size() > 1 ? 1 : 0;
  side.steps = data.side.annotated ? data.steps.size() : 1;
  side.counted = data.steps.size() - first;
  if (first == 1) side.cold = data.steps.front().values;
  for (std::size_t f = 0; f < kStepFigures; ++f) {
    std::vector<std::int64_t> values;
    for (std::size_t s = first; s < data.steps.size(); ++s) values.push_back(data.steps[s].values[f]);
    side.figures[f] = spread_of(std::move(values));
  }
}

std::size_t median_step(const SideData& data) {
  std::vector<std::size_t> order;
  for (std::size_t s = data.steps.size() > 1 ? 1 : 0; s < data.steps.size(); ++s) order.push_back(s);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return data.steps[x].cpu.length() < data.steps[y].cpu.length(); });
  return order[(order.size() - 1) / 2];
}

std::optional<std::size_t> numbered_step(const SideData& data, const CompareOptions& options) {
  if (!data.side.annotated) return std::nullopt;
  if (data.side.steps_of != kStepPrefix) {
    const bool there = options.number >= 0 && static_cast<std::uint64_t>(options.number) < data.steps.size();
    return there ? std::optional(static_cast<std::size_t>(options.number)) : std::nullopt;
  }
  const std::string name = fmt::format("{}{}", kStepPrefix, options.number);
  for (std::size_t s = 0; s < data.steps.size(); ++s)
    if (data.steps[s].name == name) return s;
  return std::nullopt;
}

std::string no_such_step(const SideData& data, const CompareOptions& options) {
  const std::string file = printable(data.side.file);
  if (!data.side.annotated)
    return fmt::format("\"{}\" has no steps, so there is no step {}: leave out --step.", file, options.number);
  if (data.side.steps_of != kStepPrefix)
    return fmt::format("\"{}\" has no instance {} of \"{}\": it has {}, counted from 0.", file, options.number,
                       printable(data.side.steps_of), data.steps.size());
  return fmt::format("\"{}\" has no step {}: it has {} to {}.", file, options.number, printable(data.steps.front().name),
                     printable(data.steps.back().name));
}

std::string no_such_annotation(const SideData& data, const CompareOptions& options) {
  const auto names = annotation_names(data.input->session.trace());
  std::string there;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    there += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", printable(names[i].first));
  return fmt::format(
      "\"{}\" has no annotation \"{}\"; {}.", printable(data.side.file), printable(options.annotation),
      there.empty() ? "it has none at all" : (names.size() > kMostNamed ? "some that it has: " : "it has ") + there);
}

}  // namespace

StepSpread spread_of(std::vector<std::int64_t> values) {
  StepSpread out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  // Between the two nearest values where the rank (in quarters) falls between them.
  const auto at_quarter = [&](std::size_t quarter) {
    const std::size_t rank = (values.size() - 1) * quarter;
    const std::int64_t low = values[rank / 4];
    const std::int64_t high = values[std::min(rank / 4 + 1, values.size() - 1)];
    return low + (high - low) * static_cast<std::int64_t>(rank % 4) / 4;
  };
  out.min = values.front(), out.max = values.back();
  const auto count = static_cast<std::int64_t>(values.size());
  for (const std::int64_t value : values) out.mean += value / count;  // a sum might not fit
  for (std::int64_t rest = 0; const std::int64_t value : values)
    if (rest += value % count; rest >= count) out.mean += 1, rest -= count;
  out.lower = at_quarter(1), out.median = at_quarter(2), out.upper = at_quarter(3);
  return out;
}

Result<SideData> read_side(const ComparedTrace& input, const CompareOptions& options) {
  SideData data;
  data.input = &input;
  data.side.file = input.session.trace().path;
  data.any_linked = std::any_of(data.ops().begin(), data.ops().end(), [](const GpuOp& op) { return op.linked(); });
  data.side.has_gpu_work = !data.ops().empty();
  find_steps(data, options);
  if (!options.annotation.empty() && !data.side.annotated) return Error{no_such_annotation(data, options)};
  share_out_gpu_work(data);
  measure_steps(data);
  sum_up(data);
  if (options.pick == StepPick::all) {
    for (std::size_t s = 0; s < data.steps.size(); ++s) data.picked.push_back(s);
  } else if (options.pick == StepPick::number) {
    const auto step = numbered_step(data, options);
    if (!step) return Error{no_such_step(data, options)};
    data.picked = {*step};
  } else {
    data.picked = {median_step(data)};
  }
  const bool one = data.picked.size() == 1;
  data.side.picked = one ? data.steps[data.picked[0]].name : "all steps";
  if (one) data.side.picked_slice = data.steps[data.picked[0]].slice;
  for (const std::size_t s : data.picked)
    for (std::size_t f = 0; f < kStepFigures; ++f) data.side.picked_values[f] += data.steps[s].values[f];
  return data;
}

}  // namespace gapscope
