// `gapscope why TRACE [--device N] [--range FROM:TO] [--by-step] [--json]`: the time account on stdout, with the longest gaps
// and what exactly the host was in.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/subcommands.h"
#include "app/cli/time_argument.h"
#include "app/cli/why_report.h"
#include "core/base/text.h"
#include "core/diagnose/plain_verdict.h"
#include "core/diagnose/verdict.h"
#include "core/replay/plain_program.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

constexpr std::int64_t kMostDevices = 1'000'000;

struct WhyOptions {
  std::string trace;          // "-" is standard input
  std::optional<int> device;  // none: all
  std::string range;          // "FROM:TO", each as for --from and --to, or empty; empty: the whole window
  bool by_step = false;
  bool json = false;
};

// The part of the window that --range names.
Result<Span> range_of(const std::string& text, const Trace& trace, Span window) {
  if (text.empty()) return window;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return Error{fmt::format("--range: \"{}\" is not a range: write FROM:TO.", text)};
  Result<Span> range = parse_window(text.substr(0, colon), text.substr(colon + 1), trace.span);
  if (!range.ok()) return range;
  const Span part = intersect(*range, window);
  if (part.empty())
    return Error{fmt::format("--range: nothing of it is in the window of the account, {} to {} after the trace's begin.",
                             format_duration(window.begin - trace.span.begin), format_duration(window.end - trace.span.begin))};
  return part;
}

int why(const WhyOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const TraceSession session(loaded);
  const TimeAccount& account = session.account();
  WhyReport report{trace,
                   session.lanes(),
                   account,
                   session.ops(),
                   {},
                   account.window(),
                   options.by_step,
                   trust_of(trace, session.ops(), account),
                   Practices(trace),
                   session.counters()};
  if (!trace.stated.as_recorded && !account.devices().empty()) report.plain = headline_of(session);
  for (const DeviceAccount& device : account.devices())
    if (!options.device || device.device == *options.device) report.devices.push_back(&device);
  if (options.device && report.devices.empty())
    return complain(kUsage, fmt::format("--device: no work of GPU {} was launched in this trace.", *options.device));
  if (!report.devices.empty()) {
    const Result<Span> range = range_of(options.range, trace, account.window());
    if (!range.ok()) return complain(kUsage, range.error().message);
    report.range = *range;
  }
  return print(options.json ? why_json(report) : why_text(report));
}

}  // namespace

std::function<int()> declare_why(CLI::App& arguments) {
  auto options = std::make_shared<WhyOptions>();
  add_trace(arguments, options->trace);
  add_plain(arguments);
  arguments.add_option("--device", options->device, "only this GPU")->check(whole_number(0, kMostDevices));
  arguments.add_option("--range", options->range, std::string("only this part of the window; each end: ") + kTimeHelp)
      ->type_name("FROM:TO");
  arguments.add_flag("--by-step", options->by_step, "the account of each step too");
  arguments.add_flag("--json", options->json, "print JSON");
  return [options] { return why(*options); };
}

}  // namespace gapscope
