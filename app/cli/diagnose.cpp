// `gapscope diagnose TRACE [--json] [--all] [--fail-on RULE[,RULE]|costly]`: the verdict and the findings on stdout.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/gains_json.h"
#include "app/cli/in_and_out.h"
#include "app/cli/ranks.h"
#include "app/cli/subcommands.h"
#include "core/base/text.h"
#include "core/diagnose/catalogue.h"
#include "core/view/document.h"
#include "core/view/findings/findings_model.h"

namespace gapscope {
namespace {

struct DiagnoseOptions {
  std::string trace;  // "-" is standard input
  bool json = false;
  bool all = false;                  // in the text too every finding, and what teaches to read the trace
  std::vector<std::string> fail_on;  // rule ids, "costly": any costly finding, or "gain>5%"
};

using Json = nlohmann::ordered_json;
constexpr std::string_view kCostly = "costly";
constexpr std::size_t kIdChars = 30;

Json json_of(const EvidenceValue& v) {
  struct {
    Json operator()(std::int64_t i) const { return i; }
    Json operator()(double d) const { return d; }
    Json operator()(bool b) const { return b; }
    Json operator()(const std::string& s) const { return s; }
    Json operator()(const EvidenceList& list) const {
      Json out = Json::array();
      for (const EvidenceValue& item : list) out.push_back(json_of(item));
      return out;
    }
    Json operator()(const EvidenceMap& map) const {
      Json out = Json::object();
      for (const auto& [key, value] : map) out[key] = json_of(value);
      return out;
    }
  } visitor;
  return std::visit(visitor, v.value);
}

Json span_json(const Trace& trace, const FindingSpan& span) {
  return {{"lane", span.lane ? Json(trace.lane(span.lane).title) : Json(nullptr)},
          {"begin_ns", span.span.begin},
          {"end_ns", span.span.end},
          {"name", span.slice ? Json(trace.name(span.slice)) : Json(nullptr)}};
}

Json finding_json(const Trace& trace, const Diagnosis& diagnosis, const RankedFinding& ranked) {
  const Finding& f = ranked.finding;
  Json evidence = Json::object();
  for (const auto& [key, value] : f.evidence.entries()) evidence[key] = json_of(value);
  Json spans = Json::array();
  for (const FindingSpan& span : f.spans) spans.push_back(span_json(trace, span));
  const bool led = ranked.led_by >= 0;
  const auto leader = [&] { return Json(diagnosis.findings[static_cast<std::size_t>(ranked.led_by)].finding.rule->id); };
  return {{"rule", f.rule->id},
          {"class", rule_class_name(f.rule->rule_class)},
          {"severity", severity_name(f.severity)},
          {"title", title_of(diagnosis, *f.rule)},
          {"summary", f.summary},
          {"cost_ns", f.cost},
          {"gain", gain_json(diagnosis, ranked)},
          {"meaning", meaning_of(f)},
          {"remedy", remedy_of(f)},
          {"where", where_json(f)},
          {"code", code_json(f)},
          {"part_of", led && ranked.merged ? leader() : Json(nullptr)},
          {"led_by", led && !ranked.merged ? leader() : Json(nullptr)},
          {"overlap_ns", ranked.overlap},
          {"evidence", std::move(evidence)},
          {"spans", std::move(spans)}};
}

void add_finding(std::string& out, const Diagnosis& diagnosis, const Finding& f, std::string_view indent) {
  out += fmt::format("{}{:<{}} {:>9}  {}. {}\n", indent, f.rule->id, kIdChars - indent.size(),
                     f.cost > 0 ? format_duration(f.cost) : "", title_of(diagnosis, *f.rule), printable(f.summary));
}

// "with low_gpu_utilization. ...", "so, 1.82 ms of it: gpu_gap_in_step. ..."
void add_led(std::string& out, const Diagnosis& diagnosis, const RankedFinding& f) {
  const std::string how = f.merged ? "    with " : fmt::format("    so, {} of it: ", format_duration(f.overlap));
  out += fmt::format("{}{}. {}. {}\n", how, f.finding.rule->id, title_of(diagnosis, *f.finding.rule),
                     printable(f.finding.summary));
}

void add_advice(std::string& out, const Diagnosis& diagnosis, const RankedFinding& ranked) {
  const Finding& f = ranked.finding;
  out += fmt::format("    meaning: {}\n    to do:   {}\n", printable(meaning_of(f)), printable(remedy_of(f)));
  if (const std::string where = f.where ? place_words(*f.where) : std::string(); !where.empty())
    out += fmt::format("    where:   {}\n", printable(where));
  if (!f.code.empty()) out += fmt::format("    code:    {}\n", f.code);
  if (const std::string gain = words_of_gain(diagnosis, ranked); !gain.empty()) out += fmt::format("    gain:    {}\n", gain);
}

// "gain>5%" as a part of 1; none where `word` is no such condition.
std::optional<double> least_gain(std::string_view word) {
  constexpr std::string_view kBegin = "gain>";
  if (!word.starts_with(kBegin) || !word.ends_with('%')) return std::nullopt;
  word = word.substr(kBegin.size(), word.size() - kBegin.size() - 1);
  double percent = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), percent);
  if (error != std::errc() || end != word.data() + word.size() || !(percent >= 0 && percent <= 100)) return std::nullopt;
  return percent / 100;
}

std::string unjudged_text(const Diagnosis& diagnosis) {
  std::vector<std::string_view> reasons;
  for (const Unjudged& u : diagnosis.unjudged)
    if (std::find(reasons.begin(), reasons.end(), u.why) == reasons.end()) reasons.push_back(u.why);
  std::string out = reasons.empty() ? "" : "\nnot judged\n";
  for (const std::string_view why : reasons) {
    out += fmt::format("  {}\n   ", why);
    for (const Unjudged& u : diagnosis.unjudged)
      if (u.why == why) out += fmt::format(" {}", u.rule->id);
    out += '\n';
  }
  return out;
}

