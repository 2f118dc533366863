#include "core/analyze/named_steps.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/analyze/inference/serving_passes.h"
#include "core/analyze/inference/serving_step.h"
#include "core/analyze/steps.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::string_view kPluginStep = "ProfilerStep#";
constexpr double kCoversAll = 0.9;  // of the time from the first one's begin to the last one's
constexpr std::size_t kLeastSteps = 3;
constexpr double kLeastCovered = 0.7;  // of the trace's launches
constexpr double kMostResets = 0.1;    // of the steps; a number begins anew with each epoch
constexpr double kLeastAlike = 0.75;   // of the steps, whose launches are within a factor of two of the median

// What PyTorch and its libraries annotate themselves.
bool is_of_a_library(std::string_view name) {
  constexpr std::array<std::string_view, 14> kTheirs = {
      "ProfilerStep#", "Optimizer.", "DistributedDataParallel", "FSDP", "## Call", "Torch-", "nccl",
      "gloo:",         "enumerate(", "PyTorch Profiler",        "DDP",  "c10d",    "dynamo", "record_param_comms"};
  return std::any_of(kTheirs.begin(), kTheirs.end(), [&](std::string_view begin) { return name.starts_with(begin); });
}

bool says_step(std::string_view pattern) {
  for (const char* word : {"step", "iter", "batch"})
    if (contains_ignore_case(pattern, word)) return true;
  return false;
}

bool is_named_mark(const Trace& trace, SliceId s) { return trace.kind(s) == Kind::annotation || trace.kind(s) == Kind::op; }

struct NameFact {
  std::string pattern;
  std::vector<std::uint64_t> numbers;
  bool is_candidate = false;
};

NameFact fact_of(std::string_view name) {
  NameFact fact;
  fact.pattern = without_numbers(name);
  fact.is_candidate = !name.empty() && !is_of_a_library(name) && !serving_step(name);
  for (std::size_t i = 0; i < name.size();) {
    std::uint64_t number = 0;
    const auto [end, trouble] = std::from_chars(name.data() + i, name.data() + name.size(), number);
    if (trouble == std::errc()) fact.numbers.push_back(number);
    i = std::max(i + 1, static_cast<std::size_t>(end - name.data()));
  }
  return fact;
}

bool is_in_order(const Trace& trace, SliceId a, SliceId b) {
  return std::tuple(trace.begin(a), -trace.end(a), a) < std::tuple(trace.begin(b), -trace.end(b), b);
}

// When each launch of GPU work began, in order.
std::vector<Ns> launch_times(const Trace& trace) {
  std::unordered_set<std::uint64_t> started;
  for (const GpuRow& row : trace.gpu) started.insert(row.correlation);
  std::vector<Ns> times;
  for (const Call& call : trace.calls)
    if (started.contains(call.correlation)) times.push_back(trace.begin(call.slice));
  std::sort(times.begin(), times.end());
  return times;
}

class Candidate {
 public:
  Candidate(const Trace& trace, const std::map<StringId, NameFact>& names, std::vector<SliceId> slices,
            const std::vector<Ns>& launches)
      : steps_(std::move(slices)) {
    std::sort(steps_.begin(), steps_.end(), [&](SliceId a, SliceId b) { return is_in_order(trace, a, b); });
    if (steps_.size() < kLeastSteps) return;
    std::vector<std::size_t> counts;
    std::size_t grows = 1;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Span span = trace.span_of(steps_[i]);
      if (i > 0 && span.begin < trace.end(steps_[i - 1])) return;
      if (i > 0) grows += names.at(trace.name_id(steps_[i - 1])).numbers < names.at(trace.name_id(steps_[i])).numbers ? 1 : 0;
      const auto from = std::lower_bound(launches.begin(), launches.end(), span.begin);
      counts.push_back(static_cast<std::size_t>(std::lower_bound(from, launches.end(), span.end) - from));
      covered_ += counts.back();
    }
    if (static_cast<double>(covered_) < kLeastCovered * static_cast<double>(launches.size())) return;
    const NameFact& first = names.at(trace.name_id(steps_.front()));
    says_step_ = says_step(first.pattern);
    const auto share = [&](std::size_t n) { return static_cast<double>(n) / static_cast<double>(steps_.size()); };
    is_numbered_ = !first.numbers.empty() && (grows == steps_.size() || (says_step_ && 1 - share(grows) <= kMostResets));
    std::vector<std::size_t> sorted = counts;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    const std::size_t median = sorted[sorted.size() / 2];
    const auto alike =
        std::count_if(counts.begin(), counts.end(), [&](std::size_t n) { return n > 0 && 2 * n >= median && n <= 2 * median; });
    const bool is_same_name = trace.name_id(steps_.front()) == trace.name_id(steps_.back());
    if (launches.empty() && !says_step_) return;  // layers are numbered, too
    is_regular_ = is_numbered_ || (is_same_name && share(static_cast<std::size_t>(alike)) >= kLeastAlike);
  }
  bool is_regular() const { return is_regular_; }
  // Whether it is rather what a person calls a step: by its words, its number, and as the outer one of two.
  bool is_better_than(const Candidate& other) const {
    return std::tuple(says_step_, is_numbered_, covered_, other.steps_.size()) >
           std::tuple(other.says_step_, other.is_numbered_, other.covered_, steps_.size());
  }
  RegularSteps take() { return {std::move(steps_), is_numbered_}; }

 private:
  std::vector<SliceId> steps_;
  std::size_t covered_ = 0;
  bool says_step_ = false, is_numbered_ = false, is_regular_ = false;
};

