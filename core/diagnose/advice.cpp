#include "core/diagnose/advice.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/account/gap_pieces.h"
#include "core/analyze/gpu/launches.h"
#include "core/analyze/operators/host_stalls.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/facts.h"

namespace gapscope {
namespace {

// A launch or a start that takes this long, and most of its part, is a case of its own and not the sum of many usual ones.
constexpr Ns kLongCall = 200 * kNsPerUs;

// A single operator that long, and most of its part, is a first use where it is the first of its name.
constexpr Ns kLongFirstUse = kNsPerMs;

template <class Match>
bool any_text(const Trace& trace, Match match) {
  for (std::size_t i = 0; i < trace.strings.size(); ++i)
    if (match(trace.strings[StringId(i)])) return true;
  return false;
}

Advice usual_advice(const AdviceOn& on, IdleCause cause) {
  return fitted_or(on.practices, idle_cause_remedy(cause, on.practices.program));
}

// The host time of one cause in a part of a device's window, by slice.
struct Blame {
  std::vector<Ns> by_slice;  // of all slices: most of them have a share where the host is slow
  Ns all = 0;

  // The one with most time, the first of equal ones; none where there is no time.
  SliceId most() const {
    const auto at = std::max_element(by_slice.begin(), by_slice.end());
    return at == by_slice.end() || *at == 0 ? SliceId{} : SliceId(static_cast<std::size_t>(at - by_slice.begin()));
  }
  Ns of(SliceId slice) const { return by_slice[slice.index()]; }
  template <class Is>
  Ns of_those(Is is) const {
    Ns sum = 0;
    for (std::size_t i = 0; i < by_slice.size(); ++i)
      if (by_slice[i] > 0 && is(SliceId(i))) add_saturating(sum, by_slice[i]);
    return sum;
  }
};

Blame blame_of(const AdviceOn& on, const DeviceAccount& device, Span part, IdleCause cause) {
  Blame out;
  out.by_slice.resize(on.trace.slice_count());
  const auto look = [&](std::size_t gap, std::span<const HostPiece> pieces) {
    // Nothing waited in a gap that nothing follows.
    if (!device.gaps[gap].launch || intersect(device.gaps[gap].span, part).empty()) return;
    for (const HostPiece& piece : pieces) {
      if (piece.cause != cause || !piece.slice) continue;
      const Ns time = intersect(piece.span, part).length();
      add_saturating(out.by_slice[piece.slice.index()], time);
      add_saturating(out.all, time);
    }
  };
  const bool are_read = on.pieces != nullptr && &on.pieces->device() == &device;
  are_read ? on.pieces->each_gap(look) : on.account.each_gap(device, look);
  return out;
}

struct Longest {
  Ns one = 0, all = 0;
  bool is_first = false;  // it ends the gap that the window begins with
  std::size_t long_ones = 0;
  Ns in_long_ones = 0;

