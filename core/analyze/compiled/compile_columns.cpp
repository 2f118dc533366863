#include "core/analyze/compiled/compile_columns.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace gapscope {
namespace {

struct InUse {
  const Trace& trace;
  const CompileUse& use;
};
using Json = nlohmann::ordered_json;
using enum Quantity;

constexpr std::size_t kHashChars = 14;  // enough to find the folder

CellValue if_any(const std::string& text) { return text.empty() ? CellValue() : CellValue(std::string_view(text)); }
CellValue if_any(const InUse& of, StringId name) { return name ? CellValue(of.trace.strings[name]) : CellValue(); }
template <auto Member, class Row>
CellValue text_if_any(const InUse&, const Row& row) {
  return if_any(row.*Member);
}
template <auto Member, class Row>
CellValue name_if_any(const InUse& of, const Row& row) {
  return if_any(of, row.*Member);
}
template <auto Member, class Row>
void text_json(const InUse&, const Row& row, Json& out) {
  put_json(if_any(row.*Member), out);
}

template <class Row>
CellValue calls(const InUse&, const Row& row) {
  return row.slices.size();
}
template <auto Member, class Row>
CellValue of_work(const InUse&, const Row& row) {
  return row.work.*Member;
}
// "-" for none.
template <auto Time, class Row>
CellText time_text(const InUse& of, const Row& row) {
  const Ns time = *Time(of, row).template get<std::int64_t>();
  return time > 0 ? CellText{format_duration(time), format_duration_exact(time)} : CellText{"-", "", 0, true};
}

// Names, with commas between them or as a list of JSON.
std::vector<std::string_view> triton_kernels(const InUse& of, const CompiledGraph& graph) {
  std::vector<std::string_view> names;
  for (const std::uint32_t kernel : graph.kernels) names.push_back(of.trace.strings[of.use.kernels[kernel].name]);
  return names;
}
std::vector<std::string_view> between(const InUse& of, const SplitFunction& split) {
  std::vector<std::string_view> names;
  for (const StringId name : split.between_ops) names.push_back(of.trace.strings[name]);
  return names;
}
const std::vector<std::string>& fused(const InUse&, const FusedKernel& kernel) { return kernel.operators; }
template <auto Names, class Row>
CellValue listed(const InUse& of, const Row& row) {
  std::string text = fmt::format("{}", fmt::join(Names(of, row), ", "));
  return text.empty() ? CellValue() : CellValue(std::move(text));
}
template <auto Names, class Row>
void list_json(const InUse& of, const Row& row, Json& out) {
  out = Json(Names(of, row));
}

// ---- Pieces

using Region = CompiledRegion;
using RegionColumn = ColumnOf<Region, InUse>;
constexpr ColumnWays kJsonAlone{.in = kInJson};
constexpr RegionColumn kRegions[] = {
    RegionColumn("piece", "piece", "K/M: the K-th compiled function, in its M-th version. Both count from 0.", text,
                 text_if_any<&Region::id>, {.key = "id", .csv = "piece", .chars = 10}),
    RegionColumn("calls", "calls", "How often it ran.", count, calls<Region>, {.chars = 10}),
    RegionColumn("host", "host", "CPU time in it, without the compiled functions that it calls and without compiling them.", ns,
                 &field<&Region::host>),
    RegionColumn("gpu_pieces", "pieces", "Pieces of GPU work.", count, of_work<&CompiledWork::pieces, Region>, kJsonAlone),
    RegionColumn("gpu", "GPU", "GPU time of the work launched in it, but not in a compiled function inside it.", ns,
                 of_work<&CompiledWork::gpu, Region>, {.csv = "GPU_ns"}, time_text<of_work<&CompiledWork::gpu, Region>>),
    RegionColumn("kernels", "kernels", "Among that work.", count, of_work<&CompiledWork::kernels, Region>, {.chars = 10}),
    RegionColumn("guard_checks", "checks", "Guard checks that led to it.", count, &field<&Region::lookups>, kJsonAlone),
    RegionColumn("guard", "guards", "Time of the guard checks before it.", ns, &field<&Region::lookup_time>,
                 {.csv = "guards_ns"}, time_text<&field<&Region::lookup_time, InUse, Region>>),
    RegionColumn("compile", "compiling", "Time that Dynamo and Inductor worked on it in this recording.", ns,
                 &field<&Region::compile_time>, {.csv = "compiling_ns"},
                 time_text<&field<&Region::compile_time, InUse, Region>>),
    RegionColumn(
        "recompiled", "recompiled", "Whether it ran in more than one version.", flag,
        [](const InUse& of, const Region& row) -> CellValue { return of.use.is_recompiled(row); }, kJsonAlone),
    RegionColumn("frame", "code", "The Python frame whose code it is, where frames are recorded (with_stack=True).", text,
                 name_if_any<&Region::frame>, {.csv = "code", .chars = 0}),
    RegionColumn(
        "graphs", "graphs", "Called in it.", text, [](const InUse&, const Region&) -> CellValue { return {}; }, kJsonAlone,
        nullptr,
        [](const InUse& of, const Region& row, Json& out) {
          out = Json::array();
          for (const std::uint32_t graph : row.graphs) out.push_back(of.use.graphs[graph].hash);
        }),
};

// ---- Breaks

using Split = SplitFunction;
using BreakColumn = ColumnOf<Split, InUse>;
constexpr BreakColumn kBreaks[] = {
    BreakColumn("from", "from", "The compiled function that ended.", text, text_if_any<&Split::from>, {.chars = 10}),
    BreakColumn("to", "to", "The compiled function that Python called next.", text, text_if_any<&Split::to>, {.chars = 10}),
    BreakColumn("count", "times", "How often.", count, calls<Split>, {.csv = "times", .chars = 10}),
    BreakColumn(
        "between", "between",
        "Host time from the end of the first compiled function to the start of the second, without compiling the second.", ns,
        &field<&Split::between>),
    BreakColumn("frame", "frame", "The Python frame of what follows.", text, name_if_any<&Split::frame>, kJsonAlone),
    BreakColumn(
        "broke_at", "broke at",
        "The line after which the rest of the function is compiled separately, where frames are recorded.", text,
        [](const InUse& of, const Split& row) { return row.broke_at.empty() ? if_any(of, row.frame) : if_any(row.broke_at); },
        {.chars = 30}, nullptr, text_json<&Split::broke_at>),
    BreakColumn("operators_between", "operators between", "What ran uncompiled, at the first break.", text, listed<between>,
                {.chars = 0}, nullptr, list_json<between>),
};

// ---- Graphs

using Graph = CompiledGraph;
using GraphColumn = ColumnOf<Graph, InUse>;
constexpr GraphColumn kGraphs[] = {
    GraphColumn(
        "hash", "graph", "The first characters of its hash, its key in Inductor's cache.", text,
        [](const InUse&, const Graph& row) -> CellValue { return row.hash.substr(0, kHashChars); },
        {.csv = "graph", .chars = 15}, nullptr, [](const InUse&, const Graph& row, Json& out) { out = row.hash; }),
    GraphColumn("calls", "calls", "How often it ran.", count, calls<Graph>, {.chars = 10}),
    GraphColumn("host", "host", "CPU time in it.", ns, &field<&Graph::host>),
    GraphColumn("gpu_pieces", "pieces", "Pieces of GPU work.", count, of_work<&CompiledWork::pieces, Graph>, kJsonAlone),
    GraphColumn("gpu", "GPU", "Of the work launched in it.", ns, of_work<&CompiledWork::gpu, Graph>, {.csv = "GPU_ns"},
                time_text<of_work<&CompiledWork::gpu, Graph>>),
    GraphColumn("kernels", "kernels", "Among that work.", count, of_work<&CompiledWork::kernels, Graph>, {.chars = 10}),
    GraphColumn("triton_kernels", "Triton kernels", "That Inductor generated for it.", text, listed<triton_kernels>,
                {.csv = "Triton_kernels", .chars = 30}, nullptr, list_json<triton_kernels>),
    GraphColumn(
        "code", "generated code", "As a Python frame names it (with_stack=True). Otherwise its folder in Inductor's cache.",
        text, [](const InUse&, const Graph& row) { return if_any(row.code.empty() ? row.cache_entry : row.code); },
        {.csv = "generated_code", .chars = 0}, nullptr, text_json<&Graph::code>),
    GraphColumn("cache_entry", "cache entry", "Its folder in Inductor's cache.", text, text_if_any<&Graph::cache_entry>,
                kJsonAlone),
};

// ---- Triton kernels

using Kernel = FusedKernel;
using KernelColumn = ColumnOf<Kernel, InUse>;
constexpr KernelColumn kKernels[] = {
    KernelColumn("name", "kernel", "Its name; a click walks along its launches and kernels.", text, name_if_any<&Kernel::name>,
                 {.csv = "kernel", .chars = 30}),
    KernelColumn("count", "launches", "Kernels of this name.", count, calls<Kernel>, {.csv = "launches", .chars = 10}),
    KernelColumn("gpu", "GPU", "Their time.", ns, &field<&Kernel::gpu>, {.csv = "GPU_ns"}),
    KernelColumn("operators", "fused operators", "According to its name.", text, listed<fused>,
                 {.csv = "fused_operators", .chars = 24}, nullptr, list_json<fused>),
    KernelColumn(
        "launched_by_name", "by name", "Operators of its name that launched it.", count,
        [](const InUse&, const Kernel& row) -> CellValue { return row.launches.size(); }, kJsonAlone),
    KernelColumn("code", "generated code", "As an arg of its operator names it (record_shapes=True).", text,
                 text_if_any<&Kernel::code>, {.csv = "generated_code", .chars = 0}),
};

// ---- Compilations

using CompilationColumn = ColumnOf<Compilation, InUse>;
constexpr CompilationColumn kCompilations[] = {
    CompilationColumn("name", "what", "The outermost slice of Dynamo, AOTAutograd or Inductor at work.", text,
                      [](const InUse& of, const Compilation& row) -> CellValue { return of.trace.name(row.slice); },
                      {.csv = "what", .chars = 30}),
    CompilationColumn("id", "piece", "For which it worked, where it says so.", text, text_if_any<&Compilation::id>,
                      {.csv = "piece", .chars = 8}),
    CompilationColumn("dur", "time", "How long.", ns,
                      [](const InUse& of, const Compilation& row) -> CellValue { return of.trace.duration(row.slice); },
                      {.csv = "time_ns"}),
    CompilationColumn(
        "ts", "begin", "After the trace's begin.", ns,
        [](const InUse& of, const Compilation& row) -> CellValue { return of.trace.begin(row.slice) - of.trace.span.begin; },
        {.key = "ts", .csv = "begin_ns", .chars = 0}, nullptr,
        [](const InUse& of, const Compilation& row, Json& out) { out = of.trace.begin(row.slice); }),
};

template <class Row, std::size_t N>
std::unique_ptr<TableRows> made(const ColumnOf<Row, InUse> (&columns)[N], const InUse& of, const std::vector<Row>& rows) {
  return std::make_unique<ListRows<Row, InUse>>(table_of(columns, of, rows));
}

}  // namespace

