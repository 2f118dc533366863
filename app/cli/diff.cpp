#include "app/cli/diff.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/subcommands.h"
#include "app/session/captured_trace.h"
#include "core/analyze/captured/captured_work.h"
#include "core/analyze/named_steps.h"
#include "core/base/output_file.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/compare/condition.h"
#include "core/diagnose/catalogue.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/verdict.h"
#include "core/replay/plain_program.h"
#include "core/view/compare/compare_model.h"

namespace gapscope {

DiffSide::DiffSide(std::shared_ptr<const Trace> trace) : document(std::move(trace)) {
  document.judge();
  findings = named_findings(*document.diagnosis(), document.analysis()->account().steps().size());
  overview = make_overview(document.session);
}

namespace {

struct DiffOptions {
  std::string a, b;
  std::vector<std::string> more;  // further traces: a table of all against the baseline
  std::string baseline;           // one of the traces; empty: A
  bool json = false;
  std::string html;  // the file to write; empty: text on stdout
  CompareOptions compare;
  std::vector<Condition> fail_if;
};

// Null where it does not open; the reason is then a sentence on stderr.
std::unique_ptr<const DiffSide> read_diff_side(const std::string& path) {
  // --capture may be of one of the traces only: the other is read without.
  Result<std::shared_ptr<const Trace>> trace = load_captured_trace(path, load_options(), trace_arguments().capture);
  if (!trace.ok() && !trace_arguments().capture.empty()) trace = load_captured_trace(path, load_options());
  const std::shared_ptr<const Trace> loaded = value_or_say_why(trace);
  return loaded ? std::make_unique<const DiffSide>(loaded) : nullptr;
}

bool fails(const DiffOptions& options, const Comparison& comparison, const std::vector<UseRow>& use) {
  return std::any_of(options.fail_if.begin(), options.fail_if.end(),
                     [&](const Condition& c) { return holds(c, comparison, use); });
}

std::optional<double> planned(const Plan& plan) {
  if (plan.run <= 0) return std::nullopt;
  return plan.items.empty() ? 0 : plan.share(plan.run - plan.items.back().after);
}

// The most that a finding of the rule gives.
std::optional<double> gain_of(const Diagnosis& d, const Rule* rule) {
  if (d.plan.run <= 0) return std::nullopt;
  double most = 0;
  for (const RankedFinding& f : d.findings)
    if (f.finding.rule == rule && f.gain) most = std::max(most, d.plan.share(f.gain->time));
  return most;
}

// What remedies would give in each of two traces, as rows of the use table: "gain", what the plan saves of the run, and
// "gain.RULE", what the remedy of that rule's finding saves alone, where that is a recommendation of its own in one of them.
// Shares of each run; a side without GPU work to replay has none, one without the finding 0.
std::vector<UseRow> gain_rows(const Diagnosis& a, const Diagnosis& b) {
  UseRow all{"gain", "all remedies together would save", UseUnit::share, planned(a.plan), planned(b.plan)};
  if (!all.a && !all.b) return {};
  std::vector<const Rule*> rules;
  for (const Diagnosis* d : {&a, &b})
    for (const RankedFinding& f : d->findings)
      if (is_recommended(d->plan, f) && !f.merged && std::find(rules.begin(), rules.end(), f.finding.rule) == rules.end())
        rules.push_back(f.finding.rule);
  std::vector<UseRow> out = {std::move(all)};
  for (const Rule* rule : rules)
    out.push_back({fmt::format("gain.{}", rule->id), fmt::format("  alone: {}", title_of(a, *rule)), UseUnit::share,
                   gain_of(a, rule), gain_of(b, rule)});
  return out;
}

// Of the program without its profiler.
std::vector<UseRow> plain_rows(const Diagnosis& a, const Diagnosis& b) {
  const auto of = [](const Diagnosis& d, bool step) -> std::optional<double> {
    if (!d.plain || d.plain->steps == 0) return std::nullopt;
    return step ? static_cast<double>(d.plain->step) : d.plain->gpu_share;
  };
  std::vector<UseRow> out = {{std::string(kPlainStepKey), "step without the profiler", UseUnit::time, of(a, true), of(b, true)},
                             {std::string(kPlainShareKey), "  the GPU busy in it", UseUnit::share, of(a, false), of(b, false)}};
  std::erase_if(out, [](const UseRow& row) { return !row.a && !row.b; });
  return out;
}

std::vector<UseRow> use_of(const DiffSide& a, const DiffSide& b) {
  std::vector<UseRow> out = plain_rows(*a.document.diagnosis(), *b.document.diagnosis());
  for (UseRow& row : use_table(a.overview, b.overview)) out.push_back(std::move(row));
  for (UseRow& row : gain_rows(*a.document.diagnosis(), *b.document.diagnosis())) out.push_back(std::move(row));
  return out;
}

// Of a file that --capture names: something of the trace is joined with another recording.
bool joins_capture(const DiffSide& side) {
  const CapturedWork* work = side.document.trace.captured.get();
  const auto recordings = work != nullptr ? work->recordings() : std::vector<const Trace*>{};
  return std::any_of(recordings.begin(), recordings.end(), [&](const Trace* r) { return r != &side.document.trace; });
}

int refuse_capture() {
  return complain(kBadInput,
                  "--capture: \"" + printable(trace_arguments().capture) + "\" captured no graph that these traces replay.");
}

// One after the other: a sweep may be of many large traces, and only the baseline stays.
int run_sweep(const DiffOptions& options) {
  std::vector<std::string> files = {options.a, options.b};
  files.insert(files.end(), options.more.begin(), options.more.end());
  const std::string& first = options.baseline.empty() ? options.a : options.baseline;
  const auto at = std::find(files.begin(), files.end(), first);
  if (at == files.end()) return complain(kUsage, "--baseline: \"" + first + "\" is none of the traces.");
  files.erase(at);
  const std::unique_ptr<const DiffSide> baseline = read_diff_side(first);
  if (!baseline) return kBadInput;
  std::vector<SweepRow> rows;
  bool failed = false, joined = trace_arguments().capture.empty() || joins_capture(*baseline);
  for (const std::string& file : files) {
    const std::unique_ptr<const DiffSide> other = read_diff_side(file);
    if (!other) return kBadInput;
    joined = joined || joins_capture(*other);
    Result<Comparison> comparison = compare(baseline->compared(), other->compared(), options.compare);
    if (!comparison.ok()) return complain(kUsage, comparison.error().message);
    rows.push_back({std::move(*comparison), use_of(*baseline, *other), baseline->doubts(), other->doubts()});
    failed = failed || fails(options, rows.back().comparison, rows.back().use);
  }
  if (!joined) return refuse_capture();
  if (print(options.json ? sweep_json(rows) : sweep_text(rows)) != kOk) return kBadInput;
  return failed ? kFailed : kOk;
}

int put_out(const DiffOptions& options, const DiffSide& a, const DiffSide& b, const Comparison& comparison,
            const std::vector<UseRow>& use) {
  if (options.html.empty())
    return print(options.json ? comparison_json(a, b, comparison, use) : comparison_text(a, b, comparison, use));
  const std::array inputs = {options.a, options.b};
  const Result<std::string> written = write_file(options.html, comparison_html(a, b, comparison, use), {.inputs = inputs});
  return written.ok() ? kOk : complain(kBadInput, written.error().message);
}

constexpr double kLittleCompute = 0.25;  // of the window: all kernels together can give no more

bool computes_little(const DiffSide& side) {
  if (const auto& plain = side.document.diagnosis()->plain) return plain->gpu_share < kLittleCompute;
  const TimeAccount& account = side.document.analysis()->account();
  const DeviceAccount* device = account.busiest();
  return device != nullptr &&
         static_cast<double>(device->times.compute) < kLittleCompute * static_cast<double>(device->times.window);
}

// "Without the profiler a step takes about 35.1 ms in A, about 28.2 ms in B. "
std::string plain_sentence_of(const DiffSide& a, const DiffSide& b) {
  const PlainProgram *of_a = a.document.diagnosis()->plain.get(), *of_b = b.document.diagnosis()->plain.get();
  if (of_a == nullptr || of_b == nullptr || of_a->steps == 0 || of_b->steps == 0) return {};
  const auto words = [](const PlainProgram& p) { return (p.low < p.high ? "about " : "") + format_duration(p.step); };
  return fmt::format("Without the profiler a step takes {} in A, {} in B. ", words(*of_a), words(*of_b));
}

// "Both are input-bound, so faster kernels hardly show in the time of a step. ": what limits them, before anything is
// compared.
std::string bound_sentence(const DiffSide& side_a, const DiffSide& side_b, bool of_whole) {
  std::string a(bound_name(side_a.document.diagnosis()->bound)), b(bound_name(side_b.document.diagnosis()->bound));
  if (!a.ends_with("-bound") || !b.ends_with("-bound")) return {};
  for (std::string* name : {&a, &b}) name->front() = static_cast<char>(name->front() - 'A' + 'a');
  if (a != b) return fmt::format("A is {}, B is {}. ", a, b);
  const bool hardly = computes_little(side_a) && computes_little(side_b);
  return fmt::format("Both are {}{}. ", a,
                     !hardly    ? ""
                     : of_whole ? ", so faster kernels hardly show"
                                : ", so faster kernels hardly show in the time of a step");
}

// "median", "all" or a number into the options; false for anything else.
bool read_step_choice(const std::string& text, CompareOptions& options) {
  if (text == "median" || text == "all") {
    options.pick = text == "all" ? StepPick::all : StepPick::median;
    return true;
  }
  options.pick = StepPick::number;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), options.number);
  return trouble == std::errc() && end == text.data() + text.size() && options.number >= 0;
}

