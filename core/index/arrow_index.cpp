#include "core/index/arrow_index.h"

#include <algorithm>
#include <bit>

#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastLevel = 16;  // arrows; a smaller level saves nothing

// splitmix64's finalizer (Steele, Lea, Flood 2014): neighbours get unrelated priorities.
std::uint64_t priority(std::uint32_t arrow) {
  std::uint64_t x = arrow + 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// In level k where the first k bits of the priority are ones.
bool is_in_level(std::uint32_t arrow, int level) { return std::countl_one(priority(arrow)) >= level; }

Ns floor_to(Ns t, Ns length) { return t - (((t % length) + length) % length); }

// A power of two: the visible stretch holds kArrowBuckets to twice as many.
Ns bucket_length(Span visible) {
  const Ns wanted = std::max<Ns>(1, visible.length() / kArrowBuckets);
  return static_cast<Ns>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
}

}  // namespace

ArrowBuckets arrow_buckets(Span visible) {
  const Ns length = bucket_length(visible);
  return {length, floor_to(visible.begin, length), floor_to(visible.end + length - 1, length)};
}

ArrowIndex::ArrowIndex(const Trace& trace, const LinkIndex& links) : trace_(trace), groups_(kArrowGroups) {
  auto& launches = groups_[static_cast<std::size_t>(ArrowGroup::launches)].arrows;
  launches.reserve(trace.gpu.size());
  for (const GpuRow& row : trace.gpu) {
    if (const SliceId call = links.call_of(row)) launches.push_back({call, row.slice, {}});
  }
  IdMap<std::uint32_t> call_of(trace.slice_count());  // of the GPU slices joined
  for (const Arrow& launch : launches) call_of.expect(launch.to.value);
  call_of.seal();
  for (const Arrow& launch : launches) call_of[launch.to.value] = launch.from.value + 1;
  const auto is_joined = [&](const Flow& flow) { return call_of.find(flow.to.value) == std::uint64_t{flow.from.value} + 1; };
  for (const Flow& flow : trace.flows) {
    const std::string_view category = trace.strings[flow.category];
    const bool is_launch = category == "ac2g" || category == "async_cpu_to_gpu";
    if (is_launch && is_joined(flow)) continue;  // the launch that the correlation gave
    const ArrowGroup group = is_launch              ? ArrowGroup::launches
                             : category == "fwdbwd" ? ArrowGroup::forward_backward
                                                    : ArrowGroup::other;
    groups_[static_cast<std::size_t>(group)].arrows.push_back({flow.from, flow.to, flow.category});
  }
  for (Group& group : groups_) {
    group.arrivals.end = &Arrow::to;
    order(group, group.starts);
    order(group, group.arrivals);
  }
}

void ArrowIndex::order(const Group& group, Ends& ends) const {
  struct Timed {
    std::uint64_t time;
    std::uint32_t arrow;
  };
  std::vector<Timed> timed, other;
  timed.reserve(group.arrows.size());
  for (std::uint32_t i = 0; i < group.arrows.size(); ++i) timed.push_back({ordered_bits(time_of(group, ends, i)), i});
  radix_sort(timed, other, [](const Timed& t) { return t.time; });  // equal times keep the order of the arrows
  std::vector<std::uint32_t> at;
  at.reserve(timed.size());
  for (const Timed& t : timed) at.push_back(t.arrow);
  ends.levels.push_back(std::move(at));
  for (int level = 1; ends.levels.back().size() >= kLeastLevel; ++level) {
    std::vector<std::uint32_t> fewer;
    for (const std::uint32_t arrow : ends.levels.back()) {
      if (is_in_level(arrow, level)) fewer.push_back(arrow);
    }
    ends.levels.push_back(std::move(fewer));
  }
}

// Positions [first, last) in a level of the arrows whose end is in `span`.
std::pair<std::size_t, std::size_t> ArrowIndex::inside(const Group& group, const Ends& ends, std::size_t level,
                                                       Span span) const {
  const std::vector<std::uint32_t>& at = ends.levels[level];
  const auto before = [&](std::uint32_t arrow, Ns t) { return time_of(group, ends, arrow) < t; };
  const auto first = std::lower_bound(at.begin(), at.end(), span.begin, before);
  const auto last = std::lower_bound(first, at.end(), span.end, before);
  return {static_cast<std::size_t>(first - at.begin()), static_cast<std::size_t>(last - at.begin())};
}

std::size_t ArrowIndex::starting_in(ArrowGroup group, Span visible) const {
  const auto [first, last] = inside(of(group), of(group).starts, 0, visible);
  return last - first;
}

// The highest level with enough of them holds the highest priorities of the bucket.
void ArrowIndex::choose_in(const Group& group, const Ends& ends, Span bucket, std::size_t most,
                           std::vector<std::uint32_t>& out) const {
  std::size_t level = 0;
  auto [first, last] = inside(group, ends, 0, bucket);
  if (first == last) return;
  const auto expected = static_cast<std::size_t>(std::bit_width((last - first) / most));
  for (std::size_t k = std::min(expected + 1, ends.levels.size() - 1); k > 0 && level == 0; --k) {
    const auto [f, l] = inside(group, ends, k, bucket);
    if (l - f >= most) level = k, first = f, last = l;
  }
  const auto before = static_cast<std::ptrdiff_t>(out.size());
  const auto of_level = ends.levels[level].begin();
  out.insert(out.end(), of_level + static_cast<std::ptrdiff_t>(first), of_level + static_cast<std::ptrdiff_t>(last));
  if (last - first <= most) return;
  const auto keep = out.begin() + before + static_cast<std::ptrdiff_t>(most);
  std::nth_element(out.begin() + before, keep, out.end(),
                   [](std::uint32_t a, std::uint32_t b) { return priority(a) > priority(b); });
  out.erase(keep, out.end());
}

void ArrowIndex::choose(ArrowGroup group_id, Span visible, std::size_t most, std::vector<Arrow>& out) const {
  const Group& group = of(group_id);
  if (group.arrows.empty() || visible.empty() || most == 0) return;
  const ArrowBuckets buckets = arrow_buckets(visible);
  std::vector<std::uint32_t> chosen;
  for (Ns at = buckets.begin; at < buckets.end; at += buckets.length) {
    choose_in(group, group.starts, {at, at + buckets.length}, most, chosen);
    choose_in(group, group.arrivals, {at, at + buckets.length}, most, chosen);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  for (const std::uint32_t i : chosen) out.push_back(group.arrows[i]);
}

}  // namespace gapscope
