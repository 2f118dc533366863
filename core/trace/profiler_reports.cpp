#include "core/trace/profiler_reports.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kLongestShown = 300;  // characters of one text

}  // namespace

std::vector<std::string> profiler_reports(const Trace& trace) {
  std::vector<std::string> out;
  if (trace.producer->id != std::string_view("nsight_systems")) return out;
  const auto texts = parse_json(trace.header.find("nsight_systems_diagnostics"));
  if (!texts || !texts->is_array()) return out;
  for (const auto& text : *texts)
    if (text.is_string())
      out.push_back("Nsight Systems reports: " + elide_middle(printable(text.get_ref<const std::string&>()), kLongestShown));
  return out;
}

}  // namespace gapscope
