#include "core/view/document.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "core/base/parallel.h"
#include "core/diagnose/verdict.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("the headline is there before the rules have looked, and stays as it was") {
  const Document document(load_text(events(slice("aten::mm", "0", "3")), 1));
  document.analyze();
  const std::atomic<bool> cancelled{true};
  document.judge(&cancelled);
  REQUIRE(document.headline());
  const Headline early = *document.headline();
  CHECK(early.verdict.starts_with(bound_name(early.bound)));
  CHECK(document.diagnosis() == nullptr);
  document.judge();
  REQUIRE(document.diagnosis());
  CHECK(document.diagnosis()->verdict == early.verdict);
  CHECK(document.diagnosis()->trust == early.trust);
}

TEST_CASE("a document whose making was cancelled is none, or was ready") {
  std::string inside;
  for (int i = 0; i < 200'000; ++i) {
    inside += (i ? "," : "") + slice("op " + std::to_string(i % 999), std::to_string((i * 7919) % 200'000), "3");
  }
  const std::shared_ptr<const Trace> trace = load_text(events(inside), 2);
  for (const int wait_us : {0, 500, 2000, 8000}) {
    std::atomic<bool> cancel{false};
    auto making = start([&] { return Document::make(trace, &cancel); });
    std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
    cancel = true;
    const auto document = making.get();
    if (document) CHECK(document->names.used_names().size() == 999);  // it was ready before
  }
  std::atomic<bool> cancelled{true};
  CHECK(Document::make(trace, &cancelled) == nullptr);
  CHECK(Document::make(trace, nullptr) != nullptr);
}
