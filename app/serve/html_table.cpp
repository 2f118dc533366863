#include "app/serve/html_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/analyze/account/idle_cause.h"
#include "core/base/text.h"
#include "core/diagnose/code_place.h"
#include "core/view/overview/html.h"

namespace gapscope::cells {
namespace {

constexpr std::size_t kMostRows = 2000;
constexpr std::size_t kLongestCell = 160, kLongestHint = 2000;  // characters

Cell share(std::optional<double> of_whole) {
  return of_whole ? Cell{format_percent(*of_whole), of_whole, std::clamp(*of_whole, 0.0, 1.0)} : Cell{};
}

std::string cell_html(const Column& column, const Cell& c) {
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

}  // namespace

const Json& at(const Json& of, std::string_view key) {
  static const Json kNone;
  if (!of.is_object()) return kNone;
  const auto found = of.find(key);
  return found == of.end() ? kNone : *found;
}

Cell words(const Json& value) { return value.is_string() ? Cell{value.get<std::string>()} : Cell{}; }

Cell key_words(std::string_view key) {
  for (std::size_t i = 0; i < kIdleCauses; ++i)
    if (const auto cause = static_cast<IdleCause>(i); idle_cause_key(cause) == key)
      return {std::string(idle_cause_title(cause, ProgramKind::python))};
  Cell out{std::string(key)};
  std::replace(out.text.begin(), out.text.end(), '_', ' ');
  return out;
}

Cell duration(const Json& ns) {
  if (!ns.is_number()) return {};
  return {format_duration(static_cast<Ns>(ns.get<double>())), ns.get<double>()};
}

Cell count(const Json& n) {
  return n.is_number_integer() ? Cell{format_count(n.get<std::int64_t>()), n.get<double>()} : Cell{};
}

Cell bytes(const Json& n) {
  return n.is_number() && n.get<double>() >= 0
             ? Cell{format_bytes(static_cast<std::uint64_t>(n.get<double>())), n.get<double>()}
             : Cell{};
}

Cell share(const Json& value) { return share(value.is_number() ? std::optional(value.get<double>()) : std::nullopt); }

Cell share(const Json& part, const Json& whole) {
  const bool is_known = part.is_number() && whole.is_number() && whole.get<double>() > 0;
  return share(is_known ? std::optional(part.get<double>() / whole.get<double>()) : std::nullopt);
}

Cell place(const Json& where) {
  const Json& line = at(where, "line");
  if (!at(where, "file").is_string() || !line.is_number_integer()) return {};
  return {place_words({{words(at(where, "file")).text, line.get<decltype(SourcePlace::line)>()},
                       words(at(where, "function")).text,
                       words(at(where, "module")).text})};
}

void HtmlTable::row(const std::vector<Cell>& cells) {
  if (++rows_ > kMostRows) return;
  body_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) body_ += cell_html(columns_[i], cells[i]);
  body_ += "</tr>\n";
}

std::string HtmlTable::html() const {
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

}  // namespace gapscope::cells
