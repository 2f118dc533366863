#include "core/analyze/steps.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/analyze/account/time_walk.h"
#include "core/analyze/inference/serving_passes.h"
#include "core/analyze/named_steps.h"
#include "core/trace/crop_mark.h"

namespace gapscope {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::string_view kOptimizerStep = "Optimizer.step#";
// The plugin's: a last step with less GPU work than this share of the one before was cut off by the end of the recording.
constexpr std::uint64_t kKeptPercent = 80;

// Operators under which PyTorch's process groups launch their kernels.
bool is_communication_op(std::string_view name) {
  if (!name.starts_with("nccl:") && !name.starts_with("gloo:")) return false;
  constexpr std::array<std::string_view, 5> kOps = {"broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter"};
  return std::find(kOps.begin(), kOps.end(), name.substr(5)) != kOps.end();
}

bool is_op_or_annotation(Kind kind) { return kind == Kind::op || kind == Kind::annotation; }

// What the names of a trace say, looked at once a name.
enum NameFlag : std::uint8_t { kStepName = 1, kLoaderName = 2, kCommunicationName = 4 };
std::vector<std::uint8_t> flags_of_names(const Trace& trace) {
  std::vector<std::uint8_t> flags(trace.strings.size());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string_view name = trace.strings[StringId(i)];
    flags[i] = static_cast<std::uint8_t>((name.starts_with(kStepPrefix) ? kStepName : 0) |
                                         (is_data_loader_name(name) ? kLoaderName : 0) |
                                         (is_communication_op(name) ? kCommunicationName : 0));
  }
  return flags;
}

// From the first begin to the last end of all operators; none where there is none.
std::optional<Span> span_of_operators(const Trace& trace) {
  std::optional<Span> span;
  for (std::size_t s = 0; s < trace.slice_count(); ++s)
    if (trace.kind(SliceId(s)) == Kind::op) span = span ? hull(*span, trace.span_of(SliceId(s))) : trace.span_of(SliceId(s));
  return span;
}

// The ids of collectives: kernels that carry one are communication.
std::unordered_set<std::uint64_t> ids_of_communication(const Trace& trace, const std::vector<std::uint8_t>& flags) {
  std::unordered_set<std::uint64_t> ids;
  if (std::none_of(flags.begin(), flags.end(), [](std::uint8_t f) { return (f & kCommunicationName) != 0; })) return ids;
  for (std::size_t s = 0; s < trace.slice_count(); ++s) {
    const bool collective =
        (flags[trace.slices.name[s].index()] & kCommunicationName) != 0 && is_op_or_annotation(trace.kind(SliceId(s)));
    if (collective && trace.slices.external_id[s] != 0) ids.insert(trace.slices.external_id[s]);
  }
  return ids;
}

// Of a crop what is in its window as a whole: of the rest not all that happened in it is there.
bool is_whole(const std::optional<CropMark>& crop, Span span) {
  return !crop || (crop->window.begin <= span.begin && span.end <= crop->window.end);
}
void drop_cut_by_crop(const Trace& trace, std::vector<SliceId>& slices) {
  const std::optional<CropMark> crop = crop_mark(trace);
  std::erase_if(slices, [&](SliceId s) { return !is_whole(crop, trace.span_of(s)); });
}

// Whether it means passes of a serving engine.
bool is_phase(const Trace& trace, std::string_view text) { return is_phase_word(text) && !trace.strings.find(text); }

// Annotations that are steps, in time order. `nested` counts those left out.
std::vector<SliceId> step_slices(const Trace& trace, const std::string& annotation, bool only_plugin, std::uint32_t& nested) {
  std::vector<SliceId> found;
  bool any = false;
  if (only_plugin)
    found = plugin_steps(trace, any);
  else if (annotation.empty())
    found = profiler_steps(trace);
  else if (!is_phase(trace, annotation))
    found = steps_named(trace, annotation);
  if (found.empty() && !only_plugin && (annotation.empty() || is_phase(trace, annotation)))
    for (const ServingPass& pass : serving_passes(trace, annotation)) found.push_back(pass.slice);
  drop_cut_by_crop(trace, found);
  std::vector<SliceId> apart;
  for (const SliceId s : found) {
    if (apart.empty() || trace.begin(s) >= trace.end(apart.back())) {
      apart.push_back(s);
    } else {
      ++nested;
    }
  }
  return apart;
}

