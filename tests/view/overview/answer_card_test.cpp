// The answer in short, against the diagnosis that it is made of.
#include "core/view/overview/answer_card.h"

#include <memory>

#include <doctest/doctest.h>

#include "core/base/text.h"
#include "core/replay/plain_program.h"
#include "core/session/overview.h"
#include "core/view/overview/overview_page.h"
#include "tests/support/diagnosed.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

AnswerCard card_of(const Diagnosed& of, const Diagnosis& diagnosis) {
  return answer_card(of.document.trace, diagnosis, &diagnosis, recorded_run(of.document.session));
}

// As where the profiler was taken out of it: 400 us a step, 360 to 440.
Diagnosis plain_of(const Diagnosed& of) {
  Diagnosis out = of.diagnosis;
  PlainProgram plain;
  plain.step = 400'000, plain.low = 360'000, plain.high = 440'000, plain.steps = 4, plain.gpu_share = 0.5;
  out.plain_sentence = plain_sentence(plain);
  out.plain = std::make_shared<const PlainProgram>(plain);
  out.bound = Bound::host;
  out.plain_verdict = "Host-bound";
  return out;
}

}  // namespace

TEST_CASE("without a plain program the answer is of the recording, and its cause is the first of the plan") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  const AnswerCard card = card_of(of, of.diagnosis);
  REQUIRE_FALSE(of.diagnosis.plan.items.empty());
  const Plan::Item& first = of.diagnosis.plan.items.front();
  CHECK_FALSE(card.is_plain);
  CHECK(card.step == of.diagnosis.plan.length(of.diagnosis.plan.run));
  CHECK(card.what.find("as recorded") != card.what.npos);
  CHECK(card.finding == first.finding);
  CHECK(card.time == of.diagnosis.plan.each(first.saved));
  CHECK(card.after == of.diagnosis.plan.length(first.after));
  CHECK(card.step - card.after == doctest::Approx(static_cast<double>(card.time)).epsilon(0.01));
  CHECK(card.then.find(format_duration(card.after)) != card.then.npos);
  CHECK(first.remedy.starts_with(card.remedy));
  CHECK(card.doubt.empty());
  const RecordedRun overview = recorded_run(make_overview(of.document.session));
  CHECK(overview.step == card.recorded);
  CHECK(overview.busy == card.gpu_share);
}

TEST_CASE("without Python frames the answer names what encloses the cause, and says how the line would be known") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  Diagnosis diagnosis = of.diagnosis;
  Finding& cause = diagnosis.findings[static_cast<std::size_t>(diagnosis.plan.items.front().finding)].finding;
  REQUIRE(cause.where);
  CHECK(cause.where->source.file.empty());
  cause.where->module = "my_region";
  const AnswerCard card = card_of(of, diagnosis);
  CHECK(card.cause.ends_with(": mostly in my_region"));
  CHECK(card.line_hint == "To see the line, record with with_stack=True.");
  CHECK(answer_lines(card, true).back() == card.line_hint);
  cause.where = CodePlace{{"train.py", 7}, "train", ""};
  CHECK(card_of(of, diagnosis).cause.ends_with(": train (train.py:7)"));
  CHECK(card_of(of, diagnosis).line_hint.empty());
}

TEST_CASE("with one the answer is of it, with its range, and says what was recorded") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  const AnswerCard card = card_of(of, plain_of(of));
  CHECK(card.is_plain);
  CHECK(card.step == 400'000);
  CHECK(card.low == 360'000);
  CHECK(card.high == 440'000);
  CHECK(card.gpu_share == 0.5);
  CHECK(card.doubt.empty());
  CHECK(card.what.starts_with("Without the profiler a step takes about 400"));
  CHECK(card.what.ends_with("Recorded: " + format_duration(card.recorded) + " a step."));
}

TEST_CASE("where the ends of the range differ in what limits the run, the answer says so") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  Diagnosis diagnosis = plain_of(of);
  diagnosis.plain_verdict = "Host-bound or GPU-bound";
  diagnosis.verdict = "Host-bound or GPU-bound: the profiler's own cost hides which one.";
  const AnswerCard card = card_of(of, diagnosis);
  CHECK(card.doubt == diagnosis.verdict);
  const std::vector<std::string> lines = answer_lines(card, /*with_doubt=*/true);
  REQUIRE(lines.size() > 1);
  CHECK(lines[1] == card.doubt);
  CHECK(answer_lines(card, /*with_doubt=*/false).size() + 1 == lines.size());
}

TEST_CASE("a recording that is not judged has neither a share nor a cause") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  Diagnosis diagnosis = of.diagnosis;
  diagnosis.bound = Bound::not_judged;
  diagnosis.verdict = "Not judged: the file is cut off.";
  const AnswerCard card = card_of(of, diagnosis);
  CHECK(card.doubt == diagnosis.verdict);
  CHECK(card.what.empty());
  CHECK_FALSE(card.gpu_share);
  CHECK(card.finding == -1);
  CHECK(card.then.empty());
  CHECK(card.remedy == instead_of_findings(of.document.trace, diagnosis));
}

TEST_CASE("where nothing is wrong the answer is the step, and that there is nothing to do") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  Diagnosis diagnosis = of.diagnosis;
  diagnosis.findings.clear();
  diagnosis.plan = {};
  const AnswerCard card = card_of(of, diagnosis);
  CHECK(card.step == card.recorded);
  CHECK(card.finding == -1);
  CHECK(card.cause.empty());
  CHECK(card.remedy == "No rule found anything that costs time.");
  CHECK(card.then.empty());
}

TEST_CASE("while rules run the answer is the step alone") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  const AnswerCard card = answer_card(of.document.trace, of.diagnosis, nullptr, recorded_run(of.document.session));
  CHECK(answer_lines(card, true) == std::vector{card.what});
}

TEST_CASE("of a file with several recordings the step is not what is between these") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  Diagnosis diagnosis = of.diagnosis;
  diagnosis.plan.step.stepped = 40'000'000'000;
  diagnosis.doubts.push_back({});
  diagnosis.doubts.back().kind = DoubtKind::several_recordings;
  const AnswerCard card = card_of(of, diagnosis);
  CHECK(card.step == card.recorded);
  CHECK(card.after == 0);
  CHECK(card.then.find("several recordings") != card.then.npos);
}

TEST_CASE("without steps in the plan what comes then is said of the run") {
  const Diagnosed& of = diagnosed_once(recording("needless_sync"));
  Diagnosis diagnosis = of.diagnosis;
  diagnosis.plan.step = {};
  const AnswerCard card = card_of(of, diagnosis);
  CHECK_FALSE(card.of_step);
  CHECK(card.after == diagnosis.plan.items.front().after);
  CHECK(card.figure.find("of the run") != card.figure.npos);
  CHECK(card.then.starts_with("Then the run takes"));
}
