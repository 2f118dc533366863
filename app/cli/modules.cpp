// `gapscope modules TRACE [--by class|instance] [--tree] [--json]`: GPU time by nn.Module on stdout.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "app/cli/subcommands.h"
#include "core/analyze/modules/module_columns.h"
#include "core/base/phrase.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/session/trace_session.h"
#include "core/view/modules/modules_model.h"

namespace gapscope {
namespace {

struct ModulesOptions {
  std::string trace;  // "-" is standard input
  bool by_class = false;
  bool tree = false;
  bool json = false;
};

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsShown = 40;
constexpr std::size_t kTreeRowsShown = 200;

Json rows_json(const ModuleUse& use, ModuleList list) {
  const ModuleRows rows = module_rows(use, list);
  return json_of(rows, first_rows(rows, rows.rows()));
}

// Of the modules whose operators' shapes show their work.
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

std::string use_json(const TraceSession& session, const ModuleUse& use, const ModulesOptions& options) {
  Json json = {{"regions", region_kind_key(use.kind)}, {"modules", rows_json(use, ModuleList::instances)}};
  if (options.by_class) json["classes"] = rows_json(use, ModuleList::classes);
  if (options.tree) json["tree"] = rows_json(use, ModuleList::tree);  // a list: few readers take JSON of thousands of levels
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
  return json_text(with_doubts(std::move(json), session));
}

std::string bytes(std::int64_t n) { return n > 0 ? format_bytes(static_cast<std::uint64_t>(n)) : "-"; }

std::string table_text(const ModuleUse& use, const ModulesOptions& options) {
  const ModuleList list = options.tree ? ModuleList::tree : options.by_class ? ModuleList::classes : ModuleList::instances;
  const std::size_t most = options.tree ? kTreeRowsShown : kRowsShown;
  const ModuleRows rows = module_rows(use, list);
  std::string out = text_of(rows, first_rows(rows, most),
                            options.by_class                  ? "class (instances)"
                            : use.kind == RegionKind::modules ? "module"
                                                              : "region");
  if (rows.rows() > most) out += fmt::format("and {} more: --json has all\n", rows.rows() - most);
  return out;
}

// What is below the table: the rest of the GPU's work, and what graphs hide.
std::string foot(const ModuleUse& use) {
  std::string out = fmt::format(
      "\n{} of GPU work was launched in this trace. Outside all of these: {} ({}) that the rest of the "
      "program launched, {} ({}) of the backward of operators outside them.\n",
      format_duration(use.linked), format_duration(use.outside_forward), format_part(use.outside_forward, use.linked),
      format_duration(use.outside_backward), format_part(use.outside_backward, use.linked));
  if (const AllocatedMemory& m = use.memory; m.allocations > 0) {
    out += fmt::format("{} of GPU memory was requested in this trace, {} of it outside all of these.", bytes(m.bytes),
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

std::string use_text(const Trace& trace, const ModuleUse& use, const ModulesOptions& options) {
  const std::string missing = missing_modules(use);
  std::string out = missing.empty() ? "" : missing + "\n";
  if (use.rows.empty()) return out;
  if (!out.empty()) out += '\n';
  out += table_text(use, options);
  return out + (use.linked > 0 ? foot(use)
                               : fmt::format("\nNo GPU work with its launch is in this trace: record with {}.\n",
                                             trace.producer->gpu_work));
}

int modules(const ModulesOptions& options) {
  const std::shared_ptr<const Trace> trace = load_or_say_why(options.trace);
  if (!trace) return kBadInput;
  const TraceSession session(trace);
  const ModuleUse use = module_use(*trace, session.ops(), session.work());
  return print(options.json ? use_json(session, use, options) : doubts_line(session) + use_text(*trace, use, options));
}

}  // namespace

std::function<int()> declare_modules(CLI::App& arguments) {
  auto options = std::make_shared<ModulesOptions>();
  add_trace(arguments, options->trace);
  add_roofs(arguments);
  auto* by = arguments
                 .add_option_function<std::string>(
                     "--by", [options](const std::string& word) { options->by_class = word == "class"; },
                     "one row an instance (Linear_3), or one a class (Linear)")
                 ->check(CLI::IsMember({"class", "instance"}))
                 ->default_str("instance");
  arguments.add_flag("--tree", options->tree, "modules under the modules that call them")->excludes(by);
  arguments.add_flag("--json", options->json, "print JSON: nanoseconds");
  return [options] { return modules(*options); };
}

}  // namespace gapscope
