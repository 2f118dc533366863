#include "core/replay/event_waits.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>

namespace gapscope {
namespace {

constexpr std::string_view kStreamWaits = "Stream Wait Event";
constexpr std::size_t kMostQueuesTried = 64;  // for one wait

// A queue waits: what is launched there after `waits` waits for what was launched elsewhere before `recorded`.
struct QueueWait {
  std::int32_t device = 0, stream = -1;
  Ns waits = 0, recorded = 0;
};

class EventWaits {
 public:
  EventWaits(const Trace& trace, const NameIndex& names, const ReplayModel& model, const std::vector<StreamOps>& queues)
      : trace_(trace), names_(names), model_(model), queues_(queues), place_(model.ops().size()) {
    for (std::uint32_t i = 0; i < model.order().size(); ++i) place_[model.order()[i]] = i;
    for (const StreamOps& queue : queues) {
      std::vector<Ns>& launched = launched_.emplace_back();
      for (const std::uint32_t o : queue.ops) {
        const std::uint32_t call = model.ops()[o].call;
        const Ns before = launched.empty() ? std::numeric_limits<Ns>::min() : launched.back();
        launched.push_back(call == ReplayModel::kNone ? before : std::max(before, model.calls()[call].span.begin));
      }
    }
  }

  std::vector<ReplayModel::EventWait> find(std::span<const SliceId> slices) {
    std::vector<ReplayModel::EventWait> out;
    for (const QueueWait& wait : queue_waits(slices)) {
      const std::uint32_t o = first_after(wait);
      const std::uint32_t after = o == ReplayModel::kNone ? o : last_before(wait, o);
      if (after != ReplayModel::kNone) out.push_back({o, after});
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  std::vector<QueueWait> queue_waits(std::span<const SliceId> slices) const {
    std::unordered_map<std::uint64_t, SliceId> call_of;  // by correlation
    for (const SliceId s : slices)
      if (const GpuRow* row = trace_.gpu_row(s); row != nullptr && row->correlation != 0) call_of.try_emplace(row->correlation);
    for (const Call& call : trace_.calls)
      if (const auto at = call_of.find(call.correlation); at != call_of.end() && !at->second) at->second = call.slice;
    const std::unordered_map<std::uint32_t, std::vector<Ns>> recorded = event_records();
    std::vector<QueueWait> out;
    for (const SliceId s : slices) {
      const GpuRow* row = trace_.gpu_row(s);
      const auto at = row == nullptr || row->stream < 0 ? call_of.end() : call_of.find(row->correlation);
      if (at == call_of.end() || !at->second) continue;
      const Ns waits = trace_.begin(at->second);
      const auto of_thread = recorded.find(trace_.lane_id(at->second).value);
      Ns before = waits;
      if (of_thread != recorded.end())
        if (const auto next = std::lower_bound(of_thread->second.begin(), of_thread->second.end(), waits);
            next != of_thread->second.begin())
          before = *std::prev(next);
      out.push_back({row->device, row->stream, waits, before});
    }
    return out;
  }

  // When events were recorded, by thread.
  std::unordered_map<std::uint32_t, std::vector<Ns>> event_records() const {
    std::unordered_map<std::uint32_t, std::vector<Ns>> out;
    for (const StringId name : names_.used_names()) {
      if (trace_.strings[name].find("EventRecord") == std::string_view::npos) continue;
      for (const SliceId s : names_.slices_named(name))
        if (is_call(trace_.kind(s))) out[trace_.lane_id(s).value].push_back(trace_.begin(s));
    }
    for (auto& [lane, times] : out) std::sort(times.begin(), times.end());
    return out;
  }

  // The first operation of the queue that waits for the event.
  std::uint32_t first_after(const QueueWait& wait) const {
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      if (queues_[q].device != wait.device || queues_[q].stream != wait.stream) continue;
      const auto at = std::upper_bound(launched_[q].begin(), launched_[q].end(), wait.waits);
      if (at != launched_[q].end()) return queues_[q].ops[static_cast<std::size_t>(at - launched_[q].begin())];
    }
    return ReplayModel::kNone;
  }

  // What it waited for: of the last operations of other queues before the event was recorded the one that ended last before it
  // began. Files of most versions of PyTorch do not name the event's queue.
  std::uint32_t last_before(const QueueWait& wait, std::uint32_t o) const {
    const auto& ops = model_.ops();
    std::uint32_t out = ReplayModel::kNone;
    for (std::size_t q = 0, tried = 0; q < queues_.size() && tried < kMostQueuesTried; ++q) {
      if (queues_[q].device != wait.device || q == ops[o].queue) continue;
      ++tried;
      const auto at = std::lower_bound(launched_[q].begin(), launched_[q].end(), wait.recorded);
      if (at == launched_[q].begin()) continue;
      const std::uint32_t p = queues_[q].ops[static_cast<std::size_t>(at - launched_[q].begin()) - 1];
      if (ops[p].span.end > ops[o].span.begin || place_[p] >= place_[o]) continue;
      if (out == ReplayModel::kNone || ops[p].span.end > ops[out].span.end) out = p;
    }
    return out;
  }

  const Trace& trace_;
  const NameIndex& names_;
  const ReplayModel& model_;
  const std::vector<StreamOps>& queues_;
  std::vector<std::uint32_t> place_;       // in the order of replaying
  std::vector<std::vector<Ns>> launched_;  // by queue and place in it: the latest launch so far
};

}  // namespace

std::vector<ReplayModel::EventWait> event_waits(const Trace& trace, const NameIndex& names, const ReplayModel& model,
                                                const std::vector<StreamOps>& queues) {
  const StringId name = trace.strings.find(kStreamWaits);
  const std::span<const SliceId> slices = name ? names.slices_named(name) : std::span<const SliceId>{};
  if (slices.empty() || queues.size() < 2) return {};
  return EventWaits(trace, names, model, queues).find(slices);
}

}  // namespace gapscope
