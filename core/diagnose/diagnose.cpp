#include "core/diagnose/diagnose.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/captured/captures.h"
#include "core/analyze/work/work_table.h"
#include "core/base/parallel.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/catalogue.h"
#include "core/diagnose/claims.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/growing_cache.h"
#include "core/diagnose/device_time.h"
#include "core/diagnose/plain_verdict.h"
#include "core/diagnose/verdict.h"
#include "core/replay/replay.h"
#include "core/session/trace_session.h"
#include "core/trace/crop_mark.h"

namespace gapscope {
namespace {

// ROCm files may say "inf".
bool states_blocks_per_sm(const GpuRow& row) { return std::isfinite(row.blocks_per_sm) && row.blocks_per_sm >= 0; }

// The rules' sums: work is judged by who launched it. Of the GPU time; less changes no share that is shown.
constexpr double kLeastUnlinkedTime = 0.01;
void add_what_is_summed(const std::vector<GpuOp>& ops, std::string& trust) {
  Ns all = 0, linked = 0;
  for (const GpuOp& op : ops) {
    add_saturating(all, op.span.length());
    if (op.linked()) add_saturating(linked, op.span.length());
  }
  if (linked == 0 || share_of(all - linked, all) < kLeastUnlinkedTime) return;
  trust += fmt::format("{}Findings count only the {} of {} of GPU work whose launch is in the file.", trust.empty() ? "" : " ",
                       format_duration(linked), format_duration(all));
}

// Operators of replayed graphs stand where these were captured.
template <class Has>
bool some_recording(const Trace& trace, Has has) {
  const CapturedWork* const captured = trace.captured.get();
  if (has(trace)) return true;
  if (captured == nullptr) return false;
  const std::vector<const Trace*> recordings = captured->recordings();
  return std::any_of(recordings.begin(), recordings.end(), [&](const Trace* recording) { return has(*recording); });
}

bool has_operators(const Trace& trace) {
  return std::any_of(trace.categories.begin(), trace.categories.end(), [](const Category& c) { return c.kind == Kind::op; });
}

struct Need {
  RuleNeed need;
  bool (*met)(const Facts&);
  std::string_view why;      // up to what to do about it
  std::string_view instead;  // what to do when recording again
  std::string_view other;    // the same of other programs than Python's
};
constexpr std::array<Need, 8> kNeeds = {{
    {kNeedsGpuWork, [](const Facts& f) { return !f.ops.empty(); }, "No kernel, copy or memset is in this trace",
     "record with ProfilerActivity.CUDA.", "record a part of the program that uses the GPU."},
    {kNeedsLaunches, [](const Facts& f) { return f.linked > 0; }, "No GPU work has its launch in this trace",
     "record with ProfilerActivity.CPU as well.", "record the time of the launches, too."},
    {kNeedsSteps, [](const Facts& f) { return !f.steps.empty(); }, "No ProfilerStep# is in this trace",
     "pass schedule=... and call prof.step() after each iteration.",
     "put an NVTX range around each iteration, named ProfilerStep#0, ProfilerStep#1 and so on."},
    {kNeedsOperators, [](const Facts& f) { return some_recording(f.trace, has_operators); }, "No operators are in this trace",
     "record with ProfilerActivity.CPU.", "these rules need the operators of a framework."},
    {kNeedsDeviceProperties, [](const Facts& f) { return !f.trace.header.devices.empty(); },
     "The file does not describe the GPU (deviceProperties)", "record with PyTorch 1.9 or later.",
     "gapscope record describes the GPUs that it sees."},
    {kNeedsBlocksPerSm,
     [](const Facts& f) {
       return std::any_of(f.ops.begin(), f.ops.end(),
                          [&](const GpuOp& op) { return op.linked() && states_blocks_per_sm(f.row(op)); });
     },
     "No kernel of this trace states its blocks per SM", "recordings of NVIDIA GPUs have them.",
     "recordings of NVIDIA GPUs have them."},
    {kNeedsCounters, [](const Facts& f) { return !f.session.counters().empty(); }, "No hardware counters are in this trace",
     "record with gapscope record --counters.", "record with gapscope record --counters."},
    {kNeedsShapes, [](const Facts& f) { return some_recording(f.trace, has_shapes); },
     "No operator of this trace states its shapes", "record with record_shapes=True.",
     "these rules need the operators of a framework."},
}};

// Positions of the rules in the order they are begun: first those that need shapes, since the first of them works out what each
// operator computes and moves, which takes longer than any other rule.
std::vector<std::size_t> longest_first(const std::vector<const Rule*>& rules) {
  std::vector<std::size_t> order(rules.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return (rules[i]->needs & kNeedsShapes) != 0; });
  return order;
}

// A recording of a capture is no run: what costs time in it, and how well the GPU was used, is not judged.
constexpr Need kCapture = {kNeedsNothing, nullptr,
                           "This is a recording of a graph capture, in which launches start no GPU work",
                           "record replays of the graph, and name this file with --capture.",
                           "record replays of the graph, and name this file with --capture."};
bool judges_a_run(RuleClass c) {
  return c == RuleClass::problem || c == RuleClass::problem_locator || c == RuleClass::good_sign || c == RuleClass::mixed ||
         c == RuleClass::start_up;
}

// "No operators are in this trace: ProfilerActivity.CPU records those that a program calls."
std::string lack_of(const Need& need, const Trace& trace, bool cut_off) {
  const std::string_view instead = by_torch_profiler(trace) ? need.instead : need.other;
  if (!trace.producer->is_pytorch) {
    const std::string_view how = need.need == kNeedsGpuWork    ? trace.producer->gpu_work
                                 : need.need == kNeedsSteps    ? trace.producer->steps
                                 : need.need == kNeedsLaunches ? trace.producer->host
                                                               : "";
    return how.empty() ? std::string(need.why) : fmt::format("{}: use {}.", need.why, how);
  }
  if (instead.empty()) return std::string(need.why);
  if (need.need == kNeedsCounters && vendor_of(trace) != Vendor::nvidia) return fmt::format("{}.", need.why);
  if (cut_off) return fmt::format("{}, whose end is missing: export it again.", need.why);
  return fmt::format("{}: {}", need.why, instead);
}

// What a recording of the process's start shows is paid once: nothing to work on before that is left out.
void fit_to_start_up(ProgramKind program, std::vector<RankedFinding>& findings) {
  for (RankedFinding& f : findings)
    if (f.finding.rule->wants_warm_up) f.finding.advice = plain_advice(std::string(warm_up_advice(program)));
}

void fit_to_other_program(Finding& finding) {
  if (finding.meaning.empty()) finding.meaning = finding.rule->other_meaning;
  if (finding.advice.empty()) finding.advice = advice_of(finding.rule->other_remedy);
}

// Without what the program does already, and in the words of its GPU's vendor.
void fit_to_practices(const Facts& facts, Finding& finding) {
  const Practices& practices = facts.practices();
  if (finding.advice.empty()) finding.advice = advice_of(finding.rule->remedy);
  Said left = said(practices, finding.advice);
  if (left.text.empty()) left.text = kAllFollowed;
  if (gives_of(finding).cure == Cure::graph) left = with_cache_first(facts, with_whole_step_caveat(practices, std::move(left)));
  finding.remedy = std::move(left.text), finding.remedies = left.remedies;
  finding.meaning = in_words_of(practices.vendor, meaning_of(finding));
  finding.summary = in_words_of(practices.vendor, finding.summary);
}

// Whether its times are those of the program as it runs: what they would be without its start, or without a part that is
// unknown, says nothing of it. A compiler that works in one step of several may do so again.
bool is_of_a_run(const Facts& facts, Bound bound) {
  if (bound == Bound::compiling) return !facts.steps.empty();
  return bound != Bound::start_up && bound != Bound::not_judged;
}

// Notes on what is no problem: the first few, and none that teaches.
void choose_brief(std::vector<RankedFinding>& findings) {
  std::size_t notes = 0;
  for (RankedFinding& f : findings) {
    if (f.finding.severity != Severity::informational) continue;
    f.brief = !is_teaching(f.finding.rule->rule_class) && !f.merged && notes < kBriefNotes;
    notes += f.brief ? 1 : 0;
  }
}

}  // namespace

