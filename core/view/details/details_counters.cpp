#include "core/view/details/details_sections.h"

#include <fmt/format.h>

#include "core/analyze/counters/counter_words.h"
#include "core/base/text.h"
#include "core/view/details/details_gpu.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

std::string launches_text(std::uint64_t n, const char* one, const char* many) {
  return format_count(static_cast<std::int64_t>(n)) + (n == 1 ? one : many);
}

std::string rests_on(const SliceCounters& counters) {
  const std::string samples = samples_text(counters.means);
  switch (counters.from) {
    case SliceCounters::From::pooled:
      return samples + " in " + launches_text(counters.launches, " launch of this name", " launches of this name");
    case SliceCounters::From::launched:
      return samples + " in " +
             launches_text(counters.launches, " GPU operation launched here", " GPU operations launched here");
    default: return samples;
  }
}

DetailsLine basis_line(const SliceCounters& counters) {
  const char* how = "Means over the slice's own time.";
  if (counters.from == SliceCounters::From::pooled)
    how =
        "This launch is shorter than two samples. The means are of launches of its name that ran one after another, without "
        "other GPU work.";
  if (counters.from == SliceCounters::From::launched)
    how = "Means over the time in which GPU work ran that was launched while this slice lasted.";
  return text_line("rests on", rests_on(counters), how);
}

void add_energy(const CounterMeans& means, std::vector<DetailsLine>& lines) {
  if (std::isnan(means.joules)) return;
  lines.push_back(
      number_line("energy", format_significant(means.joules) + " J",
                  fmt::format("Power times time; the driver reported it at least {} times in that time.", means.readings)));
}

}  // namespace

DetailsSection counters_of(const Document& doc, SliceId slice) {
  if (!doc.analysis() || doc.analysis()->counters().empty()) return {};
  const SliceCounters counters = doc.analysis()->counters().of_slice(doc.trace, slice);
  if (counters.from == SliceCounters::From::nothing) return {};
  DetailsSection section{"Counters of GPU " + std::to_string(counters.device), {}, {}};
  const CounterMeans& means = counters.means;
  if (!means.measured()) {
    section.note =
        means.samples > 0 ? "Too short to measure: it lasts less than two samples." : "Nothing was sampled in its time.";
    return section;
  }
  if (counters.shared) section.note = "Other GPU work ran concurrently; the counters count both.";
  if (doc.trace.kind(slice) == Kind::kernel && !counters.shared)
    section.lines.push_back(text_line("place", std::string(place_name(place_of(means))),
                                      fmt::format("Bound by what is used more than {:.0f} % of its peak: the tensor pipe or "
                                                  "DRAM; by latency where neither is.",
                                                  kBoundShare)));
  for (const CounterWord& word : counter_words())
    if (const std::string value = counter_value(means, word); !value.empty())
      section.lines.push_back(number_line(word.title, value, word.help));
  add_energy(means, section.lines);
  section.lines.push_back(basis_line(counters));
  return section;
}

}  // namespace gapscope
