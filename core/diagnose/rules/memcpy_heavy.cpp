#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/account/time_account.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/value_copies.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the GPU time.
constexpr double kLeastCopyShare = 0.20;

struct Copies {
  std::vector<SliceId> slices;
  EvidenceMap kinds;  // microseconds by name, "Memcpy HtoD (Pinned -> Device)"
  Ns time = 0;
  std::uint64_t bytes = 0;
  bool any_unlinked = false;
};

Copies copies_of(const Facts& facts) {
  Copies out;
  std::vector<std::pair<StringId, Ns>> by_name;
  for (const GpuOp& op : facts.ops) {
    if (op.gpu_class != GpuClass::copy || is_value_copy(facts, op)) continue;
    out.any_unlinked |= !op.linked();
    if (!op.linked()) continue;
    out.slices.push_back(op.slice);
    add_saturating(out.time, op.span.length());
    out.bytes += facts.row(op).bytes;
    const StringId name = facts.trace.name_id(op.slice);
    const auto known = std::find_if(by_name.begin(), by_name.end(), [&](const auto& entry) { return entry.first == name; });
    if (known == by_name.end())
      by_name.emplace_back(name, op.span.length());
    else
      add_saturating(known->second, op.span.length());
  }
  for (const auto& [name, time] : by_name) out.kinds.emplace_back(std::string(facts.trace.strings[name]), as_us(time));
  return out;
}

// When the busiest device did nothing but copy, whichever thread launched that.
SpanSet exposed_copies(const Facts& facts) {
  const DeviceAccount* device = facts.session.account().busiest();
  if (device == nullptr) return {};
  SpanSet copying;
  for (const GpuOp& op : facts.ops)
    if (op.gpu_class == GpuClass::copy && op.device == device->device && !is_value_copy(facts, op)) append(copying, op.span);
  return intersect(copying, device->exposed_copies);
}

// "; for 2.34 ms the GPU runs no kernel meanwhile".
std::string exposed_words(const Facts& facts, const Copies& copies, Ns exposed) {
  const std::string time = format_duration(exposed);
  if (copies.any_unlinked)
    return fmt::format("; with copies whose launch is not in the file, {} copies for {} while no kernel runs",
                       busiest_words(facts, "the GPU"), time);
  if (exposed == 0) return ", always while kernels run";
  if (exposed == copies.time) return ", while no kernel runs";
  return fmt::format("; for {} of that {} runs no kernel", time, busiest_words(facts, "the GPU"));
}

// ", 3.2 MB, 12 GB/s"; nothing where no copy states its bytes.
std::string bytes_words(std::uint64_t bytes, double gb_per_s) {
  return bytes == 0 ? "" : fmt::format(", {}, {} GB/s", format_bytes(bytes), format_significant(gb_per_s));
}

Advice remedy_against(const Facts& facts) {
  const DeviceAccount& device = *facts.session.account().busiest();
  return copy_advice(advice_on(facts), device, device.window);
}

std::vector<Finding> check_memcpy_heavy(const Facts& facts) {
  Copies copies = copies_of(facts);
  const double share = share_of(copies.time, facts.gpu_sum);
  if (copies.slices.empty() || share < kLeastCopyShare) return {};
  const double gb_per_s =
      copies.time > 0 ? static_cast<double>(copies.bytes) / static_cast<double>(copies.time) : 0;  // bytes/ns
  Finding finding;
  finding.severity = Severity::costly;
  SpanSet exposed = exposed_copies(facts);
  finding.cost = length(exposed);
  if (finding.cost > 0) finding.advice = remedy_against(facts);
  finding.summary = fmt::format("Copies take {} of the GPU time ({}{}){}.", format_share(share), format_duration(copies.time),
                                bytes_words(copies.bytes, gb_per_s), exposed_words(facts, copies, finding.cost));
  finding.evidence = Evidence({{"share", share},
                               {"kinds", std::move(copies.kinds)},
                               {"n", copies.slices.size()},
                               {"total_us", as_us(copies.time)},
                               {"exposed_us", as_us(finding.cost)},
                               {"bytes", copies.bytes},
                               {"gb_per_s", gb_per_s}});
  mark_slices(finding, facts.trace, copies.slices);
  finding.covers = std::move(exposed);
  return {std::move(finding)};
}

}  // namespace

extern const Rule memcpy_heavy = {
    .id = "memcpy_heavy",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "Copies take much of the GPU time",
    .meaning =
        "A large part of the GPU time is copying, not computing. Copies that run concurrently with kernels cost little. The "
        "others cost their full time.",
    .remedy =
        "Copy fewer bytes less often, and leave data on the GPU. Overlap the other copies: {pinned_memory|pinned memory "
        "(pin_memory=True)}, {non_blocking}, {own_stream}, {|fetch the next batch earlier}.",
    .check = check_memcpy_heavy,
    .claim = Claim{.time = ClaimedTime::copies, .turn = 200},
    .other_remedy =
        "Copy fewer bytes less often, from pinned memory with cudaMemcpyAsync, on a stream of its own, and leave data on the "
        "GPU{pinned_memory!}{non_blocking!}.",
    .gives = {Cure::overlap},
};

}  // namespace gapscope
