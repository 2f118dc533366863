#include "core/replay/plain_program.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "core/base/span_set.h"
#include "core/base/text.h"
#include "core/replay/host_clock.h"

namespace gapscope {
namespace {

// Shares of the host's estimated time between which nine of ten plain steps lie, and how much timings of the GPU differ
// (tests/gpu/PLAIN.md).
constexpr double kLeastShare = 0.66, kLeastShareFull = 0.60, kMostShare = 1.45;
constexpr double kLeastShareOfOne = 0.60, kMostShareOfOne = 1.50;  // of a single step, or of a run without steps
constexpr double kGpuLess = 0.92, kGpuMore = 1.06;
// A host that is not slowed down copies pageable memory in no less than this part of the recorded time (offload_pageable), and
// what is short varies more (two_streams).
constexpr double kLeastOfPageable = 0.4, kLeastShareOfShort = 0.5;
constexpr Ns kShortStep = kNsPerMs;
// A stated step is looked for between these.
constexpr double kNoShare = 0.1, kAllShare = 4;
// The first step takes the profiler's start: left out where it is so much longer than the longest other one.
constexpr double kFirstIsLonger = 1.4;
constexpr int kHalvings = 20;
constexpr std::string_view kMeasuredKey = "gapscope_plain_step_ns";

// The steps of a recording played again and again, until each round takes as long as the one before: a loop that never waits
// for the GPU is recorded with its host ahead.
class StepLoop {
 public:
  StepLoop(const Trace& trace, const ReplayModel& model) : model_(model) {
    const auto& steps = model.steps();
    steps_ = steps.size();
    window_ = model.run();
    if (!steps.empty()) {
      std::size_t first = 0;
      if (steps.size() >= 3 && model.has_whole_steps()) {
        Ns longest = 0;
        for (std::size_t i = 1; i < steps.size(); ++i) longest = std::max(longest, steps[i].span.length());
        if (static_cast<double>(steps[0].span.length()) > kFirstIsLonger * static_cast<double>(longest)) first = 1;
      }
      window_ = steps[first].span;
      for (std::size_t i = first; i < steps.size(); ++i) window_ = hull(window_, steps[i].span);
      steps_ -= first;
    }
    std::vector<std::vector<std::uint32_t>> of_call(model.calls().size());
    std::map<std::int32_t, std::vector<Span>> work;
    for (const std::uint32_t o : model.order()) {
      const ReplayModel::Operation& op = model.ops()[o];
      if (op.call == ReplayModel::kNone || !takes(op.call)) continue;
      of_call[op.call].push_back(o);
      if (op.gpu_class == GpuClass::copy && trace.name(op.slice).find("Pageable") != std::string_view::npos)
        pageable_.insert(o);
      work[op.device].push_back(op.span);
    }
    for (std::uint32_t c = 0; c < of_call.size(); ++c) {
      if (!takes(c)) continue;
      calls_.push_back({c, static_cast<std::uint32_t>(ops_.size()), 0});
      ops_.insert(ops_.end(), of_call[c].begin(), of_call[c].end());
      calls_.back().end = static_cast<std::uint32_t>(ops_.size());
    }
    for (const ReplayModel::Free& free : model.frees())
      if (window_.contains(free.span.begin)) frees_.push_back(&free);
    for (auto& [device, spans] : work) busy_ = std::max(busy_, gapscope::length(span_set(std::move(spans))));
  }

  std::size_t steps() const { return steps_; }
  bool empty() const { return ops_.empty(); }
  Ns busy() const { return busy_ / each(); }  // of a step, the busiest device

