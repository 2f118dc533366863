#include "core/snapshot/opened_snapshot.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/failure.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/load/byte_source.h"

namespace gapscope {
namespace {

constexpr std::size_t kOomsExplained = 5;  // of a device: each walks over the history

std::string bytes(std::int64_t n) { return format_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0))); }

// Says how far it is, and ends when cancelled.
class WatchedSource : public ByteSource {
 public:
  WatchedSource(ByteSource& source, const SnapshotProgress& progress) : source_(source), progress_(progress) {
    if (progress_.bytes_total) *progress_.bytes_total = source.file_bytes_total();
  }
  Result<std::size_t> read(char* into, std::size_t size) override {
    if (progress_.cancel && *progress_.cancel) return Error{"Cancelled."};
    if (progress_.bytes_done) *progress_.bytes_done = source_.file_bytes_read();
    return source_.read(into, size);
  }
  std::uint64_t file_bytes_read() const override { return source_.file_bytes_read(); }
  std::uint64_t file_bytes_total() const override { return source_.file_bytes_total(); }
  bool was_cut_short() const override { return source_.was_cut_short(); }

 private:
  ByteSource& source_;
  const SnapshotProgress& progress_;
};

Result<Snapshot> load(const std::string& path, const SnapshotProgress& progress) {
  const Result<std::unique_ptr<ByteSource>> source = open_source(path, progress.cancel);
  if (!source) return source.error();
  WatchedSource watched(**source, progress);
  return read_snapshot(watched, printable(path));
}

MemoryHolders holders_at_end(const Snapshot& snapshot, std::int64_t& held) {
  std::vector<HeldBlock> blocks;
  for (const SnapshotDevice& device : snapshot.devices) {
    const SnapshotState state = state_at(snapshot, device);
    blocks.insert(blocks.end(), state.held.begin(), state.held.end());
    add_saturating(held, device.totals.active);
  }
  return holders_of(snapshot, blocks);
}

Result<std::shared_ptr<const OpenedSnapshot>> open(const std::string& path, const std::string& before,
                                                   const SnapshotProgress& progress, const Trace* program) {
  const auto is_cancelled = [&] { return progress.cancel && *progress.cancel; };
  const Error cancelled{"Cancelled."};
  Result<Snapshot> read = load(path, progress);
  if (!read) return read.error();
  const auto out = std::make_shared<OpenedSnapshot>();
  out->path = path;
  out->snapshot = std::move(*read);
  if (program) {
    Result<ProgramTrace> added = add_program(out->snapshot, *program);
    if (!added) return added.error();
    out->program = std::move(*added);
  }
  const Snapshot& snapshot = out->snapshot;
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
    const SnapshotDevice& device = snapshot.devices[i];
    std::optional<BlockHistory> history = BlockHistory::make(snapshot, device, progress.cancel);
    if (!history) return cancelled;
    OpenedDevice made{&device, std::move(*history), peak_of(device), steps_of(snapshot, device), {}, {}, {}};
    out->devices.push_back(std::move(made));
    OpenedDevice& opened = out->devices.back();
    opened.end = moment_of(*out, i, std::nullopt);
    opened.leaks = leaks_of(opened.end->state, opened.steps);
    const std::size_t first = device.ooms.size() - std::min(device.ooms.size(), kOomsExplained);
    for (std::size_t o = first; o < device.ooms.size(); ++o) {
      if (is_cancelled()) return cancelled;
      opened.ooms.push_back(explain_oom(snapshot, device, device.ooms[o]));
    }
  }
  if (before.empty()) return std::shared_ptr<const OpenedSnapshot>(out);
  const Result<Snapshot> earlier = load(before, progress);
  if (!earlier) return earlier.error();
  SnapshotComparison comparison;
  comparison.path = before;
  const MemoryHolders then = holders_at_end(*earlier, comparison.before), now = holders_at_end(snapshot, comparison.after);
  comparison.lines = changed_lines(then, now);
  comparison.kinds = changed_kinds(then, now);
  out->comparison = std::move(comparison);
  return std::shared_ptr<const OpenedSnapshot>(out);
}

}  // namespace

Result<std::shared_ptr<const OpenedSnapshot>> open_snapshot(const std::string& path, const std::string& before,
                                                            const SnapshotProgress& progress, const Trace* program) {
  try {
    return open(path, before, progress, program);
  } catch (...) {
    return current_failure("open", path);
  }
}

std::shared_ptr<const SnapshotMoment> moment_of(const OpenedSnapshot& opened, std::size_t device,
                                                std::optional<std::uint32_t> event) {
  const auto out = std::make_shared<SnapshotMoment>();
  out->device = device;
  out->event = event;
  out->state = state_at(opened.snapshot, *opened.devices[device].device, event);
  out->holders = holders_of(opened.snapshot, out->state.held);
  out->tree = holder_tree(opened.snapshot, out->holders.stacks);
  return out;
}

std::string leak_sentence(const Snapshot& snapshot, const SnapshotSteps& steps, const SnapshotLeak& leak) {
  return fmt::format("{} grows: {} more in each of {} of {} {}, {} by now.", holder_words(snapshot, leak.stack, false),
                     bytes(leak.bytes_per_step), leak.steps, leak.of_steps,
                     steps.are_steps ? "steps" : "equal parts of the history", bytes(leak.bytes));
}

std::string snapshot_headline(const OpenedSnapshot& opened) {
  const OutOfMemory* last = nullptr;
  const OpenedDevice* leaky = nullptr;
  const OpenedDevice* fullest = nullptr;
  for (const OpenedDevice& d : opened.devices) {
    if (!d.ooms.empty() && (!last || d.ooms.back().time_us > last->time_us)) last = &d.ooms.back();
    if (!d.leaks.empty() && (!leaky || d.leaks.front().bytes > leaky->leaks.front().bytes)) leaky = &d;
    if (!d.end->holders.lines.empty() && (!fullest || d.device->totals.active > fullest->device->totals.active)) fullest = &d;
  }
  if (last) return oom_sentence(opened.snapshot, *last);
  if (leaky) return leak_sentence(opened.snapshot, leaky->steps, leaky->leaks.front());
  if (!fullest) return "No memory was held when the snapshot was taken.";
  const LineHolder& most = fullest->end->holders.lines.front();
  return fmt::format("{} holds most when the snapshot was taken: {} of {}, in {} blocks.", most.place, bytes(most.bytes),
                     bytes(fullest->device->totals.active), format_count(static_cast<std::int64_t>(most.blocks)));
}

}  // namespace gapscope
