#include "app/cli/diff.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

std::vector<NamedFinding> diagnosed(const Document& document) {
  const auto analysis = Analysis::make(document.trace, document.lanes, document.links);
  const Facts facts(document.trace, document.lanes, document.links, document.names, *analysis);
  std::vector<NamedFinding> out;
  for (const RankedFinding& ranked : diagnose(facts).findings) {
    const Rule& rule = *ranked.finding.rule;
    const bool problem = rule.rule_class == RuleClass::problem || rule.rule_class == RuleClass::problem_locator;
    out.push_back({std::string(rule.id), std::string(rule.title), problem});
  }
  return out;
}

// One trace with everything that is compared of it; null where it does not open.
struct ReadSide {
  explicit ReadSide(std::shared_ptr<const Trace> trace) : document(std::move(trace)), findings(diagnosed(document)) {}
  ComparedTrace compared() const { return {document.trace, document.lanes, document.links, findings}; }
  Document document;
  std::vector<NamedFinding> findings;
};

std::unique_ptr<const ReadSide> read(const std::string& path) {
  const std::shared_ptr<const Trace> trace = load_or_say_why(path);
  return trace ? std::make_unique<const ReadSide>(trace) : nullptr;
}

}  // namespace

bool read_step_choice(const std::string& text, CompareOptions& options) {
  if (text == "median" || text == "all") {
    options.pick = text == "all" ? StepPick::all : StepPick::median;
    return true;
  }
  options.pick = StepPick::number;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), options.number);
  return trouble == std::errc() && end == text.data() + text.size() && options.number >= 0;
}

int run_diff(const DiffOptions& options) {
  if (options.a == "-" && options.b == "-") {
    std::fprintf(stderr, "gapscope: standard input is one trace: give the other as a file.\n");
    return kUsage;
  }
  // Side by side, since parts of each are a single thread's work.
  auto under_way = start([&options] { return read(options.a); });
  const std::unique_ptr<const ReadSide> b = read(options.b), a = under_way.get();
  if (!a || !b) return kBadInput;
  const Result<Comparison> comparison = compare(a->compared(), b->compared(), options.compare);
  if (!comparison.ok()) {
    std::fprintf(stderr, "gapscope: %s\n", printable(comparison.error().message).c_str());
    return kUsage;
  }
  if (print(options.json ? comparison_json(*comparison) : comparison_text(*comparison)) != kOk) return kBadInput;
  const bool failed =
      std::any_of(options.fail_if.begin(), options.fail_if.end(), [&](const Condition& c) { return holds(c, *comparison); });
  return failed ? kFailed : kOk;
}

}  // namespace gapscope
