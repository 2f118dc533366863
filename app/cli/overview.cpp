#include "app/cli/overview.h"

#include <array>
#include <cstdio>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/ranks.h"
#include "app/cli/subcommands.h"
#include "core/base/output_file.h"
#include "core/view/compile/compile_model.h"
#include "core/view/document.h"
#include "core/view/overview/overview_html.h"

namespace gapscope {
namespace {

struct OverviewOptions {
  std::string trace;  // "-" is standard input
  std::string html;   // the file to write; empty: text on stdout
  bool json = false;
};

int write_html(const OverviewOptions& options, const std::string& html) {
  const std::array inputs = {options.trace};
  const Result<std::string> written = write_file(options.html, html, {.inputs = inputs});
  return written.ok() ? kOk : complain(kBadInput, written.error().message);
}

int overview(OverviewOptions options) {
  if (!options.json && options.html.empty())
    if (const int code = enter_run(options.trace); code != kOk) return code;
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

}  // namespace

std::function<int()> declare_overview(CLI::App& arguments) {
  auto options = std::make_shared<OverviewOptions>();
  add_trace(arguments, options->trace);
  add_roofs(arguments);
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_option("--html", options->html, "write a page for a browser, whole in one file")
      ->type_name("FILE")
      ->excludes(json);
  return [options] { return overview(*options); };
}

}  // namespace gapscope