std::string title_of(const Diagnosis& diagnosis, const Rule& rule) { return in_words_of(diagnosis.vendor, rule.title); }

FindingOrder::FindingOrder(const Diagnosis& diagnosis) : diagnosis_(diagnosis) {
  const std::vector<Plan::Item>& items = diagnosis.plan.items;
  places_.assign(diagnosis.findings.size(), items.size());
  for (std::size_t place = items.size(); place-- > 0;) places_[static_cast<std::size_t>(items[place].finding)] = place;
  // What a planned one explains represents it where that has no place, as in a marked time.
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (const std::int32_t leader = diagnosis.findings[i].led_by; leader >= 0 && places_[i] == items.size())
      places_[i] = places_[static_cast<std::size_t>(leader)];
}

bool FindingOrder::before(std::size_t a, std::size_t b) const {
  if (places_[a] != places_[b]) return places_[a] < places_[b];
  const Severity x = diagnosis_.findings[a].finding.severity, y = diagnosis_.findings[b].finding.severity;
  return x != y ? x > y : a < b;
}

std::string_view FindingOrder::heading(std::size_t finding) const {
  const bool is_planned = places_[finding] < diagnosis_.plan.items.size();
  return is_planned ? kPlannedHeading : severity_name(diagnosis_.findings[finding].finding.severity);
}

