#pragma once
// A trace with everything that the rules look at.
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "core/diagnose/diagnose.h"
#include "core/view/document.h"

namespace gapscope::test {

struct Diagnosed {
  explicit Diagnosed(std::shared_ptr<const Trace> trace);

  // The findings of one rule.
  std::vector<const Finding*> findings(std::string_view rule) const;
  bool fires(std::string_view rule) const { return !findings(rule).empty(); }

  const Document document;  // diagnosed
  const TraceSession* const analysis;
  const Facts facts;
  const Diagnosis& diagnosis;
};

// A recording or a fixture, judged once a process however many tests ask. So are the answers that its document holds: a test of
// a panel makes one of its own, of load_once().
const Diagnosed& diagnosed_once(const std::filesystem::path& path);

}  // namespace gapscope::test
