#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"
#include "core/diagnose/verdict.h"

namespace gapscope {

extern const Rule cuda_malloc_in_window;

namespace {

// In two steps or more it is no start-up any longer; without steps, where it continues.
constexpr std::size_t kSeveralSteps = 2;
bool allocates_again(const Facts& facts, std::size_t steps) {
  return facts.steps.empty() ? allocates_throughout(facts.trace, facts.session.account()) : steps >= kSeveralSteps;
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

// Of the device's memory.
bool is_device_allocation(std::string_view name) {
  return name == "cudaMalloc" || name == "hipMalloc" || name == "cuMemCreate" || name == "hipMemCreate";
}
bool is_device_free(std::string_view name) {
  return name == "cudaFree" || name == "hipFree" || name == "cuMemUnmap" || name == "hipMemUnmap";
}

struct Calls {
  std::vector<SliceId> slices;
  EvidenceMap names;
  Ns time = 0;
  std::set<std::size_t> steps;
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
    if (count > 0) out.names.emplace_back(std::string(facts.trace.strings[name]), count);
  }
  return out;
}

// How PyTorch gives device memory back to the driver.
enum class Returned {
  rarely,     // never, or outside of operators, as torch.cuda.empty_cache() does
  for_room,   // between two allocations of one operator: the first one failed, and the cache was emptied for the second
  by_tensor,  // inside operators, as tensors go: nothing is cached
};
// One of so many frees: those of a tensor that Python lets go lie outside of operators, too.
constexpr std::size_t kByTensor = 10;

Returned returned(const Facts& facts, std::vector<SliceId> calls) {
  std::sort(calls.begin(), calls.end());  // by lane and depth, then by time
  std::size_t frees = 0, inside = 0;
  SliceId parent;
  bool allocated = false, freed = false;  // in the operator `parent`, one after the other
  for (const SliceId call : calls) {
    if (facts.parent(call) != parent) parent = facts.parent(call), allocated = freed = false;
    if (is_device_free(facts.trace.name(call))) {
      ++frees;
      inside += (facts.above(call) & kIsOp) != 0 ? 1 : 0;
      freed = allocated;
    } else if (is_device_allocation(facts.trace.name(call))) {
      if (freed && parent && (facts.above(call) & kIsOp) != 0) return Returned::for_room;
      allocated = true, freed = false;
    }
  }
  return inside > 0 && inside * kByTensor >= frees ? Returned::by_tensor : Returned::rarely;
}

std::string remedy_for(Returned how) {
  constexpr std::string_view kKeep =
      "Let the caching allocator keep its memory: {|no torch.cuda.empty_cache() in the loop}, {|fixed tensor sizes}, "
      "{|PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True}.";
  switch (how) {
    case Returned::by_tensor:
      return "Let PyTorch cache memory. The driver frees each tensor at once, as with PYTORCH_NO_CUDA_MEMORY_CACHING=1.";
    case Returned::for_room:
      return std::string(kKeep) + " An operator freed cached memory to allocate: {smaller_batch} leaves more memory.";
    default: return std::string(kKeep);
  }
}

// Who asked for it: where frames show torch.cuda.empty_cache(), its caller, not the operators that allocate again.
void name_emptied_cache(const Facts& facts, Finding& finding) {
  finding.where = place_of_callers(facts, cuda_malloc_in_window, "torch/cuda/memory.py", "empty_cache");
  if (!finding.where) return;
  finding.advice = advice_of(
      "Leave out torch.cuda.empty_cache(): it gives memory back to the driver, and the next operators ask for it again. Freed "
      "tensors make room without it.");
  finding.code = "# torch.cuda.empty_cache()";
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
      fmt::format("{} of the driver's allocator took {}{}.", counted(calls.slices.size(), "call"), format_duration(calls.time),
                  calls.steps.size() >= kSeveralSteps ? fmt::format(", in {} steps", calls.steps.size()) : "");
  finding.evidence = Evidence(
      {{"n", count}, {"total_us", as_us(calls.time)}, {"names", std::move(calls.names)}, {"steps", calls.steps.size()}});
  if (program_kind(facts.trace) == ProgramKind::python && comes_back)
    finding.advice = advice_of(remedy_for(returned(facts, calls.slices)));
  if (comes_back && returned(facts, calls.slices) == Returned::rarely) name_emptied_cache(facts, finding);
  mark_slices(finding, facts.trace, calls.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cuda_malloc_in_window = {
    .id = "cuda_malloc_in_window",
    .rule_class = RuleClass::start_up,
    .severity = Severity::notable,
    .needs = kNeedsNothing,
    .title = "The driver allocates memory during the recording",
    .meaning =
        "The driver allocates or frees memory because PyTorch's cache grew or was flushed, or because a library made its own "
        "buffers. Freeing may also wait for the GPU.",
    .remedy =
        "Warm up until the cache has its final size. If later steps allocate too: {|no torch.cuda.empty_cache() in the loop}, "
        "{|fixed tensor sizes}, {|PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True}.",
    .check = check_cuda_malloc_in_window,
    .claim = Claim{.time = ClaimedTime::idle, .causes = cause_set({IdleCause::allocating}), .turn = 90},
    .other_meaning =
        "The program, or a library for its own buffers, allocates or frees memory in the driver. Freeing may also wait for the "
        "GPU.",
    .other_remedy = "Allocate once before the loop, or use a memory pool (cudaMallocAsync). Warm up before recording.",
    .gives = {Cure::calls, true},
};

}  // namespace gapscope
