#include "core/view/timeline/shown_neighbours.h"

#include <doctest/doctest.h>

#include "core/view/document.h"
#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// module(forward(linear(addmm)) relu), where module and forward are Python.
struct Called {
  std::shared_ptr<const Document> document = Document::make(hand_trace({{"p",
                                                                         "main",
                                                                         LaneKind::cpu_thread,
                                                                         {{{"module", 0, 100, Kind::python}},
                                                                          {{"forward", 1, 40, Kind::python}, {"relu", 50, 60}},
                                                                          {{"linear", 2, 30}},
                                                                          {{"addmm", 3, 20}}}}}),
                                                            nullptr);
  LaneFolds folds;
  Called() { reset_folds(folds, document->trace); }
  SliceId named(std::string_view name) const {
    return document->names.slices_named(document->trace.strings.find(name)).front();
  }
  std::string name(SliceId slice) const { return slice.valid() ? std::string(document->trace.name(slice)) : "none"; }
};

}  // namespace

TEST_CASE("with Python frames folded, neighbours pass over them") {
  const Called c;
  CHECK(c.name(shown_parent(*c.document, c.folds, c.named("addmm"))) == "linear");
  CHECK(c.name(shown_parent(*c.document, c.folds, c.named("linear"))) == "none");
  CHECK(c.name(shown_next(*c.document, c.folds, c.named("linear"))) == "relu");
  CHECK(c.name(shown_previous(*c.document, c.folds, c.named("relu"))) == "linear");
  CHECK(c.name(shown_previous(*c.document, c.folds, c.named("linear"))) == "none");
}

TEST_CASE("with Python frames open, neighbours are those of the file") {
  Called c;
  toggle_python(c.folds);
  CHECK(c.name(shown_parent(*c.document, c.folds, c.named("linear"))) == "forward");
  CHECK(c.name(shown_child(*c.document, c.folds, c.named("module"))) == "forward");
  CHECK(c.name(shown_previous(*c.document, c.folds, c.named("relu"))) == "forward");
}

TEST_CASE("a slice of another thread is due to the step in which it begins") {
  const auto document = Document::make(
      hand_trace({{"p",
                   "main",
                   LaneKind::cpu_thread,
                   {{{"ProfilerStep#1", 0, 100, Kind::annotation}, {"ProfilerStep#2", 100, 200, Kind::annotation}}}},
                  {"p", "autograd", LaneKind::cpu_thread, {{{"MmBackward", 120, 140}, {"late", 300, 310}}}}}),
      nullptr);
  LaneFolds folds;
  reset_folds(folds, document->trace);
  const auto named = [&](std::string_view name) {
    return document->names.slices_named(document->trace.strings.find(name)).front();
  };
  CHECK(shown_cause(*document, folds, named("MmBackward")) == named("ProfilerStep#2"));
  CHECK_FALSE(shown_cause(*document, folds, named("late")).valid());
  CHECK_FALSE(shown_cause(*document, folds, named("ProfilerStep#2")).valid());
}
