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

constexpr std::string_view kListStyle = R"(
table { border-collapse: collapse; width: 100%; margin-top: .6em; }
th { text-align: left; color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line); }
th, td { padding: .3em .8em .3em 0; vertical-align: top; } td { border-bottom: 1px solid var(--line); }
td:first-child, th:first-child { width: 1.4em; padding-right: .5em; } .n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.name { font-weight: 600; overflow-wrap: anywhere; } .window { font-weight: 400; font-size: .93em; margin-left: .6em; } .verdict { font-size: .93em; max-width: 62em; overflow-wrap: anywhere; } .gpu { white-space: nowrap; }
form > div { position: sticky; top: 0; background: var(--back); padding: .4em 0; } button { font: inherit; padding: .2em .8em; }
@media (max-width: 950px) { .gpu { white-space: normal; } })";

// The colours of the page of a recording (core/view/overview/html.cpp) where the reader wants it dark.
constexpr std::string_view kReportStyle = R"(
@media (prefers-color-scheme: dark) {
  .note, .k, th, footer { color: var(--soft); } th { border-color: var(--line); }
  svg text[fill="#4a5464"] { fill: var(--soft); } svg text[fill="#1c2430"] { fill: var(--text); } })";

struct Link {
  std::string_view tool;  // of app/mcp/tools.cpp
  std::string_view title;
};
constexpr std::array<Link, 9> kAnalyses = {
    Link{"diagnose", "Findings"}, Link{"why", "Time account"}, Link{"whatif", "What if"},
    Link{"table", "Table"},       Link{"kernels", "Kernels"},  Link{"roofline", "Roofline"},
    Link{"modules", "Modules"},   Link{"steps", "Steps"},      Link{"info", "Info"}};

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

std::string row_html(const ListedRow& row, const std::string& folder, bool has_window) {
  const ListedItem& item = row.item;
  const std::string tick = item.is_run
                               ? ""
                               : fmt::format("<input type=\"checkbox\" name=\"pick\" value=\"{}\" aria-label=\"compare\">",
                                             html_text(address_text(item.path)));
  const std::string gpu = item.is_run   ? fmt::format("{} traces of ranks", item.ranks.size())
                          : row.summary ? row.summary->gpu
                                        : "";
  const std::vector<std::string> shown = item.is_run ? item.ranks : std::vector{item.path};
  const std::string window =
      has_window ? fmt::format(" <span class=\"window\">{}</span>", link(window_address(shown), "window")) : "";
  const std::string steps = row.summary && row.summary->steps ? format_count(*row.summary->steps) : "";
  return fmt::format(
      "<tr><td>{}</td><td><div class=\"name\">{}{}</div>{}</td><td class=\"gpu\">{}</td><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
      tick, link(page_address(item), item.path.empty() ? folder : item.path), window, verdict_html(row.summary), html_text(gpu),
      steps, format_bytes(item.bytes), date_text(item.modified_ns));
}

std::string table_html(const std::string& folder, const std::vector<ListedRow>& rows, bool has_window) {
  std::string out =
      "<form action=\"/diff\" method=\"get\">\n<div><button>Compare the two that are ticked</button></div>\n<table>\n"
      "<tr><th></th><th>Recording</th><th>GPU</th><th class=\"n\">Steps</th><th class=\"n\">Size</th><th "
      "class=\"n\">Written</th></tr>\n";
  for (const ListedRow& row : rows) out += row_html(row, folder, has_window);
  return out + "</table>\n</form>\n";
}

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
let shown = "";
setInterval(async () => {
  if (document.hidden) return;
  const answer = await fetch("/").catch(() => null);
  const text = answer && answer.ok ? await answer.text() : shown;
  if (text == shown) return;
  shown = text;
  const next = new DOMParser().parseFromString(text, "text/html").querySelector("main");
  const ticked = new Set([...document.querySelectorAll("input:checked")].map(input => input.value));
  for (const input of next.querySelectorAll("input")) input.checked = ticked.has(input.value);
  document.querySelector("main").replaceWith(next);
}, 2000);
)";

std::string list_page(const std::string& folder, const std::vector<ListedRow>& rows, bool is_cut, bool has_window) {
  std::string body = fmt::format(
      "<script src=\"{}\" defer></script>\n<noscript><meta http-equiv=\"refresh\" "
      "content=\"5\"></noscript>\n<main>\n<h1><bdi>{}</bdi></h1>\n",
      kListScriptAddress, html_text(folder));
  if (rows.empty())
    body += "<p>There is no recording below this folder: no file ends in .json, .json.gz, .json.xz or .json.zst.</p>\n";
  else
    body += table_html(folder, rows, has_window);
  if (is_cut) body += fmt::format("<p class=\"soft\">There are more: {} recordings are looked at.</p>\n", kMostListed);
  return page(folder + " - Gapscope", kListStyle, body + "</main>\n");
}

std::string recording_page(std::string html, const std::string& path, bool has_window) {
  std::string links = has_window ? link(window_address({path}), "Open in the window") : "";
  links += link("/file/" + address_text(path), "Download") +
           link(fmt::format("/api/screenshot?trace={}&size=1600x900", address_text(path)), "Picture") +
           "<span class=\"soft\">As JSON: </span>";
  for (const Link& one : kAnalyses) links += link(fmt::format("/api/{}?trace={}", one.tool, address_text(path)), one.title);
  return with_nav(std::move(html), links);
}

std::string diff_page(std::string html) { return with_nav(std::move(html), {}); }

std::string ranks_page(const std::string& path, const std::string& text, const std::vector<std::string>& files,
                       bool has_window) {
  const std::string name = path.empty() ? "Ranks" : path;
  std::string body = nav((has_window ? link(window_address(files), "Open in the window") : "") +
                         link("/api/ranks?traces=" + address_text(path.empty() ? "." : path), "JSON"));
  const std::size_t first = std::min(text.find('\n'), text.size());
  body +=
      fmt::format("<h1><bdi>{}</bdi></h1>\n<p class=\"lead\">{}</p>\n<pre>", html_text(name), html_text(text.substr(0, first)));
  for (std::size_t at = first + 1; at < text.size();) {  // html_text() would take the line ends
    const std::size_t end = std::min(text.find('\n', at), text.size());
    body += html_text(std::string_view(text).substr(at, end - at)) + '\n';
    at = end + 1;
  }
  body += "</pre>\n<p>The recordings:";
  for (const std::string& file : files)
    body += " " + link("/view/" + address_text(file), std::filesystem::path(file).filename().string());
  return page(name + " - Gapscope", {}, body + "</p>\n");
}

std::string notice_page(std::string_view title, std::string_view sentence) {
  return page(title, {}, fmt::format("{}<h1>{}</h1>\n<p>{}</p>\n", nav({}), html_text(title), html_text(sentence)));
}

std::string entrance_page(std::string_view target) {
  return page("Gapscope", {}, fmt::format("<p>{}</p>\n", link(target, "Go on to the recordings.")));
}

}  // namespace gapscope
