// Every pair of tests/recordings/truth_pairs.json: what must be said, with its numbers, and what must not; and on all of them
// that turning the pair turns the answer, and that a trace does not differ from itself.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/diagnose/guide.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_steps.h"

using namespace gapscope;
using namespace gapscope::test;
using nlohmann::json;

namespace {

constexpr std::size_t kNamesInTruth = 6;  // it lists no more

std::shared_ptr<const Document> open(const std::filesystem::path& path) {
  return std::make_shared<const Document>(load_once(path));
}

// The recordings without ProfilerStep# are judged by their annotation.
CompareOptions options_for(const Document& doc) {
  CompareOptions options;
  if (profiler_steps(doc.trace).empty() && doc.trace.strings.find("test compile")) options.annotation = "test compile";
  return options;
}

Comparison compared_docs(const Document& a, const Document& b, const CompareOptions& options) {
  auto out = compare(compared(a), compared(b), options);
  REQUIRE_MESSAGE(out.ok(), (out.ok() ? "" : out.error().message));
  return std::move(*out);
}

struct PairOfTraces {
  std::string name;
  json truth;
  std::shared_ptr<const Document> a, b;
  CompareOptions options;
};

std::vector<PairOfTraces> pairs() {
  std::ifstream file(recordings_folder() / "truth_pairs.json");
  const json all = json::parse(file);
  std::vector<PairOfTraces> out;
  for (const auto& [name, truth] : all.items()) {
    const std::size_t arrow = name.find(" -> ");
    const auto a = recording_or_none(name.substr(0, arrow)), b = recording_or_none(name.substr(arrow + 4));
    if (a.empty() || b.empty()) continue;
    const auto doc_a = open(a), doc_b = open(b);
    out.push_back({name, truth, doc_a, doc_b, options_for(*doc_a)});
  }
  return out;
}

// Truth figures are rounded to three decimals.
bool agrees(double mine, double theirs) { return std::abs(mine - theirs) <= std::max(0.006 * std::abs(theirs), 0.006); }

void check_names(const std::vector<std::string>& mine, const json& truth) {
  if (truth.size() < kNamesInTruth) CHECK(mine.size() == truth.size());
  for (std::string wanted : truth) {
    if (wanted.ends_with("~")) wanted.pop_back();  // the truth file cuts long names
    CHECK_MESSAGE(std::any_of(mine.begin(), mine.end(), [&](const std::string& name) { return name.starts_with(wanted); }),
                  wanted);
  }
}

void check_figures(const Comparison& c, const json& truth) {
  const auto check = [&](const char* key, StepFigure figure) {
    CAPTURE(std::string(key));
    const double unit = is_time(figure) ? static_cast<double>(kNsPerUs) : 1;
    CHECK(agrees(static_cast<double>(c.a.of(figure).median) / unit, truth[key][0].get<double>()));
    CHECK(agrees(static_cast<double>(c.b.of(figure).median) / unit, truth[key][1].get<double>()));
  };
  check("cpu_step_us", StepFigure::cpu);
  check("gpu_step_us", StepFigure::gpu_time);
  check("gpu_ops_per_step", StepFigure::gpu_ops);
  check("launches_per_step", StepFigure::launches);
  REQUIRE(c.change(StepFigure::cpu).ratio.has_value());
  CHECK(agrees(1 / *c.change(StepFigure::cpu).ratio, truth["cpu_ratio"].get<double>()));
}

// Everything that a comparison says in numbers, as text, from the other side where `turned`.
std::multiset<std::string> said(const Comparison& c, bool turned) {
  std::multiset<std::string> out;
  const auto two = [&](const auto& a, const auto& b) {
    return turned ? fmt::format("{}|{}", b, a) : fmt::format("{}|{}", a, b);
  };
  const auto other_class = [&](KernelChangeClass k) {
    if (!turned) return k;
    return k == KernelChangeClass::added     ? KernelChangeClass::removed
           : k == KernelChangeClass::removed ? KernelChangeClass::added
                                             : k;
  };
  const auto other_state = [&](NodeState s) {
    if (!turned) return s;
    return s == NodeState::only_a ? NodeState::only_b : s == NodeState::only_b ? NodeState::only_a : s;
  };
  for (std::size_t f = 0; f < kStepFigures; ++f) {
    const StepSpread &a = c.a.figures[f], &b = c.b.figures[f];
    out.insert(fmt::format("figure {} {} {} {} {}", f, two(a.median, b.median), two(a.min, b.min), two(a.upper, b.upper),
                           c.changes[f].differs));
  }
  for (const KernelChange& k : c.kernels)
    out.insert(fmt::format("kernel {} {} {} {} {}", kernel_change_name(other_class(k.change)), two(k.name_a, k.name_b),
                           two(k.count_a, k.count_b), two(k.ns_a, k.ns_b), k.other_grid));
  for (const OperatorNode& n : c.operators)
    out.insert(fmt::format("operator {} {} {} {} {} {} {} {}", node_state_name(other_state(n.state)), n.depth, n.replaced,
                           two(n.name_a, n.name_b), two(n.cpu_a, n.cpu_b), two(n.gpu_a, n.gpu_b), two(n.kernels_a, n.kernels_b),
                           two(n.launches_a, n.launches_b)));
  return out;
}

}  // namespace