// Which step's CPU span a time is in.
std::optional<std::size_t> step_holding(const std::vector<Step>& steps, Ns t) {
  auto at = std::upper_bound(steps.begin(), steps.end(), t, [](Ns time, const Step& s) { return time < s.cpu.begin; });
  if (at == steps.begin()) return std::nullopt;
  --at;
  return at->cpu.contains(t) ? std::optional(static_cast<std::size_t>(at - steps.begin())) : std::nullopt;
}

// Counts GPU work into the steps; the operations that a call inside no step launched, or no call, give the latest end
// before the first step's own GPU work.
class GpuWorkOfSteps {
 public:
  GpuWorkOfSteps(const Trace& trace, std::vector<Step>& steps, const std::vector<GpuOp>& ops)
      : steps_(steps), ops_(ops), seen_(trace.slice_count()) {}

  Ns count() {
    for (const GpuOp& op : ops_) {
      const auto at = step_of(op);
      if (!at) continue;
      Step& step = steps_[*at];
      step.kernels += op.is_kernel() ? 1 : 0;
      step.launches += seen_[op.launch.index()] ? 0 : 1;
      seen_[op.launch.index()] = true;
      if (op.launch_span.end <= step.cpu.end) step.gpu = step.gpu_ops++ == 0 ? op.span : hull(step.gpu, op.span);
    }
    return end_before();
  }

 private:
  // Most operations were launched in the step of the one before.
  std::optional<std::size_t> step_of(const GpuOp& op) {
    if (!op.linked()) return std::nullopt;
    if (!steps_[last_].cpu.contains(op.launch_span.begin)) {
      const auto at = step_holding(steps_, op.launch_span.begin);
      if (!at) return std::nullopt;
      last_ = *at;
    }
    return last_;
  }

  Ns end_before() {
    const Step& first = steps_.front();
    Ns before = first.cpu.begin;
    if (first.gpu_ops == 0) return before;
    for (const GpuOp& op : ops_) {
      if (op.span.begin >= first.gpu.begin) break;
      const auto at = step_of(op);
      const bool inside = at && op.launch_span.end <= steps_[*at].cpu.end;
      if (!inside && op.span.end < first.gpu.begin) before = std::max(before, op.span.end);
    }
    return before;
  }

  std::vector<Step>& steps_;
  const std::vector<GpuOp>& ops_;
  std::vector<bool> seen_;  // calls
  std::size_t last_ = 0;
};

void place_on_time(std::vector<Step>& steps, Ns previous_end) {
  for (Step& step : steps) {
    step.span = {std::max(previous_end, step.cpu.begin), step.cpu.end};
    if (step.gpu_ops > 0) step.span.end = std::max(step.span.end, step.gpu.end);
    step.span.end = std::max(step.span.begin, step.span.end);
    previous_end = step.span.end;
  }
}

// `are_alike`: steps do the same, as those of training; passes of a serving engine do not.
std::uint32_t drop_cut_off(std::vector<Step>& steps, bool are_alike) {
  std::size_t keep = steps.size();
  while (keep > 0 && steps[keep - 1].gpu_ops == 0) --keep;
  if (keep == 0) return 0;  // no GPU work at all: every step stays
  if (are_alike && keep > 1 &&
      std::uint64_t{steps[keep - 2].gpu_ops} * kKeptPercent > std::uint64_t{steps[keep - 1].gpu_ops} * 100)
    --keep;
  const std::size_t dropped = steps.size() - keep;
  steps.resize(keep);
  return static_cast<std::uint32_t>(dropped);
}

// Shares out the time of the steps: spans come in order of begin, and a moment counts as the first active role.
class RoleSweep {
 public:
  explicit RoleSweep(std::vector<Step>& steps) : steps_(steps) { until_.fill(now_); }

  void add(StepRole role, Span span) {
    Ns& until = until_[static_cast<std::size_t>(role)];
    if (span.end <= until) return;  // inside one that began before: most operators are
    advance(span.begin);
    until = span.end;
  }
  void finish() { advance(std::numeric_limits<Ns>::max()); }

