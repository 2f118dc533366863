#include "app/state/exported_report.h"

#include <map>
#include <utility>

namespace gapscope {
namespace {

std::map<std::string, ExportedReport>& exports() {
  static std::map<std::string, ExportedReport> by_path;
  return by_path;
}

}  // namespace

void add_export(const std::string& path, ExportedReport report) { exports()[path] = std::move(report); }

const ExportedReport* report_of_export(const std::string& path) {
  const auto at = exports().find(path);
  return at == exports().end() ? nullptr : &at->second;
}

}  // namespace gapscope
