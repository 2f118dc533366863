#include "core/view/findings/findings_model.h"

#include <doctest/doctest.h>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/diagnose.h"
#include "core/view/timeline/badge_paint.h"

using namespace gapscope;

namespace {

const Rule kLoud = {"loud", RuleClass::problem, Severity::costly, 0, "Loud", "It costs.", "Mend it.", nullptr};
const Rule kSequel = {"sequel", RuleClass::problem, Severity::notable, 0, "Sequel", "It follows.", "Mend the other.", nullptr};
const Rule kQuiet = {"quiet", RuleClass::reading_help, Severity::informational, 0, "Quiet", "It helps.", "Nothing.", nullptr};

Finding finding(const Rule& rule) {
  Finding f;
  f.rule = &rule;
  f.severity = rule.severity;
  return f;
}

// A costly finding that explains a notable one, and an informational one.
Diagnosis three() {
  Diagnosis d;
  d.findings.resize(3);
  d.findings[0].finding = finding(kLoud);
  d.findings[1].finding = finding(kSequel);
  d.findings[1].led_by = 0;
  d.findings[2].finding = finding(kQuiet);
  return d;
}

std::vector<std::uint32_t> ids(const std::vector<FindingRow>& rows) {
  std::vector<std::uint32_t> out;
  for (const FindingRow& row : rows) out.push_back(row.finding);
  return out;
}

LaneFindings::Mark mark(Ns at, Severity severity, std::uint32_t finding) {
  return {{at, at + 1}, SliceId(std::size_t{0}), finding, 0, severity};
}

}  // namespace

TEST_CASE("a finding that another explains is folded under it") {
  const auto rows = shown_findings(three(), {});
  REQUIRE(rows.size() == 3);
  CHECK(ids(rows) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK_FALSE(rows[0].led);
  CHECK(rows[1].led);
  CHECK_FALSE(rows[2].led);
}

TEST_CASE("what the plan begins with is first whatever it costs, with what it leads") {
  Diagnosis d;
  d.findings.resize(4);
  for (RankedFinding& f : d.findings) f.finding = finding(kLoud);
  d.findings[3].led_by = 2;
  CHECK(ids(shown_findings(d, {})) == std::vector<std::uint32_t>{0, 1, 2, 3});
  d.plan.items.resize(2);
  d.plan.items[0].finding = 2;
  d.plan.items[1].finding = 1;
  CHECK(ids(shown_findings(d, {})) == std::vector<std::uint32_t>{2, 3, 1, 0});
  CHECK(FindingOrder(d).heading(2) == kPlannedHeading);
  d.findings[3].finding.spans =
      d.findings[0].finding.spans = {{LaneId(0), {0, 10}, {}}};  // in a marked time without the leader
  CHECK(ids(shown_findings(d, {}, Span{0, 5})) == std::vector<std::uint32_t>{3, 0});
  CHECK(FindingOrder(d).heading(0) == severity_name(Severity::costly));
  d.findings[1].finding.severity = Severity::notable;
  CHECK(ids(shown_findings(d, {})) == std::vector<std::uint32_t>{2, 3, 1, 0});
  d.plan.items[0].finding = 3;  // whose leader is none of the plan
  CHECK(ids(shown_findings(d, {})) == std::vector<std::uint32_t>{3, 1, 0, 2});
  CHECK_FALSE(shown_findings(d, {}).front().led);
  d.plan.items.resize(3);  // 3, 0, and what 3 explains: numbers that grow from line to line
  d.plan.items[1].finding = 0, d.plan.items[2].finding = 1, d.findings[1].led_by = 3;
  CHECK(ids(shown_findings(d, {})) == std::vector<std::uint32_t>{3, 0, 1, 2});
  CHECK_FALSE(shown_findings(d, {})[2].led);
  d.findings[1].led_by = -1;
  d.plan.items.clear();
  CHECK(ids(shown_findings(d, {})) == std::vector<std::uint32_t>{0, 2, 3, 1});
}

TEST_CASE("what teaches to read the trace is listed when asked for") {
  Diagnosis d = three();
  d.findings[2].brief = false;
  FindingsState state;
  CHECK(ids(shown_findings(d, state)) == std::vector<std::uint32_t>{0, 1});
  state.explain = true;
  CHECK(ids(shown_findings(d, state)) == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("muted rules and, when asked, informational ones are not shown") {
  FindingsState state;
  state.quiet = true;
  CHECK(ids(shown_findings(three(), state)) == std::vector<std::uint32_t>{0, 1});
  set_muted(state, "loud", true);
  CHECK(muted_count(three(), state) == 1);
  const auto rows = shown_findings(three(), state);
  REQUIRE(ids(rows) == std::vector<std::uint32_t>{1});
  CHECK_FALSE(rows[0].led);  // its leader is not there
  set_muted(state, "loud", true);
  CHECK(state.muted.size() == 1);
  set_muted(state, "loud", false);
  CHECK(state.muted.empty());
}

TEST_CASE("in a selected time only findings with a place in it are shown") {
  Diagnosis d = three();
  d.findings[0].finding.spans = {{LaneId(0), {0, 10}, {}}, {LaneId(0), {50, 60}, {}}};
  d.findings[1].finding.spans = {{LaneId(0), {20, 30}, {}}};
  const auto in = [&](Span range) { return ids(shown_findings(d, {}, range)); };
  CHECK(in({5, 25}) == std::vector<std::uint32_t>{0, 1});
  CHECK(in({55, 70}) == std::vector<std::uint32_t>{0});
  CHECK(in({10, 20}).empty());
  const auto rows = shown_findings(d, {}, Span{20, 21});
  REQUIRE(ids(rows) == std::vector<std::uint32_t>{1});
  CHECK_FALSE(rows[0].led);  // its leader has no place here
  CHECK(places_in(d.findings[0].finding, Span{40, 70}) == std::vector<std::size_t>{1});
  CHECK(places_in(d.findings[0].finding, std::nullopt).size() == 2);
}

TEST_CASE("badges that would overlap fold into one of the worst severity, and each counts") {
  const PixelGrid grid(TimeView{{0, 1000}, 0, 0}, 1000, 0);
  std::vector<Badge> badges;
  std::vector<GapMark> gaps;
  paint_badges({mark(100, Severity::notable, 1), mark(105, Severity::costly, 2), mark(110, Severity::notable, 3),
                mark(400, Severity::informational, 4)},
               grid, 20, badges, gaps);
  REQUIRE(badges.size() == 2);
  CHECK(badges[0].count == 3);
  CHECK(badges[0].severity == Severity::costly);
  CHECK(badges[0].finding == 2);
  CHECK(badges[1].count == 1);
  CHECK(badges[1].x - badges[0].x >= 20);
  CHECK(gaps.empty());
}

TEST_CASE("a gap is a stretch with its badge in the middle, and what is off screen has none") {
  const PixelGrid grid(TimeView{{0, 1000}, 0, 0}, 1000, 0);
  std::vector<Badge> badges;
  std::vector<GapMark> gaps;
  LaneFindings::Mark gap = mark(200, Severity::notable, 1);
  gap.span = {200, 400};
  gap.slice = {};
  paint_badges({gap, mark(5000, Severity::costly, 2)}, grid, 20, badges, gaps);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].x0 == 200);
  CHECK(gaps[0].x1 == 400);
  REQUIRE(badges.size() == 1);
  CHECK(badges[0].x == 300);
}

TEST_CASE("reading helps do not stand on the lanes, problems do") {
  CHECK(stands_on_lanes(finding(kLoud)));
  CHECK_FALSE(stands_on_lanes(finding(kQuiet)));
}
