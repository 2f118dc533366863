#include "core/diagnose/verdict.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/captured/captures.h"
#include "core/analyze/steps.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/profiler_cost.h"

namespace gapscope {
namespace {

constexpr double kComputeBound = 0.70;
constexpr double kBound = 0.25;
constexpr double kLatencyBound = 0.70;
constexpr int kStartUpFactor = 10;
// To make a context takes hundreds of milliseconds; before the first launch no other call that does not wait takes as long as
// this.
constexpr Ns kLeastContextCall = 10 * kNsPerMs;
// Shorter than this, or of so few steps, a window may not represent the run.
constexpr Ns kShortWindow = kNsPerMs;
constexpr std::size_t kFewSteps = 3;
// Less of a window, at most, makes no run host-bound that is not.
constexpr double kMuchRecording = 0.10;

double share(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }
std::string percent(Ns part, Ns whole) { return format_percent(share(part, whole)); }

// The parts of a window as the verdict weighs them.
struct Part {
  Bound bound;             // what it makes of the run when it is the largest
  std::string_view words;  // "host work"
  Ns time;
};

std::vector<Part> parts_of(const AccountTimes& t) {
  using enum IdleCause;
  std::vector<Part> parts = {{Bound::communication, "exposed communication", t.exposed_communication},
                             {Bound::transfer, "exposed copies", t.exposed_copies},
                             {Bound::host, "host work", t.host()},
                             {Bound::input, "data loading", t.of(data_loading)},
                             {Bound::synchronization, "synchronization", t.of(synchronizing)},
                             {Bound::compiling, "compiling", t.of(compiling)},
                             {Bound::start_up, "loading kernels, allocating memory and the profiler",
                              t.of(loading) + t.of(allocating) + t.of(profiler)},
                             {Bound::latency, "launch latency", t.of(starting)},
                             {Bound::not_judged, "unexplained time", t.of(unlinked) + t.of(unrecorded)}};
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.time > b.time; });
  return parts;
}

bool is_gpu_work(const Part& part) { return part.bound == Bound::communication || part.bound == Bound::transfer; }

// What a sentence says of the GPU. "is busy 64.0 %", as everywhere; with much communication or copying "computes for 40.0 %",
// which leaves that to be named as a part.
struct GpuWords {
  std::string_view does;
  Ns time = 0;
  std::vector<Part> parts;  // the others
  std::string of(Ns window) const { return fmt::format("{} {}", does, percent(time, window)); }
};
GpuWords gpu_words(const AccountTimes& t) {
  constexpr double kMuch = 0.05;
  std::vector<Part> parts = parts_of(t);
  const auto is_much = [&](const Part& part) { return is_gpu_work(part) && share(part.time, t.window) >= kMuch; };
  if (is_much(parts[0]) || is_much(parts[1])) return {"computes for", t.compute, std::move(parts)};
  std::erase_if(parts, is_gpu_work);
  return {"is busy", t.window - t.idle_total(), std::move(parts)};
}

// "; it is busy 8.41 %, and the second largest part is data loading, 3.0 %": after the part that the verdict names.
std::string rest_of_sentence(const GpuWords& words, Ns window, const Part& named, const Part& next) {
  if (words.time > named.time)
    return next.time == 0 ? std::string() : fmt::format(". The next part is {}, {}", next.words, percent(next.time, window));
  const std::string gpu = ". It " + words.of(window);
  if (words.time >= next.time) return gpu + (words.time > 0 ? ", the second largest part" : "");
  if (next.time == 0) return gpu;
  return fmt::format("{}, and the second largest part is {}, {}", gpu, next.words, percent(next.time, window));
}

// "the window of 1.07 s (6 steps)".
std::string window_words(const TimeAccount& account, Ns window) {
  const std::size_t steps = account.steps().size();
  const std::string length = format_duration(window);
  if (steps == 0) return fmt::format("the window of {}", length);
  return fmt::format("the window of {} ({} {})", length, steps, steps == 1 ? "step" : "steps");
}

