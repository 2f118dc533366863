#include "core/analyze/named_steps.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/analyze/steps.h"
#include "core/view/document.h"
#include "tests/support/tiny_steps.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::shared_ptr<const Document> run_named(const std::string& name, int steps = 6) {
  return document_from_text(tiny_run({{{}, {"aten::mm", "gemm"}}, steps, 20, name}));
}

std::size_t steps_in(const Document& doc) { return profiler_steps(doc.trace).size(); }

// As tiny_run() without steps, with these annotations: name, begin and duration in microseconds.
struct Range {
  std::string name;
  int ts, dur;
};
std::shared_ptr<const Document> with_ranges(const std::vector<Range>& ranges, int steps = 6) {
  std::string text = tiny_run({{{}, {"aten::mm", "gemm"}}, steps, 20, ""});
  std::string added;
  for (const Range& r : ranges) added += tiny_event("user_annotation", r.name, 1, r.ts, r.dur, "") + ",\n";
  text.insert(text.find('[') + 1, added);
  return document_from_text(text);
}

}  // namespace

TEST_CASE("annotations that recur as steps do are the steps, under any name") {
  for (const char* name : {"train_iteration", "step={}", "[{}] batch", "Train step {} of 100", "epoch 0 iter {}"}) {
    CAPTURE(name);
    const auto doc = run_named(name);
    const Steps steps = make_steps(doc->trace, gpu_ops(doc->trace, doc->links));
    CHECK(steps.annotated);
    CHECK(steps.are_marked());
    CHECK(steps.steps.size() == 6);
    CHECK(step_marks(doc->trace).steps.size() == 6);
    CHECK(!step_marks(doc->trace).by_profiler);
  }
}

TEST_CASE("what PyTorch annotates itself, what is no step and what holds few launches are none") {
  CHECK(steps_in(*run_named("DistributedDataParallel.forward")) == 0);
  CHECK(steps_in(*run_named("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")) == 0);
  CHECK(steps_in(*run_named("step {}", 2)) == 0);  // two do not recur
  CHECK(steps_in(*with_ranges({{"load 1", 900, 20}, {"load 2", 1900, 20}, {"load 3", 2900, 20}})) == 0);
  CHECK(steps_in(*with_ranges({{"part", 1000, 900}, {"part", 1500, 900}, {"part", 2000, 5000}})) == 0);  // they overlap
}

TEST_CASE("of several the one that says step, is numbered or is the outer one counts; a number begins anew with an epoch") {
  std::vector<Range> ranges;
  for (int i = 0; i < 6; ++i) {
    ranges.push_back({"forward_backward", 1000 * (i + 1), 400});
    ranges.push_back({"train_step", 1000 * (i + 1) - 5, 500});
  }
  const auto named = with_ranges(ranges);
  CHECK(named->trace.name(profiler_steps(named->trace).front()) == "train_step");
  ranges.clear();
  for (int i = 0; i < 20; ++i) ranges.push_back({"step " + std::to_string(i % 10), 1000 * (i + 1), 500});
  CHECK(steps_in(*with_ranges(ranges, 20)) == 20);
}

TEST_CASE("ProfilerStep# comes before every other name, and an optimizer's end before a name without a number") {
  std::string text = tiny_run({{{}, {"aten::mm", "gemm"}}, 6, 20, "ProfilerStep#{}"});
  std::string added;
  for (int i = 0; i < 6; ++i) added += tiny_event("user_annotation", "train_step", 1, 1000 * (i + 1) + 1, 60, "") + ",\n";
  text.insert(text.find('[') + 1, added);
  const auto both = document_from_text(text);
  CHECK(both->trace.name(profiler_steps(both->trace).front()) == "ProfilerStep#0");
  std::vector<Range> ranges;
  for (int i = 0; i < 6; ++i) {
    ranges.push_back({"work", 1000 * (i + 1), 100});
    ranges.push_back({"Optimizer.step#SGD.step", 1000 * (i + 1) + 80, 10});
  }
  const auto optimizer = with_ranges(ranges);
  CHECK(make_steps(optimizer->trace, gpu_ops(optimizer->trace, optimizer->links)).iterations_of == "Optimizer.step#SGD.step");
}

TEST_CASE("stated steps are those of that name, else those that an expression matches from their beginning") {
  const auto doc = run_named("train {}");
  {
    doc->trace.stated.steps = "train [0-2]";
    CHECK(steps_in(*doc) == 3);
    CHECK(trouble_with_stated_steps(doc->trace).empty());
  }
  {
    doc->trace.stated.steps = "train 4";
    CHECK(steps_in(*doc) == 1);
  }
  {
    doc->trace.stated.steps = "aten::mm";  // an operator by its name
    CHECK(steps_in(*doc) == 6);
  }
  {
    doc->trace.stated.steps = "rain";
    CHECK(trouble_with_stated_steps(doc->trace).starts_with("No annotation \"rain\" is in this trace. There are: \"train 0\""));
    CHECK(steps_in(*doc) == 6);
  }
  doc->trace.stated.steps = "train [";
  CHECK(trouble_with_stated_steps(doc->trace).find("not a regular expression") != std::string::npos);
}