namespace {

Headline make_headline(const TraceSession& session) {
  const Trace& trace = session.trace();
  const Trust trust = trust_of(trace, session.ops(), session.account());
  Verdict verdict = verdict_of(trace, session.account(), trust);
  Headline out;
  out.trust = with_crop_sentence(trace, trust_text(trust));
  out.verdict = std::move(verdict.text), out.words = std::move(verdict.words), out.bound = verdict.bound;
  out.doubts = trust.doubts;
  add_what_is_summed(session.ops(), out.trust);
  judge_plain(session, out);
  return out;
}

}  // namespace

const Headline& headline_of(const TraceSession& session) {
  return *session.fact<Headline>([&] { return std::make_unique<const Headline>(make_headline(session)); });
}

const Diagnosis* diagnosis_of(const TraceSession& session, const std::atomic<bool>* cancel) {
  return session.fact<Diagnosis>([&]() -> std::unique_ptr<const Diagnosis> {
    auto found = std::make_unique<const Diagnosis>(diagnose(Facts(session), cancel));
    return cancel != nullptr && *cancel ? nullptr : std::move(found);
  });
}

Diagnosis diagnose(const Facts& facts, const std::atomic<bool>* cancel) {
  // Rules only read, so they run concurrently, and with them what weighs their findings. The order of the catalogue decides how
  // findings are listed.
  const std::vector<const Rule*>& rules = all_rules();
  std::vector<std::vector<Finding>> found(rules.size());
  std::vector<const Need*> lacking(rules.size(), nullptr);
  const bool is_capture = bool(capture_recording(facts.trace));
  const TimeAccount& account = facts.session.account();
  std::unique_ptr<const DeviceTime> time;
  std::shared_ptr<const ReplayModel> model;
  constexpr std::size_t kBeside = 2;
  const std::vector<std::size_t> order = longest_first(rules);
  parallel_for(hardware_threads(), kBeside + rules.size(), [&](std::size_t part) {
    if (cancel != nullptr && *cancel) return;
    if (part == 0) model = facts.session.model(cancel);
    if (part == 1 && account.busiest() != nullptr) time = std::make_unique<const DeviceTime>(facts);
    if (part < kBeside) return;
    const std::size_t i = order[part - kBeside];
    // Launches of GPU work are lacking where there is no such work, too; then that is the reason to report.
    const std::uint32_t needs = rules[i]->needs | ((rules[i]->needs & kNeedsLaunches) != 0 ? kNeedsGpuWork : 0u);
    const auto need =
        std::find_if(kNeeds.begin(), kNeeds.end(), [&](const Need& n) { return (needs & n.need) != 0 && !n.met(facts); });
    if (is_capture && judges_a_run(rules[i]->rule_class))
      lacking[i] = &kCapture;
    else if (need != kNeeds.end())
      lacking[i] = &*need;
    else
      found[i] = rules[i]->check(facts);
  });
  Diagnosis out{headline_of(facts.session), {}, {}, {}};
  out.vendor = vendor_of(facts.trace);
  const ProgramKind program = program_kind(facts.trace);
  if (cancel != nullptr && *cancel) return out;
  const bool cut_off = !facts.trace.is_part && facts.trace.report.count(ImportIssue::truncated) > 0;
  const auto doubt = std::find_if(out.doubts.begin(), out.doubts.end(), [](const Doubt& d) { return d.forbids_verdict; });
  for (std::size_t i = 0; i < rules.size(); ++i) {
    // What forbids a verdict on idle time forbids advice about it.
    if (doubt != out.doubts.end() && rules[i]->claim && rules[i]->claim->time == ClaimedTime::idle &&
        judges_a_run(rules[i]->rule_class)) {
      if (!found[i].empty()) out.unjudged.push_back({rules[i], doubt->said});
      continue;
    }
    if (lacking[i] != nullptr)
      out.unjudged.push_back({rules[i], in_words_of(out.vendor, lack_of(*lacking[i], facts.trace, cut_off))});
    for (Finding& finding : found[i]) {
      finding.rule = rules[i];
      finding.stake = std::max(finding.stake, finding.cost);
      if (program != ProgramKind::python) fit_to_other_program(finding);
      out.findings.emplace_back().finding = std::move(finding);
    }
  }
  assign_time(facts, time.get(), out.findings);
  choose_brief(out.findings);
  if (out.bound == Bound::start_up) fit_to_start_up(program, out.findings);
  for (RankedFinding& f : out.findings) fit_to_practices(facts, f.finding);
  if (is_of_a_run(facts, out.bound)) find_gains(facts, time.get(), model.get(), out, cancel);
  for (const Plan::Item& item : out.plan.items) out.findings[static_cast<std::size_t>(item.finding)].brief = true;
  const bool has_frames = facts.practices().follows(Practice::python_frames);
  for (RankedFinding& f : out.findings) {
    if (!f.brief && f.finding.severity == Severity::informational) continue;
    if (!f.finding.where) f.finding.where = has_frames ? code_place(facts, f.finding) : region_place(facts, f.finding);
    const Remedies& named = f.finding.remedies;
    const bool compiles = named.has(Remedy::compile) || named.has(Remedy::compile_rest) || named.has(Remedy::cuda_graph);
    if (program != ProgramKind::python)
      f.finding.code.clear();
    else if (f.finding.rule->code == kCompileModel && !compiles)
      continue;  // what is to be done here is another thing
    else if (f.finding.code.empty())
      f.finding.code = fitted(facts.practices(), f.finding.rule->code);
    if (has_frames && f.finding.rule->code == kCompileModel && !f.finding.code.empty())
      if (std::string line = line_to_compile(facts, f.finding); !line.empty()) f.finding.code = std::move(line);
  }
  for (RankedFinding& f : out.findings)
    f.finding.covers = {}, f.finding.spared = {}, f.finding.slices = {}, f.finding.advice = {};
  return out;
}

}  // namespace gapscope
