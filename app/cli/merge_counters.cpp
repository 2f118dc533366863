// `gapscope merge-counters`: PyTorch's trace with the counters that `gapscope record --counters` took meanwhile.
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/subcommands.h"
#include "core/base/output_file.h"
#include "core/base/text.h"
#include "core/load/load_trace.h"
#include "core/load/merge_counters.h"

namespace gapscope {
namespace {

struct MergeCountersOptions {
  std::string trace, counters, output;
};

int merge_counters(const MergeCountersOptions& options) {
  const std::optional<FileStamp> stamp = stamp_of(options.trace);
  const Result<std::shared_ptr<const Trace>> trace = load_trace(options.trace);
  if (!trace) return complain(kBadInput, trace.error().message);
  const Result<std::shared_ptr<const Trace>> counters = load_trace(options.counters);
  if (!counters) return complain(kBadInput, counters.error().message);
  const Result<MergedCounters> merged = merge_counters(**trace, **counters, options.output, {.stamp = stamp});
  if (!merged) return complain(kBadInput, merged.error().message);
  std::string lines = fmt::format("{} holds the trace's {} events and {} of counters\n", printable(merged->written.path),
                                  format_count(static_cast<std::int64_t>(merged->written.events - merged->events)),
                                  format_count(static_cast<std::int64_t>(merged->events)));
  for (const std::string& remark : merged->written.remarks()) lines += "  " + remark + '\n';
  if (!is_standard_output(options.output)) return print(lines);
  std::fputs(lines.c_str(), stderr);  // the trace itself goes there
  return kOk;
}

}  // namespace

std::function<int()> declare_merge_counters(CLI::App& arguments) {
  auto options = std::make_shared<MergeCountersOptions>();
  arguments.add_option("TRACE", options->trace, "the trace of PyTorch's profiler")->required();
  arguments.add_option("COUNTERS", options->counters, "what gapscope record --counters-only wrote meanwhile")->required();
  arguments.add_option("-o,--output", options->output, "the .json or .json.gz to write")->required();
  arguments.footer(
      "gapscope record --counters-only -o counters.json.gz -- python3 train.py, with torch.profiler inside, leaves two files:\n"
      "PyTorch's trace with operators and kernels, and the recording with the counters of that time. Both files must state\n"
      "their time 0, which joins their clocks. GPU 0 of one file must be GPU 0 of the other:\n"
      "choose GPUs (CUDA_VISIBLE_DEVICES) for gapscope record, not inside the program.");
  return [options] { return merge_counters(*options); };
}

}  // namespace gapscope
