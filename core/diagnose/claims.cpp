#include "core/diagnose/claims.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "core/analyze/account/time_account.h"

namespace gapscope {
namespace {

// Two findings that share more than half of their time say the same thing twice.
constexpr double kMostShared = 0.5;
// Of the window: what a cause must own to be told as costly or notable. Nobody gains what is not lost.
constexpr double kLeastCostly = 0.05;
constexpr double kLeastNotable = 0.01;

enum class Time : std::uint8_t { idle, communication, copies, kernels, work };  // work: kernels, and copies beside none
using CauseSet = std::uint32_t;

constexpr CauseSet set_of(std::initializer_list<IdleCause> causes) {
  CauseSet out = 0;
  for (const IdleCause c : causes) out |= 1u << index_of(c);
  return out;
}
constexpr CauseSet kAnyCause = (1u << kIdleCauses) - 1;
constexpr CauseSet kHost = set_of({IdleCause::op, IdleCause::python, IdleCause::launching, IdleCause::cuda_call});
constexpr CauseSet kHostAndStart = kHost | set_of({IdleCause::starting});
// What the file cannot tell costs the program nothing that is known.
constexpr CauseSet kTold = kAnyCause & ~set_of({IdleCause::unrecorded, IdleCause::unlinked});

// What of the account a rule speaks of. `inside`: only while its slices and gaps last.
struct Claim {
  std::string_view rule;
  Time time;
  CauseSet causes = kAnyCause;
  bool inside = true;
};

// The more telling a cause, the earlier: it takes its time first among findings of one severity.
constexpr auto kClaims = std::to_array<Claim>({
    {"compile_inside_window", Time::idle, set_of({IdleCause::compiling}), false},
    {"autotuning_in_window", Time::work},
    {"dataloader_wait", Time::idle, set_of({IdleCause::data_loading}), false},
    {"exposed_communication", Time::communication, kAnyCause, false},
    {"first_step_slow", Time::idle},
    {"long_sync_wait", Time::idle, set_of({IdleCause::synchronizing})},
    {"sync_covers_little_gpu_work", Time::idle, set_of({IdleCause::synchronizing})},
    {"implicit_sync", Time::idle, set_of({IdleCause::synchronizing})},
    {"cuda_malloc_in_window", Time::idle, set_of({IdleCause::allocating})},
    {"lazy_module_loading", Time::idle, set_of({IdleCause::loading, IdleCause::launching, IdleCause::cuda_call})},
    {"activity_buffer_request", Time::idle, set_of({IdleCause::profiler})},
    {"gpu_gap_in_step", Time::idle},
    {"recompilation", Time::idle, set_of({IdleCause::compiling})},
    {"compile_cpu_tax", Time::idle, kHost},
    {"many_small_kernels", Time::idle, kHostAndStart},
    {"overhead_bound", Time::idle, kHost},
    {"many_calls", Time::idle, kHost},
    {"dispatch_heavy_few_kernels", Time::idle, kHost, false},
    {"low_gpu_utilization", Time::idle, kTold, false},
    {"memcpy_heavy", Time::copies},
    {"pageable_memcpy", Time::copies},
    {"hidden_memcpy", Time::copies},
    {"dtod_before_gemm", Time::copies},
    {"cudagraph_input_copy", Time::work},
    {"fp32_gemm_cuda_cores", Time::kernels},
    {"unfused_attention", Time::kernels},
    {"tf32_gemm", Time::kernels},
    {"gemm_misaligned", Time::kernels},
    {"low_occupancy", Time::kernels},
    {"small_grid", Time::kernels},
    {"low_sm_fill", Time::kernels},
    {"sms_idle_while_busy", Time::kernels},
    {"tensor_cores_idle", Time::kernels},
    {"unfused_elementwise_chain", Time::kernels},
    {"memory_bound_kernels", Time::kernels},
    {"kernel_time_varies", Time::work},
    {"gpu_hotspot", Time::work},
    {"single_large_kernel", Time::kernels},
});

std::size_t place_of(const Rule& rule) {
  const auto at = std::find_if(kClaims.begin(), kClaims.end(), [&](const Claim& c) { return c.rule == rule.id; });
  return static_cast<std::size_t>(at - kClaims.begin());
}

Claim claim_of(const Rule& rule) {
  const std::size_t place = place_of(rule);
  return place < kClaims.size() ? kClaims[place] : Claim{rule.id, Time::idle};
}

// "Prefer the cause": the first explains the second where both are about the same time. An empty effect: every problem.
struct Cause {
  std::string_view cause, effect;
};
constexpr std::array<Cause, 6> kCauses = {{
    {"compile_inside_window", ""},
    {"autotuning_in_window", ""},
    {"activity_buffer_request", "cpu_gpu_lane_offset"},
    {"activity_buffer_request", "gpu_gap_in_step"},
    {"dataloader_wait", "low_gpu_utilization"},
    {"long_sync_wait", "low_gpu_utilization"},
}};

bool is_problem(const Rule& rule) {
  return rule.rule_class == RuleClass::problem || rule.rule_class == RuleClass::problem_locator;
}

bool explains(const Rule& cause, const Rule& effect) {
  return std::any_of(kCauses.begin(), kCauses.end(), [&](const Cause& c) {
    return c.cause == cause.id && (c.effect.empty() ? is_problem(effect) : c.effect == effect.id);
  });
}

// The busiest device's time, by what it is.
class DeviceTime {
 public:
  explicit DeviceTime(const TimeAccount& account) : device_(*account.busiest()) {
    account.each_gap(device_, [&](std::size_t, std::span<const HostPiece> pieces) {
      for (const HostPiece& piece : pieces) append(idle_[index_of(piece.cause)], piece.span);
    });
    kernels_ = unite(device_.compute, device_.exposed_communication);
    work_ = unite(kernels_, device_.exposed_copies);
  }

