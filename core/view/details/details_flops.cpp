#include "core/view/details/details_sections.h"

#include <array>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/analyze/operators/flops.h"
#include "core/base/text.h"
#include "core/view/details/details_gpu.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

std::string_view concrete_inputs(SliceId slice, const SliceArgs* args) {
  if (!args || args->slice != slice) return {};
  for (const Arg& arg : args->args)
    if (arg.key == "Concrete Inputs") return arg.value;
  return {};
}

DetailsLine unknown_line(std::string key, std::string why) {
  DetailsLine line = absent_line(std::move(key));
  line.value = "not known";
  line.hover = std::move(why);
  return line;
}

}  // namespace

std::string flop_text(double count) {
  constexpr std::array<const char*, 6> kUnits = {" FLOP", " kFLOP", " MFLOP", " GFLOP", " TFLOP", " PFLOP"};
  std::size_t unit = 0;
  for (; count >= 999.5 && unit + 1 < kUnits.size(); ++unit) count /= 1000;
  return format_significant(count) + kUnits[unit];
}

DetailsSection arithmetic(const Document& doc, SliceId slice, const SliceArgs* args) {
  const Trace& trace = doc.trace;
  const bool is_kernel = trace.kind(slice) == Kind::kernel;
  const SliceId op = is_kernel ? doc.links.owner_op(slice) : slice;
  const auto rate = op ? rate_of(trace, doc.lanes, doc.links, op, concrete_inputs(op, args)) : std::nullopt;
  if (!rate) return {};
  DetailsSection section{is_kernel ? "Arithmetic of " + printable(shown_name(trace, op)) : "Arithmetic", {}, {}};
  if (!rate->flops.count) {
    section.note = std::string(rate->flops.why);
    return section;
  }
  section.lines.push_back(number_line("operations", flop_text(*rate->flops.count),
                                      "From the recorded shapes; a multiplication and an addition count as two."));
  if (rate->math) section.lines.push_back(text_line("multiplies in", std::string(math_type_name(*rate->math))));
  if (!rate->per_second) {
    section.lines.push_back(unknown_line("achieved", "No kernel of it is in this trace."));
    return section;
  }
  section.lines.push_back(number_line(
      "achieved", flop_text(*rate->per_second) + "/s",
      "Operations divided by " + format_duration_exact(rate->gpu_time) + ", the time of all kernels that it launched."));
  section.lines.push_back(
      rate->peak_share ? number_line("of the dense peak", format_percent(*rate->peak_share),
                                     "Of what the data sheet of this GPU promises for matrices without sparsity.")
                       : unknown_line("of the dense peak",
                                      "The file does not name the GPU, or no figure for it and this type is known here."));
  return section;
}

}  // namespace gapscope
