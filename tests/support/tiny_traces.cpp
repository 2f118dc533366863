#include "tests/support/tiny_traces.h"

#include <doctest/doctest.h>

#include "core/load/load_trace.h"

namespace gapscope::test {

std::shared_ptr<const Document> document_from_text(std::string_view text) {
  Result<std::shared_ptr<const Trace>> trace = load_trace_from_text(text);
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  return std::make_shared<const Document>(*trace);
}

SliceId slice_named(const Document& doc, std::string_view name) {
  const auto slices = doc.names.slices_named(doc.trace.strings.find(name));
  REQUIRE(slices.size() == 1);
  return slices[0];
}

}  // namespace gapscope::test
