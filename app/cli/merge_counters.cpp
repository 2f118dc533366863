#include "app/cli/merge_counters.h"

#include <cstdio>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/output_file.h"
#include "core/base/text.h"
#include "core/load/load_trace.h"
#include "core/load/merge_counters.h"

namespace gapscope {
namespace {

int complain(const std::string& sentence) {
  std::fprintf(stderr, "gapscope: %s\n", printable(sentence).c_str());
  return kBadInput;
}

}  // namespace

int merge_counters(const MergeCountersOptions& options) {
  const std::optional<FileStamp> stamp = stamp_of(options.trace);
  const Result<std::shared_ptr<const Trace>> trace = load_trace(options.trace);
  if (!trace) return complain(trace.error().message);
  const Result<std::shared_ptr<const Trace>> counters = load_trace(options.counters);
  if (!counters) return complain(counters.error().message);
  const Result<MergedCounters> merged = merge_counters(**trace, **counters, options.output, {.stamp = stamp});
  if (!merged) return complain(merged.error().message);
  std::string lines = fmt::format("{} holds the trace's {} events and {} of counters\n", printable(merged->written.path),
                                  format_count(static_cast<std::int64_t>(merged->written.events - merged->events)),
                                  format_count(static_cast<std::int64_t>(merged->events)));
  for (const std::string& remark : merged->written.remarks()) lines += "  " + remark + '\n';
  if (!is_standard_output(options.output)) return print(lines);
  std::fputs(lines.c_str(), stderr);  // the trace itself goes there
  return kOk;
}

}  // namespace gapscope
