#include "app/free_name.h"

#include <filesystem>
#include <system_error>

namespace gapscope {

std::string free_name_beside(const std::string& trace_path, const std::string& ending) {
  namespace fs = std::filesystem;
  fs::path base = trace_path.empty() || trace_path == "-" ? fs::path("gapscope") : fs::path(trace_path);
  for (const char* end : {".gz", ".xz", ".zst", ".json"})
    if (base.extension() == end) base.replace_extension();
  std::string name = base.string() + ending;
  std::error_code ignored;
  for (int n = 2; fs::exists(name, ignored); ++n) name = base.string() + "-" + std::to_string(n) + ending;
  return name;
}

}  // namespace gapscope
