#pragma once
// A trace with everything that the rules look at.
#include <memory>
#include <string>

#include "core/analyze/analysis.h"
#include "core/diagnose/diagnose.h"
#include "core/load/load_trace.h"
#include "core/view/document.h"

namespace gapscope::test {

struct Diagnosed {
  explicit Diagnosed(std::shared_ptr<const Trace> trace)
      : document(std::move(trace)),
        analysis(Analysis::make(document.trace, document.lanes, document.links)),
        facts(document.trace, document.lanes, document.links, document.names, *analysis),
        diagnosis(diagnose(facts)) {}

  // The findings of one rule.
  std::vector<const Finding*> findings(std::string_view rule) const {
    std::vector<const Finding*> out;
    for (const RankedFinding& f : diagnosis.findings)
      if (f.finding.rule->id == rule) out.push_back(&f.finding);
    return out;
  }
  bool fires(std::string_view rule) const { return !findings(rule).empty(); }

  Document document;
  std::unique_ptr<const Analysis> analysis;
  Facts facts;
  Diagnosis diagnosis;
};

}  // namespace gapscope::test