std::string shortness(const TimeAccount& account) {
  const std::size_t steps = account.steps().size();
  if (steps > 0 && steps < kFewSteps)
    return fmt::format(" The window has only {} {}, so other steps may differ.", steps, steps == 1 ? "step" : "steps");
  if (account.recorded() < kShortWindow) return " The window is short, so its start and end weigh heavily.";
  return {};
}

// Where the host is what limits: it is slower while it is recorded. Of what the GPU waits for the host, at most.
std::string recording_sentence(const Trace& trace, const TimeAccount& account, const AccountTimes& t) {
  const ProfilerCost cost = profiler_cost(trace, account.window());
  const double part = share(std::min(cost.most, t.host()), t.window);
  if (part < kMuchRecording) return {};
  return fmt::format(" Up to {:.0f} % of the window may be the profiler's own work. Time a step without it{}.", 100 * part,
                     cost.frames > 0 ? ", or record without stacks" : "");
}

// Which of the host's parts leads.
std::string host_words(const AccountTimes& t, ProgramKind program) {
  IdleCause lead = IdleCause::op;
  for (const IdleCause c : {IdleCause::python, IdleCause::launching, IdleCause::cuda_call})
    if (t.of(c) > t.of(lead)) lead = c;
  return fmt::format(", mostly for {} ({})", idle_cause_title(lead, program), percent(t.of(lead), t.window));
}