template <class Wants>
std::vector<SliceId> annotations(const Trace& trace, Wants wants) {
  std::vector<SliceId> found;
  std::vector<bool> is_annotation;
  for (const Category& c : trace.categories) is_annotation.push_back(c.kind == Kind::annotation);
  if (std::find(is_annotation.begin(), is_annotation.end(), true) == is_annotation.end()) return found;
  for (std::size_t i = 0; i < trace.slice_count(); ++i)
    if (is_annotation[trace.slices.category[i]] && wants(SliceId(i))) found.push_back(SliceId(i));
  return found;
}

}  // namespace

std::string trouble_with_stated_steps(const Trace& trace) {
  const std::string& text = trace.stated.steps;
  if (text.empty() || is_phase_word(text) || text == kPluginStep || !steps_named(trace, text).empty()) return {};
  const RE2 expression(text, RE2::Quiet);
  if (!expression.ok())
    return fmt::format("--steps {}: no annotation has this name, and it is not a regular expression.", printable(text));
  std::string out = fmt::format("No annotation \"{}\" is in this trace.", printable(text));
  constexpr std::size_t kMostNamed = 5;
  const auto names = annotation_names(trace);
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    out += fmt::format("{} \"{}\"", i == 0 ? " There are:" : ",", printable(names[i].first));
  if (names.empty()) out += " Mark a stretch of code with torch.profiler.record_function(\"name\") or an NVTX range.";
  return out;
}

std::string without_numbers(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (!is_digit(name[i]))
      out += name[i];
    else if (i == 0 || !is_digit(name[i - 1]))
      out += '#';
  return out;
}

std::vector<SliceId> steps_named(const Trace& trace, std::string_view text) {
  const StringId exact = trace.strings.find(text);
  std::vector<SliceId> found;
  for (std::size_t i = 0; exact && i < trace.slice_count(); ++i)
    if (trace.slices.name[i] == exact && is_named_mark(trace, SliceId(i))) found.push_back(SliceId(i));
  if (found.empty() && !text.empty()) {
    const RE2 expression(re2::StringPiece(text.data(), text.size()), RE2::Quiet);
    std::vector<std::int8_t> known(trace.strings.size(), -1);
    found = annotations(trace, [&](SliceId s) {
      std::int8_t& matches = known[trace.name_id(s).index()];
      const std::string_view name = trace.name(s);
      if (matches < 0) {
        const re2::StringPiece piece(name.data(), name.size());
        matches = expression.ok() && expression.Match(piece, 0, name.size(), RE2::ANCHOR_START, nullptr, 0) ? 1 : 0;
      }
      return matches == 1;
    });
  }
  std::sort(found.begin(), found.end(), [&](SliceId a, SliceId b) { return is_in_order(trace, a, b); });
  return found;
}

RegularSteps regular_steps(const Trace& trace) {
  std::map<StringId, NameFact> names;
  std::map<std::pair<LaneId, std::string_view>, std::vector<SliceId>> groups;
  for (const SliceId s : annotations(trace, [](SliceId) { return true; })) {
    const auto [name, is_new] = names.try_emplace(trace.name_id(s));
    if (is_new) name->second = fact_of(trace.name(s));
    if (name->second.is_candidate) groups[{trace.lane_id(s), name->second.pattern}].push_back(s);
  }
  RegularSteps out;
  if (groups.empty()) return out;
  const std::vector<Ns> launches = launch_times(trace);
  std::optional<Candidate> best;
  for (auto& [key, slices] : groups) {
    Candidate candidate(trace, names, std::move(slices), launches);
    if (candidate.is_regular() && (!best || candidate.is_better_than(*best))) best = std::move(candidate);
  }
  return best ? best->take() : out;
}

namespace {

constexpr std::string_view kJittedCall = "PjitFunction(";

bool is_of_xla(const Trace& trace) { return trace.producer->id == "jax" || trace.producer->id == "tensorflow"; }

// XLA's own steps of a device: a lane of that name, whose slices are numbers. Of several devices those of the first.
std::vector<SliceId> steps_of_device(const Trace& trace) {
  const auto device = [&](const Lane& lane) { return trace.processes[lane.process.index()].device; };
  const Lane* first = nullptr;
  for (const Lane& lane : trace.lanes)
    if (lane.name == "Steps" && device(lane) >= 0 && (first == nullptr || device(lane) < device(*first))) first = &lane;
  std::vector<SliceId> found;
  for (std::uint32_t s = 0; first != nullptr && s < first->slice_count; ++s) {
    const SliceId slice(first->first_slice + s);
    const std::string_view name = trace.name(slice);
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_digit)) return {};
    found.push_back(slice);
  }
  return found;
}

