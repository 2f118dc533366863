#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/code_place.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Between operators Python takes tens of microseconds, hundreds under a profiler.
constexpr Ns kLeastPause = kNsPerMs;
// Of the window. One alone is gpu_gap_in_step's, which does not see it where a step begins with it.
constexpr double kLeastPauseShare = 0.05, kLeastShareOfOne = 0.2;
// Of a pause: a frame that covers so much of it is what the host was in.
constexpr double kLeastOfPause = 0.6;

// When the host did what the file shows: operators, calls, loaders and the profiler's own work, on any thread. What is inside
// an operator adds nothing.
SpanSet recorded_work(const Facts& facts) {
  std::vector<Span> spans;
  const auto add = [&](SliceId s) {
    if ((facts.above(s) & kIsOp) == 0) spans.push_back(facts.trace.span_of(s));
  };
  for (const SliceId s : facts.slices_with(kIsOp | kIsDataLoader))
    if ((facts.own(s) & kIsStep) == 0) add(s);
  for (const Call& call : facts.trace.calls) add(call.slice);
  for (const SliceId s : facts.overheads) add(s);
  return span_set(std::move(spans));
}

// Holes in it inside the steps.
std::vector<Span> pauses_of(const Facts& facts) {
  std::vector<Span> steps;
  for (const SliceId s : facts.steps) steps.push_back(facts.trace.span_of(s));
  std::vector<Span> out;
  for (const Span& hole : subtract(span_set(std::move(steps)), recorded_work(facts)))
    if (hole.length() >= kLeastPause) out.push_back(hole);
  return out;
}

// The innermost frame, or range that the program named, that covers a pause, and, where that is built in, the innermost of
// Python's own.
struct PauseFrames {
  SliceId inner, own;
};
// In one pass over the frames; each is around the middle of the pauses that it may cover. `pauses` in time order.
std::vector<PauseFrames> frames_of(const Facts& facts, const std::vector<Span>& pauses) {
  std::vector<PauseFrames> out(pauses.size());
  const auto middle = [](Span pause) { return pause.begin + pause.length() / 2; };
  for (const SliceId s : facts.slices_with(kIsPython | kIsAnnotation)) {
    if ((facts.own(s) & kIsPython) == 0 && !is_own_range(facts.trace.name(s))) continue;
    const Span frame = facts.trace.span_of(s);
    auto at = std::partition_point(pauses.begin(), pauses.end(), [&](Span pause) { return middle(pause) < frame.begin; });
    for (; at != pauses.end() && middle(*at) < frame.end; ++at) {
      if (static_cast<double>(intersect(frame, *at).length()) < kLeastOfPause * static_cast<double>(at->length())) continue;
      PauseFrames& of = out[static_cast<std::size_t>(at - pauses.begin())];
      const auto shorter = [&](SliceId than) { return !than || facts.trace.duration(s) < facts.trace.duration(than); };
      if (shorter(of.inner)) of.inner = s;
      if (shorter(of.own) && !facts.trace.name(s).starts_with("<built-in")) of.own = s;
    }
  }
  return out;
}

// Of PyTorch's own Python around operators, which cannot be moved out of a step.
bool is_of_pytorch(const Facts& facts, const PauseFrames& frames) {
  constexpr std::array<std::string_view, 5> kFiles = {"torch/optim/", "torch/nn/", "torch/amp/", "torch/autograd/",
                                                      "torch/utils/_foreach_utils.py"};
  if (!frames.own) return false;
  std::string_view name = facts.trace.name(frames.own);
  if (const std::size_t at = name.rfind("-packages/"); at != name.npos) name.remove_prefix(at + 10);
  return std::any_of(kFiles.begin(), kFiles.end(), [&](std::string_view file) { return name.starts_with(file); });
}

// The outermost operators before and behind a pause; none at the ends of the recording.
struct Neighbours {
  SliceId before, behind;
};
Neighbours neighbours_of(const Facts& facts, Span pause) {
  Neighbours out;
  for (const SliceId s : facts.slices_with(kIsOp)) {
    if ((facts.above(s) & kIsOp) != 0) continue;
    const Span span = facts.trace.span_of(s);
    if (span.end <= pause.begin && (!out.before || span.end >= facts.trace.end(out.before))) out.before = s;
    if (span.begin >= pause.end && (!out.behind || span.begin < facts.trace.begin(out.behind))) out.behind = s;
  }
  return out;
}
std::string neighbour_words(const Facts& facts, const Neighbours& of) {
  const auto name = [&](SliceId s) { return shown_name(facts.trace.name(s)); };
  if (!of.behind) return {};
  return of.before ? fmt::format(" between {} and {}", name(of.before), name(of.behind)) : " before " + name(of.behind);
}

// The program's own function was in a pause, and nothing that it called: NumPy leaves no frame.
bool is_unrecorded_call(const Facts& facts, const PauseFrames& frames) {
  return frames.inner && frames.inner == frames.own && is_own_frame(facts.trace.name(frames.inner));
}

