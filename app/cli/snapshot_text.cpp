#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "app/cli/in_and_out.h"
#include "app/cli/snapshot_report.h"
#include "core/base/saturating.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kRowsShown = 15;  // of a table
constexpr std::size_t kOomsShown = 3;   // of a device, the last ones
constexpr std::size_t kDevicesShown = 16;
constexpr std::size_t kLeaksShown = 3;
constexpr std::int64_t kMostHeld = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kNameChars = 70;

std::string bytes(std::int64_t n) {
  const auto size = static_cast<std::uint64_t>(n);
  return n < 0 ? "-" + format_bytes(0 - size) : format_bytes(size);
}
std::string count(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }
std::string name(std::string_view text) { return elide_middle(printable(text), kNameChars); }
std::string share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? format_percent(static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

std::string words_of(MemoryUseKind kind) {
  std::string words(name_of(kind));
  std::ranges::replace(words, '_', ' ');
  return words;
}

// The innermost Python frame, and where the program itself called it.
std::string stack_words(const Snapshot& snapshot, const StackHolder& holder) {
  if (holder.stack == 0) return holder.before_history ? "allocated before the history began" : "no stack";
  const std::uint32_t inner = inner_frame(snapshot, holder.stack), own = own_frame(snapshot, holder.stack);
  const std::string words = place_words(snapshot, inner);
  return inner == own ? words : words + " < " + place_words(snapshot, own);
}

std::string moment(const SnapshotReport& report) {
  if (report.at == "end") return "when the snapshot was taken";
  if (report.at == "peak") return "at the peak";
  return report.at == "oom" ? "when memory ran out" : "after that event";
}

const OutOfMemory* last_oom(const SnapshotReport& report) {
  const OutOfMemory* last = nullptr;
  for (const SnapshotReport::Device& d : report.devices)
    if (!d.ooms.empty() && (!last || d.ooms.back().time_us > last->time_us)) last = &d.ooms.back();
  return last;
}

std::string answer(const SnapshotReport& report) {
  if (const OutOfMemory* oom = last_oom(report)) return printable(oom_sentence(*report.snapshot, *oom)) + '\n';
  if (report.holders.lines.empty()) return fmt::format("No memory is held {}.\n", moment(report));
  const LineHolder& most = report.holders.lines.front();
  return fmt::format("{} holds most {}: {} of {}, in {} blocks.\n", name(most.place), moment(report), bytes(most.bytes),
                     bytes(report.held()), count(most.blocks));
}

std::string device_text(const SnapshotReport& report, const SnapshotReport::Device& d) {
  const SnapshotTotals& t = d.state.totals;
  std::string out = fmt::format("\nGPU {} {}", d.device->id, moment(report));
  if (d.event == kBeforeHistory)
    out += " (before the history began)";
  else if (d.event)
    out += fmt::format(" (event {} of {})", count(*d.event), count(d.device->events.size()));
  out += '\n';
  std::vector<std::vector<std::string>> rows = {
      {"reserved", bytes(t.reserved), fmt::format("{} segments, {} blocks", count(t.segments), count(t.blocks))},
      {"allocated", bytes(t.allocated),
       t.active != t.allocated ? fmt::format("{} with what waits to be freed", bytes(t.active)) : ""},
      {"requested", bytes(t.requested), "before rounding"},
      {"free in segments", bytes(t.free),
       fmt::format("largest hole {}; {} of it between tensors, which empty_cache() cannot return", bytes(t.largest_free),
                   bytes(t.split_free))},
      {"peak", bytes(d.peak.bytes),
       d.device->events.empty() ? "no history was recorded: torch.cuda.memory._record_memory_history()"
       : d.peak.event
           ? fmt::format("event {}, {} after the first", count(*d.peak.event),
                         format_duration((d.device->events[*d.peak.event].time_us - d.device->events.front().time_us) * 1000))
           : "before the history began"},
  };
  out += aligned_text(rows, 2, [](std::size_t column) { return column != 1; });
  return out;
}

std::string oom_text(const Snapshot& snapshot, const SnapshotReport::Device& d) {
  std::string out;
  const std::size_t first = d.ooms.size() - std::min(d.ooms.size(), kOomsShown);
  if (d.device->ooms.size() > kOomsShown)
    out += fmt::format("\nGPU {} ran out of memory {} times; the last {}:\n", d.device->id, count(d.device->ooms.size()),
                       kOomsShown);
  for (std::size_t i = first; i < d.ooms.size(); ++i) {
    const OutOfMemory& oom = d.ooms[i];
    out += fmt::format("\nout of memory at event {}\n", count(oom.event));
    out += aligned_text(
        {{"asked", bytes(oom.asked),
          fmt::format("{} pool, stream {}; the GPU had to give {}", oom.is_large ? "large" : "small", oom.stream,
                      bytes(oom.segment))},
         {"held by tensors", bytes(oom.held), fmt::format("of {} reserved", bytes(oom.reserved))},
         {"free on the GPU", bytes(oom.device_free), ""},
         {"free in segments", bytes(oom.free),
          fmt::format("largest hole {} (large pool), {} (small pool); {}", bytes(oom.largest_large), bytes(oom.largest_small),
                      oom.is_expandable ? "expandable segments" : "no expandable segments")}},
        2, [](std::size_t column) { return column != 1; });
    for (const std::string& remedy : oom_remedies(snapshot, oom)) out += "  " + printable(remedy) + '\n';
    for (std::size_t h = 1; h < std::min<std::size_t>(oom.holders.lines.size(), 4); ++h)  // the first is the remedy's
      out += fmt::format("  {} held {}\n", name(oom.holders.lines[h].place), bytes(oom.holders.lines[h].bytes));
  }
  return out;
}

// "  in the trace  at 12.3 ms, in ProfilerStep#3 > forward".
std::string program_text(const SnapshotReport& report, const SnapshotReport::Device& d) {
  if (!report.program || d.device->events.empty()) return {};
  const ProgramMoment in = program_moment(report, d);
  std::string out =
      in.time ? fmt::format("  in the trace at {}", format_duration(*in.time)) : "  the trace was not recorded at that moment";
  for (std::size_t i = 0; i < in.annotations.size(); ++i)
    out += (i == 0 ? ", in " : " > ") + name(report.snapshot->texts[in.annotations[i]]);
  return out + '\n';
}

// What grows, as sentences; the largest first.
std::string leaks_text(const SnapshotReport& report, const SnapshotReport::Device& d) {
  std::string out;
  for (std::size_t i = 0; i < std::min(d.leaks.size(), kLeaksShown); ++i) {
    const SnapshotLeak& leak = d.leaks[i];
    out += fmt::format(
        "{} grows: {} more in each of {} of {} {}, {} by now.\n",
        name(stack_words(*report.snapshot, {.stack = leak.stack, .before_history = false, .bytes = 0, .blocks = 0})),
        bytes(leak.bytes_per_step), count(leak.steps), count(leak.of_steps),
        d.steps.are_steps ? "steps" : "equal parts of the history", bytes(leak.bytes));
  }
  if (d.leaks.size() > kLeaksShown)
    out += fmt::format("{} more stacks grow; --json has all.\n", count(d.leaks.size() - kLeaksShown));
  return out;
}

std::string difference(std::int64_t n) { return (n > 0 ? "+" : "") + bytes(n); }

std::string changes_table(const char* title, const std::vector<HolderChange>& changes) {
  if (changes.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"difference", "before", "after", "blocks", title}};
  for (std::size_t i = 0; i < std::min(changes.size(), kRowsShown); ++i) {
    const HolderChange& c = changes[i];
    rows.push_back({difference(c.difference()), bytes(c.before), bytes(c.after),
                    fmt::format("{} to {}", count(c.blocks_before), count(c.blocks_after)), name(c.place)});
  }
  std::string out = "\n" + aligned_text(rows, 2, [](std::size_t column) { return column == 4; });
  if (changes.size() > kRowsShown) out += fmt::format("  {} more; --json has all\n", count(changes.size() - kRowsShown));
  return out;
}

