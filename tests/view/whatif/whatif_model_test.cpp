// Changes as the window makes them, and what is drawn of their replay.
#include "core/view/whatif/whatif_model.h"

#include <doctest/doctest.h>

#include "core/replay/changes.h"
#include "core/view/answers.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Two steps. In each: an operator of 100 us launches a kernel of 200 us, a wait for it; in the second step 1 ms of pause
// before.
std::string two_steps() {
  std::string text;
  int correlation = 1;
  for (const int at : {0, 1000}) {
    const int pause = at > 0 ? 1000 : 0, op = at + pause + 10;
    const auto with = [&] { return R"(, "args": {"correlation": )" + std::to_string(correlation); };
    const auto us = [](int t) { return std::to_string(t); };
    text += slice("ProfilerStep#" + us(correlation), us(at), us(pause + 500), "", "user_annotation") + ",";
    if (pause > 0) text += slice("pause", us(at + 5), us(pause), "", "user_annotation") + ",";
    text += slice("aten::mm", us(op), "100") + "," +
            slice("cudaLaunchKernel", us(op + 80), "10", with() + "}", "cuda_runtime") + "," +
            slice("gemm", us(op + 95), "200", with() + R"(, "device": 0, "stream": 7})", "kernel", "70") + "," +
            slice("cudaDeviceSynchronize", us(op + 110), "190", "", "cuda_runtime") + (at > 0 ? "" : ",");
    ++correlation;
  }
  return events(text);
}

struct Replays {
  explicit Replays(std::shared_ptr<const Trace> trace) : document(std::move(trace)) {
    document.diagnose();
    base = answer(document, ReplayBaseQuestion{}, nullptr);
    REQUIRE(base);
  }
  std::shared_ptr<const WhatIfAnswer> with(const WhatIfChanges& changes) const {
    auto out = answer(document, WhatIfQuestion{changes, base}, nullptr);
    REQUIRE(out);
    return out;
  }
  Ns after(const WhatIfChanges& changes) const { return with(changes)->after.result.after; }
  SliceId named(std::string_view name) const { return document.names.slices_named(document.trace.strings.find(name)).front(); }
  WhatIfChanges read(std::string_view list) const { return *read_what_if(document, list); }
  WhatIfChanges item(WhatIfItem::Of of, std::string_view name, double factor = 0) const {
    WhatIfItem item;
    item.of = of;
    item.slice = named(name);
    item.factor = factor;
    WhatIfChanges changes;
    changes.items.push_back(item);
    return changes;
  }

  Document document;
  std::shared_ptr<const ReplayBase> base;
};

}  // namespace