std::string diagnosis_json(const Trace& trace, const Diagnosis& diagnosis) {
  Json json = {{"trust", diagnosis.trust.empty() ? Json(nullptr) : Json(diagnosis.trust)},
               {"verdict", diagnosis.verdict},
               {"findings", Json::array()},
               {"not_judged", Json::array()}};
  for (const RankedFinding& f : diagnosis.findings) json["findings"].push_back(finding_json(trace, diagnosis, f));
  json["plan"] = plan_json(diagnosis);
  if (!trace_arguments().stated.as_recorded) json["plain"] = plain_json(diagnosis.plain.get(), diagnosis.plain_verdict);
  for (const Unjudged& u : diagnosis.unjudged) json["not_judged"].push_back({{"rule", u.rule->id}, {"why", u.why}});
  return json_text(json);
}

std::string diagnosis_text(const Diagnosis& diagnosis, bool all) {
  std::string out = diagnosis.trust.empty() ? "" : printable(diagnosis.trust) + '\n';
  if (!diagnosis.plain_sentence.empty()) out += diagnosis.plain_sentence + '\n';
  out += printable(diagnosis.verdict) + '\n';
  std::size_t kept_back = 0;
  const auto shown = [&](const RankedFinding& f) { return all || f.brief; };
  for (const RankedFinding& f : diagnosis.findings) kept_back += shown(f) ? 0 : 1;
  const FindingOrder order(diagnosis);
  std::vector<std::size_t> leaders;
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i)
    if (shown_under(diagnosis, i) < 0 && shown(diagnosis.findings[i])) leaders.push_back(i);
  std::sort(leaders.begin(), leaders.end(), [&](std::size_t a, std::size_t b) { return order.before(a, b); });
  std::string_view last;
  for (const std::size_t i : leaders) {
    const RankedFinding& leader = diagnosis.findings[i];
    if (order.heading(i) != last) out += fmt::format("\n{}\n", last = order.heading(i));
    add_finding(out, diagnosis, leader.finding, "  ");
    if (leader.finding.severity != Severity::informational || place_in_plan(diagnosis, leader) > 0)
      add_advice(out, diagnosis, leader);
    for (std::size_t k = 0; k < diagnosis.findings.size(); ++k) {
      const RankedFinding& f = diagnosis.findings[k];
      if (shown_under(diagnosis, k) != static_cast<std::int32_t>(i) || !shown(f)) continue;
      add_led(out, diagnosis, f);
      if (place_in_plan(diagnosis, f) > 0) add_advice(out, diagnosis, f);  // it is done by itself
    }
  }
  if (kept_back > 0)
    out += fmt::format("\n{} more {} explain{} this trace: --all\n", kept_back, kept_back == 1 ? "note" : "notes",
                       kept_back == 1 ? "s" : "");
  if (diagnosis.plan.run > 0) out += fmt::format("\n{}\n", kGainLegend);
  return out + unjudged_text(diagnosis);
}

// Whether a finding is among those that --fail-on names.
bool fails(const Diagnosis& diagnosis, const std::vector<std::string>& fail_on) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [&](const RankedFinding& f) {
    return std::any_of(fail_on.begin(), fail_on.end(), [&](const std::string& word) {
      if (const auto least = least_gain(word)) return f.gain && diagnosis.plan.share(f.gain->time) > *least;
      return word == kCostly ? f.finding.severity == Severity::costly : f.finding.rule->id == word;
    });
  });
}

// Empty when every word is "costly" or a rule.
std::string unknown_rule_sentence(const std::vector<std::string>& fail_on) {
  for (const std::string& word : fail_on)
    if (word != kCostly && !rule_by_id(word) && !least_gain(word))
      return fmt::format(
          "There is no rule \"{}\". `gapscope help findings` lists them. \"costly\" means all costly findings, "
          "\"gain>5%\" a remedy that saves more than 5 % of the run.",
          printable(word));
  return {};
}

int run_diagnose(DiagnoseOptions options) {
  if (const std::string named = options.trace; !options.json) {
    if (const int code = enter_run(options.trace); code != kOk) return code;
    if (options.trace != named) print(printable(options.trace) + '\n');
  }
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Document document(loaded);
  document.judge();
  const Diagnosis& diagnosis = *document.diagnosis();
  const std::string out = options.json ? diagnosis_json(document.trace, diagnosis) : diagnosis_text(diagnosis, options.all);
  if (print(out) != kOk) return kBadInput;
  return fails(diagnosis, options.fail_on) ? kFailed : kOk;
}

}  // namespace

std::function<int()> declare_diagnose(CLI::App& arguments) {
  auto options = std::make_shared<DiagnoseOptions>();
  add_trace(arguments, options->trace);
  add_roofs(arguments);
  add_plain(arguments);
  arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_flag("--all", options->all, "explain this trace: every note, also those that teach to read it");
  arguments
      .add_option_function<std::vector<std::string>>(
          "--fail-on",
          [options](const std::vector<std::string>& words) {
            if (const std::string trouble = unknown_rule_sentence(words); !trouble.empty())
              throw CLI::ValidationError("--fail-on", trouble);
            options->fail_on = words;
          },
          "end with exit code 3 when one of these rules has a finding; costly: any costly one; gain>5%: a remedy would "
          "save more than that of the run")
      ->delimiter(',')
      ->type_name("RULE[,RULE]|costly|gain>N%");
  return [options] { return run_diagnose(*options); };
}

}  // namespace gapscope
