#include "core/snapshot/out_of_memory.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// PyTorch's caching allocator (CUDACachingAllocator).
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kMostSmall = kMiB;         // of a request that the small pool serves
constexpr std::int64_t kSmallSegment = 2 * kMiB;  // what it then asks the device for
constexpr std::int64_t kMiddle = 10 * kMiB;       // larger requests have a segment of their size
constexpr std::int64_t kMiddleSegment = 20 * kMiB;

std::int64_t segment_for(std::int64_t asked) {
  if (asked <= kMostSmall) return kSmallSegment;
  if (asked < kMiddle) return kMiddleSegment;
  return sum_saturating(asked, 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
}

std::string bytes(std::int64_t n) { return format_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0))); }

OutOfMemory::Why why(const OutOfMemory& oom) {
  using Why = OutOfMemory::Why;
  if (oom.device_free >= oom.segment) return Why::limited;
  if (oom.largest_elsewhere >= oom.asked) return Why::elsewhere;
  return sum_saturating(oom.free, oom.device_free) >= oom.asked ? Why::fragmented : Why::full;
}

}  // namespace

std::string_view name_of(OutOfMemory::Why why) {
  constexpr std::array<std::string_view, 4> kNames = {"full", "fragmented", "elsewhere", "limited"};
  return kNames[static_cast<std::size_t>(why)];
}

OutOfMemory explain_oom(const Snapshot& snapshot, const SnapshotDevice& device, std::uint32_t event) {
  const SnapshotEvent& e = device.events[event];
  const SnapshotState state = state_at(snapshot, device, event);
  OutOfMemory oom;
  oom.event = event;
  oom.time_us = e.time_us;
  oom.asked = e.size;
  oom.device_free = static_cast<std::int64_t>(std::min<std::uint64_t>(e.address, std::uint64_t{1} << 56));
  oom.is_large = e.size > kMostSmall;
  oom.stream = snapshot.streams[e.stream];
  oom.segment = segment_for(e.size);
  oom.reserved = state.totals.reserved;
  oom.held = state.totals.active;
  oom.is_expandable = snapshot.setting("expandable_segments") == "True";
  oom.stack = e.stack;
  for (const SnapshotPool& pool : state.pools) {
    add_saturating(oom.free, std::max<std::int64_t>(0, pool.free()));
    oom.is_expandable = oom.is_expandable || pool.is_expandable;
    if (pool.stream == oom.stream && pool.graph_pool == StringId(0)) {
      std::int64_t& largest = pool.is_large ? oom.largest_large : oom.largest_small;
      largest = std::max(largest, pool.largest_free);
    } else if (pool.is_large == oom.is_large) {
      oom.largest_elsewhere = std::max(oom.largest_elsewhere, pool.largest_free);
    }
  }
  oom.why = why(oom);
  oom.holders = holders_of(snapshot, state.held);
  oom.leaks = leaks_of(state, steps_of(snapshot, device, event));
  return oom;
}

std::string oom_sentence(const Snapshot& snapshot, const OutOfMemory& oom) {
  const std::uint32_t frame = own_frame(snapshot, oom.stack);
  const std::string who = oom.stack == 0 ? "An allocation" : place_words(snapshot, frame);
  const std::int64_t hole = oom.is_large ? oom.largest_large : oom.largest_small;
  std::string out = fmt::format("Out of memory: {} asked for {}, ", who, bytes(oom.asked));
  switch (oom.why) {
    case OutOfMemory::Why::full:
      return out + fmt::format("but tensors held {}, the GPU had {} left and PyTorch's segments {} (largest hole {}).",
                               bytes(oom.held), bytes(oom.device_free), bytes(oom.free), bytes(hole));
    case OutOfMemory::Why::fragmented:
      return out +
             fmt::format(
                 "and {} were free in PyTorch's segments, but in pieces: the largest hole was {}, and the GPU had {} left.",
                 bytes(oom.free), bytes(hole), bytes(oom.device_free));
    case OutOfMemory::Why::elsewhere:
      return out +
             fmt::format("but the hole of {} that fits belongs to another stream or to a CUDA graph; the GPU had {} left.",
                         bytes(oom.largest_elsewhere), bytes(oom.device_free));
    case OutOfMemory::Why::limited:
      return out +
             fmt::format("which the GPU had ({} free): a limit for this process refused it, or another process was quicker.",
                         bytes(oom.device_free));
  }
  return out;
}

std::vector<std::string> oom_remedies(const Snapshot& snapshot, const OutOfMemory& oom) {
  std::vector<std::string> out;
  const auto hold_less = [&] {
    if (!oom.leaks.empty() && oom.leaks.front().bytes > oom.held / 10) {
      const SnapshotLeak& leak = oom.leaks.front();
      out.push_back(fmt::format("{} grows by {} a step, {} by then: release what a step leaves behind.",
                                place_words(snapshot, own_frame(snapshot, leak.stack)), bytes(leak.bytes_per_step),
                                bytes(leak.bytes)));
    }
    if (oom.holders.lines.empty()) return;
    const LineHolder& most = oom.holders.lines.front();
    out.push_back(fmt::format("Hold less: {} held {} in {} blocks.", most.place, bytes(most.bytes),
                              format_count(static_cast<std::int64_t>(most.blocks))));
    std::int64_t of_kind[kMemoryUseKinds] = {};
    for (const KindHolder& k : oom.holders.kinds) of_kind[static_cast<std::size_t>(k.kind)] = k.bytes;
    const auto is_much = [&](MemoryUseKind kind) { return of_kind[static_cast<std::size_t>(kind)] > oom.held / 4; };
    if (is_much(MemoryUseKind::activations))
      out.push_back("Activations are over a quarter: a smaller batch, or torch.utils.checkpoint, holds fewer.");
    if (is_much(MemoryUseKind::optimizer))
      out.push_back("The optimizer's state is over a quarter: shard it (FSDP, ZeroRedundancyOptimizer) or use 8-bit states.");
    if (is_much(MemoryUseKind::gradients))
      out.push_back("Gradients are over a quarter: zero_grad(set_to_none=True) before the forward pass frees them.");
  };
  switch (oom.why) {
    case OutOfMemory::Why::full: hold_less(); break;
    case OutOfMemory::Why::fragmented:
      if (!oom.is_expandable)
        out.push_back("Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: segments then grow, and holes close.");
      else
        out.push_back("Expandable segments are in use already: allocate tensors of changing sizes once, at their largest.");
      hold_less();
      break;
    case OutOfMemory::Why::elsewhere:
      out.push_back("Allocate on the stream that frees, or call torch.cuda.empty_cache() before this allocation.");
      break;
    case OutOfMemory::Why::limited:
      out.push_back("Look for torch.cuda.set_per_process_memory_fraction() and for other processes on this GPU (nvidia-smi).");
      break;
  }
  return out;
}

}  // namespace gapscope
