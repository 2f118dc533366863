#include "core/view/details/details_model.h"

#include <algorithm>
#include <utility>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/analyze/practices/practices.h"
#include "core/base/text.h"
#include "core/view/details/details_gpu.h"
#include "core/view/details/details_sections.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

std::string lane_text(const Trace& trace, SliceId slice) {
  const Lane& lane = trace.lane(slice);
  const Process& process = trace.processes[lane.process.index()];
  if (process.is_gpu) return lane.title;  // which names the GPU itself
  return process.title.empty() ? lane.title : process.title + " / " + lane.title;
}

DetailsLine duration_line(std::string key, Ns ns) {
  return number_line(std::move(key), format_duration(ns), format_duration_exact(ns));
}

DetailsSection time_section(const Document& doc, SliceId slice) {
  const Trace& trace = doc.trace;
  DetailsSection section{"Slice", {}, {}};
  auto& lines = section.lines;
  lines.push_back(duration_line("duration", trace.duration(slice)));
  lines.push_back(duration_line("self time", doc.lanes.self_time(slice)));
  lines.push_back(duration_line("start", trace.begin(slice) - trace.span.begin));
  lines.push_back(number_line("start in file", format_file_us(trace.begin(slice)) + " \xC2\xB5s", "ts as the file writes it"));
  lines.push_back(text_line("category", std::string(trace.category_name(slice)), std::string(kind_name(trace.kind(slice)))));
  lines.push_back(text_line("lane", lane_text(trace, slice)));
  lines.push_back(number_line("depth", std::to_string(trace.depth(slice))));
  return section;
}

constexpr std::string_view kCallStack = "Call stack";

// "/home/x/lib/python3.7/site-packages/torch/nn/modules/conv.py(440): forward" -> "torch/nn/modules/conv.py(440): forward".
std::string_view without_environment(std::string_view frame) {
  constexpr std::string_view kPackages = "/site-packages/";
  const std::size_t at = frame.find(kPackages);
  return at == std::string_view::npos ? frame : frame.substr(at + kPackages.size());
}

