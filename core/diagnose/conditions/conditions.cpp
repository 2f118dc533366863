#include "core/diagnose/conditions/conditions.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/work_origin.h"

namespace gapscope {
namespace {

// A long preamble before a single step alone gives a ratio of 2 to 3, and the backward thread counts twice in Self CPU.
constexpr double kLeastHostRatio = 3;
// Above this the GPU does not wait much, however busy the CPU side is.
constexpr double kMostGpuUse = 0.40;
// The limit below which PyTorch's TensorBoard plugin asks for attention, too.
constexpr double kLeastGpuUse = 0.50;

}  // namespace

bool is_overhead_bound(const Facts& facts) {
  if (facts.compiling() || !facts.cpu_to_gpu || !facts.gpu_util) return false;
  return *facts.cpu_to_gpu >= kLeastHostRatio && *facts.gpu_util < kMostGpuUse;
}

bool is_idle_mostly(const Facts& facts) { return !facts.compiling() && facts.gpu_util && *facts.gpu_util < kLeastGpuUse; }

std::string format_average(double count) {
  return count == std::floor(count) ? format_count(static_cast<std::int64_t>(count)) : format_significant(count);
}

std::string format_times(double ratio) {
  constexpr double kMostCounted = 1e15;
  return ratio >= 999.5 && ratio < kMostCounted ? format_count(std::llround(ratio)) : format_significant(ratio);
}

WorkPerStep work_per_step(const Facts& facts) {
  WorkPerStep out;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const bool counts = facts.steps.empty() ? facts.ops[i].linked() : facts.gpu[i].step >= 0;
    out.ops += counts ? 1 : 0;
    out.kernels += counts && facts.ops[i].is_kernel() ? 1 : 0;
  }
  const auto steps = static_cast<double>(std::max<std::size_t>(facts.step_count(), 1));
  out.ops_each = static_cast<double>(out.ops) / steps;
  out.kernels_each = static_cast<double>(out.kernels) / steps;
  return out;
}

std::optional<double> blocks_per_sm(const Facts& facts, const GpuOp& op) {
  const GpuRow& row = facts.row(op);
  if (!std::isfinite(row.blocks_per_sm) || row.blocks_per_sm < 0) return std::nullopt;
  return static_cast<double>(row.blocks_per_sm);
}

std::optional<SmFill> sm_fill(const Facts& facts) {
  SmFill out;
  double covered = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || op.gpu_class != GpuClass::compute) continue;
    const std::optional<double> blocks = blocks_per_sm(facts, op);
    if (!blocks) continue;
    covered += std::min(1.0, *blocks) * static_cast<double>(op.span.length());
    add_saturating(out.kernel_time, op.span.length());
  }
  if (out.kernel_time == 0) return std::nullopt;
  out.fill = covered / static_cast<double>(out.kernel_time);
  if (!facts.window.empty()) out.over_window = covered / static_cast<double>(facts.window_length);
  return out;
}

std::string_view left_out_of_fill(const Facts& facts) {
  const bool unlinked =
      std::any_of(facts.ops.begin(), facts.ops.end(), [](const GpuOp& op) { return op.is_kernel() && !op.linked(); });
  return unlinked ? "collectives and kernels without their launch" : "collectives";
}

bool in_compiled_code(const Facts& facts, SliceId slice) {
  return slice && ((facts.own(slice) | facts.above(slice)) & (kIsRegion | kIsCompiledGraph)) != 0;
}

bool has_compiled_code(const Facts& facts) { return !facts.names_matching(is_compiled_code).empty(); }