TEST_CASE("chosen annotations that leave out much of the time between them are steps from one's begin to the next one's") {
  const auto spans_of = [](int dur) {
    std::vector<Range> ranges;
    for (int i = 0; i < 6; ++i) ranges.push_back({"update", 1000 * (i + 1), dur});
    const auto doc = with_ranges(ranges);
    doc->trace.stated.steps = "update";
    const Steps steps = make_steps(doc->trace, gpu_ops(doc->trace, doc->links));
    std::vector<Ns> lengths;
    for (const StepMarks::Mark& mark : step_marks(doc->trace).steps) lengths.push_back(mark.span.length());
    CHECK(lengths.size() == steps.steps.size());
    CHECK(reaches_to_next(doc->trace, steps.steps.front()) == (dur < 900));
    return lengths;
  };
  CHECK(spans_of(400) == std::vector<Ns>(5, 1'000'000));
  CHECK(spans_of(950) == std::vector<Ns>(6, 950'000));
}

TEST_CASE("steps without a choice have a name, also while others are chosen") {
  const auto name_of = [](const std::string& step, const std::string& chosen) {
    const auto doc = run_named(step);
    doc->trace.stated.steps = chosen;
    return unstated_steps_name(doc->trace);
  };
  CHECK(name_of("ProfilerStep#{}", "aten::mm") == "ProfilerStep#N");
  CHECK(name_of("train {}", "aten::mm") == "train #");
  CHECK(name_of("train_iteration", "") == "train_iteration");
  CHECK(name_of("", "aten::mm").empty());
}

TEST_CASE("names in common") {
  CHECK(without_numbers("step 12/100") == "step #/#");
  CHECK(without_numbers("") == "");
  CHECK(without_numbers("7") == "#");
}

namespace {

// Six calls of a jitted function 1 ms apart, each a call in a call, which launch two pieces of work; then what else is given.
std::string xla_run(const std::string& function, const std::string& more = "", int launches_outside = 0) {
  std::string text = R"json([{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":3,"tid":7,"name":"thread_name","args":{"name":"Stream #7(Compute)"
}
},
{"ph":"M","pid":3,"tid":8,"name":"thread_name","args":{"name":"Steps"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":701,"tid":1,"name":"thread_name","args":{"name":"python3"}})json";
  int id = 0;
  const auto slice = [&](int pid, int tid, const std::string& name, int ts, int dur, int correlation) {
    text += fmt::format(
        ",\n"
        R"({{"ph":"X","pid":{},"tid":{},"name":"{}","ts":{},"dur":{},"args":{{{}}}}})",
        pid, tid, name, ts, dur, correlation == 0 ? std::string() : fmt::format(R"("correlation_id":"{}")", correlation));
  };
  const auto launch = [&](int at) {
    slice(701, 1, "cuLaunchKernel", at, 5, ++id);
    slice(3, 7, "fusion", at + 20, 100, id);
  };
  for (int i = 0; i < 6; ++i) {
    const int at = 1000 * (i + 1);
    slice(701, 1, function, at, 300, 0);
    slice(701, 1, function, at + 5, 280, 0);
    launch(at + 10);
    launch(at + 150);
    for (int l = 0; l < launches_outside; ++l) launch(at + 400 + 100 * l);
  }
  return text + more + "]";
}

}  // namespace

TEST_CASE(
    "of XLA's recordings steps are annotations, else its own lane of them, else a jitted call that recurs with launches") {
  const auto steps_of = [](const std::string& text) {
    const auto doc = document_from_text(text);
    return std::pair(unstated_steps_name(doc->trace), step_marks(doc->trace).steps);
  };
  const auto [name, jitted] = steps_of(xla_run("PjitFunction(train)"));
  CHECK(name == "PjitFunction(train)");
  REQUIRE(jitted.size() == 5);
  for (const StepMarks::Mark& mark : jitted) CHECK(mark.span.length() == 1'000'000);
  // It stays an operator: the account of idle time is by what it is.
  const auto doc = document_from_text(xla_run("PjitFunction(train)"));
  CHECK(doc->trace.kind(jitted.front().slice) == Kind::op);

  CHECK(steps_of(xla_run("PjitFunction(init)", "", 6)).second.empty());  // most launches are elsewhere
  CHECK(steps_of(xla_run("other")).second.empty());

  std::string lane;
  for (int i = 0; i < 3; ++i)
    lane += fmt::format(
        ",\n"
        R"({{"ph":"X","pid":3,"tid":8,"name":"{}","ts":{},"dur":1900}})",
        40 + i, 1000 + 2000 * i);
  const auto [lane_name, own] = steps_of(xla_run("PjitFunction(train)", lane));
  CHECK(lane_name == "Steps");
  REQUIRE(own.size() == 3);
  CHECK(own[1].span == Span{3'000'000, 4'900'000});

  std::string stated;
  for (int i = 0; i < 6; ++i)
    stated += fmt::format(
        ",\n"
        R"({{"ph":"X","pid":701,"tid":1,"name":"train","ts":{},"dur":900,"args":{{"step_num":"{}"}}}})",
        995 + 1000 * i, i);
  CHECK(steps_of(xla_run("PjitFunction(train)", lane + stated)).first == "train");
}
