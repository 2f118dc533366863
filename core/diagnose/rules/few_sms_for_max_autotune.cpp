#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Inductor's own limit (is_big_gpu); it may change with PyTorch.
constexpr std::int64_t kLeastSms = 68;

std::vector<Finding> check_few_sms_for_max_autotune(const Facts& facts) {
  const auto& devices = facts.trace.header.devices;
  const auto small =
      std::find_if(devices.begin(), devices.end(), [](const DeviceProperties& d) { return d.sms > 0 && d.sms < kLeastSms; });
  if (small == devices.end()) return {};
  std::vector<SliceId> regions = compiled_regions(facts);
  if (regions.empty()) return {};
  Finding finding;
  finding.summary = fmt::format("The GPU ({}) has {} SMs. Inductor tunes matrix products only with {} or more.",
                                shown_name(small->name), small->sms, kLeastSms);
  finding.evidence = Evidence({{"sms", small->sms}});
  mark_slices(finding, facts.trace, regions);
  return {std::move(finding)};
}

}  // namespace

extern const Rule few_sms_for_max_autotune = {
    .id = "few_sms_for_max_autotune",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsDeviceProperties,
    .title = "The GPU is too small for max-autotune",
    .meaning =
        "Inductor does not generate its own matrix products on a GPU with fewer than 68 SMs, even with mode=\"max-autotune\". "
        "The trace does not show whether that mode was used.",
    .remedy = "Expect the library's kernels for matrix products.",
    .check = check_few_sms_for_max_autotune,
};

}  // namespace gapscope
