#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastCpuShare = 0.05;  // of the window
constexpr std::size_t kLeastCalls = 3;   // fewer are a first use or a stop of the thread

// Outermost operators, by name, that make no call of CUDA: their tensors lie on the CPU.
std::unordered_map<std::uint32_t, std::vector<SliceId>> operators_without_calls(const Facts& facts) {
  std::unordered_map<std::uint32_t, std::vector<SliceId>> out;
  for (const SliceId s : facts.slices_with(kIsAten)) {
    if ((facts.below(s) & (kIsCall | kIsPython)) != 0 || (facts.above(s) & (kIsCompileFrame | kIsDataLoader)) != 0) continue;
    const SliceId outer = facts.ancestor(s, kIsAten);
    if (outer && (facts.below(outer) & (kIsCall | kIsPython)) == 0) continue;
    const SliceId range = facts.outermost(s, kIsAnnotation);
    if (range && facts.trace.name(range).starts_with("Optimizer.")) continue;  // optimizer_on_cpu
    out[facts.trace.name_id(s).value].push_back(s);
  }
  return out;
}

// What makes a tensor of numbers alone, and how a program calls it.
struct Maker {
  std::string_view op, arguments;
  bool is_random = false;
};
constexpr std::array<Maker, 10> kMakers = {{{"arange", "n"},
                                            {"ones", "size"},
                                            {"zeros", "size"},
                                            {"full", "size, value"},
                                            {"eye", "n"},
                                            {"linspace", "start, end, steps"},
                                            {"rand", "size", true},
                                            {"randn", "size", true},
                                            {"normal", "mean, std, size", true},
                                            {"bernoulli", "p", true}}};
const Maker* maker_of(std::string_view op) {
  if (op.starts_with("aten::")) op.remove_prefix(6);
  const auto at = std::find_if(kMakers.begin(), kMakers.end(), [&](const Maker& maker) { return maker.op == op; });
  return at == kMakers.end() ? nullptr : &*at;
}

// Tensors that operators make of nothing on the CPU, and then copy to the GPU: from the first of these operators to the end of
// the last copy, with what the thread takes to free them. None of it is there where they are made on the GPU.
struct Made {
  std::vector<Span> spans;
  std::size_t copies = 0;
  std::unordered_map<const Maker*, Ns> makers;  // the time of each
  const Maker* first = nullptr;
};

class MadeOnCpu {
 public:
  MadeOnCpu(const Facts& facts, const std::vector<SliceId>& places) : facts_(facts) {
    for (const GpuOp& op : facts.ops)
      if (op.linked())
        launches_.push_back({facts.trace.lane_id(op.launch), op.launch_span.begin,
                             op.gpu_class == GpuClass::copy && facts.name(op).find("HtoD") != std::string_view::npos});
    std::sort(launches_.begin(), launches_.end());
    for (const SliceId s : places) {
      const SliceId outer = facts.outermost(s, kIsOp);
      computing_.push_back(outer ? outer : s);
    }
    std::sort(computing_.begin(), computing_.end());
  }

  Made find() const {
    Made out;
    for (const Operators& ops : operators_by_thread_and_step(facts_))
      for (std::size_t i = 0; i < ops.size();) i = read_run(ops, i, out) + 1;
    return out;
  }

 private:
  struct Launch {
    LaneId lane;
    Ns at = 0;
    bool is_upload = false;
    auto operator<=>(const Launch&) const = default;
  };

  bool is_on_cpu(SliceId s) const { return (facts_.below(s) & kIsCall) == 0; }
  // Launches copies to the GPU and nothing else.
  bool is_upload(SliceId s) const {
    const LaneId lane = facts_.trace.lane_id(s);
    const auto begin = std::lower_bound(launches_.begin(), launches_.end(), Launch{lane, facts_.trace.begin(s)});
    const auto end = std::lower_bound(begin, launches_.end(), Launch{lane, facts_.trace.end(s)});
    return begin != end && std::all_of(begin, end, [](const Launch& launch) { return launch.is_upload; });
  }

  // Of the run that begins at an operator; where it ends.
  std::size_t read_run(const Operators& ops, std::size_t begin, Made& out) const {
    std::size_t first = ops.size(), last = 0, end = begin, copies = 0;
    bool computes = false;
    for (; end < ops.size(); ++end) {
      const bool on_cpu = is_on_cpu(ops[end]);
      if (!on_cpu && !is_upload(ops[end])) break;
      if (first == ops.size() && on_cpu && maker_of(facts_.trace.name(ops[end])) != nullptr) first = end;
      if (first == ops.size()) continue;
      computes |= std::binary_search(computing_.begin(), computing_.end(), ops[end]);
      if (!on_cpu) last = end, ++copies;
    }
    if (!computes || copies == 0) return end;
    out.copies += copies;
    for (std::size_t i = first; i <= last; ++i) {
      const Span op = facts_.trace.span_of(ops[i]);
      out.spans.push_back(op);
      if (const Maker* maker = maker_of(facts_.trace.name(ops[i])); maker != nullptr && is_on_cpu(ops[i])) {
        if (out.first == nullptr) out.first = maker;
        add_saturating(out.makers[maker], op.length());
      }
      // A tensor is freed no slower than it is written: what is longer is something else.
      const Span gap{op.end, i + 1 < ops.size() ? facts_.trace.begin(ops[i + 1]) : op.end};
      if (gap.length() > 0 && gap.length() <= op.length()) out.spans.push_back(gap);
    }
    return end;
  }