 private:
  void advance(Ns to) {
    while (now_ < to && step_ < steps_.size()) {
      Step& step = steps_[step_];
      if (now_ < step.span.begin) now_ = std::min(to, step.span.begin);
      share_out(step, std::min(to, step.span.end));
      if (now_ >= step.span.end) ++step_;
    }
    now_ = std::max(now_, to);
  }
  // No role begins meanwhile, so the roles before one that has ended stay ended.
  void share_out(Step& step, Ns to) {
    for (std::size_t role = 0; role < kStepRoles && now_ < to; ++role) {
      const Ns stop = role + 1 < kStepRoles ? std::min(to, until_[role]) : to;
      if (stop <= now_) continue;
      step.time[role] += stop - now_;
      now_ = stop;
    }
  }

  std::vector<Step>& steps_;
  std::size_t step_ = 0;
  Ns now_ = std::numeric_limits<Ns>::min();
  std::array<Ns, kStepRoles - 1> until_{};
};

std::optional<StepRole> role_on_cpu(Kind kind, std::uint8_t flag) {
  if (kind == Kind::runtime) return StepRole::runtime;
  if ((flag & kCommunicationName) != 0) return StepRole::communication;
  if ((flag & kStepName) != 0) return std::nullopt;
  return (flag & kLoaderName) != 0 ? StepRole::data_loader : StepRole::cpu_exec;
}

void break_down(const Trace& trace, const std::vector<GpuOp>& ops, const std::vector<std::uint8_t>& flags,
                std::vector<Step>& steps) {
  RoleSweep sweep(steps);
  const std::unordered_set<std::uint64_t> collectives = ids_of_communication(trace, flags);
  auto next = ops.begin();
  const auto add_gpu_until = [&](Ns t) {
    for (; next != ops.end() && next->span.begin <= t; ++next) {
      const bool communication =
          !collectives.empty() && next->is_kernel() && collectives.contains(trace.slices.external_id[next->slice.index()]);
      sweep.add(next->gpu_class == GpuClass::copy     ? StepRole::memcpy
                : next->gpu_class == GpuClass::memset ? StepRole::memset
                : communication                       ? StepRole::communication
                                                      : StepRole::kernel,
                next->span);
    }
  };
  const auto wanted = categories_of(trace, [](Kind k) { return k == Kind::runtime || is_op_or_annotation(k); });
  walk_by_time(trace, all_rows(trace), wanted, {column_to_come(trace.slices.end), column_to_come(trace.slices.name)},
               [&](SliceId s, Ns begin) {
                 const auto role = role_on_cpu(trace.kind(s), flags[trace.name_id(s).index()]);
                 if (!role) return;
                 add_gpu_until(begin);
                 sweep.add(*role, {begin, trace.end(s)});
               });
  add_gpu_until(std::numeric_limits<Ns>::max());
  sweep.finish();
}

}  // namespace

