#include "app/serve/site.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/in_and_out.h"
#include "app/serve/byte_range.h"
#include "app/serve/pages.h"
#include "app/serve/window_files.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kJson = "application/json";

WebAnswer notice(int status, std::string_view title, std::string_view sentence) {
  WebAnswer out;
  out.status = status;
  out.body = notice_page(title, sentence);
  return out;
}

WebAnswer not_found(const std::string& sentence) { return notice(404, "Not found", sentence); }

WebAnswer json_error(int status, const std::string& sentence) {
  WebAnswer out;
  out.status = status;
  out.type = kJson;
  out.body = json_text({{"error", sentence}}, -1);
  return out;
}

WebAnswer refusal(Access::Answer why) {
  switch (why) {
    case Access::Answer::wrong_host:
      return notice(403, "Refused", "This is not the server's address. Open the one that gapscope serve printed.");
    case Access::Answer::wrong_origin: return notice(403, "Refused", "The request came from another site's page.");
    default:
      return notice(403, "Refused",
                    "Open the whole address that gapscope serve printed, with its token. The token changes with each start.");
  }
}

int status_of(AnalysisAnswer::Kind kind) {
  switch (kind) {
    case AnalysisAnswer::Kind::done: return 200;
    case AnalysisAnswer::Kind::failed: return 422;
    case AnalysisAnswer::Kind::busy: return 503;
    case AnalysisAnswer::Kind::unknown: break;
  }
  return 404;
}

// The page of an analysis, or why there is none.
template <class Page>
WebAnswer page_of(AnalysisAnswer analysis, Page page) {
  if (analysis.kind != AnalysisAnswer::Kind::done) return notice(status_of(analysis.kind), "No answer", analysis.text);
  WebAnswer out;
  out.body = page(std::move(analysis.text));
  return out;
}

// The page of an analysis whose JSON becomes tables.
template <class Html, class Page>
WebAnswer tables_of(AnalysisAnswer analysis, Html html, Page page) {
  if (analysis.kind == AnalysisAnswer::Kind::done) {
    Result<std::string> made = html(analysis.text);
    analysis = made ? AnalysisAnswer{AnalysisAnswer::Kind::done, std::move(*made)}
                    : AnalysisAnswer{AnalysisAnswer::Kind::failed, made.error().message};
  }
  WebAnswer out = page_of(std::move(analysis), std::move(page));
  if (out.status == 200) out.headers.emplace_back("Content-Security-Policy", kTablePolicy);
  return out;
}

Json row_json(const ListedRow& row) {
  const ListedItem& item = row.item;
  Json out = {{"path", item.path},
              {"address", address_text(item.path)},
              {"kind", item.is_run ? "ranks" : "recording"},
              {"files", item.is_run ? item.ranks.size() : 1},
              {"bytes", item.bytes},
              {"modified_ns", item.modified_ns},
              {"state", !row.summary          ? "being read"
                        : row.summary->failed ? "failed"
                                              : "read"}};
  if (!row.summary) return out;
  out["gpu"] = row.summary->gpu.empty() ? Json(nullptr) : Json(row.summary->gpu);
  out["steps"] = row.summary->steps ? Json(*row.summary->steps) : Json(nullptr);
  out["verdict"] = row.summary->verdict;
  out["step_ns"] = row.summary->step_ns ? Json(static_cast<Ns>(*row.summary->step_ns)) : Json(nullptr);
  out["gpu_share"] = row.summary->gpu_share ? Json(*row.summary->gpu_share) : Json(nullptr);
  return out;
}

std::string target_of(const Address& address) {
  std::string out = address_text(address.path);
  char before = '?';
  for (const auto& [name, value] : address.values) {
    out += before + address_text(name) + '=' + address_text(value);
    before = '&';
  }
  return out;
}

// What a browser calls the file that it saves: any bytes (RFC 8187).
std::string disposition(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return "attachment; filename*=UTF-8''" + address_text(name);
}

// Whether one of the tags of If-None-Match is this one.
bool has_tag(std::string_view tags, const std::string& tag) { return tags == "*" || tags.find(tag) != std::string_view::npos; }

