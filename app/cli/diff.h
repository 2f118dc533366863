#pragma once
// `gapscope diff A B [MORE...] [--baseline FILE] [--json | --html FILE] [--step N|median|all] [--annotation NAME]
// [--fail-if COND]...`: did the change help, and why?
#include <memory>
#include <string>
#include <vector>

#include "core/compare/comparison.h"
#include "core/compare/condition.h"
#include "core/view/document.h"

namespace gapscope {

struct DiffOptions {
  std::string a, b;
  std::vector<std::string> more;  // further traces: a table of all against the baseline
  std::string baseline;           // one of the traces; empty: A
  bool json = false;
  std::string html;  // the file to write; empty: text on stdout
  CompareOptions compare;
  std::vector<Condition> fail_if;
};

// One trace with everything that is compared of it.
struct DiffSide {
  explicit DiffSide(std::shared_ptr<const Trace> trace);
  ComparedTrace compared() const {
    return {document.trace, document.lanes, document.links, findings, &document.analysis()->work()};
  }
  Document document;
  std::vector<NamedFinding> findings;
  std::string bound;  // "Input-bound"
  RunOverview overview;
};
// Null where it does not open; the reason is then a sentence on stderr.
std::unique_ptr<const DiffSide> read_diff_side(const std::string& path);

// "median", "all" or a number into the options; false for anything else.
bool read_step_choice(const std::string& text, CompareOptions& options);

std::string comparison_json(const Comparison& comparison, const std::vector<UseRow>& use);
std::string comparison_text(const Comparison& comparison, const std::vector<UseRow>& use);
std::string comparison_html(const DiffSide& a, const DiffSide& b, const Comparison& comparison, const std::vector<UseRow>& use);

// All traces against one of them.
struct SweepRow {
  Comparison comparison;  // A is the baseline
  std::vector<UseRow> use;
};
std::string sweep_text(const std::vector<SweepRow>& rows);
std::string sweep_json(const std::vector<SweepRow>& rows);

// parse_condition(), and the rule of a gain is one that there is.
Result<Condition> read_condition(std::string_view text);

// The exit code: kFailed (3) when a condition of --fail-if holds.
int run_diff(const DiffOptions& options);

}  // namespace gapscope