bool is_data_loader_name(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

std::optional<std::size_t> Steps::at(Ns t) const { return step_holding(steps, t); }

std::vector<SliceId> profiler_steps(const Trace& trace) {
  const std::string& stated = trace.stated.steps;
  std::vector<SliceId> found;
  if (!stated.empty() && !is_phase(trace, stated)) found = steps_named(trace, stated);
  if (found.empty()) found = unstated_steps(trace);
  drop_cut_by_crop(trace, found);
  // Of several ranks in one file those of the first: they do the same at the same time.
  const auto rank = [&](SliceId s) { return trace.processes[trace.lane(s).process.index()].rank; };
  std::int32_t first = std::numeric_limits<std::int32_t>::max();
  for (const SliceId s : found)
    if (rank(s) >= 0) first = std::min(first, rank(s));
  std::erase_if(found, [&](SliceId s) { return rank(s) > first; });
  return found;
}

std::vector<Iteration> iterations(const Trace& trace) {
  std::vector<bool> is_mark(trace.strings.size());
  bool any = false;
  for (std::size_t i = 0; i < is_mark.size(); ++i) any |= is_mark[i] = trace.strings[StringId(i)].starts_with(kOptimizerStep);
  std::vector<SliceId> marks;
  for (std::size_t s = 0; any && s < trace.slice_count(); ++s)
    if (is_mark[trace.slices.name[s].index()] && trace.kind(SliceId(s)) == Kind::annotation) marks.push_back(SliceId(s));
  std::sort(marks.begin(), marks.end(), [&](SliceId a, SliceId b) {
    return std::tuple(trace.begin(a), -trace.end(a), a) < std::tuple(trace.begin(b), -trace.end(b), b);
  });
  std::map<std::pair<StringId, LaneId>, std::vector<SliceId>> by_name;
  const std::vector<SliceId>* most = nullptr;
  for (const SliceId s : marks) {
    std::vector<SliceId>& own = by_name[{trace.name_id(s), trace.lane_id(s)}];
    if (own.empty() || trace.begin(s) >= trace.end(own.back())) own.push_back(s);
  }
  for (const SliceId s : marks) {
    const std::vector<SliceId>& own = by_name[{trace.name_id(s), trace.lane_id(s)}];
    if (!most || own.size() > most->size()) most = &own;
  }
  std::vector<Iteration> found;
  for (std::size_t i = 1; most && i < most->size(); ++i)
    found.push_back({(*most)[i], {trace.end((*most)[i - 1]), trace.end((*most)[i])}});
  const std::optional<CropMark> crop = crop_mark(trace);
  std::erase_if(found, [&](const Iteration& i) { return !is_whole(crop, i.span); });
  return found;
}

std::string iteration_name(std::size_t position) { return fmt::format("iteration {}", position + 1); }

StepMarks step_marks(const Trace& trace) {
  StepMarks out;
  std::vector<SliceId> marks = profiler_steps(trace);
  out.by_profiler = !marks.empty() && trace.name(marks.front()).starts_with(kStepPrefix);
  std::uint32_t nested = 0;
  if (marks.empty()) marks = step_slices(trace, {}, false, nested);
  for (const Span& span : step_spans(trace, marks)) out.steps.push_back({marks[out.steps.size()], span});
  if (out.steps.empty())
    for (const Iteration& i : iterations(trace)) out.steps.push_back({i.end, i.span});
  return out;
}

std::string step_name(const Trace& trace, SliceId mark, std::size_t position) {
  const std::string_view name = trace.name(mark);
  if (name.starts_with(kOptimizerStep)) return iteration_name(position);
  const auto pass = serving_step(name);
  return pass ? serving_words(*pass) : std::string(name);
}

std::vector<std::pair<std::string, std::uint32_t>> annotation_names(const Trace& trace) {
  std::map<StringId, std::uint32_t> counts;
  for (std::size_t s = 0; s < trace.slice_count(); ++s)
    if (trace.kind(SliceId(s)) == Kind::annotation) ++counts[trace.slices.name[s]];
  std::vector<std::pair<std::string, std::uint32_t>> names;
  for (const auto& [name, count] : counts)
    if (!trace.strings[name].starts_with(kStepPrefix)) names.emplace_back(trace.strings[name], count);
  std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return names;
}

// Without ProfilerStep# the passes of a serving engine are the steps, and without these the iterations; asked for by
// "ProfilerStep#" neither is, as the plugin has it.
Steps make_steps(const Trace& trace, const std::vector<GpuOp>& ops, std::string_view asked) {
  Steps out;
  const bool only_plugin = asked == kStepPrefix;
  std::string annotation(only_plugin ? "" : asked);
  if (annotation.empty() && !only_plugin && is_phase(trace, trace.stated.steps)) annotation = trace.stated.steps;
  std::size_t passes = 0;
  const std::vector<SliceId> marks = step_slices(trace, annotation, only_plugin, out.nested);
  for (const Span& span : step_spans(trace, marks)) {
    const SliceId s = marks[out.steps.size()];
    const auto pass = serving_step(trace.name(s));
    passes += pass ? 1 : 0;
    Step& step = out.steps.emplace_back();
    step.slice = s;
    step.name = pass ? serving_words(*pass) : std::string(trace.name(s));
    step.cpu = span;
  }
  if (out.steps.empty() && annotation.empty() && !only_plugin) {
    for (const Iteration& i : iterations(trace)) {
      Step& step = out.steps.emplace_back();
      step.slice = i.end;
      step.name = iteration_name(out.steps.size() - 1);
      step.cpu = i.span;
      out.iterations_of = trace.name(i.end);
    }
  }
  out.annotated = !out.steps.empty();
  if (!out.annotated) {
    const auto span = annotation.empty() ? span_of_operators(trace) : std::nullopt;
    if (!span) return out;
    Step whole;
    whole.name = "all";
    whole.cpu = *span;
    out.steps.push_back(std::move(whole));
  }
  place_on_time(out.steps, GpuWorkOfSteps(trace, out.steps, ops).count());
  if (out.steps.size() > 1) out.dropped = drop_cut_off(out.steps, passes == 0);
  break_down(trace, ops, flags_of_names(trace), out.steps);
  return out;
}

}  // namespace gapscope