  Ns window() const { return device_.window.length(); }

  SpanSet of(const Claim& claim, const SpanSet& covers) const {
    SpanSet time;
    if (claim.time == Time::communication) time = device_.exposed_communication;
    if (claim.time == Time::copies) time = device_.exposed_copies;
    if (claim.time == Time::kernels) time = kernels_;
    if (claim.time == Time::work) time = work_;
    if (claim.time == Time::idle) {
      std::vector<SpanSet> parts;
      for (std::size_t i = 0; i < kIdleCauses; ++i)
        if (claim.causes & (1u << i)) parts.push_back(idle_[i]);
      time = unite(std::move(parts));
    }
    return claim.inside ? intersect(time, covers) : time;
  }

 private:
  const DeviceAccount& device_;
  std::array<SpanSet, kIdleCauses> idle_;
  SpanSet kernels_, work_;
};

SpanSet covered_by(const Finding& finding) {
  if (!finding.covers.empty()) return finding.covers;
  std::vector<Span> spans;
  for (const FindingSpan& at : finding.spans) spans.push_back(at.span);
  return span_set(std::move(spans));
}

// What is no problem need not cost anything: launches whose kernels are missing.
bool is_about_time(const Finding& finding) { return finding.cost > 0 || is_problem(*finding.rule); }

Severity at_most(Severity severity, Ns cost, Ns window) {
  const double share = window > 0 ? static_cast<double>(cost) / static_cast<double>(window) : 0;
  return std::min(severity, share > kLeastCostly    ? Severity::costly
                            : share > kLeastNotable ? Severity::notable
                                                    : Severity::informational);
}

// One after another the findings take what nobody has taken before them.
class Ledger {
 public:
  Ledger(const DeviceTime& time, std::vector<RankedFinding>& findings)
      : time_(time), findings_(findings), claims_(findings.size()) {}

  void run() {
    for (std::size_t i = 0; i < findings_.size(); ++i) claim(i);
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
      return std::tuple(-static_cast<int>(f.severity), place_of(*f.rule), -f.cost);
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
      const Ns shared = length(intersect(wanted, owned));
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

void assign_time(const Facts& facts, std::vector<RankedFinding>& findings) {
  if (facts.analysis.account().busiest() != nullptr) {
    const DeviceTime time(facts.analysis.account());
    Ledger(time, findings).run();
    straighten(findings);
  } else {
    for (RankedFinding& f : findings)
      if (is_about_time(f.finding)) f.finding.severity = at_most(f.finding.severity, f.finding.cost, facts.window.length());
  }
  for (RankedFinding& f : findings) f.finding.covers = {};
  rank(findings);
}

}  // namespace gapscope
