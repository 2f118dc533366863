#include "app/serve/tables.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"
#include "core/base/text.h"
#include "core/diagnose/code_place.h"
#include "core/view/overview/html.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 2000;
constexpr std::size_t kLongestCell = 160, kLongestHint = 2000;  // characters

struct Cell {
  std::string text;
  std::optional<double> number{};  // what it is sorted by; none: the text, or nothing where the column has numbers
  std::optional<double> share{};   // 0..1: drawn as a bar
};

struct Column {
  std::string_view title;
  enum class Kind : std::uint8_t { words, text, name, number } kind = Kind::number;  // text: sentences
};
constexpr auto kWords = Column::Kind::words, kText = Column::Kind::text, kName = Column::Kind::name;

// The value of a key; null where it is not there.
const Json& at(const Json& of, std::string_view key) {
  static const Json kNone;
  if (!of.is_object()) return kNone;
  const auto found = of.find(key);
  return found == of.end() ? kNone : *found;
}

Cell words(const Json& value) { return value.is_string() ? Cell{value.get<std::string>()} : Cell{}; }
Cell duration(const Json& ns) {
  if (!ns.is_number()) return {};
  return {format_duration(static_cast<Ns>(ns.get<double>())), ns.get<double>()};
}
Cell count(const Json& n) {
  return n.is_number_integer() ? Cell{format_count(n.get<std::int64_t>()), n.get<double>()} : Cell{};
}
Cell share(std::optional<double> of_whole) {
  return of_whole ? Cell{format_percent(*of_whole), of_whole, std::clamp(*of_whole, 0.0, 1.0)} : Cell{};
}
Cell share(const Json& value) { return share(value.is_number() ? std::optional(value.get<double>()) : std::nullopt); }
Cell share(const Json& part, const Json& whole) {
  const bool is_known = part.is_number() && whole.is_number() && whole.get<double>() > 0;
  return share(is_known ? std::optional(part.get<double>() / whole.get<double>()) : std::nullopt);
}

class Table {
 public:
  Table(std::string_view title, std::vector<Column> columns) : title_(title), columns_(std::move(columns)) {}

  void row(const std::vector<Cell>& cells) {
    if (++rows_ > kMostRows) return;
    body_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) body_ += cell(columns_[i], cells[i]);
    body_ += "</tr>\n";
  }
  std::string html() const {
    if (rows_ == 0) return {};
    std::string out = title_.empty() ? "" : fmt::format("<h2>{}</h2>\n", title_);
    out += "<div class=\"wide\"><table class=\"sorts\">\n<thead><tr>";
    for (const Column& c : columns_)
      out += fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>",
                         c.kind == Column::Kind::number ? " class=\"n\"" : "", c.title);
    out += "</tr></thead>\n<tbody>\n" + body_ + "</tbody></table></div>\n";
    if (rows_ > kMostRows)
      out += fmt::format("<p class=\"soft\">The first {} of {}; the JSON has all.</p>\n", format_count(kMostRows),
                         format_count(static_cast<std::int64_t>(rows_)));
    return out;
  }

 private:
  static std::string cell(const Column& column, const Cell& c) {
    if (column.kind == kWords || column.kind == kText)
      return fmt::format("<td{}>{}</td>", column.kind == kText ? " class=\"t\"" : "",
                         html_text(elide_middle(c.text, kLongestHint)));
    const std::string text = html_text(elide_middle(c.text, kLongestCell));
    if (column.kind == kName) {
      const std::string whole = html_text(elide_middle(c.text, kLongestHint));
      return fmt::format("<td class=\"name\"{}><bdi>{}</bdi></td>", whole == text ? "" : fmt::format(" title=\"{}\"", whole),
                         text);
    }
    const std::string bar =
        c.share ? fmt::format("<span class=\"bar\"><i style=\"width:{:.1f}%\"></i></span>", *c.share * 100) : "";
    return fmt::format("<td class=\"n\" data-v=\"{}\">{}{}</td>", c.number.value_or(-1), bar, text);
  }

  std::string_view title_;
  std::vector<Column> columns_;
  std::string body_;
  std::size_t rows_ = 0;
};

std::string paragraph(const Json& text, std::string_view of_class) {
  if (!text.is_string() || text.get_ref<const std::string&>().empty()) return {};
  return fmt::format("<p class=\"{}\">{}</p>\n", of_class, html_text(text.get_ref<const std::string&>()));
}

// "step (train.py:54), in Linear_0", as everywhere.
Cell place(const Json& where) {
  const Json& line = at(where, "line");
  if (!at(where, "file").is_string() || !line.is_number_integer()) return {};
  return {place_words({{words(at(where, "file")).text, line.get<decltype(SourcePlace::line)>()},
                       words(at(where, "function")).text,
                       words(at(where, "module")).text})};
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
  Table table({}, {{"Finding", kName},
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
  Table table({}, {{"Kernel", kName},
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
  Table table({}, {{"GPU"},
                   {"Begin"},
                   {"Length"},
                   {"Main cause", kWords},
                   {"Ended by", kName},
                   {"Operators"},
                   {"Python"},
                   {"Launch calls"},
                   {"Not begun"},
                   {"Sync"},
                   {"Data loading"}});
  for (const Json& r : at(json, "rows")) {
    if (!r.is_array() || r.size() != 11) continue;
    std::vector<Cell> cells = {count(r[0]), duration(r[1]), duration(r[2]), words(r[3]), words(r[4])};
    std::replace(cells[3].text.begin(), cells[3].text.end(), '_', ' ');
    for (std::size_t i = 5; i < 11; ++i) cells.push_back(duration(r[i]));
    table.row(cells);
  }
  return table.html();
}

std::string modules_of(const Json& json) {
  Table table({}, {{"Module", kName},
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
  Table table({}, {{"Step", kName},
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

std::string rank_rows(const Json& json) {
  Table table("Ranks", {{"Rank"},
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
  Table table("Late rank of every step", {{"Step", kName}, {"Rank"}, {"Cost the others"}, {"Meanwhile", kWords}});
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
  Table table("Collectives", {{"Collective", kName},
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

}  // namespace

const TableKind* table_kind(std::string_view name) {
  const auto found = std::find_if(kTableKinds.begin(), kTableKinds.end(), [&](const TableKind& k) { return k.name == name; });
  return found == kTableKinds.end() ? nullptr : &*found;
}

Result<std::string> table_html(const TableKind& kind, const std::string& text) {
  const Result<Json> json = parse_json(text);
  if (!json) return Error{"The answer is " + json.error().message + "."};
  std::string out = kind.name == "findings"  ? findings_of(*json)
                    : kind.name == "kernels" ? kernels_of(*json)
                    : kind.name == "gaps"    ? gaps_of(*json)
                    : kind.name == "modules" ? modules_of(*json)
                                             : steps_of(*json);
  return out.empty() ? Result<std::string>("<p>The recording has none.</p>\n") : std::move(out);
}

Result<std::string> ranks_html(const std::string& text) {
  const Result<Json> json = parse_json(text);
  if (!json) return Error{"The answer is " + json.error().message + "."};
  std::string out = paragraph(at(*json, "sentence"), "lead");
  for (const Json& f : at(*json, "findings")) out += paragraph(at(f, "text"), "finding");
  for (const Json& p : at(*json, "problems")) out += paragraph(p, "soft");
  return out + rank_rows(*json) + late_rows(*json) + collective_rows(*json);
}

}  // namespace gapscope
