#pragma once
// `gapscope diagnose TRACE [--json] [--all] [--fail-on RULE[,RULE]|costly]`: the verdict and the findings on stdout.
#include <string>
#include <vector>

#include "core/view/document.h"

namespace gapscope {

struct DiagnoseOptions {
  std::string trace;  // "-" is standard input
  bool json = false;
  bool all = false;                  // in the text too every finding, and what teaches to read the trace
  std::vector<std::string> fail_on;  // rule ids, "costly": any costly finding, or "gain>5%"
};

std::string diagnosis_json(const Trace& trace, const Diagnosis& diagnosis);
std::string diagnosis_text(const Trace& trace, const Diagnosis& diagnosis, bool all = false);
// Whether a finding is among those that --fail-on names.
bool fails(const Diagnosis& diagnosis, const std::vector<std::string>& fail_on);
// Empty when every word is "costly" or a rule; else a sentence with the nearest rule.
std::string unknown_rule_sentence(const std::vector<std::string>& fail_on);

// The exit code: kFailed (3) when --fail-on matches.
int run_diagnose(const DiagnoseOptions& options);

}  // namespace gapscope