// Calls of one jitted function that recur as steps do: of one thread, alike, with most of the launches in them.
std::vector<SliceId> jitted_calls(const Trace& trace) {
  std::map<StringId, NameFact> names;
  for (std::size_t i = 0; i < trace.strings.size(); ++i)
    if (const std::string_view name = trace.strings[StringId(i)]; name.starts_with(kJittedCall))
      names.emplace(StringId(i), fact_of(name));
  if (names.empty()) return {};
  std::map<std::pair<LaneId, StringId>, std::vector<SliceId>> groups;
  for (std::size_t i = 0; i < trace.slice_count(); ++i)
    if (const SliceId s(i); is_named_mark(trace, s) && names.contains(trace.name_id(s)))
      groups[{trace.lane_id(s), trace.name_id(s)}].push_back(s);
  const std::vector<Ns> launches = launch_times(trace);
  std::optional<Candidate> best;
  for (auto& [key, calls] : groups) {
    std::sort(calls.begin(), calls.end(), [&](SliceId a, SliceId b) { return is_in_order(trace, a, b); });
    std::vector<SliceId> outer;  // the call of the compiled function is within the one of the Python function
    for (const SliceId s : calls)
      if (outer.empty() || trace.begin(s) >= trace.end(outer.back())) outer.push_back(s);
    Candidate candidate(trace, names, std::move(outer), launches);
    if (candidate.is_regular() && (!best || candidate.is_better_than(*best))) best = std::move(candidate);
  }
  return best ? best->take().steps : std::vector<SliceId>{};
}

}  // namespace

std::vector<SliceId> plugin_steps(const Trace& trace, bool& any) {
  std::vector<std::uint8_t> is_step(trace.strings.size());
  for (std::size_t i = 0; i < is_step.size(); ++i) {
    is_step[i] = trace.strings[StringId(i)].starts_with(kPluginStep) ? 1 : 0;
    any |= is_step[i] != 0;
  }
  std::vector<SliceId> found;
  for (std::size_t s = 0; any && s < trace.slice_count(); ++s)
    if (is_step[trace.slices.name[s].index()] != 0 && is_named_mark(trace, SliceId(s))) found.push_back(SliceId(s));
  std::sort(found.begin(), found.end(),
            [&](SliceId a, SliceId b) { return std::pair(trace.begin(a), a) < std::pair(trace.begin(b), b); });
  return found;
}

// Where a number says which step it is, that is no chance; where none does, an optimizer's end says more.
std::vector<SliceId> unstated_steps(const Trace& trace) {
  bool any = false;
  std::vector<SliceId> found = plugin_steps(trace, any);
  if (found.empty() && !any && trace.step_name) found = steps_named(trace, trace.strings[trace.step_name]);
  if (!found.empty() || any) return found;
  RegularSteps regular = regular_steps(trace);
  const bool are_steps = !regular.steps.empty() && serving_passes(trace).empty();
  if (are_steps && (regular.is_numbered || iterations(trace).empty())) found = std::move(regular.steps);
  if (found.empty() && is_of_xla(trace)) found = steps_of_device(trace);
  if (found.empty() && is_of_xla(trace)) found = jitted_calls(trace);
  return found;
}

std::string unstated_steps_name(const Trace& trace) {
  const std::vector<SliceId> found = unstated_steps(trace);
  if (found.empty()) return !serving_passes(trace).empty() ? "passes" : iterations(trace).empty() ? "" : "iterations";
  const std::string_view name = trace.name(found.front());
  if (trace.kind(found.front()) == Kind::other) return trace.lane(found.front()).name;
  return name.starts_with(kPluginStep) ? "ProfilerStep#N" : without_numbers(name);
}

std::vector<Span> step_spans(const Trace& trace, const std::vector<SliceId>& marks) {
  std::vector<Span> own, to_next;
  Ns covered = 0;
  // A jitted call returns as soon as its work is launched.
  const bool is_jitted = !marks.empty() && is_of_xla(trace) && trace.name(marks.front()).starts_with(kJittedCall);
  bool apart = (!trace.stated.steps.empty() || is_jitted) && trace.recordings.size() < 2;
  for (const SliceId s : marks) {
    const Span span = trace.span_of(s);
    if (!own.empty()) {
      apart &= own.back().end <= span.begin;
      to_next.push_back({own.back().begin, span.begin});
      covered += own.back().length();
    }
    own.push_back(span);
  }
  if (!apart || to_next.empty()) return own;
  const std::string_view name = trace.name(marks.front());
  const auto all = static_cast<double>(own.back().begin - own.front().begin);
  const bool are_steps =
      name.starts_with(kPluginStep) || serving_step(name) || static_cast<double>(covered) >= kCoversAll * all;
  return are_steps ? own : to_next;
}

bool reaches_to_next(const Trace& trace, const Step& step) {
  return step.slice && step.cpu.begin == trace.begin(step.slice) && step.cpu.end != trace.end(step.slice);
}

}  // namespace gapscope
