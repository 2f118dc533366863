#pragma once
// All rules over one trace: findings ranked by what they cost, a verdict, and what could not be judged.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/diagnose/rule.h"

namespace gapscope {

struct RankedFinding {
  Finding finding;
  std::int32_t led_by = -1;  // position of the finding that explains this one; it is shown folded under that one
};

struct Unjudged {
  const Rule* rule;
  std::string why;  // "needs GPU work: record with ..."
};

struct Diagnosis {
  std::string trust;                    // what is missing or was changed by recording, and what that means; empty where nothing is
  std::string verdict;                  // one line: verdict.h
  std::vector<RankedFinding> findings;  // costly before notable before informational, then by time at stake
  std::vector<Unjudged> unjudged;
};

Diagnosis diagnose(const Facts& facts, const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
