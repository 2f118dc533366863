#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// From one compiled piece to the next of the same call.
struct Break {
  SliceId from, to;
  Span between;
};

class Finder {
 public:
  explicit Finder(const Facts& facts) : facts_(facts), regions_(compiled_regions(facts)) {}

  std::vector<Break> find() {
    if (!has_several_frames()) return {};
    has_resume_ = !facts_.names_matching([](std::string_view n) { return n.find("torch_dynamo_resume") != n.npos; }).empty();
    graphs_ = cpu_slices_called(facts_, "## Call CompiledFxGraph", kIsCompiledGraph);
    std::vector<Break> breaks;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      const SliceId around = facts_.ancestor(regions_[i], kIsRegion);
      if (around && differ(around, regions_[i]))
        breaks.push_back({around, regions_[i], {end_of_work(around, regions_[i]), begin(regions_[i])}});
      if (!around) add_if_successor(i, breaks);
    }
    return breaks;
  }

 private:
  Ns begin(SliceId s) const { return facts_.trace.begin(s); }
  Ns end(SliceId s) const { return facts_.trace.end(s); }

  bool has_several_frames() const {
    for (const SliceId s : regions_)
      if (differ(regions_.front(), s)) return true;
    return false;
  }

  bool differ(SliceId a, SliceId b) const {
    const auto x = compile_id_of(facts_.trace.name(a)), y = compile_id_of(facts_.trace.name(b));
    return x && y && x->frame != y->frame;
  }

  // What follows a break is called from inside the first piece: its own work ends with its compiled graph.
  Ns end_of_work(SliceId around, SliceId inner) const {
    Ns t = begin(around);
    const auto after =
        std::lower_bound(graphs_.begin(), graphs_.end(), begin(inner), [&](SliceId s, Ns time) { return begin(s) < time; });
    for (auto at = after; at != graphs_.begin() && begin(*(at - 1)) >= begin(around);) {
      --at;
      if (end(*at) > begin(inner) || facts_.trace.lane_id(*at) != facts_.trace.lane_id(inner)) continue;
      return end(*at);
    }
    return t;
  }

  // Side by side under one caller. Functions compiled apart look the same, hence the proof: a frame that resumes, or
  // nothing launched between the two.
  void add_if_successor(std::size_t i, std::vector<Break>& breaks) const {
    const SliceId to = regions_[i], caller = facts_.parent(to);
    if (!caller || (facts_.own(caller) & (kIsAnnotation | kIsStep | kIsPython)) == 0) return;
    for (std::size_t k = i; k-- > 0;) {
      const SliceId from = regions_[k];
      if (end(from) > begin(to) || facts_.trace.lane_id(from) != facts_.trace.lane_id(to)) continue;
      if (facts_.parent(from) != caller || !differ(from, to)) return;
      if (has_resume_ || !launches_between(caller, end(from), begin(to))) breaks.push_back({from, to, {end(from), begin(to)}});
      return;
    }
  }

  bool launches_between(SliceId caller, Ns from, Ns to) const {
    const std::vector<SliceId> children = facts_.lanes.children(caller);
    auto at = std::lower_bound(children.begin(), children.end(), from, [&](SliceId s, Ns time) { return begin(s) < time; });
    for (; at != children.end() && begin(*at) < to; ++at)
      if (facts_.below(*at) & kIsLaunch) return true;
    return false;
  }

  const Facts& facts_;
  std::vector<SliceId> regions_, graphs_;
  bool has_resume_ = false;
};

// The pieces in the order in which they first ran.
EvidenceList ids_of(const Facts& facts, const std::vector<Break>& breaks) {
  std::vector<CompileId> ids;
  const auto add = [&](SliceId s) {
    const auto id = compile_id_of(facts.trace.name(s));
    if (id && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
  };
  for (const Break& b : breaks) add(b.from), add(b.to);
  EvidenceList out;
  for (const CompileId& id : ids) out.emplace_back(to_text(id));
  return out;
}

std::vector<Finding> check_graph_breaks(const Facts& facts) {
  const std::vector<Break> breaks = Finder(facts).find();
  if (breaks.empty()) return {};
  Finding finding;
  finding.severity = Severity::notable;
  std::vector<FindingSpan> gaps;
  for (const Break& b : breaks) {
    add_saturating(finding.cost, b.between.length());
    gaps.push_back({facts.trace.lane_id(b.to), b.between, SliceId{}});
  }
  EvidenceList ids = ids_of(facts, breaks);
  finding.summary =
      fmt::format("Compiled calls come in {}: {} one ended and Python went on to the next, {} of host time in between.",
                  counted(ids.size(), "piece"), breaks.size() == 1 ? "once" : counted(breaks.size(), "time"),
                  format_duration(finding.cost));
  finding.evidence.add("ids", std::move(ids));
  finding.evidence.add("breaks", breaks.size());
  finding.evidence.add("between_us", as_us(finding.cost));
  mark_gaps(finding, std::move(gaps));
  return {std::move(finding)};
}

}  // namespace

extern const Rule graph_breaks = {
    "graph_breaks",
    RuleClass::problem,
    Severity::notable,
    kNeedsOperators,
    "A compiled function was split",
    "Compiled pieces follow each other with Python between them, and each pays for its own guards and wrappers. Usually "
    "something in between cannot "
    "be compiled: a print, a decision on a tensor's value.",
    "Compile with fullgraph=True: it fails at the place that causes the break. TORCH_LOGS=graph_breaks lists them all.",
    check_graph_breaks};

}  // namespace gapscope
