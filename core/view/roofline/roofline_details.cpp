#include "core/view/roofline/roofline_details.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/view/answers.h"
#include "core/view/details/details_flops.h"
#include "core/view/details/details_gpu.h"
#include "core/view/roofline/roofline_model.h"

namespace gapscope {
namespace {

std::string bytes_text(double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); }

// Of a kernel with counters: what DRAM moved for each launch of its name whose operations are known.
std::optional<double> measured_bytes(const Document& doc, SliceId slice) {
  const GpuRow* gpu = doc.trace.gpu_row(slice);
  if (!gpu || !doc.analysis()) return {};
  for (const RooflinePoint& point : doc.analysis()->counters().roofline())
    if (point.name == doc.trace.name_id(slice) && point.device == gpu->device && point.per_byte > 0 && point.launches > 0)
      return point.per_second * static_cast<double>(point.time) * 1e-9 / point.per_byte / static_cast<double>(point.launches);
  return {};
}

void add_floor(const RooflineRow& row, DetailsSection& section) {
  if (!row.floor.floor_ns) {
    section.note = std::string(row.floor.note);
    return;
  }
  const auto each = static_cast<Ns>(*row.floor.floor_ns / static_cast<double>(row.work.count));
  section.lines.push_back(
      number_line("floor", format_duration(each),
                  "How long one call had to take at least: its operations at the GPU's peak, or its bytes at "
                  "the bandwidth of its memory."));
  section.lines.push_back(text_line("bound by", std::string(floor_bound_name(row.floor.bound))));
  section.lines.push_back(
      number_line("reached", format_percent(*row.floor.reached),
                  "Floor of the time of its kernels, over " + std::to_string(row.work.count) + " calls with these shapes."));
}

}  // namespace

DetailsSection roofline_section(const Document& doc, SliceId slice) {
  const auto answer = answer_to<RooflineQuestion>(doc);
  const auto at = answer && slice ? row_of_slice(*answer, slice) : std::nullopt;
  if (!at) return {};
  const RooflineRow& row = answer->rows[*at];
  DetailsSection section{"Roofline of " + printable(doc.trace.strings[row.work.op]), {}, {}};
  if (row.work.each.flops && !row.work.is_product)
    section.lines.push_back(number_line("operations", flop_text(*row.work.each.flops)));
  if (row.work.each.bytes)
    section.lines.push_back(number_line("bytes", bytes_text(*row.work.each.bytes), "What one call must move, by its shapes."));
  if (const auto measured = measured_bytes(doc, slice))
    section.lines.push_back(
        number_line("bytes measured", bytes_text(*measured), "What DRAM moved for a launch, by its counters."));
  add_floor(row, section);
  return section;
}

}  // namespace gapscope