// A recorded Python call stack is one long text with a semicolon between frames, the innermost first.
DetailsSection call_stack(const SliceArgs* read) {
  DetailsSection section{std::string(kCallStack), {}, {}};
  if (!read) return section;
  for (const Arg& arg : read->args) {
    if (arg.key != kCallStack) continue;
    for (std::string_view rest = arg.value; !rest.empty();) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view frame = rest.substr(0, end);
      if (!frame.empty())
        section.lines.push_back(
            text_line(std::to_string(section.lines.size()), std::string(without_environment(frame)), std::string(frame)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return section;
}

// JSON that the file breaks into lines, on one: "[2, 8, 1]".
std::string on_one_line(std::string_view json) {
  std::string out;
  bool in_text = false, is_escaped = false;
  for (const char c : json) {
    const bool is_space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!in_text && is_space) {
      if (!out.empty() && out.back() != ' ' && out.back() != '[' && out.back() != '{') out += ' ';
      continue;
    }
    if (!in_text && (c == ']' || c == '}') && !out.empty() && out.back() == ' ') out.pop_back();
    if (c == '"' && !is_escaped) in_text = !in_text;
    is_escaped = in_text && c == '\\' && !is_escaped;
    out += c;
  }
  return out;
}

// `read`: null: not yet.
DetailsSection args_section(const Trace& trace, SliceId slice, const SliceArgs* read) {
  DetailsSection section{"Args", {}, {}};
  if (trace.slices.offset[slice.index()] == kNoOffset) {
    section.note = "This slice has no event of its own in the file.";
  } else if (!read) {
    section.note = "Reading the args from the file...";
  } else if (!read->error.empty()) {
    section.note = read->error;
  } else if (read->args.empty()) {
    section.note = "This event has no args.";
  } else {
    for (const Arg& arg : read->args) {
      if (arg.key == kCallStack) continue;  // a section of its own
      section.lines.push_back(arg.is_text ? text_line(arg.key, arg.value) : number_line(arg.key, on_one_line(arg.value)));
    }
  }
  return section;
}

// From the parent outwards, as one reads a stack.
DetailsSection parents_section(const Document& doc, const std::vector<DetailsCrumb>& path) {
  DetailsSection section{"Parents", {}, {}};
  for (auto crumb = path.rbegin(); crumb != path.rend(); ++crumb)
    section.lines.push_back(slice_line(doc, "depth " + std::to_string(doc.trace.depth(crumb->slice)), crumb->slice));
  return section;
}

void add_gpu_sections(const Document& doc, SliceId slice, const KernelCommand* command, std::vector<DetailsSection>& out) {
  const GpuRow* row = doc.trace.gpu_row(slice);
  if (!row) return;
  const Kind kind = doc.trace.kind(slice);
  if (kind == Kind::kernel) {
    out.push_back(kernel_resources(doc, *row));
    out.push_back(decoded_name(doc.trace.name(slice)));
  } else if (kind == Kind::memcpy || kind == Kind::memset) {
    out.push_back(copy_figures(doc, *row));
  }
  out.push_back(launched_from(doc, *row));
  out.push_back(gpu_place(doc, *row));
  if (DetailsSection ncu = ncu_section(doc, slice, command); !ncu.title.empty()) out.push_back(std::move(ncu));
}

}  // namespace

std::shared_ptr<const SliceArgs> answer(const Document& document, const ArgsQuestion& question, const std::atomic<bool>*) {
  const Trace& trace = document.trace;
  Result<std::vector<Arg>> args = read_args(trace, trace.slices.offset[question.slice.index()]);
  if (!args) return std::make_shared<const SliceArgs>(SliceArgs{question.slice, {}, args.error().message});
  return std::make_shared<const SliceArgs>(SliceArgs{question.slice, std::move(*args)});
}

DetailsModel make_details(const Document& doc, SliceId slice, std::shared_ptr<const SliceArgs> args,
                          std::shared_ptr<const KernelCommand> command, std::shared_ptr<const SourceLines> source) {
  const Trace& trace = doc.trace;
  const SliceArgs* const read = args && args->slice == slice ? args.get() : nullptr;
  DetailsModel model;
  model.slice = slice;
  model.args = std::move(args);
  model.name = shown_name(trace, slice);
  if (model.name != trace.name(slice)) model.name_in_file = std::string(trace.name(slice));
  model.kind = trace.kind(slice);
  for (const SliceId s : doc.lanes.ancestors(slice)) model.path.push_back({shown_name(trace, s), s});
  model.crumbs = breadcrumb(doc, slice);

  add_gpu_sections(doc, slice, command && command->kernel == slice ? command.get() : nullptr, model.sections);
  model.command = std::move(command);
  model.frame = source_frame(doc, slice);
  model.source = source;
  if (DetailsSection lines = source_section(doc, slice, model.frame, std::move(source)); !lines.title.empty())
    model.sections.push_back(std::move(lines));
  if (DetailsSection counters = counters_of(doc, slice); !counters.title.empty()) model.sections.push_back(std::move(counters));
  if (DetailsSection own = operator_args(doc, slice); !own.lines.empty()) model.sections.push_back(std::move(own));
  if (DetailsSection sums = arithmetic(doc, slice, read); !sums.title.empty()) model.sections.push_back(std::move(sums));
  if (DetailsSection roof = roofline_section(doc, slice); !roof.title.empty()) model.sections.push_back(std::move(roof));
  const bool is_call = model.kind == Kind::runtime || model.kind == Kind::driver;
  if (is_call && trace.name(slice).find("Synchronize") != std::string_view::npos)
    model.sections.push_back(waited_for(doc, slice));
  if (DetailsSection launched = launched_work(doc, slice); !launched.lines.empty())
    model.sections.push_back(std::move(launched));
  model.sections.push_back(time_section(doc, slice));
  model.sections.push_back(args_section(trace, slice, read));
  if (DetailsSection stack = call_stack(read); !stack.lines.empty()) model.sections.push_back(std::move(stack));
  if (model.path.size() > kDetailsMaxPath) model.sections.push_back(parents_section(doc, model.path));
  for (DetailsSection& section : model.sections)
    for (DetailsLine& line : section.lines) line.key = in_words_of(doc.vendor, line.key);
  return model;
}

}  // namespace gapscope
