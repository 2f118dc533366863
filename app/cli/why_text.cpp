#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "app/cli/why_report.h"
#include "core/analyze/account/host_work.h"
#include "core/analyze/captured/captures.h"
#include "core/analyze/counters/counter_words.h"
#include "core/analyze/cpu_samples.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/record_again.h"
#include "core/diagnose/verdict.h"
#include "core/trace/crop_mark.h"

namespace gapscope {
namespace {

constexpr std::size_t kBarChars = 30;
constexpr std::size_t kTitleChars = 36;
constexpr std::size_t kNameChars = 60;
constexpr std::size_t kHostShown = 4;
constexpr std::size_t kAdviceShown = 3;
constexpr double kLeastAdvice = 0.05;  // of the window: smaller parts are not worth the work

// Of a column: "12.3 %", "<0.1 %", ">99.9 %".
std::string percent(Ns part, Ns whole) {
  const double share = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  if (part > 0 && share < 0.0005) return "<0.1 %";
  return part < whole && share >= 0.9995 ? ">99.9 %" : fmt::format("{:.1f} %", 100 * share);
}
std::string shown(std::string_view name) { return elide_middle(printable(name), kNameChars); }

// A kernel or copy as a line has room for it.
std::string shown_work(const Trace& trace, SliceId work) { return shown(shown_name(trace, work)); }

// A dot for what is too short for a mark.
std::string bar(Ns part, Ns whole) {
  const double exact = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) * kBarChars : 0;
  const auto marks = static_cast<std::size_t>(exact + 0.5);
  return marks > 0 ? std::string(marks, '#') : std::string(part > 0 ? 1 : 0, '.');
}

struct Line {
  std::string_view title;
  Ns time;
  std::optional<IdleCause> cause{};  // none: the GPU works
};
constexpr std::string_view kCompute = "compute", kCommunication = "exposed communication", kCopies = "exposed copies";

std::vector<Line> work_lines(const AccountTimes& t) {
  return {{kCompute, t.compute}, {kCommunication, t.exposed_communication}, {kCopies, t.exposed_copies}};
}
std::vector<Line> idle_lines(const AccountTimes& t, ProgramKind program) {
  std::vector<Line> out;
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    out.push_back({idle_cause_title(static_cast<IdleCause>(c), program), t.idle[c], static_cast<IdleCause>(c)});
  std::stable_sort(out.begin(), out.end(), [](const Line& a, const Line& b) { return a.time > b.time; });
  std::erase_if(out, [](const Line& line) { return line.time == 0; });
  return out;
}

std::string line_text(std::string_view indent, std::string_view title, Ns time, Ns whole) {
  const std::string text = fmt::format("{}{:<{}} {:>9} {:>7}  {}", indent, title, kTitleChars - indent.size(),
                                       format_duration(time), percent(time, whole), bar(time, whole));
  return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
}

std::string account_text(const AccountTimes& t, ProgramKind program, std::size_t gaps) {
  std::string out;
  for (const Line& line : work_lines(t))
    if (line.time > 0 || line.title == kCompute) out += line_text("  ", line.title, line.time, t.window);
  const std::vector<Line> idle = idle_lines(t, program);
  if (idle.empty()) return out;
  out += line_text("  ", fmt::format("idle, in {}", counted(gaps, "gap")), t.idle_total(), t.window);
  for (const Line& line : idle) out += line_text("    ", line.title, line.time, t.window);
  return out;
}

std::string_view before_name(IdleCause cause, ProgramKind program, Kind kind, std::string_view name) {
  switch (cause) {
    case IdleCause::op: return "operator ";
    case IdleCause::python:
      if (program != ProgramKind::python) return "program code inside ";
      return kind == Kind::python ? "Python " : "Python inside ";
    case IdleCause::launching: return "launch call ";
    case IdleCause::cuda_call:
      return name.starts_with("hip") ? "HIP call " : name.starts_with("cu") ? "CUDA call " : "runtime call ";
    case IdleCause::starting: return "launch latency, by ";
    case IdleCause::synchronizing: return "synchronization ";
    case IdleCause::data_loading: return "data loader ";
    case IdleCause::compiling: return "compiling, ";
    case IdleCause::allocating: return "memory call ";
    case IdleCause::loading:
    case IdleCause::profiler: return "overhead ";
    default: return "";
  }
}

// "operator aten::addmm, train.py(12): forward".
std::string host_text(const Trace& trace, const HostWork& work) {
  const ProgramKind program = program_kind(trace);
  if (!work.slice) return std::string(idle_cause_title(work.cause, program));
  std::string text = std::string(before_name(work.cause, program, trace.kind(work.slice), trace.name(work.slice))) +
                     shown(trace.name(work.slice));
  if (work.op && is_call(trace.kind(work.slice))) text += " of " + shown(trace.name(work.op));
  if (work.python && work.python != work.slice) text += ", " + shown(trace.name(work.python));
  return text;
}

std::string gap_text(const WhyReport& r, const CutGap& cut, std::size_t number) {
  const DeviceGap& gap = *cut.gap;
  const std::string ended = !gap.ended_by                  ? "nothing follows it in the window"
                            : cut.span.end == gap.span.end ? "ended by " + shown_work(r.trace, gap.ended_by)
                                                           : "going on to " + shown_work(r.trace, gap.ended_by);
  std::string out = fmt::format("  {}  {} at {}, {}\n", number, format_duration(cut.span.length()),
                                format_duration(cut.span.begin - r.trace.span.begin), ended);
  const std::vector<HostWork> works = host_work(r.trace, r.lanes, r.account, gap, cut.span);
  Ns rest = cut.span.length();
  for (std::size_t i = 0; i < std::min(works.size(), kHostShown); ++i) {
    out += fmt::format("     {:>9}  {}\n", format_duration(works[i].time), host_text(r.trace, works[i]));
    rest -= works[i].time;
  }
  if (rest > 0)
    out += fmt::format("     {:>9}  in {}\n", format_duration(rest), counted(works.size() - kHostShown, "more place"));
  if (const auto sampled = most_sampled(r.trace, gap.launch, cut.span)) out += "     " + sampled_sentence(*sampled) + '\n';
  return out;
}

Advice advice_on(const WhyReport& r, const DeviceAccount& device, const Line& line) {
  const AdviceOn on{r.trace, r.account, r.practices, r.lanes};
  if (line.cause) return idle_advice(on, device, r.range, *line.cause);
  if (line.title == kCopies) return copy_advice(on, device, r.range);
  return line.title == kCompute ? compute_advice(on) : communication_advice(on, device, r.range);
}

std::string advice_text(const WhyReport& r, const DeviceAccount& device, const AccountTimes& t, Bound bound) {
  if (const std::string_view first = record_again(r.trace, r.trust, bound); !first.empty())
    return fmt::format("\nwhat to do\n  {}\n", first);
  std::vector<Line> lines = work_lines(t);
  if (static_cast<double>(t.compute) < 0.7 * static_cast<double>(t.window)) lines.erase(lines.begin());
  const std::vector<Line> idle = idle_lines(t, program_kind(r.trace));
  lines.insert(lines.end(), idle.begin(), idle.end());
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.time > b.time; });
  lines.resize(std::min(lines.size(), kAdviceShown));
  // The verdict adds the host's parts up: each may be smaller than another part, but with them one begins.
  if (bound == Bound::host)
    std::stable_partition(lines.begin(), lines.end(), [](const Line& line) { return line.cause && is_host_part(*line.cause); });
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].time > 0 && static_cast<double>(lines[i].time) >= kLeastAdvice * static_cast<double>(t.window))
      out += fmt::format("  {:>7}  {}: {}\n", percent(lines[i].time, t.window), in_words_of(r.practices.vendor, lines[i].title),
                         said(r.practices, advice_on(r, device, lines[i])).text);
  return out.empty() ? out : "\nwhat to do about the largest parts\n" + out;
}