// All of it, or the range that is asked for.
WebAnswer file_answer(std::shared_ptr<const ServedFile> file, const std::string& type, const WebRequest& request) {
  WebAnswer out;
  out.file = std::move(file);
  if (!out.file) return not_found("The file cannot be opened.");
  const std::string tag = out.file->etag();
  out.headers = {{"ETag", tag}, {"Accept-Ranges", "bytes"}, {"Cache-Control", "private, no-cache"}};
  out.type = type;
  if (!request.if_none_match.empty() && has_tag(request.if_none_match, tag)) {
    out.file = nullptr;
    out.status = 304;
    return out;
  }
  const bool is_same = request.if_range.empty() || request.if_range == tag;
  const std::uint64_t size = out.file->bytes();
  const ByteRange range = byte_range(is_same ? std::string_view(request.range) : std::string_view(), size);
  if (range.kind == ByteRange::Kind::none) {
    out = notice(416, "Range not satisfiable", "The file ends before.");
    out.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
    return out;
  }
  const bool is_part = range.kind == ByteRange::Kind::part;
  out.offset = range.first;
  out.bytes = is_part ? range.bytes : size;
  if (is_part) {
    out.status = 206;
    out.headers.emplace_back("Content-Range", fmt::format("bytes {}-{}/{}", range.first, range.first + range.bytes - 1, size));
  }
  return out;
}

