#pragma once
// A rule is its texts, what it may claim, and one pure function. One file a rule under rules/, of the rule's name, with its
// thresholds as named constants and a reason each; the build finds it (catalogue.h).
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/practices/remedy.h"
#include "core/diagnose/claim.h"
#include "core/diagnose/code_place.h"
#include "core/diagnose/evidence.h"
#include "core/diagnose/facts.h"

namespace gapscope {

// What a finding is to its reader; decides where it is shown.
enum class RuleClass : std::uint8_t {
  problem,          // costs time: a standing badge
  problem_locator,  // says where to look first
  good_sign,
  reading_help,  // a teaching note: true of a healthy trace too
  observation,
  mixed,
  start_up,
  profiler_artefact,
  recording,    // how the recording was made
  table_trap,   // qualifies numbers of the profiler table
  data_health,  // qualifies what the file holds
};
std::string_view rule_class_name(RuleClass c);  // "problem locator", ...
// Notes that teach to read a trace, and say nothing against it.
constexpr bool is_teaching(RuleClass c) { return c == RuleClass::reading_help || c == RuleClass::table_trap; }

enum class Severity : std::uint8_t { informational, notable, costly };
std::string_view severity_name(Severity s);

// What a trace must hold before a rule can judge it.
enum RuleNeed : std::uint32_t {
  kNeedsNothing = 0,
  kNeedsGpuWork = 1,
  kNeedsLaunches = 2,  // GPU work with its call in the file
  kNeedsSteps = 4,     // ProfilerStep#N
  kNeedsOperators = 8,
  kNeedsDeviceProperties = 16,
  kNeedsBlocksPerSm = 32,  // of some kernel with its launch in the file
  kNeedsCounters = 64,     // of a GPU, as `gapscope record --counters` writes them
  kNeedsShapes = 128,      // of operators' inputs
};

// The change to the recording that a rule's remedy would make, so that a replay (core/replay) can say what it gives.
enum class Cure : std::uint8_t {
  none,      // a replay does not know: it says where to look, or is about something else
  waits,     // calls at its places do not wait for the GPU
  host,      // its places take no host time
  calls,     // neither do they wait for the GPU: they are not made
  idle,      // the idle time that it claims is not there
  graph,     // the launches of a step are replayed as one graph
  work,      // GPU work at its places, or launched there, takes no time
  at_stake,  // it is shorter by what the rule says is at stake
  half,      // it takes half of its time
  gone,      // what the host does in its places is not done: no time, no waits, none of the GPU work launched there
  overlap,   // copies at its places hold up neither the host nor what follows them
  roofline,  // GPU work at its places reaches kNearRoofline of its floor: no change to make, so it is in no plan
};
struct Gives {
  Cure cure = Cure::none;
  bool exact = false;  // it does just that: the gain is "about", else "up to"
  bool fuses = false;  // work that is launched in a row is launched at once: host time comes back, too
};

// Where a finding lies: a slice, or a gap on a lane; without a lane, all lanes.
struct FindingSpan {
  LaneId lane;
  Span span;
  SliceId slice;  // none: a gap
};

struct Rule;

struct Finding {
  const Rule* rule = nullptr;  // filled in by diagnose()
  std::optional<Gives> gives;  // where the rule's own does not fit this trace
  Severity severity = Severity::informational;
  std::string summary;  // one or two sentences with the numbers
  std::string meaning;  // where the rule's own words do not fit this trace; else empty
  Advice advice;        // likewise what to do; of all findings until diagnose() has made the plan
  std::string remedy;   // what is left of it to say in this program: diagnose() writes it last
  Remedies remedies;    // that it names
  Ns cost = 0;          // time at stake: as the rule sees it, and after diagnose() at most what it owns of the account
  Ns stake = 0;         // its cost as the rule sees it
  std::optional<CodePlace> where;  // in the program's own code; of what is planned or shown at first, unless the rule says it
  std::string code;  // the line that the remedy makes of it; empty where no single line does, or it is there already
  Evidence evidence;
  std::vector<FindingSpan> spans;  // the widest first where there are more than kMostFindingSpans
  SpanSet spared;                  // host time that its remedy takes away where that is not its places' (Cure::gone, host)
  SpanSet covers;                  // all of its places together, until diagnose() has weighed it; empty: its spans say all
  std::vector<SliceId> slices;     // all slices that are its places, until then
};
constexpr std::size_t kMostFindingSpans = 200;

// How a key of a rule's evidence reads where the words that all rules share (core/view/findings/evidence_words.h) do not fit.
struct EvidenceName {
  std::string_view key, words;
};

struct Rule {
  std::string_view id;  // as in RULES: "overhead_bound"; also its anchor in assets/guide/findings.md
  RuleClass rule_class{};
  Severity severity{};  // what its findings usually are
  std::uint32_t needs = kNeedsNothing;
  std::string_view title;
  std::string_view meaning;  // what it usually means
  std::string_view remedy;   // what to do (advice_of())
  // Empty when there is nothing to say. Usually one finding, whose spans are the places.
  std::vector<Finding> (*check)(const Facts& facts);
  // A problem states it; without one, a cost is idle time while the finding's places last.
  std::optional<Claim> claim = std::nullopt;
  // Where the recording holds the start of the process (Bound::start_up), which is paid once, to record after it is the remedy.
  bool wants_warm_up = false;
  // Instead of the words above for other programs than Python's, where those suppose Python or PyTorch; else empty.
  std::string_view other_meaning = {}, other_remedy = {};
  std::array<EvidenceName, 2> evidence_names = {};
  // The line of code that the remedy is (fitted()): not said where what it names is refused.
  std::string_view code = {};
  // What of its remedy can be replayed; a problem states it.
  Gives gives = {};
};

// What it means, what its remedy changes and what to do: as the finding says, else its rule.
std::string_view meaning_of(const Finding& finding);
const Gives& gives_of(const Finding& finding);
std::string_view remedy_of(const Finding& finding);

// A slice as a place of a finding.
FindingSpan span_of_slice(const Trace& trace, SliceId slice);
// Makes slices, or gaps, the places of a finding: at most kMostFindingSpans as its spans, the longest ones in time order.
void mark_slices(Finding& finding, const Trace& trace, const std::vector<SliceId>& slices);
void mark_gaps(Finding& finding, std::vector<FindingSpan> gaps);

}  // namespace gapscope
