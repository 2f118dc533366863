#include "core/analyze/cpu_samples.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

namespace gapscope {

std::optional<SampledFunction> most_sampled(const Trace& trace, SliceId launch, Span span) {
  if (!launch) return std::nullopt;
  const Lane& thread = trace.lane(trace.lane_id(launch));
  const std::string key = "samples " + thread.key;
  const auto lane = std::find_if(trace.lanes.begin(), trace.lanes.end(),
                                 [&](const Lane& l) { return l.process == thread.process && l.key == key; });
  if (lane == trace.lanes.end()) return std::nullopt;
  std::map<std::uint32_t, Ns> own;  // by name: without what it calls
  SampledFunction out;
  for (std::uint32_t depth = 0; depth < lane->depth_count; ++depth) {
    const Row& row = trace.rows[lane->first_row + depth];
    const auto in_row = [&](const Row& of, Ns time) {  // the first that ends after it
      const Ns* const ends = trace.slices.end.data();
      return static_cast<std::uint32_t>(std::upper_bound(ends + of.first, ends + of.first + of.count, time) - ends);
    };
    std::uint32_t around = depth == 0 ? 0 : in_row(trace.rows[lane->first_row + depth - 1], span.begin);
    for (std::uint32_t i = in_row(row, span.begin); i < row.first + row.count; ++i) {
      const SliceId slice(i);
      const Ns begin = std::max(trace.begin(slice), span.begin), length = std::min(trace.end(slice), span.end) - begin;
      if (trace.begin(slice) >= span.end) break;
      add_saturating(own[trace.name_id(slice).value], length);
      if (depth == 0) {
        add_saturating(out.sampled, length);
        continue;
      }
      while (trace.slices.end[around] <= begin) ++around;
      add_saturating(own[trace.name_id(SliceId(around)).value], -length);
    }
  }
  for (const auto& [name, time] : own)
    if (time > out.time) out.time = time, out.name = trace.strings[StringId(name)];
  return out.time > 0 ? std::optional(out) : std::nullopt;
}

std::string sampled_sentence(const SampledFunction& of) {
  return fmt::format("The launching thread was sampled mostly in {}: {:.0f} % of the {} that it was on a CPU.",
                     printable(of.name), 100 * static_cast<double>(of.time) / static_cast<double>(of.sampled),
                     format_duration(of.sampled));
}

}  // namespace gapscope
