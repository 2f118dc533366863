#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/analyze/memory/memory.h"
#include "core/base/table/cell_value.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/trace/program_kind.h"
#include "core/view/document.h"
#include "core/view/memory/held_memory.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kOperatorsShown = 20;  // in text; JSON holds all
constexpr std::size_t kHoldersShown = 10;    // likewise
constexpr std::size_t kLevelsShown = 100;    // of a stack, in text

// Negative when more was freed than the recording saw allocated.
std::string signed_bytes(std::int64_t bytes) { return display(bytes, Quantity::bytes); }

std::shared_ptr<const HeldMemory> held_at_peak(const Document& document, const MemoryDevice& d) {
  return answer(document, HeldQuestion{d.device_type, d.device, d.peak}, nullptr);
}

Json device_json(const Document& document, const MemoryDevice& d) {
  const Trace& trace = document.trace;
  Json json = {{"device", memory_device_name(d.device_type, d.device)},
               {"totals_stated", d.states_totals},
               {"allocations", d.allocations},
               {"frees", d.frees},
               {"out_of_memory", d.out_of_memory},
               {"peak_reserved_bytes", d.peak_reserved < 0 ? Json(nullptr) : Json(d.peak_reserved)},
               {"peak", nullptr},
               {"held_at_peak", nullptr}};
  if (d.points.empty()) return json;
  Json stack = Json::array();
  for (const SliceId s : d.peak_stack) stack.push_back(trace.name(s));
  json["peak"] = {
      {"time_ns", d.points[d.peak].time}, {"allocated_bytes", d.points[d.peak].allocated}, {"stack", std::move(stack)}};
  if (const auto held = held_at_peak(document, d); held->states_addresses) {
    const HeldRows table = held_rows(trace, *held);
    json["held_at_peak"] = json_of(table, first_rows(table, table.rows()));
  }
  return json;
}

// Indented by one column a level. Of a stack deeper than that the outer and the inner half, with a count of what is between.
void add_stack(std::string& out, const Trace& trace, const std::vector<SliceId>& stack) {
  const std::size_t left_out = stack.size() - std::min(stack.size(), kLevelsShown);
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (left_out > 0 && i == kLevelsShown / 2) {
      out += fmt::format("  {:>{}}... {} more\n", "", 2 + i, format_count(static_cast<std::int64_t>(left_out)));
      i += left_out;
    }
    const std::size_t level = i < kLevelsShown / 2 ? i : i - left_out;
    out += fmt::format("  {:>{}}{}\n", "", 2 + level, elide_middle(printable(trace.name(stack[i])), 90));
  }
}

std::string device_text(const Document& document, const MemoryDevice& d) {
  const Trace& trace = document.trace;
  std::string out =
      fmt::format("{}: {} allocations, {} frees", memory_device_name(d.device_type, d.device),
                  format_count(static_cast<std::int64_t>(d.allocations)), format_count(static_cast<std::int64_t>(d.frees)));
  if (d.out_of_memory > 0) out += fmt::format(", {} out of memory", d.out_of_memory);
  out += '\n';
  if (d.points.empty()) return out;
  out += fmt::format("  peak {} at {}{}\n", signed_bytes(d.points[d.peak].allocated),
                     format_duration(d.points[d.peak].time - trace.span.begin),
                     d.states_totals ? "" : " (counted from the start of the recording: the file states no totals)");
  if (d.peak_reserved >= 0) out += fmt::format("  reserved at most {}\n", signed_bytes(d.peak_reserved));
  add_stack(out, trace, d.peak_stack);
  if (const auto held = held_at_peak(document, d); held->states_addresses) {
    const HeldRows table = held_rows(trace, *held);
    out += "\n" + text_of(table, first_rows(table, kHoldersShown), "held at the peak by");
  }
  return out;
}

}  // namespace

std::string memory_report(const Document& document, const AnalysisOptions& options) {
  const Trace& trace = document.trace;
  const MemoryUse& use = document.analysis()->memory();
  const auto name_of = [&](const MemoryOperator& o) { return std::string(trace.strings[o.name]); };
  if (options.json) {
    Json json = {{"devices", Json::array()}, {"operators", Json::array()}};
    for (const MemoryDevice& d : use.devices) json["devices"].push_back(device_json(document, d));
    for (const MemoryOperator& o : use.operators)
      json["operators"].push_back({{"name", o.name ? Json(name_of(o)) : Json(nullptr)},
                                   {"device", memory_device_name(o.device_type, o.device)},
                                   {"allocations", o.allocations},
                                   {"allocated_bytes", o.allocated},
                                   {"frees", o.frees},
                                   {"freed_bytes", o.freed}});
    if (use.devices.empty()) json["missing"] = std::string(no_memory_words(trace));
    return json_text(with_doubts(std::move(json), document.session));
  }
  if (use.devices.empty()) return std::string(no_memory_words(trace)) + '\n';
  std::string out;
  for (const MemoryDevice& d : use.devices) out += (out.empty() ? "" : "\n") + device_text(document, d);
  out +=
      fmt::format("\n{:<48} {:>8} {:>12} {:>12} {:>12}\n", "operator (itself)", "device", "allocations", "allocated", "freed");
  for (std::size_t i = 0; i < std::min(kOperatorsShown, use.operators.size()); ++i) {
    const MemoryOperator& o = use.operators[i];
    out += fmt::format("{:<48} {:>8} {:>12} {:>12} {:>12}\n",
                       o.name ? elide_middle(printable(name_of(o)), 48) : "(outside every operator)",
                       memory_device_name(o.device_type, o.device), format_count(static_cast<std::int64_t>(o.allocations)),
                       signed_bytes(o.allocated), signed_bytes(o.freed));
  }
  return out;
}

}  // namespace gapscope
