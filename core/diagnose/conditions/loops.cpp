#include "core/diagnose/conditions/loops.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace gapscope {
namespace {

constexpr std::size_t kLongestRound = 256;       // operators
constexpr std::size_t kManyOperators = 200'000;  // of a step, whose rounds are looked for up to a quarter of that
constexpr std::size_t kManyUneven = 50'000;      // of a step, whose uneven rounds are looked for
constexpr double kLeastAlike = 0.75;             // of the operators of two uneven rounds

std::vector<StringId> names_of(const Facts& facts, const Operators& ops) {
  std::vector<StringId> out;
  for (const SliceId s : ops) out.push_back(facts.trace.name_id(s));
  return out;
}

// All loops of the period that explains most of the operators; of nearly equal ones the shortest.
std::vector<Loop> even_loops_of(const std::vector<StringId>& names) {
  const std::size_t longest =
      std::min(names.size() > kManyOperators ? kLongestRound / 4 : kLongestRound, names.size() / kLeastRounds);
  std::vector<Loop> best;
  std::size_t most = 0;
  for (std::size_t period = 1; period <= longest; ++period) {
    std::vector<Loop> loops;
    std::size_t covered = 0, run = 0;
    for (std::size_t i = 0; i + period <= names.size(); ++i) {
      if (i + period < names.size() && names[i] == names[i + period]) {
        ++run;
        continue;
      }
      if (run + period >= kLeastRounds * period) {
        loops.push_back({{}, i + period});
        for (std::size_t at = i - run; at + period <= i + period; at += period) loops.back().begins.push_back(at);
        covered += run + period;
      }
      run = 0;
    }
    if (covered > most + most / 20) most = covered, best = std::move(loops);
  }
  return best;
}

// Whether two rounds have nearly the same operators, in any order.
bool are_alike(std::vector<StringId> a, std::vector<StringId> b) {
  const std::size_t more = std::max(a.size(), b.size());
  if (static_cast<double>(std::min(a.size(), b.size())) < kLeastAlike * static_cast<double>(more)) return false;
  const auto by_value = [](StringId x, StringId y) { return x.value < y.value; };
  std::sort(a.begin(), a.end(), by_value), std::sort(b.begin(), b.end(), by_value);
  std::vector<StringId> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both), by_value);
  return static_cast<double>(both.size()) >= kLeastAlike * static_cast<double>(more);
}

// Likewise of loops with an `if` in them: from one of an operator to the next is nearly the same each time.
std::vector<Loop> uneven_loops_of(const Facts& facts, const Operators& ops, const std::vector<StringId>& names) {
  std::vector<Loop> best;
  if (ops.size() > kManyUneven) return best;
  std::map<std::uint32_t, std::vector<std::size_t>> launching;  // by name
  for (std::size_t i = 0; i < ops.size(); ++i)
    if ((facts.below(ops[i]) & kIsLaunch) != 0) launching[names[i].value].push_back(i);
  std::size_t most = 0;
  for (const auto& of_name : launching) {
    const std::vector<std::size_t>& at = of_name.second;
    if (at.size() < kLeastRounds || at.size() > ops.size() / kLeastLaunching) continue;
    const auto between = [&](std::size_t k) {
      return std::vector<StringId>(names.begin() + static_cast<std::ptrdiff_t>(at[k]),
                                   names.begin() + static_cast<std::ptrdiff_t>(at[k + 1]));
    };
    std::vector<Loop> loops;
    std::size_t covered = 0;
    for (std::size_t k = 0; k + 1 < at.size();) {
      std::size_t end = k + 1;  // of the rounds k to end
      if (at[k + 1] - at[k] <= kLongestRound)
        while (end + 1 < at.size() && at[end + 1] - at[end] <= kLongestRound && are_alike(between(end - 1), between(end)))
          ++end;
      if (end - k >= kLeastRounds) {
        loops.push_back(
            {{at.begin() + static_cast<std::ptrdiff_t>(k), at.begin() + static_cast<std::ptrdiff_t>(end)}, at[end]});
        covered += loops.back().length();
      }
      k = end;
    }
    if (covered > most + most / 20) most = covered, best = std::move(loops);
  }
  return best;
}

std::size_t length_of(const std::vector<Loop>& loops) {
  std::size_t out = 0;
  for (const Loop& loop : loops) out += loop.length();
  return out;
}

}  // namespace

std::vector<Operators> operators_by_thread_and_step(const Facts& facts) {
  std::vector<SliceId> all = facts.slices_with(kIsOp);
  std::erase_if(all, [&](SliceId s) {
    if ((facts.own(s) & kIsStep) != 0 || (facts.above(s) & (kIsOp & ~kIsStep)) != 0) return true;
    if ((facts.above(s) & (kIsCompileFrame | kIsDataLoader)) != 0) return true;
    const SliceId range = facts.ancestor(s, kIsAnnotation);
    return range && facts.trace.name(range).starts_with("Optimizer.");
  });
  std::sort(all.begin(), all.end(), [&](SliceId a, SliceId b) {
    return std::pair(facts.trace.lane_id(a), facts.trace.begin(a)) < std::pair(facts.trace.lane_id(b), facts.trace.begin(b));
  });
  std::vector<Operators> out;
  LaneId lane;
  std::optional<std::size_t> step;
  for (const SliceId s : all) {
    const auto in = facts.step_at(facts.trace.begin(s));
    if (!facts.steps.empty() && !in) continue;
    if (out.empty() || facts.trace.lane_id(s) != lane || in != step) out.emplace_back();
    lane = facts.trace.lane_id(s), step = in;
    out.back().push_back(s);
  }
  return out;
}

Loops loops_of(const Facts& facts, const Operators& ops) {
  const std::vector<StringId> names = names_of(facts, ops);
  Loops out{even_loops_of(names), {}};
  // By chance some rounds of an uneven loop are the same.
  if (2 * length_of(out.even) < ops.size()) out.uneven = uneven_loops_of(facts, ops, names);
  if (length_of(out.uneven) <= 2 * length_of(out.even)) out.uneven.clear();
  return out;
}

}  // namespace gapscope
