#include "core/snapshot/program_trace.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostAnnotations = 20'000;  // the longest; all of them are looked at in each frame
constexpr Ns kYear2000 = 946'684'800 * kNsPerS;   // times above count from 1970

// Whether an event of the history happened while the trace was recorded.
bool share_time(const Snapshot& snapshot, const ProgramTrace& program) {
  return std::ranges::any_of(snapshot.devices, [&](const SnapshotDevice& device) {
    return std::ranges::any_of(device.events, [&](const SnapshotEvent& e) { return program.time_of(e.time_us).has_value(); });
  });
}

}  // namespace

std::optional<Ns> ProgramTrace::time_of(std::int64_t time_us) const {
  Ns since_1970 = 0, at = 0;
  if (__builtin_mul_overflow(time_us, kNsPerUs, &since_1970) || __builtin_sub_overflow(since_1970, epoch, &at) ||
      !span.contains(at))
    return std::nullopt;
  return at;
}

Result<ProgramTrace> add_program(Snapshot& snapshot, const Trace& trace) {
  const std::string shown = printable(trace.path);
  if (!trace.header.has_base_time && trace.span.begin < kYear2000)
    return Error{
        fmt::format("{} does not say when it was recorded (baseTimeNanoseconds), so nothing in it can be found in the "
                    "snapshot.",
                    shown)};
  ProgramTrace out{trace.path, trace.header.base_time, trace.span};
  if (!share_time(snapshot, out))
    return Error{fmt::format("{} was recorded at another time than the snapshot's history: they are not of one run.", shown)};
  std::vector<SliceId> chosen;
  for (std::uint32_t i = 0; i < trace.slice_count(); ++i)
    if (trace.kind(SliceId(i)) == Kind::annotation) chosen.emplace_back(i);
  if (chosen.size() > kMostAnnotations) {
    const auto longer = [&](SliceId a, SliceId b) { return trace.duration(a) > trace.duration(b); };
    std::nth_element(chosen.begin(), chosen.begin() + kMostAnnotations, chosen.end(), longer);
    chosen.resize(kMostAnnotations);
  }
  std::map<StringId, bool> is_known;  // names that the snapshot has itself
  for (const SnapshotAnnotation& a : snapshot.annotations) is_known[a.name] = true;
  for (const SliceId slice : chosen) {
    const StringId name = snapshot.texts.intern(trace.name(slice));
    if (is_known.contains(name)) continue;
    const auto us = [&](Ns ns) {
      add_saturating(ns, out.epoch);
      return ns / kNsPerUs;
    };
    for (const SnapshotDevice& device : snapshot.devices) {
      snapshot.annotations.push_back({name, device.id, us(trace.begin(slice)), true});
      snapshot.annotations.push_back({name, device.id, us(trace.end(slice)), false});
    }
  }
  std::ranges::stable_sort(snapshot.annotations, {}, &SnapshotAnnotation::time_us);
  return out;
}

std::vector<StringId> program_at(const Snapshot& snapshot, std::int64_t device, std::int64_t time_us) {
  std::vector<StringId> open;
  for (const SnapshotAnnotation& a : snapshot.annotations) {
    if (a.device != device) continue;
    if (a.time_us > time_us) break;
    const auto begun = std::find(open.rbegin(), open.rend(), a.name);
    if (a.is_start)
      open.push_back(a.name);
    else if (begun != open.rend())
      open.erase(std::next(begun).base());
  }
  return open;
}

}  // namespace gapscope
