#pragma once
// All rules over one trace: findings ranked by what they cost, a verdict, and what could not be judged.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/analyze/practices/practices.h"
#include "core/diagnose/gains.h"
#include "core/diagnose/rule.h"
#include "core/diagnose/verdict.h"

namespace gapscope {

struct PlainProgram;

struct RankedFinding {
  Finding finding;
  std::int32_t led_by = -1;  // position of the finding that explains this one, or that this one is part of: shown under it
  bool merged = false;       // part of it: most of its time is the other's, which counts it
  Ns overlap = 0;            // the time that both speak of
  std::optional<Gain> gain;  // of a costly or notable one whose remedy can be replayed
  bool brief = true;         // shown unasked: no teaching note, and no sixth note on what is no problem, unless it is planned
};

struct Unjudged {
  const Rule* rule;
  std::string why;  // "needs GPU work: record with ..."
};

// What can be said of a run before any rule has looked at it.
struct Headline {
  std::string trust;    // what is missing or was changed by recording, and what that means; empty where nothing is
  std::string verdict;  // one line: verdict.h; of the plain program where that is known
  VerdictWords words;   // of it
  Bound bound{};        // what it says
  // The program without its profiler; null where nothing is said of it (core/replay/plain_program.h).
  std::shared_ptr<const PlainProgram> plain;
  std::string plain_sentence, plain_verdict;  // "Without the profiler ...", and "GPU-bound"; empty without `plain`
  std::optional<AccountTimes> plain_times;    // of a step of the plain program, or of its run where it has no steps
  std::vector<Doubt> doubts = {};             // about the recording

  // "GPU-bound": what limits the plain program where that is known, else the recording.
  std::string limit() const { return plain ? plain_verdict : std::string(bound_name(bound)); }
};
// Both made once a session. The second is null where `cancel` was set meanwhile.
const Headline& headline_of(const TraceSession& session);

struct Diagnosis : Headline {
  std::vector<RankedFinding> findings;  // costly before notable before informational, then by cost
  std::vector<Unjudged> unjudged;
  Plan plan;
  Vendor vendor = Vendor::nvidia;  // of the trace's GPUs
};
// Of a rule in that diagnosis: in the words of the GPU's vendor.
std::string title_of(const Diagnosis& diagnosis, const Rule& rule);

// How findings are listed, so that every list begins with what is to be done first: what the plan has, in its order, and what
// that leads; then the others by severity and cost. Refers to the diagnosis.
class FindingOrder {
 public:
  explicit FindingOrder(const Diagnosis& diagnosis);
  // Positions in Diagnosis::findings.
  bool before(std::size_t a, std::size_t b) const;
  // What it is listed under: kPlannedHeading or its severity.
  std::string_view heading(std::size_t finding) const;

 private:
  const Diagnosis& diagnosis_;
  std::vector<std::size_t> places_;  // by finding: in the plan; behind all of it where it is not there
};
constexpr std::string_view kPlannedHeading = "what to do, in this order";

constexpr std::size_t kBriefNotes = 5;

const Diagnosis* diagnosis_of(const TraceSession& session, const std::atomic<bool>* cancel = nullptr);
// Anew, of facts at hand: for tests. It lacks findings where `cancel` was set meanwhile.
Diagnosis diagnose(const Facts& facts, const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