  bool leads() const { return one >= kLongCall && one > all / 2; }
};

// The launches, or what follows them, that gaps of the part waited for.
Longest longest_of(const Trace& trace, const DeviceAccount& device, Span part, IdleCause cause) {
  Longest out;
  const auto [first, last] = device.gaps_in(part);
  for (std::size_t i = first; i < last; ++i) {
    const DeviceGap& gap = device.gaps[i];
    if (!gap.launch || !gap.has(cause)) continue;
    const Span call = trace.span_of(gap.launch);
    const Span waited = cause == IdleCause::launching ? call : Span{std::max(call.end, gap.span.begin), gap.span.end};
    const Ns time = intersect(intersect(waited, gap.span), part).length();
    if (time > out.one) out.one = time, out.is_first = gap.span.begin == device.window.begin;
    add_saturating(out.all, time);
    if (time >= kLongCall) ++out.long_ones, add_saturating(out.in_long_ones, time);
  }
  return out;
}

Advice launch_advice(const AdviceOn& on, const DeviceAccount& device, Span part) {
  if (const Longest launch = longest_of(on.trace, device, part, IdleCause::launching); launch.leads())
    return plain_advice(
        fmt::format("Warm up before measuring: a single launch took {}. The first use of a kernel or a stream takes this long.",
                    format_duration(launch.one)));
  return usual_advice(on, IdleCause::launching);
}

Advice start_advice(const AdviceOn& on, const DeviceAccount& device, Span part) {
  const Longest start = longest_of(on.trace, device, part, IdleCause::starting);
  if (!start.leads() && start.in_long_ones > start.all / 2)
    return plain_advice(fmt::format(
        "{} operations began {} or more after their launch, {} in total, while the GPU did nothing of this recording. Look for "
        "another process on the GPU ({}), and at what the streams waited for (an event, another stream).",
        start.long_ones, format_duration(kLongCall), format_duration(start.in_long_ones), monitor_of(on.practices.vendor)));
  if (!start.leads()) return usual_advice(on, IdleCause::starting);
  if (start.is_first)
    return plain_advice(
        fmt::format("The first work of the window began {} after its launch. Its stream had work or a wait from before the "
                    "recording. Record whole iterations, and let the GPU finish before the first ({}).",
                    format_duration(start.one),
                    on.practices.program == ProgramKind::python ? "torch.cuda.synchronize()" : "cudaDeviceSynchronize()"));
  return plain_advice(
      fmt::format("A single operation began {} after its launch. Look at what its stream waited for (an event, another stream, "
                  "work from before the recording). It may also be the first use of its kernel.",
                  format_duration(start.one)));
}

// Where most of the time is in operators that were stopped on their way.
Advice stall_advice(const AdviceOn& on, const Blame& blame) {
  const HostStalls stalls = on.stalls != nullptr ? *on.stalls : find_host_stalls(on.trace);
  Ns stalled = 0;
  for (const HostStall& stall : stalls.all) add_saturating(stalled, blame.of(stall.op));
  if (stalled == 0 || stalled < blame.all / 2) return {};
  return plain_advice(
      fmt::format("{} of it is in operators that usually take microseconds. The thread seems not to have run{}. {}",
                  format_duration(stalled), stalls.period > 0 ? fmt::format(", every {}", format_duration(stalls.period)) : "",
                  kStallRemedy));
}

// Where one operator, the first of its name, is most of it.
Advice first_use_advice(const AdviceOn& on, const Blame& blame) {
  const SliceId longest = blame.most();
  if (!longest) return {};
  const Ns time = blame.of(longest);
  if (on.trace.kind(longest) != Kind::op || time < kLongFirstUse || time < blame.all / 2) return {};
  const StringId name = on.trace.name_id(longest);
  for (std::size_t i = 0; i < on.trace.slice_count(); ++i)
    if (on.trace.name_id(SliceId(i)) == name && on.trace.begin(SliceId(i)) < on.trace.begin(longest)) return {};
  return plain_advice(fmt::format("Warm up before measuring: the first {} took {}. The first use of a library takes this long.",
                                  printable(on.trace.name(longest)), format_duration(time)));
}

// The slices of compiled code that replay a graph: around a graph's launch on their thread.
std::set<SliceId> replays_in_compiled_code(const AdviceOn& on) {
  std::set<SliceId> out;
  for (const Call& call : on.trace.calls)
    if (launches_graph(on.trace.name(call.slice)))
      for (SliceId s = on.lanes.parent(call.slice); s; s = on.lanes.parent(s))
        if (is_compiled_wrapper(on.trace.name(s))) out.insert(s);
  return out;
}

// Where most of it is the code that Inductor wrote around its kernels, or what replays them as a graph instead.
Advice wrapper_advice(const AdviceOn& on, const Blame& blame) {
  if (!on.practices.follows(Practice::compiled)) return {};
  const Ns wrapper = blame.of_those([&](SliceId s) { return is_compiled_wrapper(on.trace.name(s)); });
  if (wrapper == 0 || wrapper < blame.all / 2) return {};
  const std::set<SliceId> replays = replays_in_compiled_code(on);
  // A replay does not run the code around the kernels.
  if (const Ns replaying = blame.of_those([&](SliceId s) { return replays.count(s) != 0; }); replaying > wrapper / 2)
    return plain_advice(fmt::format(
               "{} of it is in compiled code around replayed graphs: guards, copies of inputs and bookkeeping of each replay.",
               format_duration(replaying))) +
           advice_of("Replay fewer graphs: {larger_graphs}.");
  return plain_advice(fmt::format("{} of it is {}.", format_duration(wrapper),
                                  on.practices.follows(Practice::inductor) ? "Inductor's wrapper around its kernels"
                                                                           : "the wrapper around compiled code")) +
         advice_of(
             "Make that shorter: {cuda_graph|mode=\"reduce-overhead\", which replays the kernels as one graph}, "
             "{larger_graphs}, {cpp_wrapper|torch._inductor.config.cpp_wrapper=True, which generates it in C++}.");
}

// The program's own function (or range) that Python time is of: a frame with file and line that is not PyTorch's, or one that
// calls a built-in function there. None inside PyTorch.
SliceId own_place(const AdviceOn& on, SliceId slice) {
  constexpr int kMostFrames = 64;
  if (on.trace.kind(slice) == Kind::annotation) return is_own_range(on.trace.name(slice)) ? slice : SliceId{};
  for (int i = 0; slice && i < kMostFrames; ++i, slice = on.lanes.parent(slice)) {
    if (on.trace.kind(slice) != Kind::python) return {};
    const std::string_view name = on.trace.name(slice);
    if (name.find(".py(") != name.npos)
      return name.starts_with("torch/") || name.find("/torch/") != name.npos ? SliceId{} : slice;
  }
  return {};
}

// Where much of it is in one function of the program, or in one range that it marked.
Advice place_advice(const AdviceOn& on, const Blame& blame) {
  constexpr double kLeastOfPlace = 0.4;
  constexpr Ns kLeastPlaceTime = 100 * kNsPerUs;
  struct Place {
    Ns time = 0, length = 0;  // waited for; of its slices whole
    std::uint32_t parts = 0;
    std::set<SliceId> slices;
    std::unordered_map<std::uint32_t, Ns> by_name;  // of the slices inside
  };
  std::unordered_map<std::uint32_t, Place> places;  // by name
  for (std::size_t i = 0; i < blame.by_slice.size(); ++i) {
    const Ns time = blame.by_slice[i];
    const SliceId at = time > 0 ? own_place(on, SliceId(i)) : SliceId{};
    if (!at) continue;
    Place& place = places[on.trace.name_id(at).value];
    add_saturating(place.time, time);
    if (place.slices.insert(at).second) add_saturating(place.length, on.trace.duration(at));
    add_saturating(place.by_name[on.trace.name_id(SliceId(i)).value], time);
    ++place.parts;
  }
  const auto most = std::max_element(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.time, b.first) < std::pair(b.second.time, a.first);
  });
  // One that the GPU waits for only now and then is the work itself.
  if (most == places.end() || most->second.time < kLeastPlaceTime || most->second.time < most->second.length / 2 ||
      static_cast<double>(most->second.time) < kLeastOfPlace * static_cast<double>(blame.all))
    return {};
  const auto shown = [&](std::uint32_t name) {
    return elide_middle(printable(on.trace.strings[StringId(std::size_t{name})]), 60);
  };
  std::string inside;
  for (const auto& [name, time] : most->second.by_name)
    if (name != most->first && time > most->second.time / 2) inside = ", most of it in " + shown(name);
  return plain_advice(fmt::format(
      "{} of it is in {}{}{}. Move this out of the loop, or do it ahead on another thread or in another process.",
      format_duration(most->second.time), shown(most->first), inside, most->second.parts == 1 ? ", in one call" : ""));
}

