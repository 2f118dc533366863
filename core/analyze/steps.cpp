#include "core/analyze/steps.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace gapscope {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
// The plugin's: a last step with less GPU work than this share of the one before was cut off by the end of the recording.
constexpr std::uint64_t kKeptPercent = 80;

struct RoleWords {
  std::string_view name, key;
};
constexpr std::array<RoleWords, kStepRoles> kRoleWords = {{{"Kernel", "kernel_ns"},
                                                            {"Memcpy", "memcpy_ns"},
                                                            {"Memset", "memset_ns"},
                                                            {"Communication", "communication_ns"},
                                                            {"Runtime", "runtime_ns"},
                                                            {"DataLoader", "data_loader_ns"},
                                                            {"CPU Exec", "cpu_exec_ns"},
                                                            {"Other", "other_ns"}}};

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
    flags[i] = static_cast<std::uint8_t>((name.starts_with(kStepPrefix) ? kStepName : 0) | (is_data_loader_name(name) ? kLoaderName : 0) |
                                         (is_communication_op(name) ? kCommunicationName : 0));
  }
  return flags;
}

// One scan over the CPU side: spans of each role, the ends of CPU work, the ids of collectives.
struct CpuSide {
  SpanSet communication, runtime, data_loader, cpu_exec;
  Span span{0, 0};  // all operators
  bool any = false;
  std::unordered_set<std::uint64_t> communication_ids;
};

// A union that grows row by row, outer depths first: most of what lies deeper is in it already and takes no room.
class GrowingUnion {
 public:
  void begin_row() { at_ = 0; }
  // In order of begin within a row.
  void add(Span span) {
    while (at_ < all_.size() && all_[at_].end < span.end) ++at_;
    if (at_ == all_.size() || all_[at_].begin > span.begin) append(row_, span);
  }
  void end_row() {
    if (row_.empty()) return;
    all_ = all_.empty() ? std::move(row_) : unite(all_, row_);
    row_ = {};
  }
  SpanSet take() { return std::move(all_); }

 private:
  SpanSet all_, row_;
  std::size_t at_ = 0;  // the first that does not end before the last span did
};

CpuSide scan_cpu(const Trace& trace) {
  const std::vector<std::uint8_t> flags = flags_of_names(trace);
  CpuSide cpu;
  GrowingUnion communication, runtime, data_loader, cpu_exec;
  const std::array<GrowingUnion*, 4> all = {&communication, &runtime, &data_loader, &cpu_exec};
  for (const Row& row : trace.rows) {
    for (GrowingUnion* u : all) u->begin_row();
    for (std::uint32_t s = row.first; s < row.first + row.count; ++s) {
      const Kind kind = trace.categories[trace.slices.category[s]].kind;
      const Span span{trace.slices.begin[s], trace.slices.end[s]};
      if (kind == Kind::runtime) runtime.add(span);
      if (!is_op_or_annotation(kind)) continue;
      const std::uint8_t flag = flags[trace.slices.name[s].index()];
      if (kind == Kind::op) {
        cpu.span = cpu.any ? hull(cpu.span, span) : span;
        cpu.any = true;
      }
      if (flag & kCommunicationName) {
        if (trace.slices.external_id[s] != 0) cpu.communication_ids.insert(trace.slices.external_id[s]);
        communication.add(span);
      } else if (!(flag & kStepName)) {
        ((flag & kLoaderName) ? data_loader : cpu_exec).add(span);
      }
    }
    for (GrowingUnion* u : all) u->end_row();
  }
  cpu.communication = communication.take();
  cpu.runtime = runtime.take();
  cpu.data_loader = data_loader.take();
  cpu.cpu_exec = cpu_exec.take();
  return cpu;
}

// Annotations that are steps, in time order. `nested` counts those left out.
std::vector<SliceId> step_slices(const Trace& trace, std::string_view annotation, std::uint32_t& nested) {
  std::vector<SliceId> found;
  if (annotation.empty()) {
    found = profiler_steps(trace);
  } else {
    const StringId name = trace.strings.find(annotation);
    for (std::size_t s = 0; name && s < trace.slice_count(); ++s)
      if (trace.slices.name[s] == name && is_op_or_annotation(trace.kind(SliceId(s)))) found.push_back(SliceId(s));
    std::sort(found.begin(), found.end(), [&](SliceId a, SliceId b) { return std::tuple(trace.begin(a), -trace.end(a), a) < std::tuple(trace.begin(b), -trace.end(b), b); });
  }
  std::vector<SliceId> kept;
  for (const SliceId s : found) {
    if (kept.empty() || trace.begin(s) >= trace.end(kept.back())) {
      kept.push_back(s);
    } else {
      ++nested;
    }
  }
  return kept;
}

// Which step's CPU span a time lies in.
std::optional<std::size_t> step_holding(const std::vector<Step>& steps, Ns t) {
  auto at = std::upper_bound(steps.begin(), steps.end(), t, [](Ns time, const Step& s) { return time < s.cpu.begin; });
  if (at == steps.begin()) return std::nullopt;
  --at;
  return at->cpu.contains(t) ? std::optional(static_cast<std::size_t>(at - steps.begin())) : std::nullopt;
}