template <class Holders, class Name>
std::string holders_table(const char* title, const Holders& holders, std::int64_t whole, Name name_of_holder) {
  if (holders.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"bytes", "share", "blocks", title}};
  for (std::size_t i = 0; i < std::min(holders.size(), kRowsShown); ++i)
    rows.push_back(
        {bytes(holders[i].bytes), share(holders[i].bytes, whole), count(holders[i].blocks), name_of_holder(holders[i])});
  std::string out = "\n" + aligned_text(rows, 2, [](std::size_t column) { return column == 3; });
  if (holders.size() > kRowsShown) out += fmt::format("  {} more; --json has all\n", count(holders.size() - kRowsShown));
  return out;
}

}  // namespace

ProgramMoment program_moment(const SnapshotReport& report, const SnapshotReport::Device& d) {
  const auto& events = d.device->events;
  const std::int64_t time_us = d.event == kBeforeHistory ? events.front().time_us
                               : d.event                 ? events[*d.event].time_us
                                                         : events.back().time_us;
  ProgramMoment out{program_at(*report.snapshot, d.device->id, time_us), report.program->time_of(time_us)};
  if (out.time) *out.time -= report.program->span.begin;
  return out;
}

std::string snapshot_text(const SnapshotReport& report) {
  const Snapshot& snapshot = *report.snapshot;
  std::string out = answer(report);
  for (const SnapshotReport::Device& d : report.devices) out += leaks_text(report, d);
  for (std::size_t i = 0; i < std::min(report.devices.size(), kDevicesShown); ++i)
    out += device_text(report, report.devices[i]) + program_text(report, report.devices[i]) +
           oom_text(snapshot, report.devices[i]);
  const std::int64_t held = report.held();
  const MemoryHolders& h = report.holders;
  out += holders_table("category", h.kinds, held, [](const KindHolder& k) { return words_of(k.kind); });
  out += holders_table("line", h.lines, held, [](const LineHolder& l) { return name(l.place); });
  out += holders_table("stack, innermost first", h.stacks, held,
                       [&](const StackHolder& s) { return name(stack_words(snapshot, s)); });
  if (snapshot.unreadable > 0)
    out += fmt::format("\n{} records are not as PyTorch writes them and were left out.\n", count(snapshot.unreadable));
  return out;
}