// Python's inspect module reads a function's source and signature anew in each call: what it says does not change.
Advice introspection_advice(const AdviceOn& on, const Blame& blame) {
  constexpr double kLeastShare = 0.05;
  const auto is_frame = [](std::string_view name) { return name.starts_with("inspect.py("); };
  if (!any_text(on.trace, is_frame)) return {};
  std::map<StringId, Ns> callers;
  Ns all = 0;
  for (std::size_t i = 0; i < blame.by_slice.size(); ++i) {
    if (blame.by_slice[i] == 0 || on.trace.kind(SliceId(i)) != Kind::python) continue;
    SliceId outer;
    for (SliceId s{i}; s && on.trace.kind(s) == Kind::python; s = on.lanes.parent(s))
      if (is_frame(on.trace.name(s))) outer = s;
    if (!outer) continue;
    add_saturating(all, blame.by_slice[i]);
    if (const SliceId caller = on.lanes.parent(outer); caller)
      add_saturating(callers[on.trace.name_id(caller)], blame.by_slice[i]);
  }
  if (all == 0 || static_cast<double>(all) < kLeastShare * static_cast<double>(blame.all)) return {};
  const auto most =
      std::max_element(callers.begin(), callers.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return plain_advice(
      fmt::format("{} of it is in Python's inspect module{}: cache its results.", format_duration(all),
                  most == callers.end() ? "" : ", called by " + elide_middle(printable(on.trace.strings[most->first]), 80)));
}

Advice host_advice(const AdviceOn& on, const DeviceAccount& device, Span part, IdleCause cause) {
  const Blame blame = blame_of(on, device, part, cause);
  for (const auto& special : {stall_advice, wrapper_advice, first_use_advice, place_advice})
    if (Advice advice = special(on, blame); !advice.empty()) return std::move(advice) + introspection_advice(on, blame);
  return usual_advice(on, cause) + introspection_advice(on, blame);
}

// The calls by name: which one it is, and what a blocking copy asks for.
Advice call_advice(const AdviceOn& on, const DeviceAccount& device, Span part) {
  const Blame blame = blame_of(on, device, part, IdleCause::cuda_call);
  const SliceId longest = blame.most();
  if (!longest) return usual_advice(on, IdleCause::cuda_call);
  const StringId id = on.trace.name_id(longest);
  const std::string_view name = on.trace.strings[id];
  const Ns time = blame.of_those([&](SliceId s) { return on.trace.name_id(s) == id; });
  if (time < blame.all / 2) return usual_advice(on, IdleCause::cuda_call);
  std::string text = fmt::format("{} of it is {}", format_duration(time), elide_middle(printable(name), 60));
  if (name == "hipMemcpyWithStream")
    return plain_advice(text + ", which returns after the copy and the earlier work of its stream.") +
           advice_of("Copy with {pinned_memory}, {non_blocking}.");
  return plain_advice(text + ".") + usual_advice(on, IdleCause::cuda_call);
}

Advice loader_advice(const AdviceOn& on, const DeviceAccount& device, Span part) {
  const Blame blame = blame_of(on, device, part, IdleCause::data_loading);
  if (Advice advice = stall_advice(on, blame); !advice.empty()) return advice;
  if (on.practices.has_loader && !on.practices.follows(Practice::loader_workers) &&
      !any_text(on.trace, [](std::string_view n) { return n.starts_with("enumerate(DataLoader)#_MultiProcessing"); }))
    return advice_of(kUseWorkers);
  return usual_advice(on, IdleCause::data_loading);
}

}  // namespace

