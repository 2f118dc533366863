#include "app/cli/info.h"

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/snapshot_report.h"
#include "app/cli/subcommands.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

struct InfoOptions {
  std::string trace;  // "-" is standard input
  bool json = false;
  bool stages = false;  // the timeline of loading it, instead of what is in it
};

int stages(const std::string& path) {
  LoadTimeline timeline;
  const std::shared_ptr<const Trace> loaded = value_or_say_why(load_trace_on(timeline, path));
  if (!loaded) return kBadInput;
  {
    const Timed timed(&timeline, LoadTimeline::Stage::indexing);
    const Document doc(loaded);
  }
  return print(stages_text(timeline.stretches(), loaded->figures));
}

int info(const InfoOptions& options) {
  if (options.stages) return stages(options.trace);
  if (is_pickle(options.trace)) {  // another pickle is named by what follows
    const Result<Snapshot> snapshot = load_snapshot(options.trace);
    if (snapshot) return print((options.json ? snapshot_info_json : snapshot_info_text)(options.trace, *snapshot));
  }
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Document doc(loaded);
  return print(options.json ? info_json(doc) : info_text(doc));
}

}  // namespace

std::function<int()> declare_info(CLI::App& arguments) {
  auto options = std::make_shared<InfoOptions>();
  add_trace(arguments, options->trace);
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_flag("--stages", options->stages, "print the timeline of loading it: what each thread did when")
      ->excludes(json);
  return [options] { return info(*options); };
}

}  // namespace gapscope
