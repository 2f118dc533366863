#include "core/view/details/details_sections.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/analyze/captured/captured_work.h"
#include "core/base/text.h"
#include "core/view/details/details_gpu.h"
#include "core/view/document.h"
#include "core/view/source_place.h"

namespace gapscope {
namespace {

// The operator of the forward pass whose arrow leads to one of `around`, from the innermost out, or none.
SliceId forward_of(const Document& doc, const std::vector<SliceId>& around) {
  for (auto at = around.rbegin(); at != around.rend(); ++at)
    for (const std::uint32_t f : doc.links.flows_to(*at))
      if (doc.trace.strings[doc.trace.flows[f].category] == "fwdbwd") return doc.trace.flows[f].from;
  return {};
}

bool is_of_program(const SourcePlace& place) {
  return !place.file.starts_with("torch/") && place.file.find("/torch/") == std::string::npos;
}

// "Linear_3" of "nn.Module: Linear_3"; empty of other names.
std::string_view module_in(std::string_view name) {
  constexpr std::string_view kModule = "nn.Module: ";
  return name.starts_with(kModule) ? name.substr(kModule.size()) : std::string_view();
}

// The innermost module and line of the program among these frames, where Python frames are recorded; PyTorch's own lines do not
// count.
void add_source_of(const Document& doc, const std::vector<SliceId>& around, std::string_view whose,
                   std::vector<DetailsLine>& lines) {
  bool has_module = false, has_line = false;
  for (auto at = around.rbegin(); at != around.rend() && !(has_module && has_line); ++at) {
    const std::string_view name = doc.trace.name(*at);
    const auto add = [&](const char* key, std::string value) {
      lines.push_back({key, std::move(value), std::string(name) + std::string(whose), *at, DetailsLine::Look::text});
    };
    const std::string_view module = module_in(name);
    if (!module.empty() && !has_module) add("module", std::string(module));
    has_module |= !module.empty();
    const std::optional<SourcePlace> place = has_line ? std::nullopt : source_place(name);
    if (!place || !is_of_program(*place)) continue;
    add("Python line", place_text(*place));
    has_line = true;
  }
}

std::string module_of(const Document& doc, const std::vector<SliceId>& around) {
  for (auto at = around.rbegin(); at != around.rend(); ++at)
    if (const std::string_view module = module_in(doc.trace.name(*at)); !module.empty()) return std::string(module);
  return {};
}

std::string program_frame(const Document& doc, const std::vector<SliceId>& around) {
  for (auto at = around.rbegin(); at != around.rend(); ++at) {
    const std::optional<SourcePlace> place = source_place(doc.trace.name(*at));
    if (place && is_of_program(*place)) return std::string(doc.trace.name(*at));
  }
  return {};
}

}  // namespace

void add_source_lines(const Document& doc, SliceId call, std::vector<DetailsLine>& lines) {
  if (!call) return;
  const std::vector<SliceId> around = doc.lanes.ancestors(call);
  const std::size_t before = lines.size();
  add_source_of(doc, around, "", lines);
  if (lines.size() > before) return;
  if (const SliceId forward = forward_of(doc, around))
    add_source_of(doc, doc.lanes.ancestors(forward), ", around the forward operator", lines);
}

std::string source_frame(const Document& doc, SliceId slice) {
  const Trace& trace = doc.trace;
  if (!slice) return {};
  if (trace.kind(slice) == Kind::python && source_place(trace.name(slice))) return std::string(trace.name(slice));
  SliceId made = slice;
  if (const GpuRow* row = trace.gpu_row(slice)) {
    const OperatorCall by = operator_call(trace, doc.links, *row);
    if (by.joined) return place_of_call(*by.trace, by.call).python;
    made = doc.links.call_of(slice);
  }
  if (!made) return {};
  const std::vector<SliceId> around = doc.lanes.ancestors(made);
  std::string frame = program_frame(doc, around);
  if (!frame.empty()) return frame;
  const SliceId forward = forward_of(doc, around);
  return forward ? program_frame(doc, doc.lanes.ancestors(forward)) : frame;
}

std::string source_module(const Document& doc, SliceId slice) {
  if (!slice) return {};
  std::vector<SliceId> around = doc.lanes.ancestors(slice);
  around.push_back(slice);
  if (std::string module = module_of(doc, around); !module.empty()) return module;
  const SliceId forward = forward_of(doc, around);
  return forward ? module_of(doc, doc.lanes.ancestors(forward)) : std::string();
}

DetailsSection source_section(const Document& doc, SliceId slice, const std::string& frame,
                              std::shared_ptr<const SourceLines> lines) {
  if (!lines || frame.empty() || lines->frame != frame || lines->line == 0) return {};
  DetailsSection section{"Source", lines->note, {}};
  if (doc.trace.kind(slice) != Kind::python && !doc.trace.gpu_row(slice))  // these say it already
    section.lines.push_back(text_line("Python line", place_text(*source_place(lines->frame)), printable(lines->frame)));
  section.source = std::move(lines);
  return section;
}

}  // namespace gapscope
