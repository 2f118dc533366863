#include "core/snapshot/leaks.h"

#include <algorithm>
#include <map>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

constexpr std::size_t kFewestSteps = 4;
constexpr std::size_t kParts = 8;  // where there are no steps
constexpr std::size_t kEventsAPart = 20;
constexpr double kInNearlyEvery = 0.75;  // of the steps: a leak may have its moods

// Times at which the optimizer was done; of several optimizers those of the first one.
std::vector<std::int64_t> ends_of_steps(const Snapshot& snapshot, std::int64_t device) {
  std::vector<std::int64_t> ends;
  StringId name;
  for (const SnapshotAnnotation& a : snapshot.annotations) {
    if (a.is_start || a.device != device || !snapshot.texts[a.name].starts_with("Optimizer.step")) continue;
    if (!name.valid()) name = a.name;
    if (a.name == name) ends.push_back(a.time_us);
  }
  std::ranges::sort(ends);
  return ends;
}

}  // namespace

SnapshotSteps steps_of(const Snapshot& snapshot, const SnapshotDevice& device, std::optional<std::uint32_t> event) {
  SnapshotSteps out;
  const auto count = event ? *event + 1U : static_cast<std::uint32_t>(device.events.size());
  const auto end = device.events.begin() + count;
  for (const std::int64_t time : ends_of_steps(snapshot, device.id)) {
    const auto at = std::partition_point(device.events.begin(), end, [&](const SnapshotEvent& e) { return e.time_us <= time; });
    const auto position = static_cast<std::uint32_t>(at - device.events.begin());
    if (position > (out.ends.empty() ? 0 : out.ends.back())) out.ends.push_back(position);
  }
  if (!out.ends.empty() && out.ends.back() < count) out.ends.push_back(count);
  out.are_steps = out.ends.size() >= kFewestSteps;
  if (out.are_steps) return out;
  out.ends.clear();
  if (count < kParts * kEventsAPart) return out;
  for (std::size_t part = 1; part <= kParts; ++part)
    out.ends.push_back(static_cast<std::uint32_t>(std::size_t{count} * part / kParts));
  return out;
}

std::vector<SnapshotLeak> leaks_of(const SnapshotState& state, const SnapshotSteps& steps) {
  std::vector<SnapshotLeak> out;
  if (steps.ends.size() < kFewestSteps) return out;
  struct Left {
    std::map<std::size_t, std::int64_t> by_step;
    std::uint64_t blocks = 0;
  };
  std::map<StackId, Left> left;
  for (const HeldBlock& block : state.held) {
    if (block.allocated_by == kBeforeHistory) continue;
    const auto step = static_cast<std::size_t>(std::ranges::upper_bound(steps.ends, block.allocated_by) - steps.ends.begin());
    if (step == 0 || step + 1 >= steps.ends.size()) continue;
    Left& of_stack = left[block.stack];
    add_saturating(of_stack.by_step[step], block.size);
    ++of_stack.blocks;
  }
  const std::size_t could = steps.ends.size() - 2;
  for (const auto& [stack, of_stack] : left) {
    const auto& by_step = of_stack.by_step;
    if (by_step.size() < 2 || static_cast<double>(by_step.size()) < kInNearlyEvery * static_cast<double>(could)) continue;
    SnapshotLeak leak{.stack = stack,
                      .bytes = 0,
                      .bytes_per_step = 0,
                      .blocks = of_stack.blocks,
                      .steps = static_cast<std::uint32_t>(by_step.size()),
                      .of_steps = static_cast<std::uint32_t>(could)};
    std::vector<std::int64_t> sizes;
    for (const auto& [step, bytes] : by_step) {
      sizes.push_back(bytes);
      add_saturating(leak.bytes, bytes);
    }
    std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2));
    leak.bytes_per_step = sizes[sizes.size() / 2];
    out.push_back(leak);
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &SnapshotLeak::bytes);
  return out;
}

}  // namespace gapscope
