#include "core/analyze/work/lazy_work_table.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/analyze/work/work_table.h"
#include "core/base/parallel.h"
#include "core/load/arg_texts.h"
#include "core/view/document.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("the table of work is made once, whoever asks, and is that of the analysis") {
  const Document d(load_once(recording("transformer_baseline")));
  std::atomic<int> read = 0;
  const LazyWorkTable work(d.trace, d.lanes, d.links, [&](const Trace& trace, std::vector<SliceId> slices) {
    ++read;
    return concrete_inputs()(trace, std::move(slices));
  });
  const auto analysis = Analysis::make(d.trace, d.lanes, d.links, nullptr, nullptr, &work);
  CHECK(read == 0);
  std::vector<const WorkTable*> got(4);
  parallel_for(4, got.size(), [&](std::size_t i) { got[i] = i == 0 ? &analysis->work() : &work.get(); });
  for (const WorkTable* table : got) CHECK(table == got[0]);
  CHECK(read == 1);
  CHECK(got[0]->counted_ns > 0);
  d.diagnose();
  CHECK(d.analysis()->work().counted_ns == got[0]->counted_ns);
}

TEST_CASE("a table of work that failed is tried again") {
  const Document d(load_once(recording("transformer_baseline")));
  int asked = 0;
  const LazyWorkTable work(d.trace, d.lanes, d.links, [&](const Trace&, const std::vector<SliceId>&) -> ArgTexts {
    if (++asked == 1) throw std::runtime_error("once");
    return {};
  });
  CHECK_THROWS_AS((void)work.get(), std::runtime_error);
  CHECK_FALSE(work.get().calls.empty());
  CHECK(asked == 2);
}
