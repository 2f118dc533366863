#include "app/serve/pages.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

#include <fmt/format.h>

#include "app/serve/address.h"
#include "core/base/text.h"
#include "core/base/time.h"
#include "core/view/overview/html.h"

namespace gapscope {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --text: #1c2430; --soft: #4a5464; --line: #c8ced8; --back: #fff; --raised: #f3f5f8; --link: #0b57a8; --bad: #a3261b; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dfe5ee; --soft: #9aa7b8; --line: #3a4452; --back: #14181f; --raised: #1e242d; --link: #7db7f2; --bad: #f09a90; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 1.2em auto; max-width: 1240px; padding: 0 1em; }
h1 { font-size: 1.35em; margin: 0 0 .2em; overflow-wrap: anywhere; } p { margin: .4em 0; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
nav { font-size: .93em; border-bottom: 1px solid var(--line); padding-bottom: .5em; margin-bottom: 1em; line-height: 1.7; } nav a { margin-right: 1em; white-space: nowrap; }
pre { background: var(--raised); padding: .6em .8em; overflow-x: auto; font-size: 13px; line-height: 1.4; } .lead { font-size: 1.15em; max-width: 62em; } .soft { color: var(--soft); } .bad { color: var(--bad); })";

// Of pages with tables; on a phone the list has fewer columns, and wide tables move within themselves.
constexpr std::string_view kTableStyle = R"(
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin-top: .6em; }
th { text-align: left; color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line); white-space: nowrap; }
th, td { padding: .3em .8em .3em 0; vertical-align: top; } td { border-bottom: 1px solid var(--line); min-width: 4em; }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
th[aria-sort=ascending] button::after { content: " \2191"; } th[aria-sort=descending] button::after { content: " \2193"; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.bar { display: inline-block; width: 4em; height: .6em; background: var(--line); margin-right: .4em; } .bar i { display: block; height: 100%; background: #2bb3a3; }
.name { font-weight: 600; overflow-wrap: anywhere; min-width: 9em; } .window { font-weight: 400; font-size: .93em; margin-left: .6em; } .verdict { font-size: .93em; font-weight: 400; max-width: 62em; overflow-wrap: anywhere; }
.t { min-width: 11em; max-width: 32em; overflow-wrap: anywhere; } .tick { width: 1.4em; min-width: 1.4em; padding-right: .5em; } .finding { max-width: 62em; }
.tools { position: sticky; top: 0; background: var(--back); padding: .4em 0; } button, input { font: inherit; padding: .2em .8em; max-width: 100%; overflow-wrap: anywhere; } input[type=checkbox] { padding: 0; }
@media (max-width: 700px) { .list .opt { display: none; } .bar { width: 2.5em; } .tools button { display: block; margin-top: .4em; } })";

// The colours of the page of a recording (core/view/overview/html.cpp) where the reader wants it dark.
constexpr std::string_view kReportStyle = R"(
@media (prefers-color-scheme: dark) {
  .note, .k, th, footer { color: var(--soft); } th { border-color: var(--line); }
  svg text[fill="#4a5464"] { fill: var(--soft); } svg text[fill="#1c2430"] { fill: var(--text); } })";

std::string link(std::string_view address, std::string_view text) {
  return fmt::format("<a href=\"{}\"><bdi>{}</bdi></a>", html_text(address), html_text(text));
}

std::string page(std::string_view title, std::string_view style, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      html_text(title), kStyle, style, body);
}

std::string nav(std::string_view links) { return fmt::format("<nav>{}{}</nav>\n", link("/", "All recordings"), links); }

std::string page_address(const ListedItem& item) { return (item.is_run ? "/ranks/" : "/view/") + address_text(item.path); }

// The window, with these recordings in it, one or the ranks of a run: their addresses within an address.
std::string window_address(const std::vector<std::string>& paths) {
  std::string out = "/window/";
  for (const std::string& path : paths)
    out += (path == paths.front() ? "#file=" : "&file=") + address_text("/file/" + address_text(path));
  return out;
}

std::string date_text(std::int64_t ns) {
  const std::time_t seconds = ns / kNsPerS;
  std::tm local{};
  std::array<char, 32> text{};
  if (::localtime_r(&seconds, &local) == nullptr) return {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local)};
}

std::string verdict_html(const std::optional<ItemSummary>& summary) {
  if (!summary) return "<div class=\"verdict soft\">being read ...</div>";
  return fmt::format("<div class=\"verdict{}\">{}</div>", summary->failed ? " bad" : "", html_text(summary->verdict));
}

// A cell of the list: `number` is what it is sorted by.
std::string number_cell(std::string_view text, double number, std::string_view more = {}) {
  return fmt::format("<td class=\"n{}\" data-v=\"{}\">{}</td>", more, number, text);
}

std::string share_cell(const std::optional<double>& share) {
  if (!share) return number_cell({}, -1);
  return number_cell(fmt::format("<span class=\"bar\"><i style=\"width:{:.1f}%\"></i></span>{}",
                                 std::clamp(*share, 0.0, 1.0) * 100, format_percent(*share)),
                     *share);
}

