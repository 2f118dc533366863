#include "app/record/find_module.h"

#include <filesystem>
#include <system_error>

namespace gapscope {

std::string find_module(const std::string& program, std::string_view name) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(program).parent_path();
  for (const fs::path& place : {folder / name, folder.parent_path() / "lib/gapscope" / name}) {
    std::error_code trouble;
    if (fs::exists(place, trouble)) return fs::absolute(place).string();
  }
  return {};
}

}  // namespace gapscope