double share_of(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

Ns total_time(const std::vector<GpuOp>& ops) {
  Ns sum = 0;
  for (const GpuOp& op : ops) add_saturating(sum, op.span.length());
  return sum;
}

std::vector<SliceId> slices_of(const std::vector<GpuOp>& ops) {
  std::vector<SliceId> out;
  out.reserve(ops.size());
  for (const GpuOp& op : ops) out.push_back(op.slice);
  return out;
}

GpuOp most_costly_name(const Facts& facts, const std::vector<GpuOp>& ops) {
  std::unordered_map<std::uint32_t, Ns> time;
  const auto time_of = [&](const GpuOp& op) -> Ns& { return time[facts.trace.name_id(op.slice).value]; };
  for (const GpuOp& op : ops) add_saturating(time_of(op), op.span.length());
  return *std::max_element(ops.begin(), ops.end(), [&](const GpuOp& a, const GpuOp& b) { return time_of(a) < time_of(b); });
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kMostChars = 60;
  return printable(elide_middle(name, kMostChars));
}

std::string shown_count(std::size_t count) { return format_count(static_cast<std::int64_t>(count)); }

std::string shown_kernel(std::string_view name) { return shown_name(kernel_title(name)); }

std::string counted_of(std::size_t count, std::size_t all, std::string_view noun) {
  if (all == 1 && count == 1) return "the only " + std::string(noun);
  if (count == all && all == 2) return "both " + counted(all, noun).substr(2);
  if (count == all) return "all " + counted(all, noun);
  return fmt::format("{} of {}, {}", shown_count(count), counted(all, noun),
                     format_share(static_cast<double>(count) / static_cast<double>(all)));
}

std::string sentence_start(std::string words) {
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  if (words.ends_with(" %")) words += ',';  // a share is between commas
  return words;
}

std::string often(std::size_t count) { return count == 1 ? "once" : count == 2 ? "twice" : counted(count, "time"); }

std::string format_share(double fraction) {
  const double percent = fraction * 100;
  if (!std::isfinite(fraction) || percent < 9.95) {
    std::string text = format_percent(fraction);
    if (const std::size_t zero = text.find(".0 %"); zero != std::string::npos && percent >= 0.95) text.erase(zero, 2);
    return text;
  }
  if (percent > 99 && percent < 100) return fmt::format("{:.1f} %", std::min(std::floor(percent * 10) / 10, 99.9));
  return percent < 9.99e14 ? format_count(std::llround(percent)) + " %" : fmt::format("{:.3g} %", percent);
}

IdleBefore idle_before(const Facts& facts, const std::vector<SliceId>& work) {
  const DeviceAccount* device = facts.session.account().busiest();
  if (device == nullptr) return {};
  std::vector<bool> is_work(facts.trace.slice_count());
  for (const SliceId s : work) is_work[s.index()] = true;
  IdleBefore out;
  for (std::size_t i = 0; i < device->gaps.size(); ++i) {
    const DeviceGap& gap = device->gaps[i];
    if (!gap.ended_by || !is_work[gap.ended_by.index()]) continue;
    append(out.gaps, gap.span);
    device->each_cause(i, [&](IdleCause cause, Ns time) {
      out.host_and_start += is_host_part(cause) || cause == IdleCause::starting ? time : 0;
    });
  }
  return out;
}

SpanSet gpu_work_inside(const Facts& facts, const std::vector<SliceId>& slices, GraphWork graphs) {
  enum Known : std::uint8_t { unknown, outside, inside };
  std::vector<Known> known(facts.trace.slice_count());  // what was found out on the way up, which may be thousands long
  for (const SliceId s : slices) known[s.index()] = inside;
  std::vector<Span> spans;
  std::vector<SliceId> way;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || (graphs == GraphWork::leave_out && (facts.own(op.launch) & kIsGraphLaunch))) continue;
    SliceId at = op.launch;
    for (way.clear(); at && known[at.index()] == unknown; at = facts.parent(at)) way.push_back(at);
    const Known found = at ? known[at.index()] : outside;
    for (const SliceId s : way) known[s.index()] = found;
    if (found == inside) spans.push_back(op.span);
  }
  return span_set(std::move(spans));
}

const AccountTimes* account_times(const Facts& facts) {
  const DeviceAccount* device = facts.session.account().busiest();
  return device != nullptr ? &device->times : nullptr;
}

std::string busy_sentence(const Facts& facts) {
  const std::size_t devices = facts.session.account().devices().size();
  return fmt::format(
      "{} busy {} of {}, {} of the time.", devices > 1 ? fmt::format("At least one of {} GPUs was", devices) : "The GPU was",
      format_duration(facts.busy_in_window), format_duration(facts.window_length), format_share(facts.gpu_util.value_or(0)));
}

std::string busiest_words(const Facts& facts, std::string_view single) {
  const TimeAccount& account = facts.session.account();
  return account.devices().size() > 1 ? fmt::format("GPU {}", account.busiest()->device) : std::string(single);
}

std::string cause_words(const CauseTimes& times, ProgramKind program, bool host_only) {
  const std::size_t most_told = host_only ? kIdleCauses : 3;  // those that an exact sum announces, all
  std::vector<IdleCause> causes;
  for (std::size_t i = 0; i < kIdleCauses; ++i)
    if (const auto cause = static_cast<IdleCause>(i); times[i] > 0 && (!host_only || is_host_part(cause)))
      causes.push_back(cause);
  std::stable_sort(causes.begin(), causes.end(),
                   [&](IdleCause a, IdleCause b) { return times[index_of(a)] > times[index_of(b)]; });
  std::string out;
  Ns rest = 0;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const Ns time = times[index_of(causes[i])];
    if (i >= most_told)
      add_saturating(rest, time);
    else
      out += fmt::format("{}{} {}", i == 0 ? "" : ", ", format_duration(time), idle_cause_words(causes[i], program));
  }
  return rest > 0 ? out + fmt::format(", {} elsewhere", format_duration(rest)) : out;
}

Ns median_of(std::vector<Ns> values) {
  if (values.empty()) return 0;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  const Ns lower = *std::max_element(values.begin(), upper);
  return lower + (*upper - lower) / 2;
}

}  // namespace gapscope
