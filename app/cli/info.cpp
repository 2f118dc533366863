#include "app/cli/info.h"

#include <cstdio>

#include "app/cli/info_json.h"
#include "app/cli/info_text.h"
#include "core/base/text.h"
#include "core/load/load_trace.h"

namespace gapscope {

int info(const InfoOptions& options) {
  const Result<std::shared_ptr<const Trace>> trace = load_trace(options.trace);
  if (!trace.ok()) {
    std::fprintf(stderr, "gapscope: %s\n", printable(trace.error().message).c_str());
    return 1;
  }
  const Document doc(*trace);
  const std::string text = options.json ? info_json(doc) : info_text(doc);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : 1;
}

}  // namespace gapscope