// Of the slices behind a cause, the name with the most time.
std::string leading_name(const Trace& trace, const TimeAccount& account, const DeviceAccount& device, IdleCause cause) {
  std::map<StringId, Ns> by_name;
  account.each_gap(device, [&](std::size_t, std::span<const HostPiece> pieces) {
    for (const HostPiece& piece : pieces)
      if (piece.cause == cause && piece.slice) add_saturating(by_name[trace.name_id(piece.slice)], piece.span.length());
  });
  const auto most =
      std::max_element(by_name.begin(), by_name.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by_name.end() ? std::string() : elide_middle(printable(trace.strings[most->first]), 80);
}

// The call that made the process's CUDA context, if it is in the file. A heuristic: the longest call before the first launch.
SliceId first_cuda_call(const Trace& trace, const TimeAccount& account) {
  Ns first_launch = account.window().end;
  for (const DeviceAccount& d : account.devices())
    for (const DeviceGap& gap : d.gaps)
      if (gap.launch) {
        first_launch = std::min(first_launch, trace.begin(gap.launch));
        break;
      }
  SliceId longest;
  for (const Call& call : trace.calls) {
    if (trace.end(call.slice) > first_launch || trace.duration(call.slice) < kLeastContextCall) continue;
    if (cause_of_call(trace.name(call.slice)) == IdleCause::synchronizing) continue;
    if (!longest || trace.duration(call.slice) > trace.duration(longest)) longest = call.slice;
  }
  return longest;
}

// Calls, and records of the profiler, that load a library's or a module's code: first uses.
bool is_code_load(std::string_view name) {
  return name.starts_with("cuLibraryLoad") || name.starts_with("cuModuleLoad") || name.starts_with("hipModuleLoad") ||
         name.ends_with("Loading");
}

// A step, or a recording without steps, that represents the process's start.
struct StartUp {
  std::string step;  // its name; empty where the recording has no steps
  Ns time = 0;
  SliceId call;  // what is first about it
};

// Where no step is marked: up to the end of the first step of an optimizer that takes several.
std::optional<StartUp> first_iteration(const Trace& trace, Span window) {
  const std::vector<Iteration> later = iterations(trace);
  if (later.empty()) return std::nullopt;
  const Span first{window.begin, later.front().span.begin};
  for (const Iteration& i : later)
    if (first.length() / kStartUpFactor < i.span.length()) return std::nullopt;
  SliceId longest;
  for (std::size_t s = 0; s < trace.slice_count(); ++s) {
    const SliceId slice(s);
    const Kind kind = trace.kind(slice);
    if (kind != Kind::overhead && kind != Kind::runtime && kind != Kind::driver) continue;
    if (!first.contains(trace.begin(slice)) || !is_code_load(trace.name(slice))) continue;
    if (!longest || trace.duration(slice) > trace.duration(longest)) longest = slice;
  }
  if (!longest) return std::nullopt;
  return StartUp{"the first iteration", first.length(), longest};
}

std::optional<StartUp> start_up_step(const Trace& trace, const TimeAccount& account) {
  const auto& steps = account.steps();
  SliceId call = first_cuda_call(trace, account);
  if (steps.empty()) return call ? StartUp{"", account.recorded(), call} : first_iteration(trace, account.window());
  const auto longest = std::max_element(steps.begin(), steps.end(),
                                        [](const auto& a, const auto& b) { return a.span.length() < b.span.length(); });
  for (const auto& step : steps)
    if (&step != &*longest && longest->span.length() / kStartUpFactor < step.span.length()) return std::nullopt;
  if (!call && steps.size() > 1)
    for (const Call& c : trace.calls)
      if (is_code_load(trace.name(c.slice)) && longest->span.contains(trace.begin(c.slice)) &&
          (!call || trace.duration(c.slice) > trace.duration(call)))
        call = c.slice;
  if (!call || !longest->span.contains(trace.begin(call))) return std::nullopt;
  return StartUp{std::string(trace.name(longest->step)), longest->span.length(), call};
}

std::string start_up_sentence(const Trace& trace, const TimeAccount& account, const StartUp& start) {
  const bool loads = is_code_load(trace.name(start.call));
  const std::string call =
      fmt::format("{} ({}{})", loads ? "the first use of GPU libraries" : "the process's first CUDA call",
                  printable(trace.name(start.call)), loads ? "" : ", " + format_duration(trace.duration(start.call)));
  if (start.step.empty())
    return fmt::format("the recording of {} has no steps and includes {}", format_duration(account.recorded()), call);
  return fmt::format("{} takes {} of the window of {} and includes {}", printable(start.step),
                     percent(start.time, account.recorded()), format_duration(account.recorded()), call);
}

std::string which_device(const TimeAccount& account, const DeviceAccount& device) {
  return account.devices().size() == 1 ? "the GPU"
                                       : fmt::format("GPU {}, the busiest of {},", device.device, account.devices().size());
}

// The sentence up to "it is busy". A GPU that is busy for longer than it waits is said to be busy first: the wait is what
// limits the run in the rest.
std::string main_sentence(const Trace& trace, const TimeAccount& account, const DeviceAccount& device, const GpuWords& words,
                          const Part& part) {
  const AccountTimes& t = device.times;
  const bool gpu_first = words.time > part.time;
  const std::string who = which_device(account, device), window = window_words(account, t.window),
                    share = percent(part.time, t.window);
  const std::string gpu = gpu_first ? fmt::format("{} {} of {} and", who, words.of(t.window), window) : who;
  const std::string of = gpu_first ? share : fmt::format("{} of {}", share, window);
  switch (part.bound) {
    case Bound::communication:
      return fmt::format("{} communicates for {} and computes nothing meanwhile (waiting for other ranks, or transferring)",
                         gpu, of);
    case Bound::transfer: return fmt::format("{} copies for {} and does nothing else meanwhile", gpu, of);
    case Bound::host: return fmt::format("{} waits {} for the host{}", gpu, of, host_words(t, program_kind(trace)));
    case Bound::input: {
      const std::string loader = leading_name(trace, account, device, IdleCause::data_loading);
      return fmt::format("{} waits for data for {}{}", gpu, of, loader.empty() ? "" : ", in " + loader);
    }
    case Bound::synchronization: return fmt::format("{} is idle due to synchronization for {}", gpu, of);
    case Bound::latency: return fmt::format("{} is idle due to launch latency for {}", gpu, of);
    case Bound::compiling: return fmt::format("{} waits for the compiler for {}", gpu, of);
    case Bound::allocating: {
      const std::string call = leading_name(trace, account, device, IdleCause::allocating);
      return fmt::format("{} waits for memory to be allocated or freed for {}{}", gpu, of,
                         call.empty() ? "" : ", most of it in " + call);
    }
    case Bound::start_up:
      if (t.of(IdleCause::profiler) > part.time / 10 * 9)
        return fmt::format("{} waits for the profiler's own work for {}", gpu, of);
      if (t.of(IdleCause::allocating) > part.time / 10 * 9)
        return fmt::format("{} waits for memory to be allocated or freed for {}", gpu, of);
      [[fallthrough]];
    default: return fmt::format("{} waits for kernels to be loaded, memory to be allocated or the profiler for {}", gpu, of);
  }
}

Verdict made(Bound bound, const std::string& sentences) {
  const std::string text = fmt::format("{}: {}", bound_name(bound), sentences);
  return {bound, text, {text, ""}};
}
// "; it is busy 14.9 %" after what limits the run, and sentences behind that.
Verdict made(Bound bound, const std::string& what, const std::string& parts, const std::string& caveat = {}) {
  if (parts.empty()) return made(bound, what + "." + caveat);
  return {bound,
          fmt::format("{}: {}{}.{}", bound_name(bound), what, parts, caveat),
          {fmt::format("{}: {}.", bound_name(bound), what), caveat.empty() ? caveat : caveat.substr(1)}};
}

}  // namespace

