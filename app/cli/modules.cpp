#include "app/cli/modules.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/analyze/modules/modules.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/view/modules/modules_model.h"
#include "core/view/modules/modules_words.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsShown = 40;
constexpr std::size_t kTreeRowsShown = 200;
constexpr std::size_t kNameChars = 48;
constexpr std::uint32_t kMostIndent = 24;

Json totals_json(const ModuleTotals& t) {
  return {{"calls", t.calls},
          {"host_ns", t.host},
          {"forward_gpu_ns", t.forward},
          {"backward_gpu_ns", t.backward},
          {"self_forward_gpu_ns", t.self_forward},
          {"self_backward_gpu_ns", t.self_backward},
          {"kernels", t.kernels}};
}

Json row_json(const ModuleUse& use, const ModuleRow& row) {
  Json out = {{"name", row.name}, {"class", row.class_name}, {"parents", Json::array()}};
  for (const std::uint32_t parent : row.parents) out["parents"].push_back(use.rows[parent].name);
  out.update(totals_json(row.totals));
  return out;
}

// The tree as a list, parents first: nested JSON of thousands of levels is more than most readers take.
Json tree_json(const ModuleUse& use) {
  Json out = Json::array();
  for (const ModuleNode& node : use.tree) {
    Json one = {{"name", use.rows[node.row].name},
                {"parent", node.parent == ModuleNode::kNoParent ? Json(nullptr) : Json(node.parent)},
                {"depth", node.depth}};
    one.update(totals_json(node.totals));
    out.push_back(std::move(one));
  }
  return out;
}

// Of the modules whose operators' shapes tell their work.
Json rates_json(const ModuleUse& use) {
  Json out = Json::array();
  for (const ModuleRow& row : use.rows)
    if (row.totals.flops_time > 0)
      out.push_back({{"name", row.name}, {"flops", row.totals.flops}, {"flops_gpu_ns", row.totals.flops_time}});
  return out;
}

// Of all allocations of GPU memory, and of the modules that asked for some; null where none is recorded.
Json memory_json(const ModuleUse& use) {
  const AllocatedMemory& m = use.memory;
  if (m.allocations == 0) return nullptr;
  const auto peak = [&](std::int64_t bytes) { return m.knows_peak ? Json(bytes) : Json(nullptr); };
  Json out = {{"allocated_bytes", m.bytes},
              {"at_peak_bytes", peak(m.at_peak)},
              {"outside_allocated_bytes", m.outside_bytes},
              {"outside_at_peak_bytes", peak(m.outside_at_peak)},
              {"modules", Json::array()}};
  for (const ModuleRow& row : use.rows)
    if (row.totals.allocated > 0)
      out["modules"].push_back(
          {{"name", row.name}, {"allocated_bytes", row.totals.allocated}, {"at_peak_bytes", peak(row.totals.at_peak)}});
  return out;
}

std::string use_json(const ModuleUse& use, const ModulesOptions& options) {
  Json json = {{"regions", region_kind_key(use.kind)}, {"modules", Json::array()}};
  for (const ModuleRow& row : use.rows) json["modules"].push_back(row_json(use, row));
  if (options.by_class) json["classes"] = Json::array();
  for (std::size_t c = 0; c < use.classes.size() && options.by_class; ++c) {
    Json one = {{"class", use.classes[c].name}, {"instances", use.classes[c].instances}};
    one.update(totals_json(use.classes[c].totals));
    json["classes"].push_back(std::move(one));
  }
  if (options.tree) json["tree"] = tree_json(use);
  json["rates"] = rates_json(use);
  json["memory"] = memory_json(use);
  json["outside"] = {{"forward", use.outside_forward}, {"backward", use.outside_backward}};
  json["linked_gpu_ns"] = use.linked;
  if (use.graphs.pieces > 0)
    json["cuda_graphs"] = {{"pieces", use.graphs.pieces},
                           {"gpu_ns", use.graphs.time},
                           {"captured_pieces", use.graphs.told},
                           {"captured_gpu_ns", use.graphs.told_time}};
  if (const std::string missing = missing_modules(use); !missing.empty()) json["missing"] = missing;
  return json_text(json);
}

std::string bytes(std::int64_t n) { return n > 0 ? format_bytes(static_cast<std::uint64_t>(n)) : "-"; }

std::string head(const ModuleUse& use, std::string_view title) {
  std::string out = fmt::format("{:<{}} {:>7} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}", title, kNameChars, "calls",
                                "host", "GPU fwd.", "GPU bwd.", "self fwd.", "self bwd.", "of GPU", "kernels", "TFLOP/s");
  if (use.memory.allocations > 0) out += fmt::format(" {:>10}", "allocated");
  if (use.memory.knows_peak) out += fmt::format(" {:>10}", "at peak");
  return out + '\n';
}

