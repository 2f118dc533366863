#pragma once
// `gapscope diff A B [MORE...] [--baseline FILE] [--json | --html FILE] [--step N|median|all] [--annotation NAME]
// [--fail-if COND]...`: did the change help, and why?
#include <memory>
#include <string>
#include <vector>

#include "core/compare/comparison.h"
#include "core/compare/use_table.h"
#include "core/view/document.h"

namespace gapscope {

// One trace with everything that is compared of it.
struct DiffSide {
  explicit DiffSide(std::shared_ptr<const Trace> trace);
  ComparedTrace compared() const { return {document.session, findings}; }
  const std::vector<Doubt>& doubts() const { return document.diagnosis()->doubts; }
  Document document;
  std::vector<NamedFinding> findings;
  RunOverview overview;
};
std::string comparison_json(const DiffSide& a, const DiffSide& b, const Comparison& comparison, const std::vector<UseRow>& use);
std::string comparison_text(const DiffSide& a, const DiffSide& b, const Comparison& comparison, const std::vector<UseRow>& use);
std::string comparison_html(const DiffSide& a, const DiffSide& b, const Comparison& comparison, const std::vector<UseRow>& use);

// All traces against one of them.
struct SweepRow {
  Comparison comparison;  // A is the baseline
  std::vector<UseRow> use;
  std::vector<Doubt> doubts_a, doubts_b;
};
std::string sweep_text(const std::vector<SweepRow>& rows);
std::string sweep_json(const std::vector<SweepRow>& rows);

}  // namespace gapscope