std::string_view bound_name(Bound bound) {
  constexpr std::array<std::string_view, 13> kNames = {
      "Compute-bound",    "Communication-bound",   "Transfer-bound", "Host-bound",
      "Input-bound",      "Synchronization-bound", "Compiling",      "Start-up",
      "Allocation-bound", "Latency-bound",         "Mixed",          "No GPU work",
      "Not judged"};
  return kNames[static_cast<std::size_t>(bound)];
}

bool verdict_stands(const AccountTimes& t, Ns unexplained) {
  if (share(t.compute, t.window) >= kComputeBound) return true;
  const std::vector<Part> parts = parts_of(t);
  const Part& first = parts.front();
  if (first.bound == Bound::not_judged) return false;
  if (share(first.time, t.window) < kBound) return share(first.time + unexplained, t.window) < kBound;
  const auto next = std::find_if(parts.begin() + 1, parts.end(), [](const Part& p) { return p.bound != Bound::not_judged; });
  return next->time + unexplained < first.time;
}

bool allocates_throughout(const Trace& trace, const TimeAccount& account) {
  const Span window = account.window();
  const bool has_steps = account.steps().size() > 1;
  Ns later = 0, all = 0;
  std::array<bool, 4> quarters{};
  for (const Call& call : trace.calls) {
    const Ns begin = trace.begin(call.slice);
    if (!window.contains(begin) || cause_of_call(trace.name(call.slice)) != IdleCause::allocating) continue;
    add_saturating(all, trace.duration(call.slice));
    if (has_steps && begin >= account.steps().front().span.end) add_saturating(later, trace.duration(call.slice));
    quarters[static_cast<std::size_t>(4.0 * static_cast<double>(begin - window.begin) / static_cast<double>(window.length()))] =
        true;
  }
  if (has_steps) return all > 0 && later >= all / 2;
  return std::count(quarters.begin(), quarters.end(), true) >= 3;
}

Bound bound_of(const AccountTimes& times) {
  if (share(times.compute, times.window) >= kComputeBound) return Bound::compute;
  const Part first = parts_of(times).front();
  if (first.bound == Bound::not_judged || share(first.time, times.window) < kBound) return Bound::mixed;
  return first.bound;
}

std::optional<Ns> bound_time(Bound bound, const AccountTimes& times) {
  if (bound == Bound::compute) return times.compute;
  if (bound == Bound::allocating) return times.of(IdleCause::allocating);
  // Start-up is judged by a step, what is not judged by what is missing.
  if (bound == Bound::start_up || bound == Bound::not_judged) return std::nullopt;
  for (const Part& part : parts_of(times))
    if (part.bound == bound) return part.time;
  return std::nullopt;
}

