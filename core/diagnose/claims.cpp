#include "core/diagnose/claims.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "core/base/parallel.h"
#include "core/diagnose/device_time.h"

namespace gapscope {
namespace {

// Two findings that share more than half of their time say the same thing twice.
constexpr double kMostShared = 0.5;
// Of the window: the minimum that a cause must own to be costly or notable.
constexpr double kLeastCostly = 0.05;
constexpr double kLeastNotable = 0.01;

bool is_problem(const Rule& rule) {
  return rule.rule_class == RuleClass::problem || rule.rule_class == RuleClass::problem_locator;
}

// "Prefer the cause": the first explains the second where both are about the same time.
bool explains(const Rule& cause, const Rule& effect) {
  const auto names = claim_of(cause).explains;
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return name == kEveryProblem ? is_problem(effect) : name == effect.id; });
}

// What is no problem need not cost anything: launches whose kernels are missing.
bool is_about_time(const Finding& finding) { return finding.cost > 0 || is_problem(*finding.rule); }

Severity at_most(Severity severity, Ns cost, Ns window) {
  const double share = window > 0 ? static_cast<double>(cost) / static_cast<double>(window) : 0;
  return std::min(severity, share > kLeastCostly    ? Severity::costly
                            : share > kLeastNotable ? Severity::notable
                                                    : Severity::informational);
}

Ns shared_length(const SpanSet& a, const SpanSet& b) {
  Ns sum = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end(); i->end < j->end ? ++i : ++j)
    sum += std::max<Ns>(0, std::min(i->end, j->end) - std::max(i->begin, j->begin));
  return sum;
}

// Each interval goes to the first finding, in `turn` order, that claims it.
class Ledger {
 public:
  Ledger(const DeviceTime& time, std::vector<RankedFinding>& findings)
      : time_(time), findings_(findings), claims_(findings.size()) {}

  void run() {
    parallel_for(hardware_threads(), findings_.size(), [&](std::size_t i) { claim(i); });
    for (const std::size_t i : in_order()) take(i);
  }

 private:
  void claim(std::size_t i) {
    Finding& finding = findings_[i].finding;
    if (!is_about_time(finding)) return;
    if (finding.cost > 0) claims_[i] = time_.of(claim_of(*finding.rule), covered_by(finding));
    finding.cost = std::min(finding.cost, length(claims_[i]));
    finding.severity = at_most(finding.severity, finding.cost, time_.window());
  }

  std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> order(findings_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      const Finding& f = findings_[i].finding;
      return std::tuple(-static_cast<int>(f.severity), claim_of(*f.rule).turn, -f.cost);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    return order;
  }

  void take(std::size_t i) {
    RankedFinding& mine = findings_[i];
    const SpanSet& wanted = claims_[i];
    if (wanted.empty()) return;
    SpanSet left = wanted;
    std::size_t most = findings_.size();
    Ns most_shared = 0;
    for (const auto& [owner, owned] : taken_) {
      const Ns shared = shared_length(wanted, owned);
      if (shared > most_shared) most = owner, most_shared = shared;
      if (shared > 0) left = subtract(left, owned);
    }
    const Ns all = length(wanted), free = length(left);
    if (most < findings_.size() && static_cast<double>(free) < (1 - kMostShared) * static_cast<double>(all)) {
      mine.led_by = static_cast<std::int32_t>(most);
      mine.merged = true;
      mine.overlap = most_shared;
      mine.finding.cost = 0;
      return;
    }
    if (most < findings_.size() && explains(*findings_[most].finding.rule, *mine.finding.rule)) {
      mine.led_by = static_cast<std::int32_t>(most);
      mine.overlap = most_shared;
    }
    mine.finding.cost = std::min(mine.finding.cost, free);
    taken_.emplace_back(i, std::move(left));
  }

  const DeviceTime& time_;
  std::vector<RankedFinding>& findings_;
  std::vector<SpanSet> claims_;  // by finding
  std::vector<std::pair<std::size_t, SpanSet>> taken_;
};

// A finding that was led by one that is led itself would be shown nowhere.
void straighten(std::vector<RankedFinding>& findings) {
  for (RankedFinding& f : findings)
    while (f.led_by >= 0 && findings[static_cast<std::size_t>(f.led_by)].led_by >= 0)
      f.led_by = findings[static_cast<std::size_t>(f.led_by)].led_by;
}

void rank(std::vector<RankedFinding>& findings) {
  std::vector<std::size_t> order(findings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Finding& x = findings[a].finding;
    const Finding& y = findings[b].finding;
    return std::tuple(x.severity, x.cost) > std::tuple(y.severity, y.cost);
  });
  std::vector<std::int32_t> place(findings.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::int32_t>(i);
  std::vector<RankedFinding> ranked;
  ranked.reserve(findings.size());
  for (const std::size_t i : order) {
    ranked.push_back(std::move(findings[i]));
    if (ranked.back().led_by >= 0) ranked.back().led_by = place[static_cast<std::size_t>(ranked.back().led_by)];
  }
  findings = std::move(ranked);
}

}  // namespace

void assign_time(const Facts& facts, const DeviceTime* time, std::vector<RankedFinding>& findings) {
  if (time != nullptr) {
    Ledger(*time, findings).run();
    straighten(findings);
  } else {
    for (RankedFinding& f : findings)
      if (is_about_time(f.finding)) f.finding.severity = at_most(f.finding.severity, f.finding.cost, facts.window_length);
  }
  rank(findings);
}

}  // namespace gapscope
