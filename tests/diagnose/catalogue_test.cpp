// The catalogue itself: every rule has its texts, its claim, its place in the guide, and a trace that fires it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

#include "core/diagnose/catalogue.h"
#include "core/load/load_trace.h"
#include "tests/support/diagnosed.h"
#include "tests/support/source_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::filesystem::path fixture(std::string_view rule, std::string_view end) {
  return test::source_folder() / "tests/fixtures" / (std::string(rule) + std::string(end));
}

// Of a trace that holds what the rule needs: a rule that was not asked is not silent.
bool fires_on(const std::filesystem::path& path, std::string_view rule) {
  const Diagnosed& d = diagnosed_once(path);
  for (const auto& unjudged : d.diagnosis.unjudged) CHECK_MESSAGE(unjudged.rule->id != rule, unjudged.why);
  return d.fires(rule);
}

bool is_problem(const Rule& rule) {
  return rule.rule_class == RuleClass::problem || rule.rule_class == RuleClass::problem_locator;
}

}  // namespace

TEST_CASE("the catalogue holds every rule of the guide once, with all its texts") {
  std::set<std::string_view> ids;
  for (const Rule* rule : all_rules()) {
    CAPTURE(std::string(rule->id));
    CHECK(ids.insert(rule->id).second);
    CHECK((rule->check != nullptr));
    for (const std::string_view text : {rule->title, rule->meaning, rule->remedy}) CHECK(text.size() >= 8);
    for (const std::string_view text : {rule->remedy, rule->other_remedy, rule->code}) CHECK(is_sound_advice(text));
    for (const std::string_view text : {rule->meaning, rule->remedy}) CHECK(text.ends_with('.'));
    CHECK_FALSE(rule->title.ends_with('.'));
    CHECK(rule_by_id(rule->id) == rule);
  }
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() / "core/diagnose/rules"))
    CHECK_MESSAGE(rule_by_id(file.path().stem().string()) != nullptr, file.path().string(), " defines no rule of its name");
  CHECK(rule_by_id("no_such_rule") == nullptr);
}

TEST_CASE("a problem states what of the time account it claims, and no two rules have the same turn") {
  std::map<std::uint16_t, std::string_view> turns;
  for (const Rule* rule : all_rules()) {
    CAPTURE(std::string(rule->id));
    CHECK_MESSAGE((rule->claim || !is_problem(*rule)), "give it a .claim: which time may its cost be? (claim.h)");
    if (!rule->claim) continue;
    const Claim& claim = *rule->claim;
    CHECK_MESSAGE(claim.turn < Claim{}.turn, "give its claim a .turn: before or after whom does it take its time?");
    const auto taken = turns.try_emplace(claim.turn, rule->id);
    CHECK_MESSAGE(taken.second, "give its claim a .turn of its own, before or after ", std::string(taken.first->second));
    CHECK((claim.causes & ~kAnyCause) == 0);
    CHECK_MESSAGE(claim.causes != 0, "a claim to no cause is none");
    CHECK_MESSAGE((claim.time == ClaimedTime::idle || claim.causes == kAnyCause), "causes are of idle time");
    for (const std::string_view id : claim.explains)
      CHECK_MESSAGE((id.empty() || id == kEveryProblem || rule_by_id(id) != nullptr), "explains no rule: ", std::string(id));
  }
}

TEST_CASE("on its own fixture a problem owns time, and its evidence holds what the rule has words for") {
  for (const Rule* rule : all_rules()) {
    CAPTURE(std::string(rule->id));
    const Diagnosed& d = diagnosed_once(fixture(rule->id, ".json"));
    const auto owns = [&](const RankedFinding& f) { return f.finding.rule == rule && (f.finding.cost > 0 || f.merged); };
    const auto& all = d.diagnosis.findings;
    CHECK_MESSAGE((!is_problem(*rule) || std::any_of(all.begin(), all.end(), owns)),
                  "its places hold none of the time that it claims: mark where the time is lost, or claim that time");
    for (const EvidenceName& name : rule->evidence_names) {
      CAPTURE(std::string(name.key));
      CHECK(name.key.empty() == name.words.empty());
      if (name.key.empty()) continue;
      for (const Finding* f : d.findings(rule->id)) CHECK(f->evidence.find(name.key) != nullptr);
    }
  }
}

TEST_CASE("every rule has its place in the guide") {
  std::ifstream file(test::source_folder() / "assets/guide/findings.md");
  std::stringstream guide;
  guide << file.rdbuf();
  for (const Rule* rule : all_rules()) {
    CAPTURE(std::string(rule->id));
    CHECK(guide.str().find("### <a id=\"" + std::string(rule->id) + "\"></a>") != std::string::npos);
  }
}

TEST_CASE("a fixture fires its rule, and its twin just does not") {
  for (const Rule* rule : all_rules()) {
    CAPTURE(std::string(rule->id));
    CHECK(fires_on(fixture(rule->id, ".json"), rule->id));
    CHECK_FALSE(fires_on(fixture(rule->id, "_not.json"), rule->id));
  }
}

TEST_CASE("on its own fixture a problem costs time, is part of another, or is a note") {
  for (const Rule* rule : all_rules()) {
    CAPTURE(std::string(rule->id));
    const Diagnosed& d = diagnosed_once(fixture(rule->id, ".json"));
    for (const RankedFinding& f : d.diagnosis.findings) {
      CAPTURE(std::string(f.finding.rule->id));
      const RuleClass c = f.finding.rule->rule_class;
      if (c == RuleClass::problem || c == RuleClass::problem_locator || f.finding.severity == Severity::costly)
        CHECK((f.finding.cost > 0 || f.merged || f.finding.severity == Severity::informational));
    }
  }
}

TEST_CASE("no rule crashes on a trace without anything") {
  for (const char* text : {R"([{"ph":"M","name":"process_name","pid":1,"args":{"name":"x"}}])",
                           R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":0}])",
                           R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":0}])"}) {
    CAPTURE(text);
    const auto trace = load_trace_from_text(text, "text");
    REQUIRE(trace.ok());
    const Diagnosed d(*trace);
    CHECK_FALSE(d.diagnosis.verdict.empty());
  }
}

TEST_CASE("of an AMD GPU no title of a rule speaks of NVIDIA's parts, nor why it is not judged") {
  const auto trace = load_trace_from_text(
      R"([{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":0,"dur":5,"args":{"correlation":1}},
          {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":6,"dur":2,"args":{"correlation":1}}])",
      "text");
  REQUIRE(trace.ok());
  const Diagnosed d(*trace);
  REQUIRE(d.diagnosis.vendor == Vendor::amd);
  const auto holds = [](const std::string& text) {
    return text.find("ensor core") != text.npos || text.find("SM") != text.npos || text.find("NCCL") != text.npos;
  };
  for (const Rule* rule : all_rules()) CHECK_MESSAGE(!holds(title_of(d.diagnosis, *rule)), title_of(d.diagnosis, *rule));
  for (const Unjudged& u : d.diagnosis.unjudged) CHECK_MESSAGE(!holds(u.why), u.why);
}
