// `gapscope snapshot FILE`: what a memory snapshot of PyTorch holds.
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/snapshot_report.h"
#include "app/cli/subcommands.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kOomsExplained = 20;  // of a device, the last ones: each walks over the history

struct SnapshotOptions {
  std::string file;  // "-" is standard input
  std::string at;    // empty: the end
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
    return Error{fmt::format("\"{}\" is no event: write its number, \"peak\" or \"oom\".", at)};
  if (event >= device.events.size())
    return Error{fmt::format("GPU {} has {} events in this snapshot, numbered from 0.", device.id,
                             format_count(static_cast<std::int64_t>(device.events.size())))};
  return Event(event);
}

int snapshot(const SnapshotOptions& options) {
  const Result<Snapshot> loaded = load_snapshot(options.file);
  if (!loaded) return complain(kBadInput, loaded.error().message);
  SnapshotReport report;
  report.snapshot = &*loaded;
  report.at = options.at.empty() ? "end" : options.at == "peak" || options.at == "oom" ? options.at : "event";
  std::vector<HeldBlock> held;
  std::string trouble;
  for (const SnapshotDevice& device : loaded->devices) {
    if (options.device >= 0 && device.id != options.device) continue;
    SnapshotReport::Device row{&device, peak_of(device), {}, {}, {}, {}, {}};
    const auto event = event_of(device, row.peak, options.at);
    if (!event) {
      if (trouble.empty()) trouble = event.error().message;
      continue;
    }
    row.event = *event;
    row.state = state_at(*loaded, device, row.event);
    row.steps = steps_of(*loaded, device, row.event);
    row.leaks = leaks_of(row.state, row.steps);
    held.insert(held.end(), row.state.held.begin(), row.state.held.end());
    const std::size_t first = device.ooms.size() - std::min(device.ooms.size(), kOomsExplained);
    for (std::size_t i = first; i < device.ooms.size(); ++i) row.ooms.push_back(explain_oom(*loaded, device, device.ooms[i]));
    report.devices.push_back(std::move(row));
  }
  if (report.devices.empty() && !trouble.empty()) return complain(kBadInput, trouble);
  if (report.devices.empty() && options.device >= 0)
    return complain(kBadInput, fmt::format("{} has nothing of GPU {}.", options.file, options.device));
  report.holders = holders_of(*loaded, held);
  return print(options.json ? snapshot_json(report) : snapshot_text(report));
}

}  // namespace

std::function<int()> declare_snapshot(CLI::App& arguments) {
  auto options = std::make_shared<SnapshotOptions>();
  arguments.add_option("FILE", options->file, "what torch.cuda.memory._dump_snapshot() wrote; - for standard input")
      ->required();
  arguments
      .add_option("--at", options->at,
                  "the moment that is shown: the number of an event, peak or oom; without it, when the snapshot was taken")
      ->type_name("EVENT|peak|oom");
  arguments.add_option("--device", options->device, "only this GPU")->check(whole_number(0, 1'000'000))->type_name("N");
  arguments.add_flag("--json", options->json, "print JSON");
  return [options] { return snapshot(*options); };
}

}  // namespace gapscope