// parse_condition(), and the rule of a gain is one that there is.
Result<Condition> read_condition(std::string_view text) {
  constexpr std::string_view kGainOf = "gain.";
  Result<Condition> out = parse_condition(text);
  if (!out.ok() || !out->use.starts_with(kGainOf)) return out;
  if (const std::string rule = out->use.substr(kGainOf.size()); !rule_by_id(rule))
    return Error{
        fmt::format("There is no rule \"{}\": `gapscope diagnose --all` lists those with a finding.", printable(rule))};
  return out;
}

int run_diff(const DiffOptions& options) {
  const bool is_sweep = !options.more.empty() || !options.baseline.empty();
  if (is_sweep && !options.html.empty())
    return complain(kUsage, "--html shows two traces: leave out the others and --baseline.");
  std::vector<std::string> files = {options.a, options.b};
  files.insert(files.end(), options.more.begin(), options.more.end());
  if (std::count(files.begin(), files.end(), "-") > 1)
    return complain(kUsage, "standard input is one trace: give the other as a file.");
  if (is_sweep) return run_sweep(options);
  // Side by side, since parts of each are a single thread's work.
  auto under_way = start([&options] { return read_diff_side(options.a); });
  const std::unique_ptr<const DiffSide> b = read_diff_side(options.b), a = under_way.get();
  if (!a || !b) return kBadInput;
  if (!trace_arguments().capture.empty() && !joins_capture(*a) && !joins_capture(*b)) return refuse_capture();
  Result<Comparison> comparison = compare(a->compared(), b->compared(), options.compare);
  if (!comparison.ok()) return complain(kUsage, comparison.error().message);
  if (!comparison->is_unchanged)
    comparison->verdict.insert(0, plain_sentence_of(*a, *b) + bound_sentence(*a, *b, comparison->of_whole()));
  const std::vector<UseRow> use = use_of(*a, *b);
  if (const int code = put_out(options, *a, *b, *comparison, use); code != kOk) return code;
  return fails(options, *comparison, use) ? kFailed : kOk;
}

}  // namespace

