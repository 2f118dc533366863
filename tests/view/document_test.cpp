#include "core/view/document.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "core/base/parallel.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("a document whose making was cancelled is none, and is given up soon") {
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
    const auto asked = std::chrono::steady_clock::now();
    const auto document = making.get();
    CHECK(std::chrono::steady_clock::now() - asked < std::chrono::seconds(1));  // 0.1 on a quiet machine
    if (document) CHECK(document->names.used_names().size() == 999);            // it was ready before
  }
  std::atomic<bool> cancelled{true};
  CHECK(Document::make(trace, &cancelled) == nullptr);
  CHECK(Document::make(trace, nullptr) != nullptr);
}
