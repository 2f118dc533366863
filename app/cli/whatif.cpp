// `gapscope whatif TRACE|FOLDER [changes] [--path] [--json]`: recordings replayed with changes (core/replay/GAIN.md) on stdout;
// without any, what each finding's remedy would give, and a plan.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/subcommands.h"
#include "app/cli/whatif_report.h"
#include "core/analyze/doubts.h"
#include "core/diagnose/verdict.h"
#include "core/ranks/run_report.h"
#include "core/replay/at_roofline.h"
#include "core/replay/changes.h"
#include "core/replay/limits.h"
#include "core/replay/plain_program.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

Change kernels_at_roofline(const Document& d, const ReplayModel& model, double reached) {
  return at_roofline(model, d.trace, d.session.work(), reached);
}

// The first change that one trace alone cannot have, or empty.
std::string word_of_ranks(const std::vector<std::string>& changes) {
  for (const std::string& change : changes)
    for (const char* word : {"rank", "link", "on"})
      if (change.starts_with(std::string(word) + ' ')) return word;
  return {};
}

int whatif(const WhatIfOptions& options) {
  if (options.traces.size() > 1 || holds_several_traces(options.traces[0])) return whatif_run(options);
  if (const std::string word = word_of_ranks(options.changes); !word.empty())
    return complain(kUsage, "--" + word + " needs several ranks: name their traces or their folder.");
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.traces[0]);
  if (!loaded) return kBadInput;
  const Document document(loaded);
  const Trace& trace = document.trace;
  const Headline& headline = headline_of(document.session);
  const auto model = document.session.model();
  Result<Change> change = read_changes(trace, document.names, *model, options.changes);
  if (!change.ok()) return complain(kUsage, change.error().message);
  if (const double reached = std::strtod(options.roofline.c_str(), nullptr); reached > 0)
    *change = both(std::move(*change), kernels_at_roofline(document, *model, reached));
  else if (options.changes.empty())
    document.judge();
  if (headline.plain) change->pace = headline.plain->pace;
  ReplayResult result = replay(*model, *change);
  GpuBusy busy = gpu_busy(*model, result);
  if (headline.plain) {  // what was before the change is the plain program, too
    Change none = plain_change(headline.plain.get());
    none.full_queues = change->full_queues;
    const ReplayResult before = replay(*model, none);
    compare_with(before, gpu_busy(*model, before), result, busy);
  }
  const HostTime& host = document.session.account().host();
  WhatIfReport report{trace,
                      *model,
                      result,
                      busy,
                      {},
                      document.diagnosis(),
                      profiler_cost(trace, model->run()),
                      change->full_queues,
                      {},
                      options.path,
                      {},
                      {},
                      headline.plain,
                      headline.plain_verdict,
                      doubts_of(trace, document.session.ops())};
  if (std::find(options.changes.begin(), options.changes.end(), "graph") != options.changes.end())
    report.waits_inside = waits_between_launches(*model, *change);
  report.next = bound_of(times_after(trace, host, *model, *change, result, report.busy.device));
  if (options.path && !model->empty()) {
    report.path = critical_path(*model, *change, result);
    report.sums = path_sums(trace, host, *change, report.path);
  }
  return print(options.json ? whatif_json(report) : whatif_text(report));
}

// An option adds a change to the list, in the order of the command line.
void add_change(CLI::App& arguments, const std::shared_ptr<WhatIfOptions>& options, const std::string& word, const char* type,
                const char* about) {
  const auto add = [options, word](const std::string& value) { options->changes.push_back(word + " " + value); };
  arguments.add_option_function<std::string>("--" + word, add, about)->type_name(type)->trigger_on_parse();
}
void add_change(CLI::App& arguments, const std::shared_ptr<WhatIfOptions>& options, const std::string& word,
                const char* about) {
  arguments.add_flag_callback(
      "--" + word, [options, word] { options->changes.push_back(word); }, about);
}

}  // namespace

std::function<int()> declare_whatif(CLI::App& arguments) {
  auto options = std::make_shared<WhatIfOptions>();
  arguments
      .add_option("TRACE", options->traces, "the trace, - for standard input; or the traces or the folder of several ranks")
      ->required()
      ->type_name("FILE|DIR...");
  add_capture(arguments);
  add_steps(arguments);
  add_roofs(arguments);
  add_plain(arguments);
  add_change(arguments, options, "gpu", "F", "GPU work takes F times as long: 0.5 is a GPU twice as fast");
  add_change(arguments, options, "kernel", "RE=F", "the same for GPU work whose whole name matches a regular expression (RE2)");
  add_change(arguments, options, "host", "F", "the host takes F times as long");
  add_change(arguments, options, "remove", "NAME", "slices of this name take no host time; * matches any text");
  add_change(arguments, options, "no-wait", "the host never waits for the GPU");
  add_change(arguments, options, "graph", "each step launches as one CUDA graph");
  add_change(arguments, options, "overlap-copies", "copies do not delay the work that follows");
  add_change(arguments, options, "full-queues",
             "model launches that wait for a full queue, as findings do; default: recorded launch times");
  add_change(arguments, options, "rank", "R", "of several ranks: rank R is never late");
  add_change(arguments, options, "link", "N",
             "of several ranks: links of N GB/s (2^30 bytes, bus bandwidth as `gapscope ranks` prints it)");
  add_change(arguments, options, "on", "R", "of several ranks: the changes that follow apply to rank R only");
  arguments
      .add_flag("--roofline{1}", options->roofline,
                "kernels run at their roofline (see `gapscope roofline`); --roofline=0.8: at 80 % of it")
      ->check(number_between(0.01, 1));
  arguments.add_flag("--path", options->path, "print the critical path, and its time by name");
  arguments.add_flag("--json", options->json, "print JSON");
  return [options] { return whatif(*options); };
}

}  // namespace gapscope
