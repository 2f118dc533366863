#include "app/cli/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/ncu_command/ncu_command.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;
using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kNameChars = 60;
constexpr std::size_t kOperatorChars = 28;

Json extent_json(const Extent& extent) {
  if (extent.empty()) return nullptr;
  return {{"min", extent.min}, {"max", extent.max}};
}

// Every launch shape with how often it occurs.
Json shapes_json(const KernelRow& row, std::array<std::uint32_t, 3> ShapeCount::*what) {
  std::vector<std::pair<std::array<std::uint32_t, 3>, std::uint64_t>> sums;
  for (const ShapeCount& shape : row.shapes) {
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.first == shape.*what; });
    if (same == sums.end())
      sums.emplace_back(shape.*what, shape.count);
    else
      same->second += shape.count;
  }
  Json list = Json::array();
  for (const auto& [size, count] : sums) list.push_back({{"size", size}, {"count", count}});
  return list;
}

Json operators_json(const Trace& trace, const KernelRow& row) {
  Json list = Json::array();
  for (const LaunchingOp& op : row.operators)
    list.push_back({{"name", op.name ? Json(trace.strings[op.name]) : Json(nullptr)}, {"count", op.count}});
  return list;
}

std::optional<Occupancy> occupancy_of(const Trace& trace, const GpuRow& gpu) {
  const DeviceProperties* device = trace.device(gpu.device);
  const auto sm = device && gpu.has_launch_config() ? sm_limits(*device) : std::nullopt;
  return sm ? occupancy(*sm, needs_of(gpu)) : std::nullopt;
}

// Of the row's first launch shape.
Json occupancy_json(const Trace& trace, const KernelRow& row) {
  const std::optional<Occupancy> fit = occupancy_of(trace, row.example);
  Json out = {{"theoretical_percent", nullptr}, {"limiters", Json::array()}, {"stated_percent", nullptr}};
  if (row.example.occupancy_percent >= 0) out["stated_percent"] = row.example.occupancy_percent;
  if (!fit) return out;
  out["theoretical_percent"] = 100 * fit->theoretical;
  for (const Limiter limiter : {kByWarps, kByRegisters, kBySharedMemory, kByBlocks})
    if (fit->limiters & limiter) out["limiters"].push_back(limiter_text(limiter));
  out["active_blocks"] = fit->active_blocks;
  out["active_warps"] = fit->active_warps;
  const auto sm = sm_limits(*trace.device(row.example.device));
  if (const auto achieved = achieved_percent(*sm, needs_of(row.example), grid_blocks(row.example), OccupancyRule::true_value))
    out["achieved_percent"] = *achieved;
  return out;
}

Json decoded_json(const KernelName& name) {
  Json out = {{"short_name", name.short_name}};
  for (const KernelFieldValue& field : decoded_fields(name)) {
    if (field.field == KernelField::kind || field.field == KernelField::family) continue;  // stand beside this object
    if (field.field == KernelField::fused)
      out[std::string(field_key(field.field))] = name.fused;
    else if (field.field == KernelField::tensor_core)
      out[std::string(field_key(field.field))] = *name.tensor_core;
    else
      out[std::string(field_key(field.field))] = field.value;
  }
  return out;
}

Json row_json(const Trace& trace, const NcuCommands& commands, const KernelRow& row) {
  const std::optional<NcuCommand> ncu = commands.of(row.longest);
  return {{"name", trace.strings[row.name]},
          {"kind", kernel_kind_name(row.decoded.kind)},
          {"family", row.decoded.family},
          {"count", row.count},
          {"total_ns", row.total},
          {"mean_ns", row.mean},
          {"min_ns", row.min},
          {"median_ns", row.median},
          {"p95_ns", row.p95},
          {"max_ns", row.max},
          {"cv", row.cv},
          {"share", row.share},
          {"registers", extent_json(row.registers)},
          {"shared_memory", extent_json(row.shared_memory)},
          {"grids", shapes_json(row, &ShapeCount::grid)},
          {"blocks", shapes_json(row, &ShapeCount::block)},
          {"other_shapes", row.other_shapes},
          {"operators", operators_json(trace, row)},
          {"occupancy", occupancy_json(trace, row)},
          {"ncu", ncu ? Json(ncu->command) : Json(nullptr)},
          {"decoded", decoded_json(row.decoded)}};
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out = elide_middle(printable(text), width);
  out.append(width - std::min(width, utf8_length(out)), ' ');
  return out;
}

std::string count_text(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }

std::string operator_text(const Trace& trace, const KernelRow& row) {
  const LaunchingOp& most = row.operators.front();
  std::string text = most.name ? std::string(trace.strings[most.name]) : "not in this trace";
  if (row.operators.size() > 1) text += " +" + std::to_string(row.operators.size() - 1);
  return elide_middle(printable(text), kOperatorChars);
}

std::string occupancy_text(const Trace& trace, const KernelRow& row) {
  const auto fit = occupancy_of(trace, row.example);
  return fit ? format_percent(fit->theoretical) : "-";
}

std::string kernels_text(const Trace& trace, const KernelTable& table, std::size_t limit) {
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "{} {:<13} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6} {:>7} {:>8}  {}\n", padded("name", kNameChars),
                 "kind", "count", "total", "mean", "min", "median", "p95", "max", "cv", "share", "occup.", "launched by");
  const std::size_t shown = std::min(limit, table.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelRow& r = table.rows[i];
    fmt::format_to(out, "{} {:<13} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6.2f} {:>7} {:>8}  {}\n",
                   padded(r.decoded.short_name, kNameChars), kernel_kind_name(r.decoded.kind), count_text(r.count),
                   format_duration(r.total), format_duration(static_cast<Ns>(r.mean + 0.5)), format_duration(r.min),
                   format_duration(r.median), format_duration(r.p95), format_duration(r.max), r.cv, format_percent(r.share),
                   occupancy_text(trace, r), operator_text(trace, r));
  }
  fmt::format_to(out, "{} name{}, {} slices, {} of GPU work in all", table.rows.size(), table.rows.size() == 1 ? "" : "s",
                 count_text(table.count), format_duration(table.total));
  if (shown < table.rows.size()) fmt::format_to(out, "; {} names are not shown", table.rows.size() - shown);
  text += "\n";
  return text;
}

}  // namespace

std::string no_kernels_sentence(const KernelTable& table) {
  if (table.trace_has_gpu_work) return "No GPU work begins in that range.";
  return "This trace holds no GPU work. Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA].";
}

std::string kernels_json(const Trace& trace, const LinkIndex& links, const KernelTable& table, std::size_t limit) {
  const NcuCommands commands(trace, gpu_ops(trace, links));
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(limit, table.rows.size()); ++i) list.push_back(row_json(trace, commands, table.rows[i]));
  return json_text(list);
}

int kernels(const KernelsOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  KernelTable table = kernel_table(trace, links, options.range);
  sort_rows(table, options.sort);
  std::string text;
  if (options.json)
    text = kernels_json(trace, links, table, options.limit);
  else
    text = table.rows.empty() ? no_kernels_sentence(table) + '\n' : kernels_text(trace, table, options.limit);
  return print(text);
}

}  // namespace gapscope
