#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "core/base/text.h"
#include "core/view/compile/compile_model.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsShown = 30;
constexpr std::size_t kCellChars = 60;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json name_or_null(const Trace& trace, StringId name) { return name ? Json(trace.strings[name]) : Json(nullptr); }

Json work_json(const CompiledWork& work) {
  return {{"gpu_pieces", work.pieces}, {"kernels", work.kernels}, {"gpu_ns", work.gpu}};
}

Json region_json(const Trace& trace, const CompileUse& use, const CompiledRegion& region) {
  Json out = {{"id", region.id}, {"calls", region.slices.size()}, {"host_ns", region.host}};
  out.update(work_json(region.work));
  out.update({{"guard_checks", region.lookups},
              {"guard_ns", region.lookup_time},
              {"compile_ns", region.compile_time},
              {"recompiled", use.is_recompiled(region)},
              {"frame", name_or_null(trace, region.frame)},
              {"graphs", Json::array()}});
  for (const std::uint32_t graph : region.graphs) out["graphs"].push_back(use.graphs[graph].hash);
  return out;
}

Json graph_json(const Trace& trace, const CompileUse& use, const CompiledGraph& graph) {
  Json out = {{"hash", graph.hash}, {"calls", graph.slices.size()}, {"host_ns", graph.host}};
  out.update(work_json(graph.work));
  out.update({{"code", text_or_null(graph.code)},
              {"cache_entry", text_or_null(graph.cache_entry)},
              {"triton_kernels", Json::array()}});
  for (const std::uint32_t kernel : graph.kernels) out["triton_kernels"].push_back(trace.strings[use.kernels[kernel].name]);
  return out;
}

Json kernel_json(const Trace& trace, const FusedKernel& kernel) {
  return {{"name", trace.strings[kernel.name]},         {"operators", kernel.operators}, {"count", kernel.slices.size()},
          {"launched_by_name", kernel.launches.size()}, {"gpu_ns", kernel.gpu},          {"code", text_or_null(kernel.code)}};
}

Json break_json(const Trace& trace, const SplitFunction& split) {
  Json out = {{"from", split.from},
              {"to", split.to},
              {"count", split.slices.size()},
              {"between_ns", split.between},
              {"frame", name_or_null(trace, split.frame)},
              {"broke_at", text_or_null(split.broke_at)},
              {"operators_between", Json::array()}};
  for (const StringId name : split.between_ops) out["operators_between"].push_back(trace.strings[name]);
  return out;
}

Json compilation_json(const Trace& trace, const Compilation& compilation) {
  return {{"name", trace.name(compilation.slice)},
          {"id", text_or_null(compilation.id)},
          {"ts", trace.begin(compilation.slice)},
          {"dur_ns", trace.duration(compilation.slice)}};
}

std::string use_json(const Trace& trace, const CompileUse& use) {
  const GuardChecks& guards = use.guards;
  Json json = {{"guard_checks",
                {{"count", guards.slices.size()},
                 {"ns", guards.time},
                 {"hits", guards.hits},
                 {"compiled_next", guards.compiled},
                 {"neither", guards.other}}},
               {"compile_ns", use.compile_time},
               {"in_regions", work_json(use.in_regions)},
               {"in_graphs", work_json(use.in_graphs)},
               {"regions", Json::array()},
               {"breaks", Json::array()},
               {"graphs", Json::array()},
               {"triton_kernels", Json::array()},
               {"compilations", Json::array()}};
  for (const CompiledRegion& region : use.regions) json["regions"].push_back(region_json(trace, use, region));
  for (const SplitFunction& split : use.breaks) json["breaks"].push_back(break_json(trace, split));
  for (const CompiledGraph& graph : use.graphs) json["graphs"].push_back(graph_json(trace, use, graph));
  for (const FusedKernel& kernel : use.kernels) json["triton_kernels"].push_back(kernel_json(trace, kernel));
  for (const Compilation& c : use.compilations) json["compilations"].push_back(compilation_json(trace, c));
  return json_text(json);
}

// Columns as wide as their widest cell; words at the left, numbers at the right.
std::string table_text(const CompileTable& table) {
  if (table.rows.empty()) return {};
  // The last column is whole: it may be a path to copy.
  const auto shown = [&](const CompileRow& row, std::size_t c) {
    return c + 1 < table.columns.size() ? elide_middle(printable(row.cells[c].text), kCellChars) : printable(row.cells[c].text);
  };
  const std::size_t told = std::min(kRowsShown, table.rows.size());
  std::vector<std::size_t> width;
  for (const CompileColumn& column : table.columns) width.push_back(utf8_length(column.title));
  for (std::size_t r = 0; r < told; ++r)
    for (std::size_t c = 0; c < width.size(); ++c) width[c] = std::max(width[c], utf8_length(shown(table.rows[r], c)));
  const auto line = [&](const auto& cell_of) {
    std::string out = " ";
    for (std::size_t c = 0; c < width.size(); ++c) {
      const std::string cell = cell_of(c), space(width[c] - utf8_length(cell), ' ');
      out += ' ' + (table.columns[c].is_number ? space + cell : cell + space);
    }
    return out.erase(out.find_last_not_of(' ') + 1) + '\n';
  };
  std::string out =
      fmt::format("\n{}\n", table.title) + line([&](std::size_t c) { return std::string(table.columns[c].title); });
  for (std::size_t r = 0; r < told; ++r) out += line([&](std::size_t c) { return shown(table.rows[r], c); });
  if (table.rows.size() > told) out += fmt::format("  and {} more: --json has all\n", table.rows.size() - told);
  return out;
}

}  // namespace

std::string compile_report(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const AnalysisOptions& options) {
  const CompileUse use = compile_use(trace, lanes, links, gpu_ops(trace, links), args_of_file(trace));
  if (options.json) return use_json(trace, use);
  std::string out;
  for (const std::string& sentence : compile_summary(trace, use)) out += printable(sentence) + '\n';
  for (const CompileList list : kCompileLists) out += table_text(compile_table(trace, use, list));
  return out;
}

}  // namespace gapscope