  // `least`: also of what the GPU may do faster without the profiler: pageable copies, and kernels of a graph in a row.
  Ns step(const PlainPace& pace, bool least = false) const {
    std::vector<Ns> free(model_.queues(), 0), ends(model_.ops().size(), 0), offset(std::max(model_.clocks(), 1u), 0);
    std::vector<Ns> begins, returns, freed;
    std::size_t hint = 0;
    const Ns from = pace.at(window_.begin, hint), round = pace.at(window_.end, hint) - from;
    hint = 0;
    for (const ReplayModel::Free* call : frees_) freed.push_back(pace.at(call->span.begin, hint) - from);
    hint = 0;
    for (const Call& call : calls_) {
      const Span& span = model_.calls()[call.call].span;
      begins.push_back(pace.at(span.begin, hint) - from);
      std::size_t end_hint = hint;
      returns.push_back(pace.at(std::min(span.end, window_.end), end_hint) - from);
    }
    std::array<Ns, kRounds> done{};
    Ns base = 0;
    for (Ns& end : done) {
      std::fill(ends.begin(), ends.end(), kNotYet);
      std::size_t f = 0;
      const auto free_before = [&](std::uint32_t next) {
        for (; f < frees_.size() && frees_[f]->call <= next; ++f) {
          Ns& off = offset[frees_[f]->clock];
          for (const Ns t : free) off = std::max(off, t - base - freed[f]);
        }
      };
      for (std::size_t i = 0; i < calls_.size(); ++i) {
        free_before(calls_[i].call);
        const ReplayModel::HostCall& call = model_.calls()[calls_[i].call];
        Ns& off = offset[call.clock];
        const Ns begin = base + begins[i] + off;
        for (std::uint32_t p = calls_[i].first; p < calls_[i].end; ++p) {
          const std::uint32_t o = ops_[p];
          const ReplayModel::Operation& op = model_.ops()[o];
          const Ns ready = std::max(begin + op.latency, free[op.queue] - op.overlap);
          const bool in_row = op.first || (least && p > calls_[i].first);
          const bool is_faster = least && pageable_.count(o) > 0;
          ends[o] = ready + (in_row ? 0 : pace.gap(o, op.gap)) + scaled(op.span.length(), is_faster ? kLeastOfPageable : 1);
          free[op.queue] = std::max(free[op.queue], ends[o]);
        }
        if (call.waits_for == ReplayModel::kNone || ends[call.waits_for] == kNotYet) continue;
        const Ns returned = pace.returned(call.span.end - model_.ops()[call.waits_for].span.end);
        const Ns goes_on = std::max(begin + std::min(call.span.length(), kShortestWait), ends[call.waits_for] + returned);
        off = goes_on - base - returns[i];
      }
      free_before(ReplayModel::kNone);
      base += round + *std::max_element(offset.begin(), offset.end());
      std::fill(offset.begin(), offset.end(), 0);
      end = base;
      for (const Ns t : free) end = std::max(end, t);
    }
    return (done[kRounds - 1] - done[kRounds - 2]) / each();
  }

 private:
  struct Call {
    std::uint32_t call, first, end;  // of ops_
  };
  static constexpr std::size_t kRounds = 3;
  static constexpr Ns kNotYet = std::numeric_limits<Ns>::min();

  Ns each() const { return static_cast<Ns>(std::max<std::size_t>(steps_, 1)); }
  bool takes(std::uint32_t call) const {
    const Ns t = model_.calls()[call].span.begin;
    return window_.begin <= t && t <= window_.end;
  }

  const ReplayModel& model_;
  Span window_;
  std::size_t steps_ = 0;
  std::vector<Call> calls_;
  std::vector<std::uint32_t> ops_;    // positions in ReplayModel::ops(), call by call
  std::set<std::uint32_t> pageable_;  // of these, copies of pageable memory
  std::vector<const ReplayModel::Free*> frees_;
  Ns busy_ = 0;
};

// The mean of the numbers of a JSON list, or the number; none where there is none.
std::optional<Ns> measured_step(const Trace& trace) {
  const std::string_view text = trace.header.find(kMeasuredKey);
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < text.size();) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (error == std::errc() && value > 0 && value < 1e15) sum += value, ++count;
    i = std::max(i + 1, static_cast<std::size_t>(end - text.data()));
  }
  if (count == 0) return std::nullopt;
  return static_cast<Ns>(sum / count);
}

double share_of(Ns busy, Ns step) {
  return step > 0 ? std::min(1.0, static_cast<double>(busy) / static_cast<double>(step)) : 0;
}

// "33.1 to 37.2 ms"; each with its unit where they differ.
std::string range_words(Ns low, Ns high) {
  std::string from = format_duration(low);
  const std::string to = format_duration(high);
  const std::size_t unit = to.find(' ');
  if (unit != to.npos && from.ends_with(to.substr(unit))) from.resize(from.size() - (to.size() - unit));
  return fmt::format("{} to {}", from, to);
}

}  // namespace