std::string row_html(const ListedRow& row, const std::string& folder, bool has_window) {
  const ListedItem& item = row.item;
  // data-t: what decides which of two is A, as text that is compared letter by letter.
  const std::string tick = item.is_run
                               ? ""
                               : fmt::format(
                                     "<input type=\"checkbox\" form=\"compare\" name=\"pick\" value=\"{}\" data-t=\"{:020}\" "
                                     "aria-label=\"compare\">",
                                     html_text(address_text(item.path)), std::max<std::int64_t>(item.modified_ns, 0));
  const std::string gpu = item.is_run   ? fmt::format("{} traces of ranks", item.ranks.size())
                          : row.summary ? row.summary->gpu
                                        : "";
  const std::vector<std::string> shown = item.is_run ? item.ranks : std::vector{item.path};
  const std::string window =
      has_window ? fmt::format(" <span class=\"window\">{}</span>", link(window_address(shown), "window")) : "";
  const ItemSummary known = row.summary.value_or(ItemSummary{});
  std::string out =
      fmt::format("<tr><td class=\"tick\">{}</td><td class=\"name\"><div>{}{}</div>{}</td>", tick,
                  link(page_address(item), item.path.empty() ? folder : item.path), window, verdict_html(row.summary));
  out += known.step_ns ? number_cell(format_duration(static_cast<Ns>(*known.step_ns)), *known.step_ns) : number_cell({}, -1);
  out += share_cell(known.gpu_share);
  out += number_cell(known.steps ? format_count(*known.steps) : "", static_cast<double>(known.steps.value_or(-1)), " opt");
  out += fmt::format("<td class=\"opt\">{}</td>", html_text(gpu));
  out += number_cell(format_bytes(item.bytes), static_cast<double>(item.bytes), " opt");
  return out + number_cell(date_text(item.modified_ns), static_cast<double>(item.modified_ns), " opt") + "</tr>\n";
}

std::string list_html(const std::string& folder, const std::vector<ListedRow>& rows, bool has_window) {
  std::string out = "<table class=\"sorts list\">\n<thead><tr><th class=\"tick\"></th>";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kHeads = {{{"", "Recording"},
                                                                                    {"n", "Step"},
                                                                                    {"n", "GPU busy"},
                                                                                    {"n opt", "Steps"},
                                                                                    {"opt", "GPU"},
                                                                                    {"n opt", "Size"},
                                                                                    {"n opt", "Written"}}};
  for (const auto& [name, title] : kHeads)
    out += fmt::format("<th scope=\"col\" class=\"{}\"><button type=\"button\">{}</button></th>", name, title);
  out += "</tr></thead>\n<tbody>\n";
  for (const ListedRow& row : rows) out += row_html(row, folder, has_window);
  return out + "</tbody></table>\n";
}

// Above a table: what it is filtered by, which is nothing without the script.
std::string filter_html() {
  return "<input type=\"search\" placeholder=\"Filter rows\" aria-label=\"Filter rows\"><noscript><style>input[type=search] { "
         "display: none; }</style></noscript>";
}

std::string script_html() { return fmt::format("<script src=\"{}\" defer></script>\n", kListScriptAddress); }

// A page of the program with our colours and links in it.
std::string with_nav(std::string html, const std::string& links) {
  constexpr std::string_view kHeadEnd = "</head>\n<body>\n";  // names are escaped: there is no other one before
  const std::size_t at = html.find(kHeadEnd);
  if (at == std::string::npos) return html;
  return html.replace(at, kHeadEnd.size(),
                      fmt::format("<style>{}{}</style>\n{}{}", kStyle, kReportStyle, kHeadEnd, nav(links)));
}

}  // namespace

const std::string_view kListScript = R"("use strict";
let sorted = {column: -1, up: 1, table: 0}, shown = "";
const all = (what, within = document) => [...within.querySelectorAll(what)];
const value = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.v === undefined ? cell.textContent.toLowerCase() : Number(cell.dataset.v);
};
function sort() {
  const table = all("table.sorts")[sorted.table];
  if (!table || sorted.column < 0) return;
  const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  const rows = [...table.tBodies[0].rows].sort((a, b) => sorted.up * order(value(a, sorted.column), value(b, sorted.column)));
  table.tBodies[0].append(...rows);
  [...table.tHead.rows[0].cells].forEach((cell, at) => cell.ariaSort = at != sorted.column ? "none" : sorted.up > 0 ? "ascending" : "descending");
}
function filter() {
  const words = (document.querySelector("input[type=search]") || {value: ""}).value.toLowerCase();
  for (const row of all("table.sorts tbody tr")) row.hidden = !row.textContent.toLowerCase().includes(words);
}
// Two are compared; the one that was written first is A, as the server has it.
function pick() {
  const button = document.querySelector("#compare button");
  if (!button) return;
  const key = input => input.dataset.t + " " + input.value;
  const ticked = all("input[name=pick]:checked").sort((a, b) => key(a) < key(b) ? -1 : 1);
  const name = input => { try { return decodeURIComponent(input.value); } catch { return input.value; } };
  const names = ticked.map(input => name(input).replace(/\p{C}/gu, "\ufffd"));
  button.disabled = ticked.length != 2;
  button.textContent = ticked.length == 2 ? `Compare A (${names[0]}, older) with B (${names[1]})` : "Tick two recordings to compare them";
}
document.addEventListener("click", event => {
  const head = event.target.closest("table.sorts th");
  if (!head || !event.target.closest("button")) return;
  const table = all("table.sorts").indexOf(head.closest("table")), column = head.cellIndex;
  const again = sorted.column == column && sorted.table == table;
  sorted = {column, table, up: again ? -sorted.up : head.classList.contains("n") ? -1 : 1};
  sort();
});
document.addEventListener("input", () => { filter(); pick(); });
pick();
if (document.querySelector("main[data-live]")) setInterval(async () => {
  if (document.hidden) return;
  const answer = await fetch("/").catch(() => null);
  const text = answer && answer.ok ? await answer.text() : shown;
  if (text == shown) return;
  shown = text;
  const next = new DOMParser().parseFromString(text, "text/html").querySelector("main");
  const ticked = new Set(all("input[name=pick]:checked").map(input => input.value));
  for (const input of all("input[name=pick]", next)) input.checked = ticked.has(input.value);
  document.querySelector("main").replaceWith(next);
  sort();
  filter();
  pick();
}, 2000);
)";

