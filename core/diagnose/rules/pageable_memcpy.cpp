#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/value_copies.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Single numbers go up and down all the time and do no harm; one of these must be reached in total.
constexpr Ns kLeastTime = 50 * kNsPerUs;
constexpr std::uint64_t kLeastBytes = 1'000'000;

struct Transfers {
  std::vector<SliceId> slices;
  Ns time = 0, call_time = 0;
  std::uint64_t bytes = 0;
};

Transfers pageable_transfers(const Facts& facts) {
  Transfers out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || op.gpu_class != GpuClass::copy || !is_pageable_copy(facts.name(op)) || is_value_copy(facts, op))
      continue;
    out.slices.push_back(op.slice);
    add_saturating(out.time, op.span.length());
    add_saturating(out.call_time, op.launch_span.length());
    out.bytes += facts.row(op).bytes;
  }
  return out;
}

std::vector<Finding> check_pageable_memcpy(const Facts& facts) {
  Transfers transfers = pageable_transfers(facts);
  if (transfers.time < kLeastTime && transfers.bytes < kLeastBytes) return {};
  const auto count = static_cast<std::int64_t>(transfers.slices.size());
  const double gb_per_s = transfers.time > 0 ? static_cast<double>(transfers.bytes) / static_cast<double>(transfers.time) : 0;
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = transfers.call_time;  // the CPU is held for about as long
  finding.summary = fmt::format(
      "{} {} {}. {} blocked the CPU for {}.", counted(transfers.slices.size(), "pageable transfer"),
      transfers.bytes == 0 ? "took"
                           : fmt::format("moved {} at {} GB/s in", format_bytes(transfers.bytes), format_significant(gb_per_s)),
      format_duration(transfers.time), count == 1 ? "Its call" : "Their calls", format_duration(transfers.call_time));
  finding.evidence = Evidence({{"n", count},
                               {"total_us", as_us(transfers.time)},
                               {"bytes", transfers.bytes},
                               {"gb_per_s", gb_per_s},
                               {"call_us", as_us(transfers.call_time)},
                               {"share", share_of(transfers.time, facts.gpu_sum)}});
  if (facts.practices().program == ProgramKind::python && !facts.practices().has_loader) {
    finding.advice = advice_of(
        "Use pinned memory: call tensor.pin_memory() once on what the loop copies, not in each step{pinned_memory!}. Copy with "
        "non_blocking=True{non_blocking!}.");
    finding.code = fitted(facts.practices(), "{pinned_memory!}data = data.pin_memory()  # once, before the loop");
  }
  mark_slices(finding, facts.trace, transfers.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule pageable_memcpy = {
    .id = "pageable_memcpy",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "Copies use pageable memory",
    .meaning = "The driver first copies pageable memory into its own buffer. That is slow and blocks the CPU.",
    .remedy =
        "Use pinned memory (pin_memory=True in the DataLoader, tensor.pin_memory()){pinned_memory!}. Copy with "
        "non_blocking=True{non_blocking!}.",
    .check = check_pageable_memcpy,
    .claim = Claim{.time = ClaimedTime::copies, .turn = 210},
    .other_remedy = "Use pinned memory (cudaMallocHost, cudaHostRegister) and cudaMemcpyAsync{pinned_memory!}{non_blocking!}.",
    .code = "{pinned_memory!}DataLoader(dataset, pin_memory=True)",
    .gives = {Cure::overlap},
};

}  // namespace gapscope
