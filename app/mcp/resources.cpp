#include "app/mcp/resources.h"

#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/guide.h"
#include "core/sql/database.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kGuide = "gapscope://guide", kSchema = "gapscope://sql/schema";

Json resource(const std::string& uri, std::string_view name, const char* type) {
  return {{"uri", uri}, {"name", name}, {"mimeType", type}};
}

// Tables are the same for every trace: an empty one will do.
std::string schema_text() { return sql::Database(std::make_shared<const Trace>(), {}).schema_text({}); }

std::string text_of(const std::string& uri) {
  if (uri == kGuide) return std::string(guide_text());
  if (uri == kSchema) return schema_text();
  if (!uri.starts_with(std::string(kGuide) + "/")) return {};
  return std::string(guide_section(uri.substr(kGuide.size() + 1)).text);
}

}  // namespace

Json mcp_resources() {
  Json out = Json::array(
      {resource(std::string(kGuide), "The guide: what the rules look for, what it means, what to do", "text/markdown"),
       resource(std::string(kSchema), "Tables and columns of sql, with units", "text/plain")});
  for (const Rule* rule : all_rules())
    if (const GuideSection section = guide_section(rule->id); !section.text.empty())
      out.push_back(resource(fmt::format("{}/{}", kGuide, rule->id), section.title, "text/markdown"));
  return out;
}

Json mcp_resource(const std::string& uri) {
  const std::string text = text_of(uri);
  if (text.empty()) return nullptr;
  return Json::array({{{"uri", uri}, {"mimeType", uri == kSchema ? "text/plain" : "text/markdown"}, {"text", text}}});
}

}  // namespace gapscope
