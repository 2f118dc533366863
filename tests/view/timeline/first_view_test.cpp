// Where the timeline is when a trace opens, and what the strip above it says of the whole.
#include "core/view/timeline/first_view.h"

#include <doctest/doctest.h>

#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/overview.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Work from 0 to 90 us, and what the profiler says of itself until `end_us`.
std::string work_and_profiler(std::string_view end_us) {
  return events(slice("aten::add", "0", "90") +
                R"json(,{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
      "tid": "PyTorch Profiler", "ts": 0, "dur": )json" +
                std::string(end_us) + "}");
}

}  // namespace

TEST_CASE("a trace opens at its work where that is a small part of it, else at all of it") {
  const auto most = load_text(work_and_profiler("100")), little = load_text(work_and_profiler("3000"));
  CHECK(first_view(*most).span == fit(most->span).span);
  CHECK(first_view(*little).span.begin == fit({0, 90'000}).span.begin);
  CHECK(first_view(*little).span.end == fit({0, 90'000}).span.end);
  const auto nothing = load_text(events(R"json({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
      "tid": "PyTorch Profiler", "ts": 0, "dur": 100})json"));
  CHECK(first_view(*nothing).span == fit(nothing->span).span);
}

TEST_CASE("a crop opens at the part that was cut out, not at what reaches over its ends") {
  const auto crop_of = [](std::string_view whole_end) {
    return load_text("{\"gapscopeCrop\": {\"from_ns\": 20000, \"to_ns\": 60000, \"of_begin_ns\": 0, \"of_end_ns\": " +
                     std::string(whole_end) + "}, " +
                     events(slice("step", "0", "90") + "," + slice("aten::add", "30", "5")).substr(1));
  };
  const auto crop = crop_of("90000");
  CHECK(first_view(*crop).span.begin == fit({20'000, 60'000}).span.begin);
  CHECK(first_view(*crop).span.end == fit({20'000, 60'000}).span.end);
  CHECK(first_view(*crop_of("50000")).span == fit(crop->span).span);  // is no crop's mark
}

TEST_CASE("of a GPU's busy time the strip shows exposed communication") {
  const Document document(load_once(recording("ddp_delayed_rank0")));
  BusyStrips strips = busy_strips(document);
  add_communication(document, strips);
  CHECK(strips.communication.empty());  // there is no account yet
  document.analyze();
  add_communication(document, strips);
  REQUIRE(strips.communication.size() == strips.gpu.size());
  for (std::size_t i = 0; i < strips.gpu.size(); ++i) CHECK(strips.communication[i] <= strips.gpu[i]);
  const DeviceAccount& device = *account_of(document)->busiest();
  const double share =
      static_cast<double>(device.times.exposed_communication) / static_cast<double>(document.trace.span.length());
  CHECK(share > 0.5);
  CHECK(mean_of(strips.communication, 0, 1) == doctest::Approx(share).epsilon(0.02));
}

TEST_CASE("the strip of a GPU with kernels narrower than its parts is as high as their share of the time") {
  constexpr int kKernels = 20'000;  // of 2 us, every 10 us: about ten a part
  std::string text;
  for (int i = 0; i < kKernels; ++i)
    text += (i == 0 ? "" : ",") + slice("k", std::to_string(10 * i), "2", R"(,"args":{"device":0,"stream":7})", "kernel", "7");
  const auto document = document_from_text(events(text));
  const BusyStrips strips = busy_strips(*document);
  REQUIRE(strips.gpu.size() == static_cast<std::size_t>(kOverviewParts));
  CHECK(mean_of(strips.gpu, 0, 1) == doctest::Approx(0.2).epsilon(0.01));
  for (std::size_t i = 1; i + 1 < strips.gpu.size(); ++i) {
    CHECK(strips.gpu[i] > 0.1f);
    CHECK(strips.gpu[i] < 0.31f);
  }
}
