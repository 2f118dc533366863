#include "app/workload/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace gapscope::workload {
namespace {

std::string counted(std::size_t count, const char* noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string summary_line(const Options& options, const std::vector<double>& step_ms, std::size_t checked) {
  const CaseRow& row = case_row(options.id);
  std::string name(row.name);
  if (options.variant != Variant::kPlain) name += fmt::format(" ({})", variant_name(options.variant));
  if (options.train) name += " (train)";
  if (options.graph) name += " (graph)";
  const std::string verdict =
      checked > 0 ? counted(checked, "result") + " equal to the CPU's within rounding" : "results not checked";
  return fmt::format("{}, size {}, {}, {} of {:.1f} us in the median, {}", name, options.size, dtype_name(options.dtype),
                     counted(step_ms.size(), "step"), median(step_ms) * 1000, verdict);
}

}  // namespace gapscope::workload