std::string step_table(const WhyReport& r, const DeviceAccount& device) {
  std::string out = fmt::format("\n  {:<24} {:>9} {:>8} {:>8} {:>8} {:>8}  {}\n", "step", "length", "compute", "comm.",
                                "copies", "idle", "largest cause of idle time, of the step");
  for (const TimeAccount::StepWindow& step : r.account.steps()) {
    const Span part = intersect(step.span, r.range);
    if (part.empty()) continue;
    const AccountTimes t = r.account.times_in(device, part);
    const IdleCause main = largest_of(t.idle);
    out += fmt::format("  {:<24} {:>9} {:>8} {:>8} {:>8} {:>8}  {}\n", elide_middle(printable(r.trace.name(step.step)), 24),
                       format_duration(t.window), percent(t.compute, t.window), percent(t.exposed_communication, t.window),
                       percent(t.exposed_copies, t.window), percent(t.idle_total(), t.window),
                       t.idle_total() > 0
                           ? fmt::format("{}, {}", idle_cause_title(main, program_kind(r.trace)), percent(t.of(main), t.window))
                           : "");
  }
  if (!r.account.steps().empty()) return out;
  if (!r.trace.producer->is_pytorch)
    return fmt::format("\n  No steps are marked in this trace: use {}.\n", r.trace.producer->steps);
  return fmt::format("\n  No ProfilerStep# is in this trace: {}.\n", by_torch_profiler(r.trace)
                                                                         ? "call profiler.step() after each step"
                                                                         : "name an NVTX range around each step so");
}

