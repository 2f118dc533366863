#include "core/ranks/rank_rows.h"

#include <doctest/doctest.h>

#include "core/base/span_set.h"
#include "core/ranks/read_rank.h"
#include "core/session/trace_session.h"
#include "tests/support/real_traces.h"

using namespace gapscope;

namespace {

const FullRank& rank() {
  static const FullRank full = [] {
    auto opened = open_rank(test::recording("fsdp_rank1").string(), 1);
    REQUIRE(opened.ok());
    return std::move(*opened);
  }();
  return full;
}

SpanSet spans_of(GpuClass wanted) {
  std::vector<Span> spans;
  for (const GpuOp& op : rank().session->ops())
    if (op.gpu_class == wanted && op.device == rank().device) spans.push_back(op.span);
  return span_set(std::move(spans));
}

}  // namespace

TEST_CASE("the work of a row until any time is the union of its operations until then") {
  const RankRows rows = rank_rows(rank(), 1'000'000);
  for (const auto& [row, wanted] :
       {std::pair(&rows.compute, GpuClass::compute), {&rows.communication, GpuClass::communication}}) {
    const SpanSet spans = spans_of(wanted);
    REQUIRE(!spans.empty());
    const Ns begin = spans.front().begin, end = spans.back().end;
    CHECK(row->busy_until(begin) == 0);
    CHECK(row->busy_until(end) == length(spans));
    CHECK(row->busy_until(end + 1'000'000'000) == length(spans));
    for (Ns t = begin; t < end; t += (end - begin) / 97) CHECK(row->busy_until(t) == length_within(spans, {begin, t}));
  }
}

TEST_CASE("a row has no more slices than there is room for, and forgets no work") {
  const RankRows whole = rank_rows(rank(), 1'000'000), few = rank_rows(rank(), 40);
  CHECK(whole.compute.slices.size() > 200);
  CHECK(few.compute.slices.size() <= 41);
  CHECK(few.compute.slices.size() > 20);
  CHECK(few.compute.slices.back().busy_before == whole.compute.slices.back().busy_before);
  for (const RowSlice& s : few.compute.slices) CHECK(few.compute.busy_until(s.begin) == whole.compute.busy_until(s.begin));
}

TEST_CASE("the slice at a time has the name of what ran then") {
  const RankRows rows = rank_rows(rank(), 1'000'000);
  const RowSlice& s = rows.compute.slices[10];
  CHECK(rows.compute.at(s.begin) == &s);
  CHECK(rows.compute.at(s.end() - 1) == &s);
  CHECK(rows.compute.at(rows.compute.slices.front().begin - 1) == nullptr);
  CHECK(rows.compute.at(rows.compute.slices.back().begin) == nullptr);
  CHECK(!rows.names[s.name].empty());
}
