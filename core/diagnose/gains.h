#pragma once
// What remedies would give, by replaying the recording with the change that each would make (core/replay/GAIN.md).
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

class DeviceTime;
class Facts;
class ReplayModel;
enum class Bound : std::uint8_t;
struct Change;
struct Diagnosis;
struct Finding;
struct RankedFinding;

// Of a finding.
struct Gain {
  Ns time = 0;         // by so much the run is shorter
  Ns later = 0;        // and so much once everything of the plan is done
  bool exact = false;  // "about", else "up to"
  bool of_gpu_work = false;
};

// Remedies one after the other, each the one that gives most after those before it, until less than 2 % of the run is left.
struct Plan {
  struct Item {
    std::int32_t finding = 0;  // position in Diagnosis::findings
    Ns after = 0;              // length of the run with it and those before
    Ns saved = 0;              // by it
    bool exact = false;
  };
  Ns run = 0;             // length of the run as it is; 0: nothing was replayed
  std::size_t steps = 0;  // of the run; 0: it has none
  std::vector<Item> items;
  double busy_before = 0, busy_after = 0;  // of the run, the device that is busy for longest
  Bound next{};                            // what then holds the run back

  // Of the run, or a step where it has steps: the mean.
  Ns each(Ns time) const { return steps > 0 ? time / static_cast<Ns>(steps) : time; }
  double share(Ns time) const { return run > 0 ? static_cast<double>(time) / static_cast<double>(run) : 0; }
};

constexpr double kLeastGain = 0.01;  // of the run: what gives less is no recommendation
constexpr std::string_view kGainLegend =
    "Gains are of a replay of this recording with the change: \"about\" where the change is just the remedy, \"up to\" where "
    "it "
    "is the most that the remedy can do.";

// The change that the finding's remedy would make; an empty one where it has none.
Change change_of(const Facts& facts, const DeviceTime* time, const ReplayModel& model, const Finding& finding);

// Fills in `gain` of costly and notable findings and `plan`. Findings still have their places.
void find_gains(const Facts& facts, const DeviceTime* time, Diagnosis& diagnosis, const std::atomic<bool>* cancel);

// Whether it gives at least kLeastGain.
bool is_recommended(const Plan& plan, const RankedFinding& finding);
// "saves up to 3.20 ms of 14.0 ms a step (23 %)", "gives nothing while the host is the bottleneck; after the plan up to 1.20 ms
// a step"; empty where nothing is known.
std::string gain_words(const Diagnosis& diagnosis, const RankedFinding& finding);
// A line of the plan, as "now": "14.0 ms a step, the GPU busy for 26.1 %", "Long wait for the GPU inside a step": "about 11.2
// ms a step", ..., "then": "compute-bound, the GPU busy for 91.0 %". Empty where nothing was replayed.
struct PlanLine {
  std::string what, value;
};
std::vector<PlanLine> plan_lines(const Diagnosis& diagnosis);

}  // namespace gapscope