TEST_CASE("items take off the run what they are about") {
  const Replays a(load_text(two_steps()));
  const Ns now = a.base->now.result.after;
  CHECK(now == 2'500'000);
  CHECK(a.after(a.item(WhatIfItem::Of::slice, "pause")) == now - 1'000'000);
  // The wait, from 15 us into the kernel to 5 us after it, is 2 us long then.
  CHECK(a.after(a.item(WhatIfItem::Of::slice, "gemm")) == now - 188'000);
  CHECK(a.after(a.item(WhatIfItem::Of::name, "gemm")) == now - 376'000);
  CHECK(a.after(a.item(WhatIfItem::Of::name, "gemm", 0.5)) == now - 200'000);
  // The kernel begins 80 us sooner, by as much as its launch does.
  CHECK(a.after(a.item(WhatIfItem::Of::name, "aten::mm")) == now - 160'000);
  // A call that takes no time does not wait, either; the kernels still run.
  const auto no_wait = a.with(a.item(WhatIfItem::Of::name, "cudaDeviceSynchronize"));
  CHECK(no_wait->after.result.after <= now - 370'000);
  CHECK(no_wait->after.busy.after == 400'000);
  WhatIfItem gap;
  gap.of = WhatIfItem::Of::gap;
  gap.span = {305'000, 1'000'000};
  WhatIfChanges without_gap;
  without_gap.items.push_back(gap);
  CHECK(a.after(without_gap) < now - 600'000);
}

TEST_CASE("factors and toggles are those of the command line, and what takes longer does") {
  const Replays a(load_text(two_steps()));
  const auto list = [&](const std::vector<std::string>& words) {
    return replay(*a.base->model, *read_changes(a.document.trace, a.document.names, *a.base->model, words)).after;
  };
  CHECK(a.after(a.read("gpu 0.5")) == list({"gpu 0.5"}));
  CHECK(a.after(a.read("gpu 2")) == list({"gpu 2"}));
  CHECK(a.after(a.read("gpu 2")) > a.base->now.result.after);
  CHECK(a.after(a.read("host 0.25")) == list({"host 0.25"}));
  CHECK(a.after(a.read("no-wait")) == list({"no-wait"}));
  CHECK(a.after(a.read("graph")) == list({"graph"}));
  CHECK(a.after(a.read("overlap-copies")) == list({"overlap-copies"}));
  // Half of the time of twice the time.
  WhatIfChanges both = a.item(WhatIfItem::Of::name, "gemm", 0.5);
  both.gpu = 2;
  CHECK(a.after(both) == a.base->now.result.after);
}

TEST_CASE("the steps are together as long as the run that the headline is of, each until its work is done") {
  const auto sum = [](const std::vector<ReplayedStep>& steps, Span ReplayedStep::*when) {
    Ns out = 0;
    for (const ReplayedStep& step : steps) out += (step.*when).length();
    return out;
  };
  const Replays a(load_text(two_steps()));
  REQUIRE(a.base->now.steps.size() == 2);
  CHECK(a.base->now.steps[0].before == Span{0, 500'000});
  CHECK(a.base->now.steps[1].before == Span{500'000, 2'500'000});
  for (const char* name : {"needless_sync", "matmul_add_4096_active20"}) {  // the host waits; the host is ahead
    const Replays b(load_once(recording(name)));
    const auto faster = b.with(b.read("gpu 0.5; host 0.5"));
    const ReplayedRun& then = faster->after;
    REQUIRE(then.steps.size() == b.base->step.steps);
    CHECK(sum(then.steps, &ReplayedStep::before) == then.result.before);
    CHECK(sum(then.steps, &ReplayedStep::after) == then.result.after);
    for (const ReplayedStep& step : then.steps) CHECK((step.before.length() >= 0 && step.after.length() >= 0));
  }
}

TEST_CASE("a finding's item is the change that its gain is of") {
  std::size_t tried = 0;
  for (const char* name : {"needless_sync", "linear_eager", "matmul_add_64_active20"}) {
    const Replays a(load_once(recording(name)));
    const Diagnosis& diagnosis = *a.document.diagnosis();
    CHECK(a.base->now.result.before == diagnosis.plan.run);
    for (std::size_t f = 0; f < diagnosis.findings.size(); ++f) {
      const auto& gain = diagnosis.findings[f].gain;
      if (!gain || !gain->change || gain->time == 0) continue;
      WhatIfChanges changes;
      set_finding(changes, static_cast<std::int32_t>(f), true);
      CHECK(diagnosis.plan.run - a.after(changes) == gain->time);
      ++tried;
    }
    // Ticked one after the other, they are the plan.
    WhatIfChanges planned;
    for (const Plan::Item& item : diagnosis.plan.items) {
      set_finding(planned, item.finding, true);
      CHECK(a.after(planned) == item.after);
    }
  }
  CHECK(tried > 2);
}

TEST_CASE("a replayed GPU is drawn for as long as it is busy") {
  for (const char* name : {"needless_sync", "recorded_streams", "linear_compile"}) {
    const Replays a(load_once(recording(name)));
    CHECK(a.with({})->rows.empty());
    const auto faster = a.with(a.read("gpu 0.5; no-wait"));
    REQUIRE_FALSE(faster->rows.empty());
    for (const auto& row : faster->rows) {
      const RowSlices slices = row->slices();
      std::vector<Span> spans;
      for (std::size_t i = 0; i < faster->after.result.ops.size(); ++i)
        if (a.base->model->ops()[i].device == row->device()) spans.push_back(faster->after.result.ops[i]);
      const SpanSet busy = span_set(std::move(spans));
      for (std::size_t i = 1; i < slices.begin.size(); ++i) CHECK(slices.begin[i] >= slices.end[i - 1]);
      CHECK(row->busy().within({busy.front().begin, busy.back().end}) == length(busy));
    }
  }
}

TEST_CASE("menus offer a slice, its name, and for kernels half of the time") {
  const Replays a(load_text(two_steps()));
  const auto titles = [&](const std::vector<ItemChoice>& choices) {
    std::string out;
    for (const ItemChoice& choice : choices) out += choice.title + "|";
    return out;
  };
  CHECK(titles(choices_for_slice(a.document, a.named("gemm"))) ==
        "What if this took no time?|What if all 2 like it took no time?|What if all 2 like it took half?|");
  CHECK(titles(choices_for_slice(a.document, a.named("pause"))) == "What if this took no time?|");
  CHECK(titles(choices_for_name(a.document, a.named("gemm"))) == "What if all of these took no time?|What if they took half?|");
  const auto of_op = choices_for_slice(a.document, a.named("aten::mm"));
  REQUIRE(of_op.size() == 2);
  CHECK(words_of(a.document, of_op[1].item).title == "aten::mm (2)");
  CHECK(words_of(a.document, of_op[1].item).what == "takes no host time; waits in it stay");
  // One item a name, whichever slice was pointed at; the last choice holds.
  WhatIfChanges changes;
  for (const SliceId s : a.document.names.slices_named(a.document.trace.strings.find("gemm")))
    for (const ItemChoice& choice : choices_for_name(a.document, s)) set_item(changes, choice.item);
  REQUIRE(changes.items.size() == 1);
  CHECK(words_of(a.document, changes.items[0]).what == "takes half of its time");
  remove_item(changes, 0);
  CHECK(changes.empty());
}

TEST_CASE("changes are read from text, and what is none is reported") {
  const Replays a(load_text(two_steps()));
  const auto read = read_what_if(a.document, "gpu 0.5; host 0.25 ;no-wait;graph;overlap-copies;roofline; remove aten::mm;");
  REQUIRE(read.ok());
  CHECK(read->gpu == 0.5);
  CHECK(read->host == 0.25);
  CHECK((read->no_wait && read->graph && read->overlap_copies && read->roofline));
  CHECK(read->items.size() == 1);
  CHECK(read_what_if(a.document, "")->empty());
  for (const char* wrong : {"gpu", "gpu x", "gpu -1", "gpu 3", "gpu nan", "remove", "remove nothing", "faster", "gpu 0.5x"})
    CHECK_FALSE(read_what_if(a.document, wrong).ok());
}

TEST_CASE("a replay that is cancelled gives nothing") {
  const Replays a(load_text(two_steps()));
  const std::atomic<bool> cancel{true};
  CHECK_FALSE(answer(a.document, ReplayBaseQuestion{}, &cancel));
  CHECK_FALSE(answer(a.document, WhatIfQuestion{a.read("gpu 0.5"), a.base}, &cancel));
}

TEST_CASE("without GPU work there is nothing to replay") {
  const Replays a(load_text(events(slice("aten::mm", "1", "5"))));
  CHECK(a.base->model->empty());
  CHECK(a.base->now.path.path().empty());
}
