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
    // Foreign slices may overlap like stairs: what outlasts the slice around it counts up to that one's end.
    const Row outer = depth == 0 ? Row{} : trace.rows[lane->first_row + depth - 1];
    const std::uint32_t outer_end = outer.first + outer.count;
    std::uint32_t around = outer.count == 0 ? outer_end : in_row(outer, span.begin);
    for (std::uint32_t i = in_row(row, span.begin); i < row.first + row.count; ++i) {
      const SliceId slice(i);
      if (trace.begin(slice) >= span.end) break;
      const Ns begin = std::max(trace.begin(slice), span.begin);
      while (around < outer_end && trace.slices.end[around] <= begin) ++around;
      const bool is_called = around < outer_end && trace.begin(SliceId(around)) <= begin;
      const Ns end = is_called ? std::min(trace.end(slice), trace.slices.end[around]) : trace.end(slice);
      const Ns length = std::min(end, span.end) - begin;
      add_saturating(own[trace.name_id(slice).value], length);
      add_saturating(is_called ? own[trace.name_id(SliceId(around)).value] : out.sampled, is_called ? -length : length);
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
