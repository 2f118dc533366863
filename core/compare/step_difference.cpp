#include "core/compare/step_difference.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/base/saturating.h"
#include "core/compare/side_reader.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

constexpr Ns kLeastDelta = 1000;
constexpr Ns kLeastShare = 100;  // a hundredth of the longer step

using Of = StepDifference::Of;
struct Sum {
  std::uint64_t count = 0;
  Ns time = 0;
};
// By what and by name; [0] of the median step, [1] of the other.
using Sums = std::map<std::pair<Of, std::string>, std::array<Sum, 2>>;

void add(Sums& sums, Of of, std::string_view name, std::size_t side, Sum more) {
  Sum& sum = sums[{of, std::string(name)}][side];
  sum.count += more.count;
  add_saturating(sum.time, more.time);
}

void add_gpu_work(const SideData& data, const ComparedStep& step, std::size_t side, Sums& sums) {
  for (const std::uint32_t i : step.ops)
    add(sums, Of::gpu_work, data.input->session.trace().name(data.ops()[i].slice), side, {1, data.ops()[i].span.length()});
}

bool is_host_work(Kind kind) { return kind == Kind::op || is_call(kind); }

// What began in the step on the threads of its process.
void add_host_work(const ComparedTrace& input, const ComparedStep& step, std::size_t side, Sums& sums,
                   const std::atomic<bool>* cancel) {
  const Trace& trace = input.session.trace();
  const ProcessId process = trace.lane(step.slice).process;
  std::map<StringId, Sum> by_name;
  for (std::size_t l = 0; l < trace.lanes.size() && !(cancel && *cancel); ++l) {
    const Lane& lane = trace.lanes[l];
    if (lane.process != process || lane.is_async) continue;
    for (std::uint32_t r = lane.first_row; r < lane.first_row + lane.depth_count; ++r) {
      const SliceId first = input.session.lanes().first_begin_at_or_after(RowId(std::size_t{r}), step.cpu.begin);
      if (!first) continue;
      const Row& row = trace.rows[r];
      for (std::uint32_t i = first.value; i < row.first + row.count && trace.slices.begin[i] < step.cpu.end; ++i) {
        const SliceId slice(std::size_t{i});
        if (slice == step.slice || !is_host_work(trace.kind(slice))) continue;
        Sum& sum = by_name[trace.name_id(slice)];
        ++sum.count;
        add_saturating(sum.time, input.session.lanes().self_time(slice));
      }
    }
  }
  for (const auto& [name, sum] : by_name) add(sums, Of::host, trace.strings[name], side, sum);
}

void add_idle(const TimeAccount* account, ProgramKind program, SliceId step, std::size_t side, Sums& sums) {
  const DeviceAccount* const device = account ? account->busiest() : nullptr;
  if (!device) return;
  for (const TimeAccount::StepWindow& window : account->steps()) {
    if (window.step != step) continue;
    const AccountTimes times = account->times_in(*device, window.span);
    for (std::size_t c = 0; c < kIdleCauses; ++c)
      if (times.idle[c] > 0)
        add(sums, Of::idle, idle_cause_title(static_cast<IdleCause>(c), program), side, {0, times.idle[c]});
  }
}

std::vector<StepDifference> largest_first(const Sums& sums, Ns longer) {
  const Ns least = std::max(kLeastDelta, longer / kLeastShare);
  std::vector<StepDifference> rows;
  for (const auto& [key, sum] : sums) {
    StepDifference row{key.first, key.second, sum[0].count, sum[1].count, sum[0].time, sum[1].time};
    if (std::abs(row.delta()) >= least) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StepDifference& a, const StepDifference& b) { return std::abs(a.delta()) > std::abs(b.delta()); });
  return rows;
}

}  // namespace

std::string_view difference_of_name(StepDifference::Of of) {
  switch (of) {
    case Of::idle: return "idle GPU";
    case Of::gpu_work: return "GPU work";
    case Of::host: return "host";
  }
  return "";
}

Result<StepDifferences> step_differences(const ComparedTrace& input, const TimeAccount* account, SliceId step,
                                         const std::string& annotation, const std::atomic<bool>* cancel) {
  CompareOptions options;
  options.annotation = annotation;
  const Result<SideData> read = read_side(input, options);
  if (!read) return read.error();
  const SideData& data = *read;
  const auto at =
      std::find_if(data.steps.begin(), data.steps.end(), [&](const ComparedStep& s) { return s.slice && s.slice == step; });
  if (at == data.steps.end()) return Error{"The selected slice marks no step: choose one of the rows."};
  if (data.side.counted < 2) return Error{"Only one step counts, so there is no median to compare with. Record more steps."};
  const ComparedStep& median = data.steps[data.picked.front()];
  StepDifferences out{at->name, median.name, at->slice, median.slice, at->cpu.length(), median.cpu.length(), {}};
  Sums sums;
  for (const auto& [of, side] : {std::pair(&median, std::size_t{0}), std::pair(&*at, std::size_t{1})}) {
    add_gpu_work(data, *of, side, sums);
    add_host_work(input, *of, side, sums, cancel);
    add_idle(account, program_kind(input.session.trace()), of->slice, side, sums);
  }
  if (cancel && *cancel) return StepDifferences{};
  out.rows = largest_first(sums, std::max(out.step_cpu, out.median_cpu));
  return out;
}

}  // namespace gapscope
