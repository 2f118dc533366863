#include "core/view/details/details_sections.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/view/answers.h"
#include "core/view/details/details_gpu.h"
#include "core/view/document.h"
#include "core/view/roofline/roofline_model.h"

namespace gapscope {
namespace {

std::string bytes_text(double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); }

void add_floor(const RooflineRow& row, DetailsSection& section) {
  if (!row.floor.floor_ns) {
    section.note = std::string(row.floor.note);
    return;
  }
  const auto each = static_cast<Ns>(*row.floor.floor_ns / static_cast<double>(row.work.count));
  section.lines.push_back(number_line("floor", format_duration(each),
                                      "The least time for one call: its operations at the GPU's peak, or its bytes at "
                                      "the bandwidth of its memory."));
  section.lines.push_back(text_line("bound by", std::string(floor_bound_name(row.floor.bound))));
  // The floor is of one call; how much of it is reached is known of all with its shapes together.
  const std::string calls =
      row.work.count == 1 ? "" : " in " + format_count(static_cast<std::int64_t>(row.work.count)) + " calls";
  section.lines.push_back(number_line("reached" + calls, format_percent(*row.floor.reached),
                                      "Floor of the time of the kernels of all calls with these shapes, this one among them."));
}

}  // namespace

std::optional<double> measured_bytes(const Document& doc, SliceId slice) {
  const GpuRow* gpu = doc.trace.gpu_row(slice);
  const MeasuredKernel* kernel =
      gpu && doc.analysis() ? doc.analysis()->counters().kernel(doc.trace.name_id(slice), gpu->device) : nullptr;
  if (kernel == nullptr || kernel->launches == 0 || !kernel->means.measured()) return {};
  const double per_ns = kernel->means[CounterKind::dram_read] + kernel->means[CounterKind::dram_write];
  if (!(per_ns >= 0)) return {};  // not in the file
  return per_ns * static_cast<double>(kernel->time) / static_cast<double>(kernel->launches);
}

DetailsSection roofline_section(const Document& doc, SliceId slice) {
  const auto answer = answer_to<RooflineQuestion>(doc);
  const auto at = answer && slice ? row_of_slice(*answer, slice) : std::nullopt;
  if (!at) return {};
  const RooflineRow& row = answer->rows[*at];
  DetailsSection section{"Roofline of " + printable(row.work.op), {}, {}};
  if (row.work.joined) section.lines.push_back(text_line("known from", "the capture of its graph"));
  if (row.work.each.flops && !row.work.is_product)
    section.lines.push_back(number_line("operations", flop_text(*row.work.each.flops)));
  if (row.work.each.bytes)
    section.lines.push_back(number_line("bytes", bytes_text(*row.work.each.bytes), "What one call must move, by its shapes."));
  if (const auto measured = measured_bytes(doc, slice))
    section.lines.push_back(number_line("bytes measured", bytes_text(*measured),
                                        "What DRAM moved for a launch of this name on average, by its counters."));
  add_floor(row, section);
  return section;
}

}  // namespace gapscope
