#include "core/view/memory/allocation_stack.h"

#include <algorithm>
#include <numeric>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/trace/crop_mark.h"
#include "core/view/details/details_sections.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

const MemoryDevice* device_of(const TraceSession& facts, const AllocationsQuestion& question) {
  for (const MemoryDevice& device : facts.memory().devices)
    if (device.device_type == question.device_type && device.device == question.device) return &device;
  return nullptr;
}

// What a column represents.
struct ColumnMoment {
  Ns time = 0;
  std::int64_t total = 0;  // bytes that the device states, or that are summed up
};

std::vector<ColumnMoment> moments_of(const MemoryDevice& device, const AllocationsQuestion& question) {
  const MemoryCurve& curve = device.points;
  std::vector<ColumnMoment> moments;
  std::size_t next = curve.at(question.span.begin).value_or(0);
  for (std::uint32_t c = 0; c < question.columns; ++c) {
    const Ns begin = begin_of_column(question.span, question.columns, c),
             end = begin_of_column(question.span, question.columns, c + 1);
    const std::optional<std::size_t> at = curve.at(begin);
    ColumnMoment moment{begin, at ? curve[*at].allocated : 0};
    for (; next < curve.size() && curve.time(next) < end; ++next) {
      const bool last_of_its_time = next + 1 == curve.size() || curve.time(next + 1) != curve.time(next);
      if (curve.time(next) < begin || !last_of_its_time || curve[next].allocated <= moment.total) continue;
      moment = {curve.time(next), curve[next].allocated};
    }
    moments.push_back(moment);
  }
  return moments;
}

// Columns whose moments lie in the time: [first, last).
std::pair<std::uint32_t, std::uint32_t> columns_in(const std::vector<ColumnMoment>& moments, Span alive) {
  const auto place = [&](Ns t) {
    const auto found = std::partition_point(moments.begin(), moments.end(), [&](const ColumnMoment& m) { return m.time < t; });
    return static_cast<std::uint32_t>(found - moments.begin());
  };
  return {place(alive.begin), place(alive.end)};
}

// What is not freed is in use at the very end, too.
Span time_in_use(const Trace& trace, const Allocation& allocation) {
  Span alive = allocation.alive(trace);
  if (allocation.ended == kNoRecord) ++alive.end;
  return alive;
}

// What was there before the first record and in no allocation that is known.
std::int64_t bytes_before(const Trace& trace, const MemoryDevice& device, const std::vector<Allocation>& all) {
  if (!device.states_totals || device.points.empty()) return 0;
  const MemoryPoint first = device.points[0];
  std::int64_t before = first.allocated;
  for (const Allocation& a : all) {
    if (a.born == kNoRecord && trace.memory[a.ended].time > first.time) subtract_saturating(before, a.bytes);
    if (a.born != kNoRecord && trace.memory[a.born].time <= first.time) subtract_saturating(before, a.bytes);
  }
  return std::max<std::int64_t>(before, 0);
}

// Grows the stack column by column, and joins columns of equal height.
class Stacker {
 public:
  explicit Stacker(AllocationStack& out) : out_(out) { out_.tops.assign(out_.columns, 0); }

  void add(StackedRun::Of of, std::uint32_t allocation, std::uint32_t column, std::int64_t bytes) {
    if (bytes <= 0) return;
    const std::int64_t low = out_.tops[column], high = sum_saturating(low, bytes);
    out_.tops[column] = high;
    out_.most = std::max(out_.most, high);
    StackedRun* last = out_.runs.empty() ? nullptr : &out_.runs.back();
    if (last && last->of == of && last->allocation == allocation && last->last == column && last->low == low &&
        last->high == high) {
      ++last->last;
      return;
    }
    out_.runs.push_back({of, allocation, column, column + 1, low, high});
  }

 private:
  AllocationStack& out_;
};

}  // namespace

