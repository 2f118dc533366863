#include "core/view/compile/compile_model.h"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/load/args.h"
#include "core/view/allowed_sources.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

std::string count(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }

// "3 compiled functions in 4 versions".
std::string pieces_text(const CompileUse& use) {
  std::set<std::string> pieces;
  for (const CompiledRegion& r : use.regions) pieces.insert(r.number ? fmt::format("{}", r.number->frame) : r.id);
  const std::string text = counted(pieces.size(), "compiled function");
  return pieces.size() < use.regions.size() ? text + " in " + counted(use.regions.size(), "version") : text;
}

std::string versions_sentence(const CompileUse& use) {
  std::string list;
  for (std::size_t r = 0; r < use.regions.size(); ++r) {
    const CompiledRegion& region = use.regions[r];
    if (use.is_recompiled(region)) list += (list.empty() ? "" : ", ") + region.id;
  }
  return list.empty() ? list : fmt::format("Compiled more than once, by their numbers: {}.", list);
}

std::string breaks_sentence(const CompileUse& use) {
  std::uint64_t breaks = 0;
  Ns between = 0;
  for (const SplitFunction& s : use.breaks) breaks += s.slices.size(), between += s.between;
  if (breaks == 0) return use.regions.empty() ? "" : "No graph breaks.";
  return fmt::format("{}: {} of host time between the compiled functions.", counted(breaks, "graph break"),
                     format_duration(between));
}

std::string guards_sentence(const GuardChecks& g) {
  if (g.slices.empty()) return {};
  const auto n = g.slices.size();
  return fmt::format("{} took {}, {} each on average: compiled code ran after {}, Dynamo compiled after {}, neither after {}.",
                     counted(n, "guard check"), format_duration(g.time), format_duration(g.time / static_cast<Ns>(n)),
                     count(g.hits), count(g.compiled), count(g.other));
}

}  // namespace

std::shared_ptr<const CompileUse> answer(const Document& document, const CompileQuestion&, const std::atomic<bool>* cancel) {
  auto use = std::make_shared<const CompileUse>(
      compile_use(document.trace, document.lanes, document.links, document.session.ops(), args_of_file(document.trace)));
  return cancel && *cancel ? nullptr : use;
}

ArgOf args_of_file(const Trace& trace) {
  return [&trace](SliceId slice, std::string_view key) -> std::string {
    const auto args = read_args(trace, trace.slices.offset[slice.index()]);
    if (!args.ok()) return {};
    for (const Arg& arg : *args)
      if (arg.key == key) return arg.value;
    return {};
  };
}

std::vector<std::string> compile_summary(const Trace& trace, const CompileUse& use) {
  if (use.empty())
    return {"This trace has nothing of torch.compile: no compiled function, guard check, compilation or kernel of Inductor."};
  std::vector<std::string> out;
  const auto add = [&](std::string sentence) {
    if (!sentence.empty()) out.push_back(std::move(sentence));
  };
  std::uint64_t calls = 0;
  Ns host = 0;
  for (const CompiledRegion& r : use.regions) calls += r.slices.size(), host += r.host;
  if (calls > 0)
    add(fmt::format("{} of {}: {} on the host{}, {} of GPU work with {}.", counted(calls, "call"), pieces_text(use),
                    format_duration(host), use.compile_time > 0 ? " apart from compiling" : "",
                    format_duration(use.in_regions.gpu), counted(use.in_regions.kernels, "kernel")));
  std::uint64_t runs = 0;
  Ns gpu = 0;
  for (const FusedKernel& k : use.kernels) runs += k.slices.size(), gpu += k.gpu;
  if (runs > 0 && calls == 0)
    add(fmt::format("{} of {} that Inductor made: {} of GPU time. No compiled function that called them is in this trace.",
                    counted(runs, "run"), counted(use.kernels.size(), "kernel"), format_duration(gpu)));
  add(breaks_sentence(use));
  add(versions_sentence(use));
  add(guards_sentence(use.guards));
  if (!use.compilations.empty())
    add(fmt::format("During the recording, Dynamo and Inductor worked for {}.", format_duration(use.compile_time)));
  if (!use.has_python && !use.regions.empty())
    add("Python frames show which function each is and where its graph breaks are. Record with with_stack=True.");
  bool has_code = use.kernels.empty();
  for (const FusedKernel& k : use.kernels) has_code = has_code || !k.code.empty();
  if (!has_code && trace.header.find("record_shapes").empty())
    add("The files of the generated kernels are in args that record_shapes=True adds.");
  return out;
}

CodeText read_code(const std::string& path, const std::vector<std::string>& paths, bool asks) {
  CodeText out{path, {}, {}, {}, paths};
  if (path.empty()) return out;
  SourceText source = AllowedSources(paths).read(path, kMostCode);
  out.text = std::move(source.text);
  if (source.kind == SourceText::Kind::not_allowed && asks) out.to_allow = folder_to_allow(path);
  if (!out.to_allow.empty())
    out.trouble = allow_sentence(out.to_allow);
  else if (source.kind == SourceText::Kind::not_allowed)
    out.trouble = asks ? "This file is not on this machine, or no longer." : "It is shown where --sources names its folder.";
  else if (source.kind == SourceText::Kind::no_source)
    out.trouble = "This file cannot be read, or is no source.";
  else if (source.is_cut)
    out.trouble = "Only its first lines are shown.";
  return out;
}

void arrange_compile(const Trace& trace, const std::shared_ptr<const CompileUse>& use, CompileState& state) {
  ArrangedRows& made = state.arranged;
  const auto list = static_cast<std::size_t>(state.list);
  const bool other = made.of != use || made.list != list;
  if (made.list != list) state.look.order.reset();
  if (!made.is_other(use, list, state.look)) return;
  made.rows = arrange(*compile_table(trace, *use, state.list), state.look);
  if (!other) return;
  state.summary = compile_summary(trace, *use);
  state.selected = -1;
  state.code = {};
}

}  // namespace gapscope