bool is_own_range(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOthers = {
      "ProfilerStep#", "Optimizer.", "DistributedDataParallel", "FSDP", "## Call", "Torch-", "nccl:", "enumerate("};
  return std::none_of(kOthers.begin(), kOthers.end(), [&](std::string_view begin) { return name.starts_with(begin); });
}

Advice fitted_or(const Practices& practices, std::string_view words) {
  Advice advice = advice_of(words);
  return said(practices, advice).text.empty() ? advice_of(kAllFollowed) : advice;
}

AdviceOn advice_on(const Facts& facts) {
  return {facts.trace, facts.session.account(), facts.practices(), facts.lanes, &facts.stalls(), facts.gap_pieces()};
}

std::string_view warm_up_advice(ProgramKind program) {
  return program == ProgramKind::python
             ? "Record again after a few warm-up steps (wait and warmup of the profiler's schedule). This recording includes "
               "start-up costs of the process or of the profiler, which occur once."
             : "Record again after a few warm-up steps (--range or --delay of gapscope record). This recording includes "
               "start-up costs of the process or of the recorder, which occur once.";
}

Advice idle_advice(const AdviceOn& on, const DeviceAccount& device, Span part, IdleCause cause) {
  switch (cause) {
    case IdleCause::op:
    case IdleCause::python: return host_advice(on, device, part, cause);
    case IdleCause::launching: return launch_advice(on, device, part);
    case IdleCause::cuda_call: return call_advice(on, device, part);
    case IdleCause::starting: return start_advice(on, device, part);
    case IdleCause::data_loading: return loader_advice(on, device, part);
    default: return usual_advice(on, cause);
  }
}

}  // namespace gapscope
