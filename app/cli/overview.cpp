#include "app/cli/overview.h"

#include <array>
#include <cstdio>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/output_file.h"
#include "core/base/text.h"
#include "core/view/compile/compile_model.h"
#include "core/view/document.h"
#include "core/view/overview/overview_html.h"

namespace gapscope {
namespace {

int write_html(const OverviewOptions& options, const std::string& html) {
  const std::array inputs = {options.trace};
  const Result<std::string> written = write_file(options.html, html, {.inputs = inputs});
  if (!written.ok()) {
    std::fprintf(stderr, "gapscope: %s\n", printable(written.error().message).c_str());
    return kBadInput;
  }
  return kOk;
}

}  // namespace

int overview(const OverviewOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Document document(loaded);
  document.judge();
  const std::vector<GpuOp> ops = gpu_ops(document.trace, document.links);
  const RunOverview facts = make_overview(document.trace, *document.analysis(), ops);
  if (options.json) return print(overview_json(document.trace, facts, *document.diagnosis()));
  const CompileUse compiled = compile_use(document.trace, document.lanes, document.links, ops, args_of_file(document.trace));
  OverviewPage page = overview_page(document.trace, facts, *document.diagnosis(), compiled);
  return options.html.empty() ? print(overview_text(page))
                              : write_html(options, overview_html(document, facts, std::move(page), {}));
}

}  // namespace gapscope
