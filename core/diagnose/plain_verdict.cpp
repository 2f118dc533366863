#include "core/diagnose/plain_verdict.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/analyze/account/time_account.h"
#include "core/analyze/captured/captures.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/verdict.h"
#include "core/replay/path.h"
#include "core/replay/plain_program.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

constexpr double kGpuBound = 0.70;  // of a step, as in verdict.h

Ns part_of(Ns whole, double share) { return static_cast<Ns>(static_cast<double>(whole) * share); }
double ratio(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }
std::string percent(Ns part, const AccountTimes& t) { return fmt::format("{:.0f} %", 100 * ratio(part, t.window)); }

// The account of a step's loop. A replayed run has more around it than its steps: of it come the parts of the busy and of the
// idle time, and how much is busy of the steps' own work.
AccountTimes plain_times(const Trace& trace, const HostTime& host, const ReplayModel& model, const Change& change, Ns step,
                         double gpu_share) {
  const ReplayResult run = replay(model, change);
  AccountTimes t = times_after(trace, host, model, change, run, gpu_busy(model, run).device);
  const Ns busy = t.compute + t.exposed_communication + t.exposed_copies, idle = t.idle_total();
  t.window = step;
  const Ns works = part_of(step, gpu_share);
  for (Ns* part : {&t.compute, &t.exposed_communication, &t.exposed_copies}) *part = part_of(works, ratio(*part, busy));
  for (Ns& part : t.idle) part = part_of(step - works, ratio(part, idle));
  return t;
}

// ", mostly gemm kernels (61 % of it)": of the GPU's work.
std::string leading_kernels(const Trace& trace, const std::vector<GpuOp>& ops) {
  std::unordered_map<std::uint32_t, Ns> by_name;
  Ns all = 0;
  for (const GpuOp& op : ops) {
    if (op.gpu_class == GpuClass::compute) add_saturating(by_name[trace.name_id(op.slice).value], op.span.length());
    add_saturating(all, op.span.length());
  }
  std::array<Ns, kKernelKinds> by_kind{};
  for (const auto& [name, time] : by_name)
    add_saturating(by_kind[static_cast<std::size_t>(decode(trace.strings[StringId(std::size_t{name})]).kind)], time);
  const auto most = std::max_element(by_kind.begin(), by_kind.end());
  if (*most <= 0) return {};
  return fmt::format(", mostly {} kernels ({:.0f} % of it)", kernel_kind_name(static_cast<KernelKind>(most - by_kind.begin())),
                     100 * ratio(*most, all));
}

std::string_view idle_words(Bound bound) {
  switch (bound) {
    case Bound::communication: return "communicates without computing for";
    case Bound::transfer: return "only copies for";
    case Bound::input: return "waits for data";
    case Bound::synchronization: return "is idle due to synchronization for";
    case Bound::latency: return "is idle due to launch latency for";
    case Bound::allocating: return "waits for memory to be allocated or freed for";
    default: return "waits for the host";
  }
}

std::string name_of(Bound bound) { return bound == Bound::compute ? "GPU-bound" : std::string(bound_name(bound)); }
std::string lower(std::string text) {
  if (!text.starts_with("GPU")) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string sentence(const Trace& trace, const std::vector<GpuOp>& ops, Bound bound, const AccountTimes& t,
                     std::string_view what) {
  const std::string busy = bound == Bound::communication || bound == Bound::transfer
                               ? "computes for " + percent(t.compute, t)
                               : "is busy " + percent(t.window - t.idle_total(), t);
  const std::string gpu = fmt::format("the GPU {} of {}", busy, what);
  if (bound == Bound::compute) return fmt::format("{}{}.", gpu, leading_kernels(trace, ops));
  const std::optional<Ns> time = bound_time(bound, t);
  if (bound == Bound::mixed || !time) return gpu + ", and every other part is below 25 %.";
  std::string lead;
  if (bound == Bound::host) {
    IdleCause most = IdleCause::op;
    for (const IdleCause c : {IdleCause::python, IdleCause::launching, IdleCause::cuda_call})
      if (t.of(c) > t.of(most)) most = c;
    lead = fmt::format(", mostly for {} ({})", idle_cause_title(most, program_kind(trace)), percent(t.of(most), t));
  }
  return fmt::format("{} and {} {}{}.", gpu, idle_words(bound), percent(*time, t), lead);
}

// Those that a profiler may hide.
bool can_change(Bound bound) {
  return bound != Bound::start_up && bound != Bound::compiling && bound != Bound::no_gpu_work && bound != Bound::not_judged;
}

// What more than the least the profiler recorded, to be left out; then "give ..." follows.
std::string_view record_without(const Trace& trace) {
  const bool shapes = trace.header.flag("record_shapes");
  if (trace.has(Kind::python)) return shapes ? "Record without stacks and shapes, or g" : "Record without stacks, or g";
  return shapes ? "Record without shapes, or g" : "G";
}

}  // namespace

void judge_plain(const TraceSession& session, Headline& headline) {
  const Trace& trace = session.trace();
  if (trace.stated.as_recorded || !can_change(headline.bound) || capture_recording(trace)) return;
  // The replay is of one program, from its first step to its last.
  for (const DoubtKind kind : {DoubtKind::several_recordings, DoubtKind::several_ranks})
    if (find_doubt(headline.doubts, kind) != nullptr) return;
  const std::shared_ptr<const ReplayModel> model = session.model();
  headline.plain = plain_program(trace, *model, trace.stated.step_time);
  if (!headline.plain) return;
  const PlainProgram& plain = *headline.plain;
  const AccountTimes times =
      plain_times(trace, session.account().host(), *model, plain_change(&plain), plain.step, plain.gpu_share);
  headline.plain_times = times;
  Bound bound = bound_of(times);
  if (!can_change(bound)) bound = Bound::mixed;
  const std::string_view what = plain.steps > 0 ? "a step" : "the run";
  headline.plain_sentence = plain_sentence(plain);
  headline.bound = bound;
  headline.plain_verdict = name_of(bound);
  headline.verdict = fmt::format("{}: {}", name_of(bound), sentence(trace, session.ops(), bound, times, what));
  // At the ends of the range the same work fills more or less of a step.
  const double computes = ratio(times.compute, part_of(plain.step, plain.gpu_share));
  const bool busy_at_low = computes * plain.gpu_share_low >= kGpuBound,
             busy_at_high = computes * plain.gpu_share_high >= kGpuBound;
  headline.words = {headline.verdict, ""};
  if (busy_at_low == busy_at_high || plain.at_ends.size() < 2) return;
  const bool is_low = busy_at_low != (bound == Bound::compute);  // where it is another than in the middle
  Change at_end = plain_change(&plain);
  at_end.pace = plain.at_ends[is_low ? 0 : 1];
  const Bound other = bound_of(plain_times(trace, session.account().host(), *model, at_end, is_low ? plain.low : plain.high,
                                           is_low ? plain.gpu_share_low : plain.gpu_share_high));
  headline.plain_verdict = fmt::format("{} or {}", name_of(bound), lower(name_of(can_change(other) ? other : Bound::mixed)));
  const std::string ask =
      fmt::format("{}: the profiler's own cost hides which one. The GPU is busy {:.0f} to {:.0f} % of {}. {}ive the step time",
                  headline.plain_verdict, 100 * plain.gpu_share_high, 100 * plain.gpu_share_low, what, record_without(trace));
  headline.verdict = ask + " (--step-time).";
  headline.words.what = ask + " in the tab Overview.";
}

}  // namespace gapscope