std::string_view plain_source_name(PlainSource source) {
  constexpr std::array<std::string_view, 4> kNames = {"stated", "measured", "other_recording", "estimated"};
  return kNames[static_cast<std::size_t>(source)];
}

std::shared_ptr<const PlainProgram> plain_program(const Trace& trace, const ReplayModel& model,
                                                  std::optional<StepTime> stated) {
  if (model.empty()) return nullptr;
  const auto time = std::make_shared<const PlainTime>(trace, model);
  const StepLoop loop(trace, model);
  if (!time->has_operators() || loop.empty()) return nullptr;
  const auto paced = [&](double share) { return std::make_shared<const PlainPace>(time, share); };
  const auto step_at = [&](double share) { return loop.step(*paced(share)); };
  auto out = std::make_shared<PlainProgram>();
  out->steps = loop.steps();
  if (out->steps == 0) stated.reset();
  if (!stated && out->steps > 0) {
    if (stated = measured_step(trace); stated) stated->source = PlainSource::measured;
  }
  if (!stated && !trace.producer->is_pytorch) return nullptr;
  if (!stated) {
    out->source = PlainSource::estimated;
    const bool full = time->has_stacks() || time->has_shapes(), one = out->steps < 2;
    out->pace = paced(1);
    out->step = loop.step(*out->pace);
    const bool is_short = full && !one && out->steps > 0 && out->step < kShortStep;
    const double least = is_short ? kLeastShareOfShort : one ? kLeastShareOfOne : full ? kLeastShareFull : kLeastShare;
    const double most = one ? kMostShareOfOne : kMostShare;
    out->at_ends = {paced(least), paced(most)};
    out->low = static_cast<Ns>(kGpuLess * static_cast<double>(loop.step(*paced(least), true)));
    out->high = static_cast<Ns>(kGpuMore * static_cast<double>(step_at(most)));
    out->low = std::min(out->low, out->step), out->high = std::max(out->high, out->step);
  } else {
    const Ns least = step_at(kNoShare), most = step_at(kAllShare), step = stated->step;
    if (step < least && static_cast<double>(step) < kGpuLess * static_cast<double>(least)) {
      const bool gpu = step < loop.busy();
      out->trouble = fmt::format("{} is less than {}, {}.", format_duration(step),
                                 gpu ? "the GPU's own work of a step" : "what a step of this recording can take",
                                 format_duration(gpu ? loop.busy() : least));
    } else if (step > most) {
      out->trouble = fmt::format("{} is more than what a step of this recording can take, {}.", format_duration(step),
                                 format_duration(most));
    }
    const auto share_for = [&](Ns wanted) {
      double shorter = kNoShare, longer = kAllShare;
      for (int i = 0; i < kHalvings; ++i) {
        const double middle = (shorter + longer) / 2;
        (step_at(middle) < wanted ? shorter : longer) = middle;
      }
      return longer;
    };
    out->pace = paced(share_for(step));
    if (stated->low < stated->high) out->at_ends = {paced(share_for(stated->low)), paced(share_for(stated->high))};
    out->step = step, out->low = stated->low, out->high = stated->high;
    out->source = stated->source;
  }
  out->gpu_share = share_of(loop.busy(), out->step);
  out->gpu_share_low = share_of(loop.busy(), out->low);
  out->gpu_share_high = share_of(loop.busy(), out->high);
  return out;
}

Change plain_change(const PlainProgram* plain) {
  Change out;
  out.full_queues = true;
  if (plain != nullptr) out.pace = plain->pace;
  return out;
}

std::string plain_sentence(const PlainProgram& p) {
  const std::string gpu = fmt::format("the GPU is busy {:.0f} % of it", 100 * p.gpu_share);
  const std::string what = p.steps > 0 ? "a step" : "this run";
  const bool other = p.source == PlainSource::other_recording;
  if (other || p.source == PlainSource::estimated)
    return fmt::format("Without the profiler {} takes about {} ({}{}); {}.{}", what, format_duration(p.step),
                       range_words(p.low, p.high), other ? ", by the other recording" : "", gpu,
                       p.trouble.empty() ? "" : " But " + p.trouble);
  return fmt::format("Without the profiler {} takes {} ({}); {}.{}", what, format_duration(p.step), plain_source_name(p.source),
                     gpu, p.trouble.empty() ? "" : " But " + p.trouble);
}

}  // namespace gapscope