// Counts GPU work into the steps; the operations that a call inside no step launched, or no call, give the latest end
// before the first step's own GPU work.
Ns count_gpu_work(std::vector<Step>& steps, const std::vector<GpuOp>& ops) {
  std::vector<const GpuOp*> outside;
  std::vector<std::pair<std::size_t, SliceId>> launches;
  for (const GpuOp& op : ops) {
    const auto at = op.linked() ? step_holding(steps, op.launch_span.begin) : std::nullopt;
    if (!at) {
      outside.push_back(&op);
      continue;
    }
    Step& step = steps[*at];
    step.kernels += op.is_kernel() ? 1 : 0;
    launches.emplace_back(*at, op.launch);
    if (op.launch_span.end > step.cpu.end) {
      outside.push_back(&op);
      continue;
    }
    step.gpu = step.gpu_ops++ == 0 ? op.span : hull(step.gpu, op.span);
  }
  std::sort(launches.begin(), launches.end());
  launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
  for (const auto& [step, call] : launches) ++steps[step].launches;

  Ns before = steps.front().cpu.begin;
  if (steps.front().gpu_ops == 0) return before;
  for (const GpuOp* op : outside)
    if (op->span.end < steps.front().gpu.begin) before = std::max(before, op->span.end);
  return before;
}

void place_on_time(std::vector<Step>& steps, Ns previous_end) {
  for (Step& step : steps) {
    step.span = {std::max(previous_end, step.cpu.begin), step.cpu.end};
    if (step.gpu_ops > 0) step.span.end = std::max(step.span.end, step.gpu.end);
    step.span.end = std::max(step.span.begin, step.span.end);
    previous_end = step.span.end;
  }
}

std::uint32_t drop_cut_off(std::vector<Step>& steps) {
  std::size_t keep = steps.size();
  while (keep > 0 && steps[keep - 1].gpu_ops == 0) --keep;
  if (keep == 0) return 0;  // no GPU work at all: every step stays
  if (keep > 1 && std::uint64_t{steps[keep - 2].gpu_ops} * kKeptPercent > std::uint64_t{steps[keep - 1].gpu_ops} * 100) --keep;
  const std::size_t dropped = steps.size() - keep;
  steps.resize(keep);
  return static_cast<std::uint32_t>(dropped);
}

using RoleSets = std::array<SpanSet, kStepRoles - 1>;

RoleSets role_sets(const Trace& trace, const std::vector<GpuOp>& ops, CpuSide& cpu) {
  RoleSets sets;
  const auto of = [&](StepRole role) -> SpanSet& { return sets[static_cast<std::size_t>(role)]; };
  for (const GpuOp& op : ops) {
    if (op.gpu_class == GpuClass::copy) {
      append(of(StepRole::memcpy), op.span);
    } else if (op.gpu_class == GpuClass::memset) {
      append(of(StepRole::memset), op.span);
    } else {
      const bool communication = cpu.communication_ids.contains(trace.slices.external_id[op.slice.index()]);
      append(of(communication ? StepRole::communication : StepRole::kernel), op.span);
    }
  }
  of(StepRole::communication) = unite(of(StepRole::communication), cpu.communication);
  of(StepRole::runtime) = std::move(cpu.runtime);
  of(StepRole::data_loader) = std::move(cpu.data_loader);
  of(StepRole::cpu_exec) = std::move(cpu.cpu_exec);
  return sets;
}

void break_down(Step& step, const RoleSets& sets) {
  SpanSet left;
  append(left, step.span);
  for (std::size_t role = 0; role < sets.size(); ++role) {
    const Ns before = length(left);
    left = subtract(left, clip(sets[role], step.span));
    step.time[role] = before - length(left);
  }
  step.time[kStepRoles - 1] = length(left);
}

}  // namespace

std::string_view step_role_name(StepRole role) { return kRoleWords[static_cast<std::size_t>(role)].name; }
std::string_view step_role_key(StepRole role) { return kRoleWords[static_cast<std::size_t>(role)].key; }

bool is_data_loader_name(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) || name.starts_with("enumerate(DataPipe)#");
}

std::optional<std::size_t> Steps::at(Ns t) const { return step_holding(steps, t); }

std::vector<SliceId> profiler_steps(const Trace& trace) {
  std::vector<bool> is_step(trace.strings.size());
  bool any = false;
  for (std::size_t i = 0; i < is_step.size(); ++i) any |= is_step[i] = trace.strings[StringId(i)].starts_with(kStepPrefix);
  std::vector<SliceId> found;
  for (std::size_t s = 0; any && s < trace.slice_count(); ++s)
    if (is_step[trace.slices.name[s].index()] && is_op_or_annotation(trace.kind(SliceId(s)))) found.push_back(SliceId(s));
  std::sort(found.begin(), found.end(), [&](SliceId a, SliceId b) { return std::pair(trace.begin(a), a) < std::pair(trace.begin(b), b); });
  return found;
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

Steps make_steps(const Trace& trace, const std::vector<GpuOp>& ops, std::string_view annotation) {
  Steps out;
  CpuSide cpu = scan_cpu(trace);
  for (const SliceId s : step_slices(trace, annotation, out.nested)) {
    Step step;
    step.slice = s;
    step.name = std::string(trace.name(s));
    step.cpu = trace.span_of(s);
    out.steps.push_back(std::move(step));
  }
  out.annotated = !out.steps.empty();
  if (!out.annotated) {
    if (!annotation.empty() || !cpu.any) return out;
    Step whole;
    whole.name = "all";
    whole.cpu = cpu.span;
    out.steps.push_back(std::move(whole));
  }
  const Ns previous_end = count_gpu_work(out.steps, ops);
  place_on_time(out.steps, previous_end);
  if (out.steps.size() > 1) out.dropped = drop_cut_off(out.steps);
  const RoleSets sets = role_sets(trace, ops, cpu);
  for (Step& step : out.steps) break_down(step, sets);
  return out;
}

}  // namespace gapscope
