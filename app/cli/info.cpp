#include "app/cli/info.h"

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/info_json.h"
#include "app/cli/info_text.h"

namespace gapscope {

int info(const InfoOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Document doc(loaded);
  return print(options.json ? info_json(doc) : info_text(doc));
}

}  // namespace gapscope