const char* compile_title(CompileList list) {
  switch (list) {
    case CompileList::breaks: return "Graph breaks";
    case CompileList::graphs: return "Compiled graphs";
    case CompileList::kernels: return "Triton kernels of Inductor";
    case CompileList::compilations: return "Compiled in this recording";
    default: return "Compiled functions";
  }
}

std::unique_ptr<TableRows> compile_table(const Trace& trace, const CompileUse& use, CompileList list) {
  const InUse of{trace, use};
  switch (list) {
    case CompileList::breaks: return made(kBreaks, of, use.breaks);
    case CompileList::graphs: return made(kGraphs, of, use.graphs);
    case CompileList::kernels: return made(kKernels, of, use.kernels);
    case CompileList::compilations: return made(kCompilations, of, use.compilations);
    default: return made(kRegions, of, use.regions);
  }
}

CompiledThing thing_of_row(const Trace& trace, const CompileUse& use, CompileList list, std::size_t row) {
  switch (list) {
    case CompileList::breaks: return {use.breaks[row].from, use.breaks[row].slices, {}};
    case CompileList::graphs: return {use.graphs[row].hash.substr(0, kHashChars), use.graphs[row].slices, use.graphs[row].code};
    case CompileList::compilations:
      return {std::string(trace.name(use.compilations[row].slice)), {use.compilations[row].slice}, {}};
    case CompileList::kernels: {
      const FusedKernel& k = use.kernels[row];
      std::vector<SliceId> slices = k.launches;
      slices.insert(slices.end(), k.slices.begin(), k.slices.end());
      std::stable_sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); });
      return {std::string(trace.strings[k.name]), std::move(slices), k.code};
    }
    default: return {use.regions[row].id, use.regions[row].slices, {}};
  }
}

}  // namespace gapscope