TEST_CASE("on every pair of recordings the comparison says what must be said, with its numbers, and nothing that must not") {
  std::size_t walked = 0;
  for (const PairOfTraces& pair : pairs()) {
    CAPTURE(pair.name);
    const Comparison c = compared_docs(*pair.a, *pair.b, pair.options);
    const json& truth = pair.truth["evidence"];
    check_figures(c, truth);
    for (const std::string rule : pair.truth["must"])
      CHECK_MESSAGE(finding_of(c, rule) != nullptr, pair.name, " must have ", rule);
    for (const std::string rule : pair.truth["must_not"])
      CHECK_MESSAGE(finding_of(c, rule) == nullptr, pair.name, " must not have ", rule);
    if (const ComparisonFinding* changed = finding_of(c, "pair_kernel_changed")) {
      check_names(changed->names_a, truth["only_a"]);
      check_names(changed->names_b, truth["only_b"]);
    }
    for (const ComparisonFinding& f : c.findings)
      CHECK_MESSAGE(!guide_section(f.rule).title.empty(), f.rule, " is not in the guide");
    ++walked;
  }
  CHECK(walked >= 15);
}

TEST_CASE("turning a pair of recordings turns the answer and nothing else") {
  for (const PairOfTraces& pair : pairs()) {
    for (const StepPick pick : {StepPick::median, StepPick::all}) {
      CAPTURE(pair.name);
      CompareOptions options = pair.options;
      options.pick = pick;
      const auto forth = said(compared_docs(*pair.a, *pair.b, options), false),
                 back = said(compared_docs(*pair.b, *pair.a, options), true);
      std::vector<std::string> differing;
      std::set_symmetric_difference(forth.begin(), forth.end(), back.begin(), back.end(), std::back_inserter(differing));
      CHECK_MESSAGE(differing.empty(), differing.size(),
                    " lines differ, the first: ", differing.empty() ? "" : differing.front());
    }
  }
}

TEST_CASE("no recording differs from itself") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const auto doc = open(path);
    for (const StepPick pick : {StepPick::median, StepPick::all}) {
      CompareOptions options;
      options.pick = pick;
      const Comparison c = compared_docs(*doc, *doc, options);
      CHECK(c.verdict == "No difference: times, launches and kernels of both traces are the same.");
      for (const FigureChange& change : c.changes) CHECK(!change.differs);
      CHECK(std::all_of(c.operators.begin(), c.operators.end(), [](const OperatorNode& n) {
        return n.state == NodeState::matched && n.cpu_a == n.cpu_b && n.gpu_a == n.gpu_b;
      }));
      CHECK(std::all_of(c.kernels.begin(), c.kernels.end(),
                        [](const KernelChange& k) { return k.change == KernelChangeClass::same && k.count_a == k.count_b; }));
      CHECK(c.operators.size() > 0);
      for (const ComparisonFinding& f : c.findings) CHECK(f.rule == "pair_same_gpu_work");
    }
  }
}
