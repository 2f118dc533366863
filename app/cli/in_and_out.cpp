#include "app/cli/in_and_out.h"

#include <cstdio>

#include "app/cli/command_line.h"
#include "core/base/text.h"
#include "core/load/load_trace.h"

namespace gapscope {

std::shared_ptr<const Trace> load_or_say_why(const std::string& path) {
  const Result<std::shared_ptr<const Trace>> loaded = load_trace(path);
  if (loaded.ok()) return *loaded;
  std::fprintf(stderr, "gapscope: %s\n", printable(loaded.error().message).c_str());
  return nullptr;
}

int print(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 ? kOk : kBadInput;
}

}  // namespace gapscope
