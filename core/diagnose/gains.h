#pragma once
// What remedies would give, by replaying the recording with the change that each would make (core/replay/GAIN.md).
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/practices/remedy.h"
#include "core/base/time.h"
#include "core/replay/step_share.h"

namespace gapscope {

class DeviceTime;
class Facts;
class ReplayModel;
enum class Bound : std::uint8_t;
struct Change;
struct Diagnosis;
struct Finding;
struct Gives;
struct RankedFinding;

// Of a finding.
struct Gain {
  Ns time = 0;         // by so much the run is shorter
  Ns most = 0;         // the same with the plain step of its range that gives most; of what is exact `time`
  Ns later = 0;        // and so much once everything of the plan is done
  double left = 1;     // of the GPU work that the change makes shorter
  bool exact = false;  // "about", else "up to"
  bool of_gpu_work = false;
  std::shared_ptr<const Change> change;  // that was replayed; null where it gives nothing
};

// Remedies one after the other, each the one that gives most after those before it, until less than 2 % of the run is left.
// Before it goes one whose gain is surer, where the other gives no more than that once it is done: what is just the remedy
// ("about") before a bound ("up to"), any of these before the launches of a step as one graph, which stands for all that the
// host does in it. A graph comes after whatever is just the remedy and after the waits that forbid its capture, also where
// these are a note; kernels at their roofline come when nothing else is left. One whose remedy those before it name already is
// not planned. "What to do first" are the first of these.
struct Plan {
  struct Item {
    std::int32_t finding = 0;  // position in Diagnosis::findings
    Ns after = 0;              // length of the run with it and those before
    Ns saved = 0;              // by it
    Ns most = 0, least = 0;    // Gain::most of `saved`, and what the run is said to take then, after the items before it
    bool exact = false;
    std::size_t waits_inside = 0;  // Plan::waits_inside, those gone that remedies before it take away
    std::string remedy;            // what to do, without what those before it say
    Remedies remedies;             // that it names
  };
  Ns run = 0;      // length of the run as it is; 0: nothing was replayed
  StepShare step;  // what each of its steps has of it
  std::vector<Item> items;
  std::size_t waits_inside = 0;            // of the host for the GPU, in all, between launches of a step: a capture allows none
  double busy_before = 0, busy_after = 0;  // of the run, the device that is busy for longest
  Bound next{};                            // what then holds the run back

  // Of the run, or a step where it has steps: the mean.
  Ns each(Ns time) const { return step.each(time); }
  Ns length(Ns of_run) const { return step.length(of_run); }  // of the run, or a step, by the length of the run
  // Of the run, or of a step: 0..1, as much as each() is of length().
  double share(Ns time) const {
    return run > 0 ? static_cast<double>(each(time)) / static_cast<double>(std::max<Ns>(length(run), 1)) : 0;
  }
};

constexpr double kLeastGain = 0.01;    // of the run: what gives less is no recommendation
constexpr double kLeastOfPlan = 0.02;  // and what gives less after those before it is not planned
constexpr std::string_view kGainLegend =
    "Gains come from replaying the recording with the change. \"About\" is an estimate, \"up to\" an upper limit.";

// The change that the finding's remedy would make; an empty one where it has none. None where no replay can show it: of kernels
// whose floor is not known.
std::optional<Change> change_of(const Facts& facts, const DeviceTime* time, const ReplayModel& model, const Finding& finding);

// Whether the remedy makes GPU work shorter and spares nothing of the host.
bool is_of_gpu_work(const Gives& gives);

// Fills in `plan`, and `gain` of costly and notable findings and of a note that is planned. Findings still have their places.
// Nothing without a model, or where it holds nothing.
void find_gains(const Facts& facts, const DeviceTime* time, const ReplayModel* model, Diagnosis& diagnosis,
                const std::atomic<bool>* cancel);

// Whether it gives at least kLeastGain.
bool is_recommended(const Plan& plan, const RankedFinding& finding);
// "saves up to 3.20 ms of 14.0 ms a step (23 %)", "gives nothing while the host is the bottleneck; after the plan up to 1.20 ms
// a step"; empty where nothing is known.
std::string gain_words(const Diagnosis& diagnosis, const RankedFinding& finding);
// Of an item of the plan, after those before it: "saves about 2.80 ms of 14.0 ms a step (20 %): ...",
// "then down to 8.10 ms a step, 42 % less than now: ...".
std::string planned_words(const Diagnosis& diagnosis, const Plan::Item& item);
// A line of the plan, as "now": "14.0 ms a step, GPU busy 26.1 %", "Long wait for the GPU inside a step":
// "about 11.2 ms a step", ..., "then": "compute-bound, GPU busy 91.0 %". Empty where nothing was replayed.
struct PlanLine {
  std::string what, value;
};
std::vector<PlanLine> plan_lines(const Diagnosis& diagnosis);

}  // namespace gapscope
