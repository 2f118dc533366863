// `gapscope snapshot FILE`: what a memory snapshot of PyTorch holds.
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/snapshot_report.h"
#include "app/cli/subcommands.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/load/load_trace.h"

namespace gapscope {
namespace {

constexpr std::size_t kOomsExplained = 20;  // of a device, the last ones: each walks over the history

struct SnapshotOptions {
  std::string file;    // "-" is standard input
  std::string at;      // empty: the end
  std::string before;  // empty: nothing to compare with
  std::string trace;   // of the same run; empty: none
  std::int64_t device = -1;
  bool json = false;
};

// The event that is meant; an Error where the device has none such.
Result<std::optional<std::uint32_t>> event_of(const SnapshotDevice& device, const SnapshotPeak& peak, const std::string& at) {
  using Event = std::optional<std::uint32_t>;
  if (at.empty()) return Event();
  if (at == "peak") return peak.bytes == device.totals.active ? Event() : Event(peak.event.value_or(kBeforeHistory));
  if (at == "oom") {
    if (device.ooms.empty()) return Error{fmt::format("GPU {} has no out-of-memory event in this snapshot.", device.id)};
    return Event(device.ooms.back());
  }
  std::uint32_t event = 0;
  const auto [end, trouble] = std::from_chars(at.data(), at.data() + at.size(), event);
  if (trouble != std::errc() || end != at.data() + at.size())
    return Error{fmt::format("\"{}\" is not an event: write its number, \"peak\" or \"oom\".", at)};
  if (event >= device.events.size())
    return Error{fmt::format("GPU {} has {} events in this snapshot, numbered from 0.", device.id,
                             format_count(static_cast<std::int64_t>(device.events.size())))};
  return Event(event);
}

// It refers to `snapshot`. `file`: its name, for an Error.
Result<SnapshotReport> report_of(const Snapshot& snapshot, const SnapshotOptions& options, const std::string& file) {
  SnapshotReport report;
  report.snapshot = &snapshot;
  report.at = options.at.empty() ? "end" : options.at == "peak" || options.at == "oom" ? options.at : "event";
  std::vector<HeldBlock> held;
  std::string trouble;
  for (const SnapshotDevice& device : snapshot.devices) {
    if (options.device >= 0 && device.id != options.device) continue;
    SnapshotReport::Device row{&device, peak_of(device), {}, {}, {}, {}, {}};
    const auto event = event_of(device, row.peak, options.at);
    if (!event) {
      if (trouble.empty()) trouble = event.error().message;
      continue;
    }
    row.event = *event;
    row.state = state_at(snapshot, device, row.event);
    row.steps = steps_of(snapshot, device, row.event);
    row.leaks = leaks_of(row.state, row.steps);
    held.insert(held.end(), row.state.held.begin(), row.state.held.end());
    const std::size_t first = device.ooms.size() - std::min(device.ooms.size(), kOomsExplained);
    for (std::size_t i = first; i < device.ooms.size(); ++i) row.ooms.push_back(explain_oom(snapshot, device, device.ooms[i]));
    report.devices.push_back(std::move(row));
  }
  if (report.devices.empty() && !trouble.empty()) return Error{trouble};
  if (report.devices.empty() && options.device >= 0)
    return Error{fmt::format("{} has nothing of GPU {}.", file, options.device)};
  report.holders = holders_of(snapshot, held);
  return report;
}

// The trace's annotations become the snapshot's. Nothing where none is asked for.
Result<std::optional<ProgramTrace>> program_of(Snapshot& snapshot, const std::string& path) {
  if (path.empty()) return std::optional<ProgramTrace>();
  const Result<std::shared_ptr<const Trace>> trace = load_trace(path, {});
  if (!trace) return trace.error();
  Result<ProgramTrace> program = add_program(snapshot, **trace);
  if (!program) return program.error();
  return std::optional(std::move(*program));
}

int snapshot(const SnapshotOptions& options) {
  Result<Snapshot> loaded = load_snapshot(options.file);
  if (!loaded) return complain(kBadInput, loaded.error().message);
  Result<std::optional<ProgramTrace>> program = program_of(*loaded, options.trace);
  if (!program) return complain(kBadInput, program.error().message);
  Result<SnapshotReport> report = report_of(*loaded, options, options.file);
  if (!report) return complain(kBadInput, report.error().message);
  report->program = *std::move(program);
  if (options.before.empty()) return print(options.json ? snapshot_json(*report) : snapshot_text(*report));
  const Result<Snapshot> other = load_snapshot(options.before);
  if (!other) return complain(kBadInput, other.error().message);
  const Result<SnapshotReport> before = report_of(*other, options, options.before);
  if (!before) return complain(kBadInput, before.error().message);
  return print(options.json ? snapshot_changes_json(*before, *report) : snapshot_changes_text(*before, *report));
}

}  // namespace

std::int64_t SnapshotReport::held() const {
  std::int64_t sum = 0;
  for (const Device& d : devices) add_saturating(sum, d.state.totals.active);
  return sum;
}

std::function<int()> declare_snapshot(CLI::App& arguments) {
  auto options = std::make_shared<SnapshotOptions>();
  arguments.add_option("FILE", options->file, "the file from torch.cuda.memory._dump_snapshot(), or - for standard input")
      ->required();
  arguments
      .add_option("--at", options->at,
                  "the time to show: the number of an event, peak or oom; default: the time of the snapshot")
      ->type_name("EVENT|peak|oom");
  arguments.add_option("--device", options->device, "only this GPU")->check(whole_number(0, 1'000'000))->type_name("N");
  arguments.add_option("--before", options->before, "an earlier snapshot: print where memory grew and shrank since then")
      ->type_name("FILE");
  arguments
      .add_option("--trace", options->trace,
                  "the trace of the same run: its annotations are the snapshot's, and a moment is one of the trace, too")
      ->type_name("TRACE");
  arguments.add_flag("--json", options->json, "print JSON");
  return [options] { return snapshot(*options); };
}

}  // namespace gapscope