std::optional<std::string> behind(const std::string& path, std::string_view begin) {
  if (!path.starts_with(begin)) return {};
  return path.substr(begin.size());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> common_headers() {
  return {{"X-Content-Type-Options", "nosniff"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Embedder-Policy", "require-corp"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Referrer-Policy", "no-referrer"},
          {"Content-Security-Policy",
           "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"}};
}

Site::Site(std::string program, AllowedFolders folders, Access access, std::filesystem::path window,
           std::vector<std::string> sources)
    : folders_(folders),
      access_(std::move(access)),
      window_(std::move(window)),
      analyses_(std::move(program), std::move(folders), std::move(sources)),
      summaries_([this](const ListedItem& item, const std::stop_token& stop) { return analyses_.summary(item, stop); }) {}

WebAnswer Site::answer(const WebRequest& request) {
  const std::optional<Address> address = parse_address(request.target);
  const std::string token = address ? address->value("token") : "";
  const Access::Answer access = access_.check(request.host, request.origin, request.cookie, token);
  WebAnswer out;
  if (access != Access::Answer::granted && access != Access::Answer::by_token)
    out = refusal(access);
  else if (!address)
    out = notice(400, "Bad request", "This is not an address.");
  else
    out = answer_to(*address, access, request);
  const auto is_cache_control = [](const auto& header) { return header.first == "Cache-Control"; };
  if (std::none_of(out.headers.begin(), out.headers.end(), is_cache_control))
    out.headers.emplace_back("Cache-Control", "no-store");
  return out;
}

// With the token in the address programs are answered, browsers get the cookie and continue without.
WebAnswer Site::answer_to(Address address, Access::Answer access, const WebRequest& request) {
  if (address.value("token").empty()) return granted(address, request);
  std::erase_if(address.values, [](const auto& value) { return value.first == "token"; });
  const bool is_page = !address.path.starts_with("/api/") && !address.path.starts_with("/file/");
  if (!is_page) return granted(address, request);
  WebAnswer out;
  const std::string target = target_of(address);
  out.headers = {{"Refresh", "0; url=" + target}};
  if (access == Access::Answer::by_token) out.headers.emplace_back("Set-Cookie", access_.set_cookie());
  out.body = entrance_page(target);
  return out;
}

WebAnswer Site::granted(const Address& address, const WebRequest& request) {
  if (address.path == "/") return list();
  if (address.path == kListScriptAddress) return {.type = "text/javascript; charset=utf-8", .body = std::string(kListScript)};
  if (address.path == "/diff") return diff(address, request);
  if (address.path == "/api/list") return list_json();
  if (const auto tool = behind(address.path, "/api/")) return api(*tool, address, request);
  if (const auto path = behind(address.path, "/view/")) return recording(*path, request);
  if (const auto rest = behind(address.path, "/table/")) return table(*rest, request);
  if (const auto path = behind(address.path, "/ranks/")) return ranks(*path, request);
  if (const auto path = behind(address.path, "/file/")) return file(*path, request);
  if (const auto name = behind(address.path, "/window/")) return window_file(*name, request);
  return not_found("There is no such page.");
}

Listing Site::rows(std::vector<ListedRow>& out) {
  Listing listing = list_recordings(folders_, heads_);
  for (const ListedItem& item : listing.items) out.push_back({item, summaries_.of(item)});
  return listing;
}

WebAnswer Site::list() {
  std::vector<ListedRow> all;
  const bool is_cut = rows(all).is_cut;
  WebAnswer out;
  out.body = list_page(folders_.first().string(), all, is_cut, !window_.empty());
  out.headers.emplace_back("Content-Security-Policy", kTablePolicy);
  return out;
}

WebAnswer Site::list_json() {
  std::vector<ListedRow> all;
  Json json = {{"folder", folders_.first().string()}, {"is_cut", rows(all).is_cut}, {"items", Json::array()}};
  for (const ListedRow& row : all) json["items"].push_back(row_json(row));
  WebAnswer out;
  out.type = kJson;
  out.body = json_text(json);
  return out;
}

WebAnswer Site::recording(const std::string& path, const WebRequest& request) {
  const Result<std::string> found = folders_.file(path);
  if (!found) return not_found(found.error().message);
  return page_of(analyses_.overview_page(*found, request.is_gone),
                 [&](std::string html) { return recording_page(std::move(html), path, !window_.empty()); });
}

WebAnswer Site::table(const std::string& kind_and_path, const WebRequest& request) {
  const std::size_t slash = std::min(kind_and_path.find('/'), kind_and_path.size());
  const TableKind* const kind = table_kind(kind_and_path.substr(0, slash));
  if (kind == nullptr || slash == kind_and_path.size()) return not_found("There is no such page.");
  const std::string path = kind_and_path.substr(slash + 1);
  if (const Result<std::string> found = folders_.file(path); !found) return not_found(found.error().message);
  Tools::Texts arguments = {{"trace", path}};
  if (!kind->argument.empty()) arguments.emplace_back(kind->argument, kind->value);
  return tables_of(
      analyses_.tool(std::string(kind->tool), arguments, request.is_gone),
      [&](const std::string& json) { return table_html(*kind, json); },
      [&](const std::string& html) { return table_page(*kind, html, path); });
}

WebAnswer Site::ranks(const std::string& path, const WebRequest& request) {
  const Result<std::vector<std::string>> found = folders_.files(path);
  if (!found) return not_found(found.error().message);
  std::vector<std::string> files;
  for (const std::string& file : *found)
    files.push_back(std::filesystem::path(file).lexically_relative(folders_.first()).string());
  return tables_of(analyses_.ranks_json(*found, request.is_gone), ranks_html,
                   [&](const std::string& html) { return ranks_page(path, html, files, !window_.empty()); });
}

WebAnswer Site::diff(const Address& address, const WebRequest& request) {
  std::vector<std::pair<std::int64_t, std::string>> picked;  // when they were written; the older one is the one before
  for (const auto& [name, value] : address.values) {
    if (name != "pick") continue;
    const auto path = parse_address("/" + value);  // it was written as an address, for names that are no UTF-8
    const Result<std::string> found = folders_.file(path ? path->path.substr(1) : "");
    if (!found) return not_found(found.error().message);
    const auto stamp = stamp_of(*found);
    picked.emplace_back(stamp ? stamp->modified_ns : 0, *found);
  }
  if (picked.size() != 2)
    return notice(422, "Two recordings are compared",
                  fmt::format("{} are ticked: go back, and tick two.", format_count(static_cast<std::int64_t>(picked.size()))));
  std::sort(picked.begin(), picked.end());
  return page_of(analyses_.diff_page(picked[0].second, picked[1].second, request.is_gone),
                 [](std::string html) { return diff_page(std::move(html)); });
}

WebAnswer Site::api(const std::string& tool, const Address& address, const WebRequest& request) {
  AnalysisAnswer answer = analyses_.tool(tool, address.values, request.is_gone);
  if (answer.kind != AnalysisAnswer::Kind::done) return json_error(status_of(answer.kind), answer.text);
  WebAnswer out;
  out.type = tool == "screenshot" ? "image/png" : kJson;
  out.body = std::move(answer.text);
  return out;
}

WebAnswer Site::file(const std::string& path, const WebRequest& request) const {
  const Result<AllowedFile> found = folders_.open(path);
  if (!found) return not_found(found.error().message);
  WebAnswer out = file_answer(ServedFile::of(found->fd), "application/octet-stream", request);
  if (out.file) out.headers.emplace_back("Content-Disposition", disposition(path));
  return out;
}

WebAnswer Site::window_file(const std::string& name, const WebRequest& request) const {
  const std::optional<WindowFile> found = gapscope::window_file(window_, name);
  if (!found) return not_found("There is no such page.");
  WebAnswer out = file_answer(ServedFile::open(found->path), found->type, request);
  out.headers.emplace_back("Content-Security-Policy", kWindowPolicy);
  return out;
}

}  // namespace gapscope
