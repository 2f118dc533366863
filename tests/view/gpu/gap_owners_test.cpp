#include "core/view/gpu/gap_owners.h"

#include <doctest/doctest.h>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr Ns kUs = 1000;

std::shared_ptr<const GapOwners> owners_of(const Document& document, std::optional<Span> range = std::nullopt) {
  document.analyze();
  return answer(document, GapOwnersQuestion{range}, nullptr);
}

// train.py: main calls step twice; the first call has two operators in PyTorch's optimizer. Gaps of 6, 210, 160, 60, 345 and
// 180 us.
std::shared_ptr<const Document> two_steps() {
  KinetoText text;
  text.slice("python_function", "train.py(10): main", "100", "1", 0, 1000);
  text.slice("python_function", "train.py(41): step", "100", "1", 10, 390);
  text.slice("python_function", "torch/optim/adam.py(5): step", "100", "1", 20, 370);
  text.slice("cpu_op", "aten::sqrt", "100", "1", 30, 70);
  text.slice("cpu_op", "aten::div", "100", "1", 100, 100);
  text.slice("python_function", "train.py(41): step", "100", "1", 500, 400);
  text.launched(1, 0, 6, 4).launched(2, 210, 220, 10).launched(3, 380, 390, 10);
  text.launched(4, 450, 460, 5).launched(5, 800, 810, 10);
  return document_from_text(text.text());
}

Ns length_of(const Document& document, const ChosenGap& gap) {
  return document.analysis()->account().device(gap.device)->gaps[gap.gap].span.length();
}

}  // namespace

TEST_CASE("gaps go by the innermost function of the program's own code, the costliest first") {
  const auto document = two_steps();
  const auto owners = owners_of(*document);
  std::string rows;
  for (const GapOwner& row : owners->rows)
    rows += fmt::format("{} {} {} {} {} {}\n", row.words.name, row.words.place, idle_cause_key(row.cause), row.count,
                        row.sum / kUs, row.longest / kUs);
  CHECK(rows ==
        "step train.py:41 python 2 505 345\nmain train.py:10 python 2 240 180\n"
        "step train.py:41 operator 1 210 210\nmain train.py:10 launching 1 6 6\n");
  CHECK(owners->idle == 961 * kUs);
  // A row leads to its longest gap, then to the next shorter, whatever their order in time.
  std::optional<ChosenGap> gap;
  for (const Ns expected : {345, 160, 345}) {
    gap = next_of_owner(*owners, 0, gap);
    CHECK(length_of(*document, *gap) == expected * kUs);
    CHECK(owners->row_of(*gap) == 0);
  }
  CHECK(length_of(*document, next_of_owner(*owners, 1, gap)) == 180 * kUs);
  CHECK(owners->row_of(ChosenGap{7, 0}) == -1);
}

TEST_CASE("code that Inductor generated owns no gap: the function that called it does") {
  KinetoText text;
  text.slice("python_function", "train.py(10): main", "100", "1", 0, 500);
  text.slice("python_function", "/tmp/torchinductor_root/ab/cab.py(198): call", "100", "1", 20, 400);
  text.launched(1, 0, 6, 4).launched(2, 300, 310, 10);
  const auto owners = owners_of(*document_from_text(text.text()));
  REQUIRE_FALSE(owners->rows.empty());
  for (const GapOwner& row : owners->rows) CHECK(row.words.name == "main");
}

TEST_CASE("of a selected time only the gaps that begin in it have owners") {
  const auto document = two_steps();
  const Ns zero = document->trace.span.begin;
  const auto owners = owners_of(*document, Span{zero + 300 * kUs, zero + 420 * kUs});
  REQUIRE(owners->rows.size() == 1);
  CHECK(owners->rows[0].words.name == "main");
  CHECK(owners->rows[0].sum == 60 * kUs);
}

