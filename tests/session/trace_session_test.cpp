#include "core/session/trace_session.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/analyze/work/work_table.h"
#include "core/base/parallel.h"
#include "core/diagnose/diagnose.h"
#include "core/replay/replay.h"
#include "core/view/document.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Every fact as an address.
std::vector<const void*> facts_of(const TraceSession& s) {
  return {&s.lanes(),   &s.links(),      &s.names(),      &s.ops(),       &s.account(),  &s.steps(),
          &s.kernels(), &s.usage(),      &s.streams(),    &s.memory(),    &s.counters(), &s.op_events(TableMode::exact),
          &s.work(),    s.model().get(), &headline_of(s), diagnosis_of(s)};
}

}  // namespace

TEST_CASE("each fact is made once, whichever thread asks first") {
  const TraceSession session(load_once(recording("transformer_baseline")));
  std::vector<std::vector<const void*>> got(4);
  parallel_for(4, got.size(), [&](std::size_t i) { got[i] = facts_of(session); });
  for (const auto& facts : got) CHECK(facts == got[0]);
  CHECK(session.work().counted_ns > 0);
  CHECK(std::find(got[0].begin(), got[0].end(), nullptr) == got[0].end());
}

TEST_CASE("a document shows the facts of its session") {
  const Document d(load_once(recording("transformer_baseline")));
  CHECK(d.analysis() == nullptr);
  CHECK(d.headline() == nullptr);
  d.diagnose();
  CHECK(d.analysis() == &d.session);
  CHECK(d.headline() == &headline_of(d.session));
  CHECK(d.diagnosis() == diagnosis_of(d.session));
}

TEST_CASE("a cancelled model, prefetch or diagnosis leaves nothing behind, and is made when it is asked for again") {
  const TraceSession session(load_once(recording("transformer_baseline")));
  const std::atomic<bool> cancelled = true;
  CHECK_FALSE(session.prefetch(&cancelled));
  CHECK(session.model(&cancelled) == nullptr);
  CHECK(diagnosis_of(session, &cancelled) == nullptr);
  CHECK(session.if_ready<Diagnosis>() == nullptr);
  CHECK(session.prefetch());
  CHECK(session.model() != nullptr);
  const Diagnosis* const diagnosis = diagnosis_of(session);
  CHECK(diagnosis != nullptr);
  CHECK(diagnosis == session.if_ready<Diagnosis>());
}

TEST_CASE("what a cancelled query left unfinished is not what the next one reads") {
  std::atomic<bool> cancelled = true;
  const auto trace = load_once(recording("transformer_baseline"));
  const TraceSession session(trace, {.cancel = &cancelled}), whole(trace);
  CHECK(session.work().calls.empty());
  CHECK(session.ops().size() == whole.ops().size());
  CHECK(session.names().used_names().size() == whole.names().used_names().size());
  cancelled = false;
  CHECK(session.links().counts().joined_to_call == whole.links().counts().joined_to_call);
  CHECK(session.work().counted_ns == whole.work().counted_ns);
}

TEST_CASE("a document shows no finding before the facts that panels read beside it") {
  const Document d(load_once(recording("transformer_baseline")));
  REQUIRE(diagnosis_of(d.session) != nullptr);  // as a query for findings asks
  CHECK(d.diagnosis() == nullptr);
  d.judge();
  CHECK(d.diagnosis() == diagnosis_of(d.session));
}

TEST_CASE("a fact whose making failed is tried again") {
  const TraceSession session(load_once(recording("transformer_baseline")));
  int asked = 0;
  const auto make = [&] {
    if (++asked == 1) throw std::runtime_error("once");
    return std::make_unique<const int>(7);
  };
  CHECK_THROWS_AS((void)session.fact<int>(make), std::runtime_error);
  CHECK(session.if_ready<int>() == nullptr);
  CHECK(*session.fact<int>(make) == 7);
  CHECK(*session.fact<int>(make) == 7);
  CHECK(asked == 2);
}
