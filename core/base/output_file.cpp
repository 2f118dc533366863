#include "core/base/output_file.h"

namespace gapscope {

Result<std::string> write_file(const std::string& path, std::string_view text, const OutputOptions& options) {
  Result<std::unique_ptr<OutputFile>> file = OutputFile::create(path, options);
  if (!file) return file.error();
  (*file)->write(text);
  if (std::optional<Error> error = (*file)->finish()) return *error;
  return (*file)->path();
}

}  // namespace gapscope
