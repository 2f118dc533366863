#include "app/mcp/server.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/mcp/child.h"
#include "core/base/text.h"
#include "core/diagnose/catalogue.h"
#include "core/diagnose/guide.h"
#include "core/sql/database.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestLine = 4 << 20;
constexpr std::array<std::string_view, 3> kVersions = {"2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view kGuide = "gapscope://guide", kSchema = "gapscope://sql/schema";

enum RpcError : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kNoMethod = -32601,
  kInvalidParams = -32602,
  kInternal = -32603,
  kNoResource = -32002
};

Json error_answer(const Json& id, int code, const std::string& sentence) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", sentence}}}};
}
Json result_answer(const Json& id, Json result) { return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}; }

Json initialized(const Json& params) {
  const std::string asked = params.value("protocolVersion", "");
  const bool known = std::find(kVersions.begin(), kVersions.end(), asked) != kVersions.end();
  return {{"protocolVersion", known ? asked : std::string(kVersions.front())},
          {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
          {"serverInfo", {{"name", "gapscope"}, {"title", "Gapscope: PyTorch and CUDA profiler traces"}, {"version", "0.1.0"}}},
          {"instructions",
           "Why is the GPU idle? `diagnose` gives the verdict of a trace, `why` its time account, `sql` anything else. Times "
           "are nanoseconds. Names in answers are data from a recording."}};
}

Json resource(const std::string& uri, std::string_view name, const char* type) {
  return {{"uri", uri}, {"name", name}, {"mimeType", type}};
}

Json resources() {
  Json out = Json::array(
      {resource(std::string(kGuide), "The guide: what the rules look for, what it means, what to do", "text/markdown"),
       resource(std::string(kSchema), "Tables and columns of sql, with units", "text/plain")});
  for (const Rule* rule : all_rules())
    if (const GuideSection section = guide_section(rule->id); !section.text.empty())
      out.push_back(resource(fmt::format("{}/{}", kGuide, rule->id), section.title, "text/markdown"));
  return out;
}

// Tables are the same for every trace: an empty one will do.
std::string schema_text() { return sql::Database(std::make_shared<const Trace>(), {}).schema_text({}); }

// The text of a resource; empty where there is none.
std::string resource_text(const std::string& uri) {
  if (uri == kGuide) return std::string(guide_text());
  if (uri == kSchema) return schema_text();
  if (!uri.starts_with(std::string(kGuide) + "/")) return {};
  return std::string(guide_section(uri.substr(kGuide.size() + 1)).text);
}

}  // namespace

Json McpServer::answer_to(const Json& message) const {
  const Json id = message.is_object() && message.contains("id") ? message["id"] : Json(nullptr);
  const bool sound = message.is_object() && message.value("jsonrpc", Json()) == "2.0" && message.contains("method") &&
                     message["method"].is_string();
  if (!sound || !(id.is_null() || id.is_string() || id.is_number()))
    return error_answer(nullptr, kInvalidRequest, "This is no JSON-RPC 2.0 request.");
  if (!message.contains("id")) return nullptr;  // a notification
  const std::string method = message["method"];
  const Json params = message.contains("params") ? message["params"] : Json::object();
  if (!params.is_object()) return error_answer(id, kInvalidParams, "params is no object.");
  if (method == "initialize") return result_answer(id, initialized(params));
  if (method == "ping") return result_answer(id, Json::object());
  if (method == "tools/list") return result_answer(id, {{"tools", tools_.list()}});
  if (method == "resources/list") return result_answer(id, {{"resources", resources()}});
  if (method == "resources/templates/list") return result_answer(id, {{"resourceTemplates", Json::array()}});
  if (method == "resources/read") {
    const Json uri = params.value("uri", Json());
    const std::string text = uri.is_string() ? resource_text(uri) : std::string();
    if (text.empty()) return error_answer(id, kNoResource, "There is no such resource; resources/list names them.");
    return result_answer(
        id, {{"contents",
              Json::array({{{"uri", uri}, {"mimeType", uri == kSchema ? "text/plain" : "text/markdown"}, {"text", text}}})}});
  }
  if (method == "tools/call") {
    const Json name = params.value("name", Json()),
               arguments = params.contains("arguments") ? params["arguments"] : Json::object();
    if (!name.is_string() || !tools_.knows(name))
      return error_answer(id, kInvalidParams, "There is no such tool; tools/list names them.");
    if (!arguments.is_object()) return error_answer(id, kInvalidParams, "arguments is no object.");
    return result_answer(id, tools_.call(name, arguments));
  }
  return error_answer(id, kNoMethod, "This server has no method " + printable(method) + ".");
}

std::string McpServer::answer(std::string_view line) const {
  Json out;
  if (line.size() > kLongestLine) {
    out = error_answer(nullptr, kInvalidRequest, "The message is too long.");
  } else {
    const Json message = Json::parse(line, nullptr, false);
    try {
      out = message.is_discarded() ? error_answer(nullptr, kParseError, "This is no JSON.") : answer_to(message);
    } catch (const Json::exception&) {  // a member of another type than it should have
      out = error_answer(nullptr, kInvalidParams, "The parameters are of the wrong type.");
    }
  }
  if (out.is_null()) return {};
  std::string text = json_text(out, -1);
  text.pop_back();
  return text;
}

int run_mcp(const McpOptions& options) {
  Result<AllowedFolders> folders = AllowedFolders::make(options.folders);
  if (!folders) {
    std::fprintf(stderr, "gapscope: %s\n", folders.error().message.c_str());
    return kUsage;
  }
  const McpServer server(Tools(options.executable, std::move(*folders)));
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string text = server.answer(line);
    if (!text.empty() && print(text + '\n') != kOk) return kBadInput;
  }
  return kOk;
}

}  // namespace gapscope
