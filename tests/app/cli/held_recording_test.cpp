#include "app/cli/held_recording.h"

#include <doctest/doctest.h>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "tests/support/gzip_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

TEST_CASE("a report holds a recording that is the one it speaks of, or says why not") {
  const TempFolder folder;
  const std::string text = numbered_slices(100);
  const std::string path = folder.write("a run.json", text);
  const auto stamp = stamp_of(path);
  const auto trace = load_trace(path);
  REQUIRE(trace.ok());
  const Document document(*trace);
  const auto whole = held_recording(document, stamp, {});
  REQUIRE(whole.ok());
  CHECK(whole->name == "a run.json.gz");
  CHECK(whole->packed == gzip_text(text));
  const Span span = (*trace)->span;
  const Span part = {span.begin, span.begin + span.length() / 2};
  const auto half = held_recording(document, stamp, part);
  REQUIRE(half.ok());
  CHECK(half->name == "a run.part.json.gz");
  CHECK(half->packed.size() < whole->packed.size());
  CHECK(whole->about == "The whole recording");
  const auto about = [&](Ns begin, Ns end) { return held_recording(document, stamp, Span{begin, end})->about; };
  CHECK(about(span.begin + 100'000, span.begin + 500'000) == "The recording from 100 µs to 500 µs");
  CHECK(about(span.begin + 500'000, span.end + 1) == "The recording from 500 µs to 995 µs");  // it ends there
  const auto refused = [&](const Result<HtmlRecording>& held) { return held.ok() ? std::string() : held.error().message; };
  CHECK(refused(held_recording(document, {}, {})).find("cannot be read a second time") != std::string::npos);
  CHECK(refused(held_recording(document, stamp, Span{span.end + 10, span.end + 20})).starts_with("No event of"));
  folder.write("a run.json", text + " ");
  for (const auto& of : {std::optional<Span>(), std::optional(part)})
    CHECK(refused(held_recording(document, stamp, of)).find("changed") != std::string::npos);
}