std::function<int()> declare_diff(CLI::App& arguments) {
  auto options = std::make_shared<DiffOptions>();
  arguments.add_option("A", options->a, "the trace before")->required();
  arguments.add_option("B", options->b, "the trace after")->required();
  arguments.add_option("MORE", options->more, "further traces: a table of each against the baseline");
  add_capture(arguments);
  add_steps(arguments);
  add_plain(arguments, /*with_step=*/false);
  add_roofs(arguments);
  arguments.add_option("--baseline", options->baseline, "the trace to compare against; default: A")->type_name("FILE");
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_option("--html", options->html, "write a self-contained HTML page")->type_name("FILE")->excludes(json);
  arguments
      .add_option_function<std::string>(
          "--step",
          [options](const std::string& text) {
            if (!read_step_choice(text, options->compare))
              throw CLI::ValidationError("--step", "\"" + text + "\" is not a step: write a number, median or all.");
          },
          "the step whose kernels and operators are compared: the one of median CPU time, this number, or all together")
      ->type_name("N|median|all")
      ->default_str("median");
  arguments
      .add_option_function<std::vector<std::string>>(
          "--fail-if",
          [options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto condition = read_condition(text);
              if (!condition.ok()) throw CLI::ValidationError("--fail-if", condition.error().message);
              options->fail_if.push_back(*condition);
            }
          },
          "exit with 3 if B changed like this per step: \"gpu_busy>+5%\", \"idle>+50us\", \"launches>+2\", "
          "\"utilization<-5pp\"; or in the share of the run that remedies save: \"gain>+5pp\", \"gain.RULE>+1pp\"")
      ->type_name("COND")
      ->expected(1)
      ->take_all();
  return [options] {
    options->compare.annotation = trace_arguments().stated.steps;
    return run_diff(*options);
  };
}

}  // namespace gapscope
