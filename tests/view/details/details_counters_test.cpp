#include "core/view/details/details_sections.h"

#include <doctest/doctest.h>

#include "tests/support/load_text.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;

namespace {

std::string counter(int us, const char* name, const char* args) {
  return ",\n{\"ph\": \"C\", \"name\": \"" + std::string(name) + "\", \"pid\": 0, \"ts\": " + std::to_string(us) +
         ", \"args\": {" + args + "}}";
}
std::string work(int us, int dur, const char* name, int correlation, int tid = 1) {
  const std::string id = std::to_string(correlation);
  return ",\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9, \"tid\": " +
         std::to_string(tid) + ", \"ts\": " + std::to_string(100 + correlation) +
         ", \"dur\": 1, \"args\": {\"correlation\": " + id + "}}" + ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" +
         name + "\", \"pid\": 0, \"tid\": 7, \"ts\": " + std::to_string(us) + ", \"dur\": " + std::to_string(dur) +
         ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " + id + "}}";
}

// A long kernel and four short ones of one name, launched by an operator; a step holds all, one of another thread too.
std::shared_ptr<const Document> measured() {
  std::string text = R"({"traceEvents": [
{"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
{"ph": "X", "cat": "user_annotation", "name": "step", "pid": 9, "tid": 1, "ts": 90, "dur": 50},
{"ph": "X", "cat": "cpu_op", "name": "aten::op", "pid": 9, "tid": 1, "ts": 100, "dur": 10})";
  text += work(1000, 200, "long", 1);
  for (int i = 0; i < 4; ++i) text += work(1200 + 15 * i, 15, "short", 2 + i);
  text += work(1300, 10, "alone", 6, 2) + work(1400, 100, "launched later", 50, 2);
  text += counter(900, "Counter sampling", "\"interval us\": 20") + counter(1600, "Counter sampling", "\"interval us\": 0");
  text += counter(900, "SM", "\"active %\": 0, \"tensor pipe %\": 0") +
          counter(1000, "SM", "\"active %\": 90, \"tensor pipe %\": 80");
  text += counter(1200, "SM", "\"active %\": 50, \"tensor pipe %\": 0") +
          counter(1260, "SM", "\"active %\": 10, \"tensor pipe %\": 0");
  text += counter(900, "DRAM", "\"of peak %\": 0") + counter(1200, "DRAM", "\"of peak %\": 70") +
          counter(1260, "DRAM", "\"of peak %\": 0");
  auto doc = test::document_from_text(text + "]}");
  doc->analyze();
  return doc;
}

SliceId named(const Document& doc, std::string_view name) {
  for (std::size_t s = 0; s < doc.trace.slice_count(); ++s)
    if (doc.trace.name(SliceId(s)) == name) return SliceId(s);
  return {};
}

std::string line(const DetailsSection& section, std::string_view key) {
  for (const DetailsLine& l : section.lines)
    if (l.key == key) return l.value;
  return {};
}

}  // namespace

TEST_CASE("a kernel of two samples or more has its own means and its place") {
  const auto doc = measured();
  const DetailsSection section = counters_of(*doc, named(*doc, "long"));
  CHECK(section.title == "Counters of GPU 0");
  CHECK(line(section, "place") == "tensor-bound");
  CHECK(line(section, "SM active") == "90.0 %");
  CHECK(line(section, "rests on") == "10 samples");
}

TEST_CASE("a shorter one has those of its name's launches one after another, or says that it is too short") {
  const auto doc = measured();
  const DetailsSection pooled = counters_of(*doc, named(*doc, "short"));
  CHECK(line(pooled, "place") == "memory-bound");
  CHECK(line(pooled, "DRAM of peak") == "70.0 %");
  CHECK(line(pooled, "rests on") == "3 samples in 4 launches of this name");
  const DetailsSection alone = counters_of(*doc, named(*doc, "alone"));
  CHECK(alone.lines.empty());
  CHECK(alone.note == "Too short to measure: it lasts less than two samples.");
}

TEST_CASE("an operator has the means of what its thread launched, a step of what any thread did") {
  const auto doc = measured();
  const DetailsSection op = counters_of(*doc, named(*doc, "aten::op"));
  CHECK(line(op, "rests on") == "13 samples in 5 GPU operations launched here");
  CHECK(line(op, "SM active") == "80.8 %");  // 200 us of 90 and 60 us of 50
  const DetailsSection step = counters_of(*doc, named(*doc, "step"));
  CHECK(line(step, "rests on") == "13 samples in 6 GPU operations launched here");
}

TEST_CASE("without counters there is nothing to say") {
  const auto doc = test::document_from_text(R"({"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7}}]})");
  CHECK(counters_of(*doc, named(*doc, "k")).title.empty());
}

TEST_CASE("any kernel with counters of DRAM has its bytes, on average of the launches of its name") {
  std::string text = R"({"traceEvents": [
{"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}})";
  text += work(1000, 200, "long", 1) + work(1300, 100, "long", 2);
  text += counter(900, "Counter sampling", "\"interval us\": 20") + counter(1600, "Counter sampling", "\"interval us\": 0");
  text += counter(900, "DRAM", "\"read GB/s\": 3000, \"write GB/s\": 1000, \"of peak %\": 85");
  auto doc = test::document_from_text(text + "]}");
  doc->analyze();
  const auto bytes = measured_bytes(*doc, named(*doc, "long"));
  REQUIRE(bytes.has_value());
  CHECK(*bytes == doctest::Approx(4000.0 * 150'000));
  const auto without = measured();
  CHECK_FALSE(measured_bytes(*without, named(*without, "long")).has_value());
}
