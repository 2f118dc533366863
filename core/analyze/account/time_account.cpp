#include "core/analyze/account/time_account.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "core/analyze/account/host_sums.h"
#include "core/analyze/steps.h"
#include "core/base/parallel.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/trace/crop_mark.h"

namespace gapscope {
namespace {

// Which of the classes are active, from spans that come in order of begin: each moment belongs to the first active class.
class BusySweep {
 public:
  BusySweep(Span window, DeviceAccount& account) : window_(window), account_(account) {
    until_.fill(std::numeric_limits<Ns>::min());
  }

  void add(std::size_t cls, Span span) {
    advance(span.begin);
    until_[cls] = std::max(until_[cls], span.end);
  }
  void finish() { advance(std::numeric_limits<Ns>::max()); }

 private:
  void advance(Ns to) {
    const std::array<SpanSet*, 3> sets = {&account_.compute, &account_.exposed_communication, &account_.exposed_copies};
    for (std::size_t c = 0; c < until_.size() && now_ < to; ++c) {
      const Ns stop = std::min(to, until_[c]);
      if (stop <= now_) continue;
      append(*sets[c], intersect(Span{now_, stop}, window_));
      now_ = stop;
    }
    now_ = std::max(now_, to);
  }

  const Span window_;
  DeviceAccount& account_;
  Ns now_ = std::numeric_limits<Ns>::min();
  std::array<Ns, 3> until_{};  // compute, communication, copies
};

// Of several ranks in one file a GPU's window is what is recorded of its own.
Span window_of_rank(const Trace& trace, std::int32_t device, Span window) {
  std::int32_t rank = -1;
  for (const Process& process : trace.processes)
    if (process.is_gpu && process.device == device) rank = process.rank;
  if (rank < 0) return window;
  std::optional<Span> own;
  for (const Lane& lane : trace.lanes) {
    const bool counts = lane.kind == LaneKind::cpu_thread || lane.kind == LaneKind::gpu_stream;
    if (counts && lane.slice_count > 0 && trace.processes[lane.process.index()].rank == rank)
      own = own ? hull(*own, lane.span) : lane.span;
  }
  if (!own) return window;
  const Span both = intersect(*own, window);
  return both.begin < both.end ? both : window;
}

}  // namespace

Ns AccountTimes::host() const {
  Ns sum = 0;
  for (std::size_t c = 0; c < kIdleCauses; ++c) add_saturating(sum, is_host_part(static_cast<IdleCause>(c)) ? idle[c] : 0);
  return sum;
}

AccountTimes& AccountTimes::operator+=(const AccountTimes& other) {
  add_saturating(window, other.window);  // of many devices it may be longer than an Ns can say
  add_saturating(compute, other.compute);
  add_saturating(exposed_communication, other.exposed_communication);
  add_saturating(exposed_copies, other.exposed_copies);
  for (std::size_t c = 0; c < kIdleCauses; ++c) add_saturating(idle[c], other.idle[c]);
  return *this;
}

std::vector<DeviceAccount::CauseTime> DeviceAccount::causes(std::size_t gap) const {
  std::vector<CauseTime> out;
  each_cause(gap, [&](IdleCause cause, Ns time) { out.push_back({cause, time}); });
  return out;
}

std::pair<std::size_t, std::size_t> DeviceAccount::gaps_in(Span span) const {
  const auto first =
      std::upper_bound(gaps.begin(), gaps.end(), span.begin, [](Ns t, const DeviceGap& g) { return t < g.span.end; });
  const auto last = std::lower_bound(first, gaps.end(), span.end, [](const DeviceGap& g, Ns t) { return g.span.begin < t; });
  return {static_cast<std::size_t>(first - gaps.begin()), static_cast<std::size_t>(last - gaps.begin())};
}

std::vector<std::size_t> DeviceAccount::longest_gaps(std::size_t most) const {
  std::vector<std::size_t> order(gaps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  most = std::min(most, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(), [&](std::size_t a, std::size_t b) {
        return gaps[a].span.length() != gaps[b].span.length() ? gaps[a].span.length() > gaps[b].span.length() : a < b;
      });
  order.resize(most);
  return order;
}

TimeAccount::TimeAccount(const Trace& trace, const LinkIndex&, const std::vector<GpuOp>& ops) : trace_(trace), host_(trace) {
  if (!find_window(ops)) return;
  std::map<std::int32_t, std::pair<bool, std::vector<std::uint32_t>>> of_device;  // any linked; positions in `ops`
  std::pair<bool, std::vector<std::uint32_t>>* work_of = nullptr;                 // of the device of the piece before
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (work_of == nullptr || ops[i].device != ops[i - 1].device) work_of = &of_device[ops[i].device];
    work_of->first |= ops[i].linked();
    work_of->second.push_back(i);
  }
  for (const auto& [device, work] : of_device) {
    if (!work.first) continue;
    DeviceAccount& account = devices_.emplace_back();
    account.device = device;
    account.window = window_of_rank(trace_, device, window_);
    make_device(account, ops, work.second);
  }
  explain_gaps();
}

// The gaps of all devices, one device after the other, are dealt out in stretches that follow each other.
void TimeAccount::explain_gaps() {
  constexpr std::size_t kLeastEach = 4096;
  std::size_t all = 0;
  for (const DeviceAccount& account : devices_) all += account.gaps.size();
  const std::size_t stretches = std::clamp<std::size_t>(all / kLeastEach, 1, static_cast<std::size_t>(hardware_threads()));
  std::vector<std::vector<GapRun>> runs(stretches);
  for (std::size_t i = 0; i < stretches; ++i) {
    std::size_t before = 0;
    for (DeviceAccount& account : devices_) {
      const std::size_t first = std::max(before, all * i / stretches),
                        last = std::min(before + account.gaps.size(), all * (i + 1) / stretches);
      if (first < last) runs[i].push_back({&account, first - before, last - before, {}, {}});
      before += account.gaps.size();
    }
  }
  parallel_for(hardware_threads(), stretches, [&](std::size_t i) {
    HostSums host(host_, window_, trace_.slice_count());
    for (GapRun& run : runs[i]) explain(run, host);
  });
  for (const std::vector<GapRun>& stretch : runs)
    for (const GapRun& run : stretch) {
      const auto before = static_cast<std::uint32_t>(run.account->cause_times_.size());
      for (std::size_t g = run.first; g < run.last; ++g) run.account->gaps[g].first_cause += before;
      for (const Ns time : run.times) run.account->cause_times_.push_back(time);
      for (std::size_t c = 0; c < kIdleCauses; ++c) run.account->times.idle[c] += run.idle[c];
    }
}

void TimeAccount::explain(GapRun& run, HostSums& host) const {
  run.times.reserve(3 * (run.last - run.first));
  for (std::size_t g = run.first; g < run.last; ++g) {
    DeviceGap& gap = run.account->gaps[g];
    gap.first_cause = static_cast<std::uint32_t>(run.times.size());
    CauseTimes causes{};
    const GapParts parts = parts_of(gap);
    if (!parts.host.empty()) host.add_times(parts.thread, parts.host, causes);
    causes[index_of(IdleCause::launching)] += parts.launching.length();
    causes[index_of(IdleCause::starting)] += parts.starting.length();
    causes[index_of(IdleCause::unlinked)] += parts.unlinked.length();
    unsigned with_time = 0;  // without a branch a cause: which have time is different from gap to gap
    for (std::size_t c = 0; c < kIdleCauses; ++c) with_time |= static_cast<unsigned>(causes[c] != 0) << c;
    gap.causes = static_cast<std::uint16_t>(with_time);
    Ns most = 0;
    for (unsigned rest = with_time; rest != 0; rest &= rest - 1) {
      const auto c = static_cast<std::size_t>(std::countr_zero(rest));
      run.idle[c] += causes[c];
      run.times.push_back(causes[c]);
      if (causes[c] > most) most = causes[c], gap.main = static_cast<IdleCause>(c);
    }
  }
}

// Where the next step begins, or where the recording ends that this one is in.
Ns TimeAccount::end_of_step(Ns begin, Ns next) const {
  for (const Span& span : trace_.recordings)
    if (begin < span.end && span.end < next) return span.end;
  return next;
}

// False where it is longer than time can be counted.
bool TimeAccount::find_window(const std::vector<GpuOp>& ops) {
  const std::vector<SliceId> annotations = profiler_steps(trace_);
  window_ = host_.recorded();
  for (const SliceId s : annotations) window_ = s == annotations.front() ? trace_.span_of(s) : hull(window_, trace_.span_of(s));
  for (const GpuOp& op : ops)
    if (op.linked()) window_.end = std::max(window_.end, op.span.end);
  if (const std::optional<CropMark> crop = crop_mark(trace_)) {
    window_ = intersect(window_, crop->window);
    if (window_.begin >= window_.end) return window_ = {}, false;
  }
  Ns length = 0;
  if (__builtin_sub_overflow(window_.end, window_.begin, &length)) return window_ = {}, false;
  for (std::size_t i = 1; i < trace_.recordings.size(); ++i)
    append(between_, intersect(Span{trace_.recordings[i - 1].end, trace_.recordings[i].begin}, window_));
  Ns end_of_last = std::numeric_limits<Ns>::min();
  for (const SliceId s : annotations) {
    if (trace_.begin(s) < end_of_last || trace_.span_of(s).empty()) continue;
    if (!steps_.empty()) steps_.back().span.end = end_of_step(steps_.back().span.begin, trace_.begin(s));
    steps_.push_back({s, {trace_.begin(s), window_.end}});
    end_of_last = trace_.end(s);
  }
  if (!steps_.empty()) steps_.front().span.begin = window_.begin;
  return true;
}

void TimeAccount::make_device(DeviceAccount& account, const std::vector<GpuOp>& ops,
                              const std::vector<std::uint32_t>& of_device) {
  const Span window = account.window;
  BusySweep sweep(window, account);
  account.compute.reserve(of_device.size());  // room that is never written to takes no memory
  account.gaps.reserve(of_device.size() + 1);
  account.cause_times_.reserve(3 * of_device.size());
  const auto add_gap = [&](Span span, const GpuOp* ended_by) {
    for (const Span& hole : between_) {  // only where one file holds several recordings
      if (hole.end <= span.begin || hole.begin >= span.end) continue;
      if (span.begin < hole.begin) account.gaps.emplace_back(DeviceGap{}).span = {span.begin, hole.begin};
      account.times.window -= std::min(span.end, hole.end) - std::max(span.begin, hole.begin);
      span.begin = hole.end;
    }
    if (span.begin >= span.end) return;
    DeviceGap& gap = account.gaps.emplace_back(DeviceGap{});
    gap.span = span;
    if (ended_by != nullptr) gap.ended_by = ended_by->slice, gap.launch = ended_by->launch;
  };
  const auto explains_more = [&](const GpuOp& a, const GpuOp& b) {
    const auto key = [&](const GpuOp& op) {
      return std::tuple(!op.linked(), op.linked() ? op.launch_span.begin : 0, trace_.slices.offset[op.slice.index()]);
    };
    return key(a) < key(b);
  };
  Ns busy_until = window.begin;
  for (std::size_t i = 0; i < of_device.size();) {  // what begins at one moment together
    const Ns begin = ops[of_device[i]].span.begin;
    Ns end = begin;
    const GpuOp* first = &ops[of_device[i]];
    for (; i < of_device.size() && ops[of_device[i]].span.begin == begin; ++i) {
      const GpuOp& op = ops[of_device[i]];
      sweep.add(!op.is_kernel() ? 2 : op.gpu_class == GpuClass::communication ? 1 : 0, op.span);
      end = std::max(end, op.span.end);
      if (&op != first && explains_more(op, *first)) first = &op;
    }
    if (begin >= window.end) break;
    if (end == begin) continue;
    if (busy_until < begin) add_gap({busy_until, begin}, first);
    busy_until = std::max(busy_until, end);
  }
  sweep.finish();
  if (busy_until < window.end) add_gap({busy_until, window.end}, nullptr);
  for (SpanSet* set : {&account.exposed_communication, &account.exposed_copies}) set->shrink_to_fit();
  account.times.window += window.length();
  account.times.compute = length(account.compute);
  account.times.exposed_communication = length(account.exposed_communication);
  account.times.exposed_copies = length(account.exposed_copies);
}

TimeAccount::GapParts TimeAccount::parts_of(const DeviceGap& gap) const {
  const Span all = gap.span;
  if (!gap.ended_by) return {.host = all};
  if (!gap.launch) return {.unlinked = all};
  const Span call = trace_.span_of(gap.launch);
  const Ns begins = std::clamp(call.begin, all.begin, all.end), ends = std::clamp(call.end, all.begin, all.end);
  return {.thread = trace_.lane_id(gap.launch),
          .host = {all.begin, begins},
          .launching = {begins, ends},
          .starting = {ends, all.end}};
}

void TimeAccount::add_pieces(HostReader& reader, const DeviceGap& gap, Span clip, std::vector<HostPiece>& out) const {
  const GapParts parts = parts_of(gap);
  if (const Span host = intersect(parts.host, clip); !host.empty()) reader.read(parts.thread, host, out);
  const auto add = [&](Span span, IdleCause cause) {
    if (const Span part = intersect(span, clip); !part.empty()) out.push_back({part, cause, gap.launch});
  };
  add(parts.launching, IdleCause::launching);
  add(parts.starting, IdleCause::starting);
  add(parts.unlinked, IdleCause::unlinked);
}

std::vector<HostPiece> TimeAccount::pieces(const DeviceGap& gap, Span clip) const {
  HostReader reader(host_);
  std::vector<HostPiece> out;
  add_pieces(reader, gap, clip, out);
  return out;
}

void TimeAccount::each_gap(const DeviceAccount& account, std::size_t first, std::size_t last, const VisitGap& visit) const {
  HostReader reader(host_, true);
  std::vector<HostPiece> found;
  for (std::size_t i = first; i < last; ++i) {
    found.clear();
    add_pieces(reader, account.gaps[i], account.gaps[i].span, found);
    visit(i, found);
  }
}

const DeviceAccount* TimeAccount::device(std::int32_t number) const {
  const auto at =
      std::partition_point(devices_.begin(), devices_.end(), [&](const DeviceAccount& d) { return d.device < number; });
  return at == devices_.end() || at->device != number ? nullptr : &*at;
}

const DeviceAccount* TimeAccount::busiest() const {
  const auto at = std::min_element(devices_.begin(), devices_.end(), [](const DeviceAccount& a, const DeviceAccount& b) {
    return a.times.idle_total() < b.times.idle_total();
  });
  return at == devices_.end() ? nullptr : &*at;
}

AccountTimes TimeAccount::times_in(const DeviceAccount& account, Span range) const {
  range = intersect(range, account.window);
  AccountTimes out;
  out.window = range.length();
  if (range.empty()) return out;
  out.compute = length_within(account.compute, range);
  out.exposed_communication = length_within(account.exposed_communication, range);
  out.exposed_copies = length_within(account.exposed_copies, range);
  const auto [first, last] = account.gaps_in(range);
  for (std::size_t i = first; i < last; ++i) {
    if (range.contains(account.gaps[i].span)) {
      account.each_cause(i, [&](IdleCause cause, Ns time) { out.idle[index_of(cause)] += time; });
    } else {
      for (const HostPiece& piece : pieces(account.gaps[i], range)) out.idle[index_of(piece.cause)] += piece.span.length();
    }
  }
  if (!between_.empty()) out.window = out.compute + out.exposed_communication + out.exposed_copies + out.idle_total();
  return out;
}

}  // namespace gapscope