std::string line(const ModuleUse& use, const std::string& name, const ModuleTotals& t) {
  const std::string shown = elide_middle(name, kNameChars);
  std::string out = fmt::format("{}{} {:>7} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}", shown,
                                std::string(kNameChars - utf8_length(shown), ' '), t.calls, format_duration(t.host),
                                format_duration(t.forward), format_duration(t.backward), format_duration(t.self_forward),
                                format_duration(t.self_backward), format_part(t.gpu(), use.linked), t.kernels,
                                t.flops_time > 0 ? fmt::format("{:.3g}", t.flops_per_second() / 1e12) : "-");
  if (use.memory.allocations > 0) out += fmt::format(" {:>10}", bytes(t.allocated));
  if (use.memory.knows_peak) out += fmt::format(" {:>10}", bytes(t.at_peak));
  return out + '\n';
}

std::string more(std::size_t rows, std::size_t told) {
  return rows > told ? fmt::format("and {} more: --json has all\n", rows - told) : std::string();
}

std::string instances_text(const ModuleUse& use) {
  std::string out = head(use, use.kind == RegionKind::modules ? "module" : "region");
  for (std::size_t r = 0; r < std::min(use.rows.size(), kRowsShown); ++r)
    out += line(use, printable(use.rows[r].name), use.rows[r].totals);
  return out + more(use.rows.size(), kRowsShown);
}

std::string classes_text(const ModuleUse& use) {
  std::string out = head(use, "class (instances)");
  for (std::size_t c = 0; c < std::min(use.classes.size(), kRowsShown); ++c)
    out += line(use, fmt::format("{} ({})", printable(use.classes[c].name), use.classes[c].instances), use.classes[c].totals);
  return out + more(use.classes.size(), kRowsShown);
}

std::string tree_text(const ModuleUse& use) {
  std::string out = head(use, use.kind == RegionKind::modules ? "module" : "region");
  for (std::size_t n = 0; n < std::min(use.tree.size(), kTreeRowsShown); ++n) {
    const ModuleNode& node = use.tree[n];
    out += line(use, std::string(std::min(2 * node.depth, kMostIndent), ' ') + printable(use.rows[node.row].name), node.totals);
  }
  return out + more(use.tree.size(), kTreeRowsShown);
}

// What stands below the table: the rest of the GPU's work, and what graphs hide.
std::string foot(const ModuleUse& use) {
  std::string out = fmt::format(
      "\n{} of GPU work was launched in this trace. Outside all of these: {} ({}) that the rest of the "
      "program launched, {} ({}) of the backward of operators outside them.\n",
      format_duration(use.linked), format_duration(use.outside_forward), format_part(use.outside_forward, use.linked),
      format_duration(use.outside_backward), format_part(use.outside_backward, use.linked));
  if (const AllocatedMemory& m = use.memory; m.allocations > 0) {
    out += fmt::format("{} of GPU memory was asked for in this trace, {} of it outside all of these.", bytes(m.bytes),
                       m.outside_bytes > 0 ? bytes(m.outside_bytes) : "none");
    if (m.knows_peak)
      out += fmt::format(" {} of it was in use at the peak; \"at peak\" is each one's part in that.", bytes(m.at_peak));
    out += '\n';
  }
  const ReplayedWork& g = use.graphs;
  if (g.told > 0)
    out += fmt::format("{} of it ran in CUDA graphs and is given to what captured it.\n", format_duration(g.told_time));
  if (g.told < g.pieces)
    out += fmt::format(
        "{} of it ran in CUDA graphs whose capture is not known: it counts where the graph was launched. Record the capture "
        "too "
        "and name it with --capture.\n",
        format_duration(g.time - g.told_time));
  if (const std::string missing = missing_figures(use); !missing.empty()) out += missing + '\n';
  return out;
}

std::string use_text(const ModuleUse& use, const ModulesOptions& options) {
  const std::string missing = missing_modules(use);
  std::string out = missing.empty() ? "" : missing + "\n";
  if (use.rows.empty()) return out;
  if (!out.empty()) out += '\n';
  out += options.tree ? tree_text(use) : options.by_class ? classes_text(use) : instances_text(use);
  return out + (use.linked > 0 ? foot(use)
                               : "\nNo GPU work with its launch is in this trace: record with "
                                 "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA].\n");
}

}  // namespace

int modules(const ModulesOptions& options) {
  const std::shared_ptr<const Trace> trace = load_or_say_why(options.trace);
  if (!trace) return kBadInput;
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const ModuleUse use = module_use(*trace, links, gpu_ops(*trace, links));
  return print(options.json ? use_json(use, options) : use_text(use, options));
}

}  // namespace gapscope