std::shared_ptr<const AllocationStack> answer(const Document& document, const AllocationsQuestion& question,
                                              const std::atomic<bool>* cancel) {
  const Trace& trace = document.trace;
  auto stack = std::make_shared<AllocationStack>();
  stack->span = question.span;
  stack->columns = question.columns;
  const MemoryDevice* device = document.analysis() ? device_of(*document.analysis(), question) : nullptr;
  if (!device) return stack;
  std::vector<Allocation> all = allocations(trace, cancel);
  std::erase_if(all, [&](const Allocation& a) {
    const MemoryRow& row = trace.memory[a.record()];
    return row.device_type != question.device_type || row.device != question.device ||
           (a.born == kNoRecord && !device->states_totals);
  });
  stack->states_addresses = !all.empty() && trace.memory[all.front().record()].address != 0;
  if (!stack->states_addresses) return stack;
  const std::vector<ColumnMoment> moments = moments_of(*device, question);
  const std::int64_t before = bytes_before(trace, *device, all);
  std::erase_if(all, [&](const Allocation& a) {
    const auto [first, last] = columns_in(moments, time_in_use(trace, a));
    return first >= last;
  });
  const auto is_larger = [](const Allocation& a, const Allocation& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.record() < b.record();
  };
  const std::size_t bands = std::min(all.size(), kMostBands);
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(bands), all.end(), is_larger);
  stack->others = static_cast<std::uint32_t>(all.size() - bands);
  all.resize(bands);
  stack->bands = std::move(all);

  Stacker stacker(*stack);
  for (std::uint32_t c = 0; c < question.columns; ++c) stacker.add(StackedRun::Of::before, 0, c, before);
  for (std::uint32_t i = 0; i < stack->bands.size(); ++i) {
    const auto [first, last] = columns_in(moments, time_in_use(trace, stack->bands[i]));
    for (std::uint32_t c = first; c < last; ++c) stacker.add(StackedRun::Of::allocation, i, c, stack->bands[i].bytes);
  }
  for (std::uint32_t c = 0; c < question.columns; ++c)
    stacker.add(StackedRun::Of::rest, 0, c, difference_saturating(moments[c].total, stack->tops[c]));
  return cancel && *cancel ? nullptr : stack;
}

Ns begin_of_column(Span span, std::uint32_t columns, std::uint32_t column) {
  const __int128 length = span.end - span.begin;
  return span.begin + static_cast<Ns>(length * column / columns);
}

SliceId asked_by(const Document& document, const Allocation& allocation) {
  if (allocation.born == kNoRecord) return {};
  const MemoryRow& row = document.trace.memory[allocation.born];
  if (!row.lane) return {};
  const SliceId op = document.lanes.innermost_op_at(row.lane, row.time);
  return op ? op : document.lanes.innermost_at(row.lane, row.time);
}

std::string frame_of(const Document& document, const Allocation& allocation) {
  if (allocation.born == kNoRecord) return {};
  const MemoryRow& row = document.trace.memory[allocation.born];
  return row.lane ? source_frame(document, document.lanes.innermost_at(row.lane, row.time)) : std::string();
}

std::string recorded_part(const Trace& trace) { return crop_mark(trace) ? "this part" : "the recording"; }

std::string allocation_words(const Document& document, const Allocation& allocation) {
  const std::string bytes = format_bytes(static_cast<std::uint64_t>(allocation.bytes));
  if (allocation.born == kNoRecord) return bytes + " from before " + recorded_part(document.trace);
  const SliceId by = asked_by(document, allocation);
  return bytes + (by ? " by " + printable(shown_name(document.trace, by)) : " outside every operator");
}

std::string allocation_time_words(const Document& document, const Allocation& allocation) {
  const Trace& trace = document.trace;
  const Span alive = allocation.alive(trace);
  const std::string begin = format_duration(alive.begin - trace.span.begin),
                    end = format_duration(alive.end - trace.span.begin);
  if (allocation.born == kNoRecord) return "in use until " + end;
  return allocation.ended == kNoRecord ? "in use from " + begin + ", not freed in this recording"
                                       : "in use " + begin + " to " + end;
}

}  // namespace gapscope