// How well the time was used in which the GPU worked; empty without counters.
std::string use_line(const WhyReport& r, std::int32_t device) {
  const DeviceCounters* counters = r.counters.device(device);
  const CounterMeans means = counters ? r.counters.while_busy(*counters, r.range) : CounterMeans();
  std::string text = use_text(means);
  if (text.empty()) return {};
  if (const double clock = means.clock(); clock > 0) text += fmt::format(", at {:.0f} MHz", clock);
  return fmt::format("  while it works: {} ({})\n", text, samples_text(means));
}

std::string device_text(const WhyReport& r, const DeviceAccount& device, Bound bound, bool with_gaps) {
  const DeviceProperties* properties = r.trace.device(device.device);
  const AccountTimes t = r.account.times_in(device, r.range);
  const auto [first, last] = device.gaps_in(r.range);
  const Ns after = r.range.begin - r.trace.span.begin;
  std::string out = fmt::format("\nGPU {}{}: {} of {}, beginning {}\n", device.device,
                                properties && !properties->name.empty() ? " (" + printable(properties->name) + ")" : "",
                                r.range == r.account.window() ? "the window" : "a range", format_duration(t.window),
                                after > 0 ? format_duration(after) + " after the trace's begin" : "with the trace");
  out += account_text(t, program_kind(r.trace), last - first) + use_line(r, device.device);
  if (r.by_step) out += step_table(r, device);
  const std::vector<CutGap> longest = longest_in(device, r.range, with_gaps ? kGapsShown : 0);
  if (!longest.empty()) out += longest.size() == 1 ? "\nthe only gap\n" : "\nthe longest gaps\n";
  for (std::size_t i = 0; i < longest.size(); ++i) out += gap_text(r, longest[i], i + 1);
  if (!with_gaps) out += fmt::format("\nits gaps: see --device {}\n", device.device);
  return out + advice_text(r, device, t, bound);
}

std::string all_devices_text(const WhyReport& r) {
  AccountTimes all;
  for (const DeviceAccount* device : r.devices) all += r.account.times_in(*device, r.range);
  std::string out = fmt::format("\n{} together: compute {}, exposed communication {}, exposed copies {}, idle {}",
                                r.devices.size() == 2 ? "Both GPUs" : fmt::format("All {} GPUs", r.devices.size()),
                                percent(all.compute, all.window), percent(all.exposed_communication, all.window),
                                percent(all.exposed_copies, all.window), percent(all.idle_total(), all.window));
  const IdleCause main = largest_of(all.idle);
  return out + (all.idle_total() > 0 ? fmt::format(" (most of it: {}, {}).\n", idle_cause_title(main, program_kind(r.trace)),
                                                   percent(all.of(main), all.window))
                                     : ".\n");
}

}  // namespace

std::vector<CutGap> longest_in(const DeviceAccount& device, Span range, std::size_t most) {
  std::vector<CutGap> gaps;
  const auto [first, last] = device.gaps_in(range);
  for (std::size_t i = first; i < last; ++i) gaps.push_back({&device.gaps[i], intersect(device.gaps[i].span, range)});
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const CutGap& a, const CutGap& b) { return a.span.length() > b.span.length(); });
  gaps.resize(std::min(gaps.size(), most));
  return gaps;
}

std::string why_text(const WhyReport& r) {
  const std::string trust = with_crop_sentence(r.trace, trust_text(r.trust));
  std::string out = trust.empty() ? "" : trust + '\n';
  const Verdict verdict = verdict_of(r.trace, r.account, r.trust);
  if (r.plain.plain) {
    out += r.plain.plain_sentence + '\n' + printable(r.plain.verdict) + '\n';
    out += "As recorded, with the profiler: " + printable(verdict.text) + '\n';
  } else {
    out += printable(verdict.text) + '\n';
  }
  if (r.range != r.account.window()) out += "This verdict is about the whole window. The times below are about a part of it.\n";
  for (std::size_t i = 0; i < r.devices.size(); ++i) {
    const DeviceAccount& device = *r.devices[i];
    out += device_text(r, device, verdict.bound, i < kDevicesWithGaps);
  }
  if (r.devices.size() > 1) out += all_devices_text(r);
  return out;
}

}  // namespace gapscope
