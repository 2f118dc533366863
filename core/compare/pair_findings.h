#pragma once
// What a comparison says in words: the two-trace rules, as pure functions of both sides and of what changed between them.
#include <optional>
#include <vector>

#include "core/compare/comparison.h"
#include "core/compare/kernel_changes.h"

namespace gapscope {

struct PairFacts {
  const ComparedTrace& a;
  const ComparedTrace& b;
  const Comparison& comparison;  // sides, changes and kernels are there already
  const KernelChanges& kernels;
  // Floating point operations of the largest matrix product of a step, from recorded shapes; nullopt where not recorded.
  std::optional<double> largest_product_a, largest_product_b;
  bool all_steps = false;  // the kernels are those of all steps together
};

std::vector<ComparisonFinding> pair_findings(const PairFacts& facts);

// Of kernels of equal names, and of casts. Of other amounts of work none is better or worse.
std::vector<ComparisonFinding> work_findings(const KernelChanges& kernels, bool equal_work);

// Equal work in equal times.
bool is_unchanged(const PairFacts& facts);
// One paragraph: the time on the CPU, the work of the GPU, its time.
std::string pair_verdict(const PairFacts& facts);

}  // namespace gapscope