Verdict verdict_of(const Trace& trace, const TimeAccount& account, const Trust& trust) {
  if (trust.cut_off) return made(Bound::not_judged, "the file is cut off, so the limit of the run is unknown.");
  if (trace.slice_count() == 0) return made(Bound::no_gpu_work, "this trace has no slices.");
  for (const Doubt& doubt : trust.doubts)
    if (doubt.forbids_verdict)
      return made(Bound::not_judged, fmt::format("{} cannot be read from this recording.{}{}", doubt.affects,
                                                 doubt.instead.empty() ? "" : " ", doubt.instead));
  if (const CaptureRecording capture = capture_recording(trace))
    return made(Bound::not_judged, fmt::format("this is {}. Its GPU time says nothing about a run.", capture_words(capture)));
  if (trust.gpu_work == 0)
    return made(Bound::no_gpu_work,
                fmt::format("this recording of {} has no kernel, copy or memset, so the GPU cannot be judged.",
                            format_duration(trace.span.length())));
  const DeviceAccount* device = account.busiest();
  if (device == nullptr)
    return made(Bound::not_judged, "the file has no launch of the GPU's work, so the cause of its idle time is unknown.");
  const AccountTimes& t = device->times;
  if (t.window == 0) return made(Bound::not_judged, "the recording's window has no length.");
  const GpuWords words = gpu_words(t);
  const std::string gpu = words.of(t.window);
  if (trust.launch_blocked)
    return made(Bound::not_judged, "launches blocked until their kernels ended, so the program runs differently without that",
                fmt::format(". The GPU {} of {}", gpu, window_words(account, t.window)));
  const Part &first = words.parts[0], &second = words.parts[1];
  if (first.bound == Bound::not_judged && first.time > t.compute)
    return made(Bound::not_judged,
                fmt::format("for {} of {} {}", percent(first.time, t.window), window_words(account, t.window),
                            t.of(IdleCause::unlinked) >= t.of(IdleCause::unrecorded)
                                ? "the GPU was idle before work whose launch is not in the file, so the cause is unknown"
                                : "the GPU was idle, and no thread of the file shows why"),
                rest_of_sentence(words, t.window, first, second));
  if (share(t.compute, t.window) >= kComputeBound)
    return made(Bound::compute,
                fmt::format("{} {} of {}", which_device(account, *device), gpu, window_words(account, t.window)),
                first.time > 0 ? fmt::format(". The second largest part is {}, {}", first.words, percent(first.time, t.window))
                               : ". There is no second largest part",
                shortness(account));
  if (const auto start = start_up_step(trace, account))
    return made(Bound::start_up, start_up_sentence(trace, account, *start),
                fmt::format(". The GPU {}, and the largest part of the rest is {}, {}", gpu, first.words,
                            percent(first.time, t.window)));
  const bool some_latency = first.bound == Bound::latency && share(first.time, t.window) < kLatencyBound;
  if (some_latency || first.bound == Bound::not_judged || share(first.time, t.window) < kBound)
    return made(Bound::mixed,
                fmt::format("{} limits the run: {} {} of {}",
                            share(first.time, t.window) < kBound ? "no single part" : "no part with a known cause",
                            which_device(account, *device), gpu, window_words(account, t.window)),
                fmt::format(". Next come {}, {}, and {}, {}", first.words, percent(first.time, t.window), second.words,
                            percent(second.time, t.window)),
                shortness(account));
  if (const Ns allocating = t.of(IdleCause::allocating);
      first.bound == Bound::start_up && share(allocating, t.window) >= kBound && allocates_throughout(trace, account)) {
    const Part part{Bound::allocating, "allocating and freeing memory", allocating};
    return made(part.bound, main_sentence(trace, account, *device, words, part),
                rest_of_sentence(words, t.window, part, second), shortness(account));
  }
  return made(first.bound, main_sentence(trace, account, *device, words, first),
              rest_of_sentence(words, t.window, first, second),
              shortness(account) + (first.bound == Bound::host ? recording_sentence(trace, account, t) : std::string()));
}

}  // namespace gapscope