std::string snapshot_changes_text(const SnapshotReport& before, const SnapshotReport& after) {
  const std::vector<HolderChange> lines = changed_lines(before.holders, after.holders);
  const std::int64_t more = difference_saturating(after.held(), before.held());
  std::string out = fmt::format("{} {} held than before ({} to {})", bytes(more < 0 ? -std::max(more, -kMostHeld) : more),
                                more < 0 ? "less is" : "more is", bytes(before.held()), bytes(after.held()));
  if (lines.empty()) return out + "; every line holds the same.\n";
  out +=
      fmt::format(", most of the difference by {}: {}.\n", name(lines.front().place), difference(lines.front().difference()));
  return out + changes_table("category", changed_kinds(before.holders, after.holders)) + changes_table("line", lines);
}

std::string snapshot_info_text(const std::string& path, const Snapshot& snapshot) {
  std::vector<std::vector<std::string>> rows = {
      {"file", printable(path)}, {"made by", "PyTorch's memory snapshot"}, {"size", format_bytes(snapshot.file_bytes)}};
  for (std::size_t i = 0; i < std::min(snapshot.devices.size(), kDevicesShown); ++i) {
    const SnapshotDevice& d = snapshot.devices[i];
    rows.push_back({fmt::format("GPU {}", d.id), fmt::format("{} reserved, {} held; {} events", bytes(d.totals.reserved),
                                                             bytes(d.totals.active), count(d.events.size()))});
  }
  return aligned_text(rows, 2, [](std::size_t) { return true; }) + "Who holds what: gapscope snapshot FILE.\n";
}

}  // namespace gapscope
