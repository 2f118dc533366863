#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"
#include "core/diagnose/verdict.h"

namespace gapscope {
namespace {

// In two steps or more it is no start-up any longer; without steps, where it goes on.
constexpr std::size_t kSeveralSteps = 2;
bool allocates_again(const Facts& facts, std::size_t steps) {
  return facts.steps.empty() ? allocates_throughout(facts.trace, facts.analysis.account()) : steps >= kSeveralSteps;
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return name.starts_with(part); });
}

// cuMem* without copies, fills and questions (cuMemcpy*, cuMemset*, cuMemGet*).
bool is_allocation_call(std::string_view name) {
  return starts_with_any(name,
                         {"cudaMalloc",   "cudaFree",    "cudaHostAlloc", "hipMalloc",     "hipFree",       "hipHostMalloc",
                          "hipHostAlloc", "hipHostFree", "hipExtMalloc",  "cuMemAlloc",    "cuMemFree",     "cuMemHostAlloc",
                          "cuMemCreate",  "cuMemMap",    "cuMemUnmap",    "cuMemRelease",  "cuMemAddress",  "cuMemSetAccess",
                          "hipMemCreate", "hipMemMap",   "hipMemUnmap",   "hipMemRelease", "hipMemAddress", "hipMemSetAccess"});
}

// Of the device's memory, as PyTorch's cache does it when it is emptied, or full.
bool is_device_free(std::string_view name) {
  return name == "cudaFree" || name == "hipFree" || name == "cuMemUnmap" || name == "hipMemUnmap";
}

struct Calls {
  std::vector<SliceId> slices;
  EvidenceMap names;
  Ns time = 0;
  std::set<std::size_t> steps;
  bool frees = false;
};

Calls allocation_calls(const Facts& facts) {
  Calls out;
  for (const StringId name : facts.names_matching(is_allocation_call)) {
    std::int64_t count = 0;
    for (const SliceId s : facts.names.slices_named(name)) {
      if ((facts.own(s) & kIsCall) == 0 || !facts.window.overlaps(facts.trace.span_of(s))) continue;
      ++count;
      out.slices.push_back(s);
      add_saturating(out.time, facts.trace.duration(s));
      if (const auto step = facts.step_at(facts.trace.begin(s))) out.steps.insert(*step);
    }
    out.frees |= count > 0 && is_device_free(facts.trace.strings[name]);
    if (count > 0) out.names.emplace_back(std::string(facts.trace.strings[name]), count);
  }
  return out;
}

std::vector<Finding> check_cuda_malloc_in_window(const Facts& facts) {
  Calls calls = allocation_calls(facts);
  if (calls.slices.empty()) return {};
  const auto count = static_cast<std::int64_t>(calls.slices.size());
  Finding finding;
  const bool comes_back = allocates_again(facts, calls.steps.size());
  finding.severity = comes_back ? Severity::costly : Severity::notable;
  finding.cost = calls.time;
  finding.summary =
      fmt::format("{} to the driver's allocator took {}{}.", counted(calls.slices.size(), "call"), format_duration(calls.time),
                  calls.steps.size() >= kSeveralSteps ? fmt::format(", in {} steps", calls.steps.size()) : "");
  finding.evidence = Evidence(
      {{"n", count}, {"total_us", as_us(calls.time)}, {"names", std::move(calls.names)}, {"steps", calls.steps.size()}});
  if (program_kind(facts.trace) == ProgramKind::python && comes_back)
    finding.remedy =
        std::string(
            "Keep what the caching allocator holds: {no torch.cuda.empty_cache() in the loop}, {steady tensor sizes}, "
            "{PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True}.") +
        (calls.frees ? " Memory is freed in the driver, too, as when it is full: {a smaller batch} leaves room." : "");
  mark_slices(finding, facts.trace, calls.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cuda_malloc_in_window = {
    .id = "cuda_malloc_in_window",
    .rule_class = RuleClass::start_up,
    .severity = Severity::notable,
    .needs = kNeedsNothing,
    .title = "Memory was asked from the driver",
    .meaning =
        "Calls that allocate or free in the driver while recording: PyTorch's memory cache grew or was flushed, or a library "
        "made its own buffers. Freeing may also wait for the GPU.",
    .remedy =
        "Warm up until the cache has its size. If it comes back in later steps: {no torch.cuda.empty_cache() in the loop}, "
        "{steady tensor sizes}, {PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True}.",
    .check = check_cuda_malloc_in_window,
    .claim = Claim{.time = ClaimedTime::idle, .causes = cause_set({IdleCause::allocating}), .turn = 90},
    .other_meaning =
        "Calls that allocate or free in the driver while recording, by the program or by a library for its own buffers. "
        "Freeing may also wait for the GPU.",
    .other_remedy =
        "Allocate before the loop and keep the memory, or take it from a pool (cudaMallocAsync), and warm up before recording.",
    .gives = {Cure::host, true},
};

}  // namespace gapscope
