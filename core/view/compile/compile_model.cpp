#include "core/view/compile/compile_model.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/phrase.h"
#include "core/base/table/csv.h"
#include "core/base/text.h"
#include "core/load/args.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

constexpr std::size_t kHashChars = 14;  // enough to find the folder

std::string count(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }
CompileCell number(std::uint64_t n) { return {count(n), static_cast<std::int64_t>(n)}; }
CompileCell time_of(Ns time) { return {format_duration(time), time}; }
CompileCell time_or_dash(Ns time) { return time > 0 ? time_of(time) : CompileCell{"-"}; }
CompileCell or_dash(std::string text) { return {text.empty() ? "-" : std::move(text)}; }
CompileCell name_or_dash(const Trace& trace, StringId name) { return {name ? std::string(trace.strings[name]) : "-"}; }

CompileCell listed(const Trace& trace, const std::vector<StringId>& names) {
  std::string out;
  for (const StringId name : names) out += (out.empty() ? "" : ", ") + std::string(trace.strings[name]);
  return or_dash(out);
}

CompileTable regions_table(const Trace& trace, const CompileUse& use) {
  CompileTable out{"Pieces of compiled code",
                   {{"piece", "K/M: the K-th piece of Python that was compiled, in its M-th version; both count from 0."},
                    {"calls", "How often it ran.", true},
                    {"host", "CPU time in it, without the pieces that it calls and without compiling them.", true, true},
                    {"GPU", "Of the work launched in it, and in no piece inside it.", true, true},
                    {"kernels", "Among that work.", true},
                    {"guards", "Time of the guard checks before it.", true, true},
                    {"compiling", "Time that Dynamo and Inductor worked on it in this recording.", true, true},
                    {"code", "The Python frame whose code it is, where frames are recorded (with_stack=True)."}},
                   {}};
  for (const CompiledRegion& r : use.regions)
    out.rows.push_back(
        {{or_dash(r.id), number(r.slices.size()), time_of(r.host), time_or_dash(r.work.gpu), number(r.work.kernels),
          time_or_dash(r.lookup_time), time_or_dash(r.compile_time), name_or_dash(trace, r.frame)},
         r.slices,
         {}});
  return out;
}

CompileTable breaks_table(const Trace& trace, const CompileUse& use) {
  CompileTable out{
      "Graph breaks",
      {{"from", "The piece that ended."},
       {"to", "The piece that Python called next."},
       {"times", "How often.", true},
       {"between", "Host time from the end of the first one's compiled work to the second piece, without compiling that.", true,
        true},
       {"broke at", "The line after which the rest of the function is a piece of its own, where frames are recorded."},
       {"operators between", "What ran uncompiled, at the first break."}},
      {}};
  for (const SplitFunction& s : use.breaks)
    out.rows.push_back({{{s.from},
                         {s.to},
                         number(s.slices.size()),
                         time_of(s.between),
                         s.broke_at.empty() ? name_or_dash(trace, s.frame) : CompileCell{s.broke_at},
                         listed(trace, s.between_ops)},
                        s.slices,
                        {}});
  return out;
}

CompileTable graphs_table(const Trace& trace, const CompileUse& use) {
  CompileTable out{"Compiled graphs",
                   {{"graph", "The begin of its hash, by which Inductor's cache knows it."},
                    {"calls", "How often it ran.", true},
                    {"host", "CPU time in it.", true, true},
                    {"GPU", "Of the work launched in it.", true, true},
                    {"kernels", "Among that work.", true},
                    {"Triton kernels", "That Inductor generated for it."},
                    {"generated code", "As a Python frame names it (with_stack=True); else its folder in Inductor's cache."}},
                   {}};
  for (const CompiledGraph& g : use.graphs) {
    std::vector<StringId> names;
    for (const std::uint32_t kernel : g.kernels) names.push_back(use.kernels[kernel].name);
    out.rows.push_back(
        {{or_dash(g.hash.substr(0, kHashChars)), number(g.slices.size()), time_of(g.host), time_or_dash(g.work.gpu),
          number(g.work.kernels), listed(trace, names), or_dash(g.code.empty() ? g.cache_entry : g.code)},
         g.slices,
         g.code});
  }
  return out;
}

CompileTable kernels_table(const Trace& trace, const CompileUse& use) {
  CompileTable out{"Triton kernels of Inductor",
                   {{"kernel", "Its name; a click walks along its launches and kernels."},
                    {"launches", "Kernels of this name.", true},
                    {"GPU", "Their time.", true, true},
                    {"fused operators", "As its name tells."},
                    {"generated code", "As an arg of its operator names it (record_shapes=True)."}},
                   {}};
  for (const FusedKernel& k : use.kernels) {
    std::vector<SliceId> slices = k.launches;
    slices.insert(slices.end(), k.slices.begin(), k.slices.end());
    std::stable_sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); });
    out.rows.push_back({{{std::string(trace.strings[k.name])},
                         number(k.slices.size()),
                         time_of(k.gpu),
                         or_dash(fmt::format("{}", fmt::join(k.operators, ", "))),
                         or_dash(k.code)},
                        std::move(slices),
                        k.code});
  }
  return out;
}

CompileTable compilations_table(const Trace& trace, const CompileUse& use) {
  CompileTable out{"Compiled in this recording",
                   {{"what", "The outermost slice of Dynamo, AOTAutograd or Inductor at work."},
                    {"piece", "For which it worked, where it says so."},
                    {"time", "How long.", true, true},
                    {"begin", "After the trace's begin.", true, true}},
                   {}};
  for (const Compilation& c : use.compilations)
    out.rows.push_back({{{std::string(trace.name(c.slice))},
                         or_dash(c.id),
                         time_of(trace.duration(c.slice)),
                         time_of(trace.begin(c.slice) - trace.span.begin)},
                        {c.slice},
                        {}});
  return out;
}

