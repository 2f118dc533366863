#include "app/cli/diff.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/output_file.h"
#include "core/base/parallel.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

int say(int code, const std::string& sentence) {
  std::fprintf(stderr, "gapscope: %s\n", printable(sentence).c_str());
  return code;
}

bool fails(const DiffOptions& options, const Comparison& comparison, const std::vector<UseRow>& use) {
  return std::any_of(options.fail_if.begin(), options.fail_if.end(),
                     [&](const Condition& c) { return holds(c, comparison, use); });
}

// One after the other: a sweep may be of many large traces, and only the baseline stays.
int run_sweep(const DiffOptions& options) {
  std::vector<std::string> files = {options.a, options.b};
  files.insert(files.end(), options.more.begin(), options.more.end());
  const std::string& first = options.baseline.empty() ? options.a : options.baseline;
  const auto at = std::find(files.begin(), files.end(), first);
  if (at == files.end()) return say(kUsage, "--baseline: \"" + first + "\" is none of the traces.");
  files.erase(at);
  const std::unique_ptr<const DiffSide> baseline = read_diff_side(first);
  if (!baseline) return kBadInput;
  std::vector<SweepRow> rows;
  bool failed = false;
  for (const std::string& file : files) {
    const std::unique_ptr<const DiffSide> other = read_diff_side(file);
    if (!other) return kBadInput;
    Result<Comparison> comparison = compare(baseline->compared(), other->compared(), options.compare);
    if (!comparison.ok()) return say(kUsage, comparison.error().message);
    rows.push_back({std::move(*comparison), use_table(baseline->overview, other->overview)});
    failed = failed || fails(options, rows.back().comparison, rows.back().use);
  }
  if (print(options.json ? sweep_json(rows) : sweep_text(rows)) != kOk) return kBadInput;
  return failed ? kFailed : kOk;
}

int put_out(const DiffOptions& options, const DiffSide& a, const DiffSide& b, const Comparison& comparison,
            const std::vector<UseRow>& use) {
  if (options.html.empty()) return print(options.json ? comparison_json(comparison, use) : comparison_text(comparison, use));
  const std::array inputs = {options.a, options.b};
  const Result<std::string> written = write_file(options.html, comparison_html(a, b, comparison, use), {.inputs = inputs});
  return written.ok() ? kOk : say(kBadInput, written.error().message);
}

// "Both are input-bound, so faster kernels can not show in the time of a step. ": what limits them, before anything is
// compared.
std::string bound_sentence(const std::string& a, const std::string& b) {
  if (!a.ends_with("-bound") || !b.ends_with("-bound")) return {};
  const auto lower = [](std::string text) {
    text.front() = static_cast<char>(text.front() - 'A' + 'a');
    return text;
  };
  if (a != b) return fmt::format("A is {}, B is {}. ", lower(a), lower(b));
  return fmt::format("Both are {}{}. ", lower(a),
                     a == "Compute-bound" ? "" : ", so faster kernels hardly show in the time of a step");
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

DiffSide::DiffSide(std::shared_ptr<const Trace> trace) : document(std::move(trace)) {
  document.diagnose();
  for (const RankedFinding& ranked : document.diagnosis()->findings) {
    const Rule& rule = *ranked.finding.rule;
    const bool problem = rule.rule_class == RuleClass::problem || rule.rule_class == RuleClass::problem_locator;
    // What costs nothing here is no problem of this run, whatever its rule usually is.
    findings.push_back({std::string(rule.id), std::string(rule.title), problem && ranked.finding.cost > 0});
  }
  const std::string& verdict = document.diagnosis()->verdict;
  bound = verdict.substr(0, verdict.find(':'));
  overview = make_overview(document.trace, document.links, *document.analysis(), gpu_ops(document.trace, document.links));
}

std::unique_ptr<const DiffSide> read_diff_side(const std::string& path) {
  const std::shared_ptr<const Trace> trace = load_or_say_why(path);
  return trace ? std::make_unique<const DiffSide>(trace) : nullptr;
}

int run_diff(const DiffOptions& options) {
  const bool is_sweep = !options.more.empty() || !options.baseline.empty();
  if (is_sweep && !options.html.empty()) return say(kUsage, "--html shows two traces: leave out the others and --baseline.");
  std::vector<std::string> files = {options.a, options.b};
  files.insert(files.end(), options.more.begin(), options.more.end());
  if (std::count(files.begin(), files.end(), "-") > 1)
    return say(kUsage, "standard input is one trace: give the other as a file.");
  if (is_sweep) return run_sweep(options);
  // Side by side, since parts of each are a single thread's work.
  auto under_way = start([&options] { return read_diff_side(options.a); });
  const std::unique_ptr<const DiffSide> b = read_diff_side(options.b), a = under_way.get();
  if (!a || !b) return kBadInput;
  Result<Comparison> comparison = compare(a->compared(), b->compared(), options.compare);
  if (!comparison.ok()) return say(kUsage, comparison.error().message);
  if (!comparison->verdict.starts_with("No difference")) comparison->verdict.insert(0, bound_sentence(a->bound, b->bound));
  const std::vector<UseRow> use = use_table(a->overview, b->overview);
  if (const int code = put_out(options, *a, *b, *comparison, use); code != kOk) return code;
  return fails(options, *comparison, use) ? kFailed : kOk;
}

}  // namespace gapscope