// Functions of the program that run kManyCalls times a step or more within the pauses, where they take most of these.
struct ManyCalls {
  StringId name;          // of them that holds kLeastOfMany of their time or more, the one with most calls
  std::size_t calls = 0;  // of that one
  Ns time = 0;            // of all of them
};
ManyCalls many_calls_in(const Facts& facts, const std::vector<Span>& pauses, Ns all) {
  constexpr std::size_t kManyCalls = 100;
  constexpr double kMostOfPauses = 0.5, kLeastOfMany = 0.25;
  const SpanSet in(pauses.begin(), pauses.end());
  std::map<StringId, std::vector<Span>> calls;
  for (const SliceId s : facts.slices_with(kIsPython)) {
    const Span span = facts.trace.span_of(s);
    if (length_within(in, span) == span.length() && contains(in, span.begin)) calls[facts.trace.name_id(s)].push_back(span);
  }
  std::erase_if(calls, [&](const auto& of) {
    return of.second.size() < kManyCalls * facts.steps.size() || !is_own_frame(facts.trace.strings[of.first]);
  });
  ManyCalls out;
  SpanSet together;
  for (const auto& [name, spans] : calls) together = unite(together, span_set(spans));
  out.time = length(together);
  if (static_cast<double>(out.time) < kMostOfPauses * static_cast<double>(all)) return {};
  for (const auto& [name, spans] : calls)
    if (spans.size() > out.calls &&
        static_cast<double>(length(span_set(spans))) >= kLeastOfMany * static_cast<double>(out.time))
      out.name = name, out.calls = spans.size();
  return out;
}

std::string frame_words(const Facts& facts, const PauseFrames& frames, Span pause, const ManyCalls& many) {
  if (many.calls > 0)
    return fmt::format(
        " In them {} ran {} times a step. {} of their time is in functions of the program that run 100 times a step or more.",
        shown_name(facts.trace.strings[many.name]), shown_count(many.calls / facts.steps.size()), format_duration(many.time));
  const std::string where = neighbour_words(facts, neighbours_of(facts, pause));
  if (!frames.inner) return where.empty() ? "" : " The longest one was" + where + ".";
  if (is_unrecorded_call(facts, frames))
    return fmt::format(" The longest one was in {}{}. What ran there left no record. NumPy calls leave none.",
                       shown_name(facts.trace.name(frames.inner)), where);
  std::string out = " The longest one was mostly in " + shown_name(facts.trace.name(frames.inner));
  if (frames.own && frames.own != frames.inner) out += ", called by " + shown_name(facts.trace.name(frames.own));
  return out + ".";
}

std::vector<Finding> check_host_pause(const Facts& facts) {
  std::vector<Span> pauses = pauses_of(facts);
  if (pauses.empty() || facts.compiling()) return {};
  std::vector<PauseFrames> frames = frames_of(facts, pauses);
  std::size_t left = 0;
  for (std::size_t i = 0; i < pauses.size(); ++i)
    if (!is_of_pytorch(facts, frames[i])) pauses[left] = pauses[i], frames[left++] = frames[i];
  if (left == 0) return {};
  pauses.resize(left), frames.resize(left);
  Ns time = 0, idle = 0;
  std::vector<Ns> lengths;
  std::vector<FindingSpan> places;
  for (const Span& pause : pauses) {
    add_saturating(time, pause.length());
    add_saturating(idle, pause.length() - length_within(facts.busy, pause));
    lengths.push_back(pause.length());
    places.push_back({LaneId{}, pause, SliceId{}});
  }
  const double share = share_of(idle, facts.window_length);
  if (share < (pauses.size() == 1 ? kLeastShareOfOne : kLeastPauseShare)) return {};
  const auto longest = std::max_element(pauses.begin(), pauses.end(), [](Span a, Span b) { return a.length() < b.length(); });
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = idle;
  finding.summary = fmt::format(
      "{} in {} the host ran neither an operator nor a CUDA call: {}{} in total. The GPU was idle for {} of that, {} of the "
      "window.",
      sentence_start(often(pauses.size())), counted(facts.steps.size(), "step"),
      pauses.size() == 1 ? "" : format_duration(median_of(lengths)) + " each (median), ", format_duration(time),
      format_duration(idle), format_share(share));
  const PauseFrames& of_longest = frames[static_cast<std::size_t>(longest - pauses.begin())];
  const ManyCalls many = many_calls_in(facts, pauses, time);
  finding.summary += frame_words(facts, of_longest, *longest, many);
  if (many.calls > 0) {
    finding.gives = Gives{Cure::idle};  // the batch takes time, too
    finding.advice = advice_of(
        "Process the whole batch in one call of NumPy or PyTorch, not one item after another. Or move it out of the step, to "
        "another thread or process, or do it less often.");
  } else if (of_longest.inner) {
    finding.advice = advice_of(is_unrecorded_call(facts, of_longest)
                                   ? "Compute it on the GPU with PyTorch, or move it out of the step, to another thread or "
                                     "process, or do it less often."
                                   : "Move it out of the step, to another thread or process, or do it less often.");
  }
  finding.evidence = Evidence({{"n", pauses.size()},
                               {"total_us", as_us(time)},
                               {"idle_us", as_us(idle)},
                               {"share", share},
                               {"median_us", as_us(median_of(lengths))},
                               {"longest_us", as_us(longest->length())}});
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule host_pause = {
    .id = "host_pause",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsSteps | kNeedsOperators | kNeedsGpuWork,
    .title = "Pauses between operators",
    .meaning =
        "For a millisecond or more at a time the program runs neither an operator nor a CUDA call. It may load or prepare "
        "data, collect garbage, write a log or sleep. The cost is the GPU's idle time meanwhile.",
    .remedy =
        "Move it out of the step, to another thread or process, or do it less often. torch.profiler.record_function around its "
        "parts shows which take the time. with_stack=True names the functions{record_frames!}.",
    .check = check_host_pause,
    .claim = Claim{.time = ClaimedTime::idle, .causes = cause_set({IdleCause::python}), .turn = 125},
    .other_remedy = "Move it out of the step, to another thread or process, or do it less often.",
    .gives = {Cure::idle, true},
};

}  // namespace gapscope
