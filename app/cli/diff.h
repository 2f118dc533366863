#pragma once
// `gapscope diff A B [--json] [--step N|median|all] [--annotation NAME] [--fail-if COND]...`: did the change help, and why?
#include <string>
#include <vector>

#include "core/compare/comparison.h"
#include "core/compare/condition.h"

namespace gapscope {

struct DiffOptions {
  std::string a, b;
  bool json = false;
  CompareOptions compare;
  std::vector<Condition> fail_if;
};

// "median", "all" or a number into the options; false for anything else.
bool read_step_choice(const std::string& text, CompareOptions& options);

std::string comparison_json(const Comparison& comparison);
std::string comparison_text(const Comparison& comparison);

// The exit code: kFailed (3) when a condition of --fail-if holds.
int run_diff(const DiffOptions& options);

}  // namespace gapscope
