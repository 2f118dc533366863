#pragma once
// The evidence of a finding as a person reads it. The command line prints the same numbers as JSON, under their keys.
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/evidence.h"

namespace gapscope {

struct EvidenceLine {
  std::string what;   // "host time for each GPU time"
  std::string value;  // "15.8x", "64.5 %", "310 µs", "aten::addmm 3 times, aten::pow 3 times"
};

// In the order of the evidence of a finding of the rule with this id. A key says its unit: times end in _us, shares and the
// like are parts of 1.
std::vector<EvidenceLine> evidence_lines(std::string_view rule, const Evidence& evidence);

}  // namespace gapscope