// "3 pieces of compiled code in 4 versions".
std::string pieces_text(const CompileUse& use) {
  std::set<std::string> pieces;
  for (const CompiledRegion& r : use.regions) pieces.insert(r.number ? fmt::format("{}", r.number->frame) : r.id);
  const std::string text = counted(pieces.size(), "piece") + " of compiled code";
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
  if (breaks == 0) return use.regions.empty() ? "" : "No piece broke off into another one.";
  return fmt::format("{}: {} of host time between the pieces.", counted(breaks, "graph break"), format_duration(between));
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
  auto use = std::make_shared<const CompileUse>(compile_use(
      document.trace, document.lanes, document.links, gpu_ops(document.trace, document.links), args_of_file(document.trace)));
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

CompileTable compile_table(const Trace& trace, const CompileUse& use, CompileList list) {
  switch (list) {
    case CompileList::breaks: return breaks_table(trace, use);
    case CompileList::graphs: return graphs_table(trace, use);
    case CompileList::kernels: return kernels_table(trace, use);
    case CompileList::compilations: return compilations_table(trace, use);
    default: return regions_table(trace, use);
  }
}

std::vector<std::string> compile_summary(const Trace& trace, const CompileUse& use) {
  if (use.empty())
    return {
        "No code of torch.compile is in this trace: no compiled piece ran, and no guard check, compilation or kernel of "
        "Inductor is in it."};
  std::vector<std::string> out;
  const auto add = [&](std::string sentence) {
    if (!sentence.empty()) out.push_back(std::move(sentence));
  };
  std::uint64_t calls = 0;
  Ns host = 0;
  for (const CompiledRegion& r : use.regions) calls += r.slices.size(), host += r.host;
  if (calls > 0)
    add(fmt::format("{} of {}: {} on the host, {} of GPU work with {}.", counted(calls, "call"), pieces_text(use),
                    format_duration(host), format_duration(use.in_regions.gpu), counted(use.in_regions.kernels, "kernel")));
  std::uint64_t runs = 0;
  Ns gpu = 0;
  for (const FusedKernel& k : use.kernels) runs += k.slices.size(), gpu += k.gpu;
  if (runs > 0 && calls == 0)
    add(fmt::format("{} of {} that Inductor made: {} of GPU time. No compiled piece that called them is in this trace.",
                    counted(runs, "run"), counted(use.kernels.size(), "kernel"), format_duration(gpu)));
  add(breaks_sentence(use));
  add(versions_sentence(use));
  add(guards_sentence(use.guards));
  if (!use.compilations.empty())
    add(fmt::format("While this was recorded, Dynamo and Inductor were at work for {}.", format_duration(use.compile_time)));
  if (!use.has_python && !use.regions.empty())
    add("Which function each piece is, and where it broke, is in Python frames: record with_stack=True.");
  bool told = use.kernels.empty();
  for (const FusedKernel& k : use.kernels) told = told || !k.code.empty();
  if (!told && trace.header.find("record_shapes").empty())
    add("The files of the generated kernels are in args that record_shapes=True adds.");
  return out;
}

CodeText read_code(const std::string& path) {
  CodeText out{path, {}, {}};
  std::error_code trouble;
  if (path.empty() || !std::filesystem::is_regular_file(path, trouble)) {
    out.trouble = path.empty() ? "" : "This file is not on this machine, or no longer.";
    return out;
  }
  FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) {
    out.trouble = "This file cannot be opened.";
    return out;
  }
  out.text.resize(kMostCode);
  out.text.resize(std::fread(out.text.data(), 1, out.text.size(), file));
  std::fclose(file);
  if (out.text.size() == kMostCode) out.trouble = "Only its begin is shown.";
  return out;
}

std::vector<std::uint32_t> compile_rows(const CompileTable& table, const std::optional<RowOrder>& order) {
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    const CompileCell &of_a = table.rows[a].cells[order->column], &of_b = table.rows[b].cells[order->column];
    return table.columns[order->column].is_number ? of_a.number < of_b.number : of_a.text < of_b.text;
  };
  if (order && order->column < table.columns.size()) return rows_in_order(table.rows.size(), *order, less);
  return rows_in_order(table.rows.size(), {}, [](std::uint32_t, std::uint32_t) { return false; });
}

std::string compile_csv(const CompileTable& table, const std::vector<std::uint32_t>& rows) {
  std::string out;
  for (const CompileColumn& column : table.columns) {
    std::string title = column.title;
    std::replace(title.begin(), title.end(), ' ', '_');
    out += (out.empty() ? "" : ",") + title + (column.is_time ? "_ns" : "");
  }
  out += '\n';
  for (const std::uint32_t row : rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const CompileCell& cell = table.rows[row].cells[c];
      if (c > 0) out += ',';
      if (table.columns[c].is_number)
        out += cell.number < 0 ? std::string() : std::to_string(cell.number);
      else if (cell.text != "-")
        out += csv_cell(cell.text);
    }
    out += '\n';
  }
  return out;
}

void arrange_compile(const Trace& trace, const std::shared_ptr<const CompileUse>& use, CompileState& state) {
  CompileState::Made& made = state.made;
  if (made.of != use || made.list != state.list) {
    if (made.list != state.list) state.order.reset();
    made = {use, state.list, compile_table(trace, *use, state.list), compile_summary(trace, *use)};
    made.rows = compile_rows(made.table, made.order);
    state.selected = -1;
    state.code = {};
  }
  if (made.order == state.order) return;
  made.order = state.order;
  made.rows = compile_rows(made.table, made.order);
}

}  // namespace gapscope