  const Facts& facts_;
  std::vector<Launch> launches_;    // by thread and time
  std::vector<SliceId> computing_;  // outermost operators, sorted
};

// Of the operators that make them the one that takes most of the time, or the first one.
const Maker& main_maker(const Made& made, Ns computing) {
  const Maker* maker = made.first;
  for (const auto& [other, time] : made.makers)
    if (time > computing / 2) maker = other;
  return *maker;
}

// Where most of the work is on tensors that are made of nothing, these are to be made on the GPU.
void add_copies(const Made& made, const SpanSet& computing, Finding& finding) {
  const SpanSet with_copies = span_set(made.spans);
  if (2 * length(intersect(with_copies, computing)) < length(computing)) return;
  finding.spared = unite(computing, with_copies);
  const Ns more = length(finding.spared) - length(computing);
  add_saturating(finding.cost, more);
  finding.summary += fmt::format(" Copying their results to the GPU and freeing them takes {} more.", format_duration(more));
  finding.evidence.add("copies", made.copies);
  finding.evidence.add("copying_us", as_us(more));
  const Maker& maker = main_maker(made, length(computing));
  finding.advice = advice_of("Make these tensors on the GPU, so that neither the CPU computes them nor a copy is needed.");
  if (!maker.is_random)
    finding.advice +=
        advice_of("Make those that are the same in each step once, before the loop (register_buffer in a module).");
  finding.code = fmt::format("x = torch.{}({}, device=\"cuda\"){}", maker.op, maker.arguments,
                             maker.is_random ? "" : "  # once, if it is the same in each step");
  finding.covers = finding.spared;
}

std::vector<Finding> check_tensors_on_cpu(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<bool> launches(facts.trace.lanes.size());
  for (const GpuOp& op : facts.ops)
    if (op.linked()) launches[facts.trace.lane_id(op.launch).index()] = true;
  std::vector<SliceId> places;
  Ns time = 0, most = 0;
  StringId leads;
  for (auto& [name, calls] : operators_without_calls(facts)) {
    std::erase_if(calls, [&](SliceId s) { return !launches[facts.trace.lane_id(s).index()]; });
    std::vector<Ns> lengths;
    Ns all = 0;
    for (const SliceId s : calls) {
      lengths.push_back(facts.trace.duration(s));
      add_saturating(all, lengths.back());
    }
    if (calls.size() < kLeastCalls || median_of(lengths) < kLeastComputing) continue;
    places.insert(places.end(), calls.begin(), calls.end());
    add_saturating(time, all);
    if (all > most || (all == most && name < leads.value)) most = all, leads = facts.trace.name_id(calls.front());
  }
  const double share = share_of(time, facts.window_length);
  if (places.empty() || share < kLeastCpuShare) return {};
  std::sort(places.begin(), places.end());
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary =
      fmt::format("{} on CPU tensors {} the thread that launches GPU work for {}, {} of the window. {} has the most, {}.",
                  counted(places.size(), "operator call"), places.size() == 1 ? "occupies" : "occupy", format_duration(time),
                  format_share(share), shown_name(facts.trace.strings[leads]), format_duration(most));
  finding.evidence = Evidence({{"n", places.size()},
                               {"total_us", as_us(time)},
                               {"share", share},
                               {"name", facts.trace.strings[leads]},
                               {"name_us", as_us(most)}});
  mark_slices(finding, facts.trace, places);
  std::vector<Span> computing;
  for (const SliceId s : places) computing.push_back(facts.trace.span_of(s));
  add_copies(MadeOnCpu(facts, places).find(), span_set(std::move(computing)), finding);
  return {std::move(finding)};
}

}  // namespace

extern const Rule tensors_on_cpu = {
    .id = "tensors_on_cpu",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "The loop computes on CPU tensors",
    .meaning =
        "These operators launch nothing, because their tensors are on the CPU. The thread launches no GPU work meanwhile, and "
        "the GPU becomes idle.",
    .remedy =
        "Move the inputs to the GPU first and compute there. If the CPU needs the result, copy the small result and not its "
        "inputs. Move work that needs no GPU and no result of this step to DataLoader workers.",
    .check = check_tensors_on_cpu,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 43, .explains = {"overhead_bound", "memcpy_heavy", "host_pause"}},
    .code = "x = x.to(\"cuda\")  # before the operators, not after them",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
