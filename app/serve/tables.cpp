#include "app/serve/tables.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include "app/serve/html_table.h"
#include "core/base/parse_json.h"
#include "core/base/text.h"
#include "core/view/overview/html.h"

namespace gapscope::cells {
namespace {

std::string paragraph(const Json& text, std::string_view of_class) {
  if (!text.is_string() || text.get_ref<const std::string&>().empty()) return {};
  return fmt::format("<p class=\"{}\">{}</p>\n", of_class, html_text(text.get_ref<const std::string&>()));
}

// What the plan names first, in its order; the others as they come.
std::vector<const Json*> in_order_of_plan(const Json& json) {
  std::vector<std::string> planned;
  for (const Json& item : at(at(json, "plan"), "items")) planned.push_back(words(at(item, "rule")).text);
  std::vector<const Json*> out;
  for (const Json& finding : at(json, "findings")) out.push_back(&finding);
  const auto turn = [&](const Json* f) { return std::find(planned.begin(), planned.end(), words(at(*f, "rule")).text); };
  std::stable_sort(out.begin(), out.end(), [&](const Json* a, const Json* b) { return turn(a) < turn(b); });
  return out;
}

std::string findings_of(const Json& json) {
  HtmlTable table({}, {{"Finding", kName},
                       {"Severity", kWords},
                       {"Costs"},
                       {"Gain", kText},
                       {"Where", kText},
                       {"What", kText},
                       {"Remedy", kText}});
  // What another finding owns costs nothing of its own.
  const auto cost = [](const Json& ns) { return ns == 0 ? Cell{} : duration(ns); };
  for (const Json* f : in_order_of_plan(json))
    table.row({words(at(*f, "title")), words(at(*f, "severity")), cost(at(*f, "cost_ns")), words(at(at(*f, "gain"), "words")),
               place(at(*f, "where")), words(at(*f, "summary")), words(at(*f, "remedy"))});
  return paragraph(at(json, "verdict"), "lead") + paragraph(at(json, "trust"), "soft") + table.html();
}

std::string kernels_of(const Json& json) {
  HtmlTable table({}, {{"Kernel", kName},
                       {"Kind", kWords},
                       {"Calls"},
                       {"Total"},
                       {"Share"},
                       {"Mean"},
                       {"Median"},
                       {"Longest"},
                       {"Operator", kWords},
                       {"Python", kWords}});
  for (const Json& k : json) {
    const Json& operators = at(k, "operators");
    const Json& first = operators.is_array() && !operators.empty() ? at(operators.front(), "name") : at({}, "");
    table.row({words(at(k, "name")), words(at(k, "kind")), count(at(k, "count")), duration(at(k, "total_ns")),
               share(at(k, "share")), duration(at(k, "mean_ns")), duration(at(k, "median_ns")), duration(at(k, "max_ns")),
               words(first), words(at(k, "python"))});
  }
  return table.html();
}

// Of sql: rows without keys, in the order of the query.
std::string gaps_of(const Json& json) {
  HtmlTable table({}, {{"GPU"},
                       {"Begin"},
                       {"Length"},
                       {"Main cause", kWords},
                       {"Ended by", kName},
                       {"Operators"},
                       {"Python"},
                       {"Launch calls"},
                       {"Launch latency"},
                       {"Sync"},
                       {"Data loading"}});
  for (const Json& r : at(json, "rows")) {
    if (!r.is_array() || r.size() != 11) continue;
    std::vector<Cell> cells = {count(r[0]), duration(r[1]), duration(r[2]), key_words(words(r[3]).text), words(r[4])};
    for (std::size_t i = 5; i < 11; ++i) cells.push_back(duration(r[i]));
    table.row(cells);
  }
  return table.html();
}

std::string modules_of(const Json& json) {
  HtmlTable table({}, {{"Module", kName},
                       {"Class", kWords},
                       {"Calls"},
                       {"Kernels"},
                       {"GPU forward"},
                       {"Share"},
                       {"GPU backward"},
                       {"Own forward"},
                       {"Own backward"},
                       {"Host"}});
  for (const Json& m : at(json, "modules"))
    table.row({words(at(m, "name")), words(at(m, "class")), count(at(m, "calls")), count(at(m, "kernels")),
               duration(at(m, "forward_gpu_ns")), share(at(m, "forward_gpu_ns"), at(json, "linked_gpu_ns")),
               duration(at(m, "backward_gpu_ns")), duration(at(m, "self_forward_gpu_ns")),
               duration(at(m, "self_backward_gpu_ns")), duration(at(m, "host_ns"))});
  return paragraph(at(json, "missing"), "soft") + table.html();
}

std::string steps_of(const Json& json) {
  HtmlTable table({}, {{"Step", kName},
                       {"Length"},
                       {"GPU"},
                       {"Kernels"},
                       {"Launches"},
                       {"Kernel time"},
                       {"Communication"},
                       {"Copies"},
                       {"CUDA calls"},
                       {"Data loading"},
                       {"CPU"},
                       {"Other"}});
  for (const Json& s : at(json, "steps")) {
    const Json& parts = at(s, "breakdown");
    table.row({words(at(s, "name")), duration(at(s, "duration_ns")), duration(at(s, "gpu_ns")), count(at(s, "kernels")),
               count(at(s, "launches")), duration(at(parts, "kernel_ns")), duration(at(parts, "communication_ns")),
               duration(at(parts, "memcpy_ns")), duration(at(parts, "runtime_ns")), duration(at(parts, "data_loader_ns")),
               duration(at(parts, "cpu_exec_ns")), duration(at(parts, "other_ns"))});
  }
  return paragraph(at(json, "remarks"), "soft") + table.html();
}

// What the host was in, the longest first.
std::string host_words(const Json& host) {
  std::string out;
  for (std::size_t i = 0; host.is_array() && i < std::min<std::size_t>(host.size(), 3); ++i) {
    const std::string name = words(at(host[i], "name")).text, python = words(at(host[i], "python")).text;
    out += (out.empty() ? "" : "; ") + duration(at(host[i], "ns")).text + ' ' +
           (name.empty() ? key_words(words(at(host[i], "cause")).text).text : elide_middle(name, 80)) +
           (python.empty() || python == name ? "" : " in " + elide_middle(python, 80));
  }
  return out;
}

// Of [begin, end].
Json length_of(const Json& window) {
  const bool is_window = window.is_array() && window.size() == 2 && window[0].is_number() && window[1].is_number();
  return is_window ? Json(window[1].get<double>() - window[0].get<double>()) : Json();
}

std::string why_of(const Json& json) {
  HtmlTable account("Account", {{"GPU"}, {"Time in", kName}, {"Time"}, {"Share"}});
  HtmlTable longest("Longest gaps",
                    {{"GPU"}, {"Length"}, {"Main cause", kWords}, {"Meanwhile the host was in", kText}, {"Ended by", kName}});
  HtmlTable steps("Steps", {{"GPU"}, {"Step", kName}, {"Length"}, {"Compute"}, {"Communication"}, {"Copies"}, {"Idle"}});
  for (const Json& d : at(json, "devices")) {
    const Cell gpu = count(at(d, "device"));
    const Json all = length_of(at(d, "window"));
    const auto part = [&](const std::string& key, const Json& ns) {
      if (ns.is_number() && ns != 0) account.row({gpu, key_words(key), duration(ns), share(ns, all)});
    };
    for (const char* key : {"compute", "exposed_communication", "exposed_copies"}) part(key, at(d, key));
    for (const auto& idle : at(d, "idle").items()) part("idle: " + key_words(idle.key()).text, idle.value());
    for (const Json& g : at(d, "longest")) {
      const Json& host = at(g, "host");
      const Json main = host.is_array() && !host.empty() ? at(host[0], "cause") : Json();
      longest.row({gpu,
                   duration(length_of(Json::array({at(g, "begin_ns"), at(g, "end_ns")}))),
                   key_words(words(main).text),
                   {host_words(host)},
                   words(at(g, "ended_by"))});
    }
    for (const Json& s : at(d, "steps")) {
      const Json length = length_of(at(s, "window"));
      double idle = 0;
      for (const Json& ns : at(s, "idle")) idle += ns.is_number() ? ns.get<double>() : 0;
      steps.row({gpu, words(at(s, "step")), duration(length), share(at(s, "compute"), length),
                 share(at(s, "exposed_communication"), length), share(at(s, "exposed_copies"), length),
                 share(Json(idle), length)});
    }
  }
  return paragraph(at(json, "trust"), "soft") + account.html() + longest.html() + steps.html();
}

std::string whatif_of(const Json& json) {
  const Json &plan = at(json, "plan"), &run = at(plan, "before_ns"), &step = at(plan, "step_before_ns");
  const double of_run = run.is_number() && step.is_number() && run > 0 ? step.get<double>() / run.get<double>() : 1;
  HtmlTable in_turn("One remedy after the other",
                    {{"Remedy of", kName}, {"Where", kText}, {"In code", kText}, {"Saves"}, {"Then"}, {"Sure", kWords}});
  for (const Json& i : at(plan, "items")) {
    const Json& saved = at(i, "saved_ns");
    in_turn.row({words(at(i, "title")), place(at(i, "where")), words(at(i, "code")),
                 duration(saved.is_number() ? Json(saved.get<double>() * of_run) : Json()), duration(at(i, "step_after_ns")),
                 words(at(i, "kind"))});
  }
  HtmlTable alone("Each remedy alone", {{"Remedy of", kName}, {"Saves"}, {"Share"}, {"Then"}, {"Sure", kWords}});
  for (const Json& f : at(json, "findings")) {
    const Json& gain = at(f, "gain");
    alone.row({words(at(f, "title")), duration(at(gain, "per_step_ns")), share(at(gain, "share")),
               duration(at(gain, "step_after_ns")), words(at(gain, "kind"))});
  }
  const Json& steps = at(plan, "steps");
  const std::string how = at(json, "plain").is_object() ? " without the profiler. " : " as recorded. ";
  const std::string of = steps.is_number() && steps > 0 ? "A step takes " : "The run takes ";
  const std::string now =
      step.is_number() ? of + duration(step).text + how + "Times below are from a replay of the recording." : "";
  return paragraph(Json(now), "lead") + in_turn.html() + alone.html();
}

std::string table_of(const Json& json) {
  HtmlTable table({}, {{"Name", kName},
                       {"Device", kWords},
                       {"Calls"},
                       {"Self CPU"},
                       {"CPU total"},
                       {"CPU avg"},
                       {"Self CUDA"},
                       {"CUDA total"},
                       {"CUDA avg"}});
  for (const Json& r : json)
    table.row({words(at(r, "name")), words(at(r, "device")), count(at(r, "count")), duration(at(r, "self_cpu_ns")),
               duration(at(r, "cpu_ns")), duration(at(r, "cpu_avg_ns")), duration(at(r, "self_cuda_ns")),
               duration(at(r, "cuda_ns")), duration(at(r, "cuda_avg_ns"))});
  return table.html();
}

std::string roofline_of(const Json& json) {
  HtmlTable table({}, {{"Operator", kName},
                       {"Input shapes", kText},
                       {"Math", kWords},
                       {"Calls"},
                       {"GPU time"},
                       {"Floor"},
                       {"Reached"},
                       {"Headroom"},
                       {"Bound by", kWords},
                       {"Operations"},
                       {"Bytes"},
                       {"Note", kText}});
  for (const Json& r : at(json, "rows")) {
    const Json& operations = at(r, "flops");
    const Json& shapes = at(r, "input_dims");
    table.row(
        {words(at(r, "operator")),
         {shapes.is_array() ? shapes.dump(-1, ' ', false, Json::error_handler_t::replace) : ""},
         words(at(r, "math")),
         count(at(r, "count")),
         duration(at(r, "kernel_ns")),
         duration(at(r, "floor_ns")),
         share(at(r, "reached")),
         duration(at(r, "headroom_ns")),
         words(at(r, "bound")),
         operations.is_number() ? Cell{fmt::format("{:.3g}", operations.get<double>()), operations.get<double>()} : Cell{},
         bytes(at(r, "bytes")),
         words(at(r, "note"))});
  }
  const Json& coverage = at(json, "coverage");
  const std::string counted =
      coverage.is_number() ? fmt::format("Counted: {} of the time of kernels with an operator.", share(coverage).text) : "";
  return paragraph(at(json, "missing"), "soft") + paragraph(Json(counted), "soft") + table.html();
}

std::string rank_rows(const Json& json) {
  HtmlTable table("Ranks", {{"Rank"},
                            {"Window"},
                            {"Compute"},
                            {"Transfer"},
                            {"Waits for others"},
                            {"Copies"},
                            {"Idle"},
                            {"Last in"},
                            {"Cost the others"},
                            {"Clock off"},
                            {"File", kName}});
  for (const Json& r : at(json, "ranks")) {
    const Json &account = at(r, "account"), &window = at(account, "window_ns");
    double waiting = at(account, "unsplit").is_number() ? at(account, "unsplit").get<double>() : 0, idle = 0;
    for (const Json& ns : at(account, "waiting_for")) waiting += ns.is_number() ? ns.get<double>() : 0;
    for (const Json& ns : at(account, "idle")) idle += ns.is_number() ? ns.get<double>() : 0;
    table.row({count(at(r, "rank")), duration(window), share(at(account, "compute"), window),
               share(at(account, "transfer"), window), share(Json(waiting), window),
               share(at(account, "exposed_copies"), window), share(Json(idle), window), count(at(r, "times_last")),
               duration(at(r, "total_wait_ns")), duration(at(r, "offset_ns")), words(at(r, "file"))});
  }
  return table.html();
}

std::string late_rows(const Json& json) {
  HtmlTable table("Late rank of every step", {{"Step", kName}, {"Rank"}, {"Cost the others"}, {"Meanwhile", kWords}});
  for (const Json& l : at(json, "late")) {
    std::string doing;
    std::size_t n = 0;
    for (const Json& d : at(l, "doing"))
      if (n++ < 3)
        doing += (doing.empty() ? "" : ", ") + elide_middle(words(at(d, "name")).text, 80) + ' ' + duration(at(d, "ns")).text;
    table.row({words(at(l, "step")), count(at(l, "rank")), duration(at(l, "lost_ns")), {doing}});
  }
  return table.html();
}

std::string collective_rows(const Json& json) {
  HtmlTable table("Collectives", {{"Collective", kName},
                                  {"Group", kWords},
                                  {"Step", kWords},
                                  {"Type", kWords},
                                  {"Elements"},
                                  {"Begin"},
                                  {"Latency"},
                                  {"Skew"},
                                  {"Last rank"},
                                  {"Bus GB/s"}});
  for (const Json& c : at(json, "collectives")) {
    const Json& rate = at(c, "bus_gb_per_s");
    table.row({words(at(c, "name")), words(at(c, "group_ranks")), words(at(c, "step")), words(at(c, "dtype")),
               count(at(c, "in_elements")), duration(at(c, "begin_ns")), duration(at(c, "latency_ns")),
               duration(at(c, "start_skew_ns")), count(at(c, "last_rank")),
               rate.is_number() ? Cell{format_significant(rate.get<double>()), rate.get<double>()} : Cell{}});
  }
  return table.html();
}

using Html = std::string (*)(const Json&);
constexpr std::pair<std::string_view, Html> kHtml[] = {
    {"findings", findings_of}, {"why", why_of},       {"kernels", kernels_of}, {"modules", modules_of},  {"gaps", gaps_of},
    {"steps", steps_of},       {"whatif", whatif_of}, {"table", table_of},     {"roofline", roofline_of}};

std::string ranks_of(const Json& json) {
  std::string out = paragraph(at(json, "sentence"), "lead");
  for (const Json& f : at(json, "findings")) out += paragraph(at(f, "text"), "finding");
  for (const Json& p : at(json, "problems")) out += paragraph(p, "soft");
  return out + rank_rows(json) + late_rows(json) + collective_rows(json);
}

// What is made of an answer; an Error where that is no JSON.
Result<std::string> html_of(const std::string& text, Html html) {
  const Result<Json> json = parse_json(text);
  if (!json) return Error{"The answer is " + json.error().message + "."};
  return html(*json);
}

}  // namespace
}  // namespace gapscope::cells

namespace gapscope {

const TableKind* table_kind(std::string_view name) {
  const auto found = std::find_if(kTableKinds.begin(), kTableKinds.end(), [&](const TableKind& k) { return k.name == name; });
  return found == kTableKinds.end() ? nullptr : &*found;
}

Result<std::string> table_html(const TableKind& kind, const std::string& text) {
  const auto* const made =
      std::find_if(std::begin(cells::kHtml), std::end(cells::kHtml), [&](const auto& one) { return one.first == kind.name; });
  Result<std::string> out = cells::html_of(text, made->second);
  return out.ok() && out->empty() ? Result<std::string>("<p>The recording has none.</p>\n") : out;
}

Result<std::string> ranks_html(const std::string& text) { return cells::html_of(text, cells::ranks_of); }

}  // namespace gapscope