TEST_CASE("without frames an annotation owns its operators, else the operator does; steps of the profiler own nothing") {
  KinetoText text;
  text.slice("user_annotation", "ProfilerStep#1", "100", "1", 0, 500);
  text.slice("user_annotation", "Optimizer.step#Adam.step", "100", "1", 20, 180);
  text.slice("cpu_op", "aten::sqrt", "100", "1", 30, 150);
  text.slice("cpu_op", "aten::linear", "100", "1", 230, 100);
  text.slice("cpu_op", "aten::addmm", "100", "1", 235, 90);
  text.slice("user_annotation", "ProfilerStep#2", "100", "1", 500, 500);
  text.launched(1, 0, 6, 4).launched(2, 170, 190, 30).launched(3, 310, 320, 10).launched(4, 600, 610, 10);
  const auto document = document_from_text(text.text());
  const auto owners = owners_of(*document);
  std::vector<std::string> names;
  for (const GapOwner& row : owners->rows) names.push_back(row.words.name);
  CHECK(names == std::vector<std::string>{"between operators", "Optimizer.step#Adam.step", "aten::addmm", "cudaLaunchKernel"});
  for (const GapOwner& row : owners->rows) CHECK(row.words.place.empty());
}

TEST_CASE("what the host was in during a gap is added up by owner and name") {
  const auto document = two_steps();
  owners_of(*document);
  const TimeAccount& account = document->analysis()->account();
  const DeviceGap& gap = account.busiest()->gaps[1];
  REQUIRE(gap.span.length() == 210 * kUs);
  const std::vector<OwnerTime> owners = owners_in(*document, account, gap);
  REQUIRE(owners.size() == 1);
  CHECK(owners[0].words.name == "step");
  CHECK(owners[0].time == 210 * kUs);
  REQUIRE(owners[0].inner.size() >= 2);
  CHECK(owners[0].inner[0].name == "aten::div");
  CHECK(owners[0].inner[0].time == 100 * kUs);
  CHECK(owners[0].inner[1].name == "aten::sqrt");
  CHECK(owners[0].inner[1].time == 70 * kUs);
  const std::vector<std::string> sooner = why_not_sooner(document->trace, gap);
  REQUIRE(sooner.size() == 3);
  CHECK(sooner[0] == "The host launched it 200 \xC2\xB5s after the GPU became idle.");
  CHECK(sooner[1] == "The largest part of the gap the host was in operators.");
  CHECK(sooner[2] == "It began 5.00 \xC2\xB5s after the launch call returned.");
  CHECK(why_not_sooner(document->trace, account.busiest()->gaps.back()).front().starts_with("Nothing follows"));
}

TEST_CASE("gaps of a DataLoader are the dataset's function's, and those of another cause stand apart") {
  const auto rows_of = [](std::string_view frame) {
    KinetoText text;
    text.slice("python_function", "train.py(87): step", "100", "1", 0, 1000);
    text.slice("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "100", "1", 20, 500);
    text.slice("python_function", "torch/utils/data/dataloader.py(799): _next_data", "100", "1", 21, 498);
    text.slice("python_function", frame, "100", "1", 30, 470);
    text.launched(1, 5, 10, 5).launched(2, 540, 550, 10).launched(3, 800, 810, 5);
    const auto document = document_from_text(text.text());
    std::string out;
    const auto owners = owners_of(*document);
    for (const GapOwner& row : owners->rows)
      out += row.words.name + " " + row.words.place + " " + std::string(idle_cause_key(row.cause)) + "\n";
    const TimeAccount& account = document->analysis()->account();
    const auto longest = account.busiest()->longest_gaps(1).front();
    return out + owners_in(*document, account, account.busiest()->gaps[longest]).front().words.place;
  };
  CHECK(rows_of("data.py(71): __getitem__") == "__getitem__ data.py:71 data_loading\nstep train.py:87 python\ndata.py:71");
  CHECK(rows_of("numpy/random.py(71): draw") == "step train.py:87 data_loading\nstep train.py:87 python\ntrain.py:87");
}

TEST_CASE("the owners of every recording have all of its gaps") {
  for (const auto& path : real_traces()) {
    const Document document(load_once(path));
    const auto owners = owners_of(document);
    REQUIRE(owners);
    Ns idle = 0;
    std::size_t gaps = 0;
    for (const DeviceAccount& device : document.analysis()->account().devices())
      idle += device.times.idle_total(), gaps += device.gaps.size();
    CAPTURE(path.string());
    CHECK(owners->gaps.size() == gaps);
    CHECK(owners->idle == idle);
    Ns before = idle;
    for (const GapOwner& row : owners->rows) {
      CHECK(row.sum <= before);
      CHECK(row.longest <= row.sum);
      CHECK_FALSE(row.words.name.empty());
      before = row.sum;
    }
  }
}