std::string list_page(const std::string& folder, const std::vector<ListedRow>& rows, bool is_cut, bool has_window) {
  std::string body = script_html() + fmt::format(
                                         "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n"
                                         "<h1><bdi>{}</bdi></h1>\n",
                                         html_text(folder));
  if (!rows.empty())
    body += fmt::format(
        "<form id=\"compare\" class=\"tools\" action=\"/diff\" method=\"get\">{} <button>Compare the two "
        "ticked recordings</button></form>\n",
        filter_html());
  body += "<main data-live>\n";
  if (rows.empty())
    body += "<p>There is no recording below this folder: no file ends in .json, .json.gz, .json.xz or .json.zst.</p>\n";
  else
    body += list_html(folder, rows, has_window);
  if (is_cut) body += fmt::format("<p class=\"soft\">There are more. Only {} recordings are listed.</p>\n", kMostListed);
  return page(folder + " - Gapscope", kTableStyle, body + "</main>\n");
}

std::string recording_page(std::string html, const std::string& path, bool has_window) {
  std::string links = has_window ? link(window_address({path}), "Open in the window") : "";
  links += link("/file/" + address_text(path), "Download") +
           link(fmt::format("/api/screenshot?trace={}&size=1600x900", address_text(path)), "Picture") + "<br>\n";
  for (const TableKind& kind : kTableKinds)
    links += link(fmt::format("/table/{}/{}", kind.name, address_text(path)), kind.title);
  links += link(fmt::format("/api/info?trace={}", address_text(path)), "Content of the file (JSON)");
  return with_nav(std::move(html), links);
}

std::string diff_page(std::string html) { return with_nav(std::move(html), {}); }

std::string table_page(const TableKind& kind, std::string_view html, const std::string& path) {
  std::string links = link("/view/" + address_text(path), "Overview");
  for (const TableKind& other : kTableKinds)
    links += other.name == kind.name ? fmt::format("<b>{}</b> &nbsp; ", kind.title)
                                     : link(fmt::format("/table/{}/{}", other.name, address_text(path)), other.title);
  const std::string more = kind.argument.empty() ? "" : fmt::format("&{}={}", kind.argument, address_text(kind.value));
  links += link(fmt::format("/api/{}?trace={}{}", kind.tool, address_text(path), more), "JSON");
  const std::string body = script_html() + nav(links) +
                           fmt::format("<main>\n<h1>{} of <bdi>{}</bdi></h1>\n<div class=\"tools\">{}</div>\n{}</main>\n",
                                       kind.title, html_text(path), filter_html(), html);
  return page(fmt::format("{} - {} - Gapscope", kind.title, path), kTableStyle, body);
}

std::string ranks_page(const std::string& path, std::string_view html, const std::vector<std::string>& files, bool has_window) {
  const std::string name = path.empty() ? "Ranks" : path;
  std::string body = script_html() + nav((has_window ? link(window_address(files), "Open in the window") : "") +
                                         link("/api/ranks?traces=" + address_text(path.empty() ? "." : path), "JSON"));
  body += fmt::format("<main>\n<h1><bdi>{}</bdi></h1>\n{}<p>The recordings:", html_text(name), html);
  for (const std::string& file : files)
    body += " " + link("/view/" + address_text(file), std::filesystem::path(file).filename().string());
  return page(name + " - Gapscope", kTableStyle, body + "</p>\n</main>\n");
}

std::string notice_page(std::string_view title, std::string_view sentence) {
  return page(title, {}, fmt::format("{}<h1>{}</h1>\n<p>{}</p>\n", nav({}), html_text(title), html_text(sentence)));
}

std::string entrance_page(std::string_view target) {
  return page("Gapscope", {}, fmt::format("<p>{}</p>\n", link(target, "Continue to the recordings.")));
}

}  // namespace gapscope
