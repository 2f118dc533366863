#include "app/state/sibling_name.h"

#include <filesystem>

#include "app/state/exported_report.h"
#include "core/base/readable_folders.h"

namespace gapscope {

std::string sibling_name(const std::string& trace_path, const std::string& ending) {
  namespace fs = std::filesystem;
  fs::path base = trace_path.empty() || trace_path == "-" ? fs::path("gapscope") : fs::path(trace_path);
  if (const auto [archive, member] = split_member_path(trace_path); !member.empty())
    base = fs::path(archive).parent_path() / fs::path(member).filename();
  if (const ExportedReport* report = report_of_export(trace_path)) base = fs::path(report->path).replace_extension();
  for (const char* end : {".gz", ".xz", ".zst", ".json"})
    if (base.extension() == end) base.replace_extension();
  return base.string() + ending;
}

}  // namespace gapscope
