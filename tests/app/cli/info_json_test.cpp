#include "app/cli/info.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/tiny_traces.h"

using namespace gapscope;
using test::document_from_text;

TEST_CASE("info of one launch counts what is in the file") {
  const auto json = nlohmann::json::parse(info_json(*document_from_text(test::kOneLaunch)));
  CHECK(json["events"] == 9);
  CHECK(json["slices"] == 9);
  CHECK(json["begin_ns"] == 100'000);
  CHECK(json["end_ns"] == 1'000'000);
  REQUIRE(json["lanes"].size() == 2);
  CHECK(json["lanes"][0]["kind"] == "cpu_thread");
  CHECK(json["lanes"][0]["process"] == "415");
  CHECK(json["lanes"][0]["max_depth"] == 2);
  CHECK(json["lanes"][0]["busy_ns"] == 900'000);
  CHECK(json["lanes"][0]["total_dur_ns"] == 960'500);
  CHECK(json["lanes"][1]["kind"] == "gpu_stream");
  CHECK(json["lanes"][1]["busy_ns"] == 8'500);
  CHECK(json["launches"] == nlohmann::json{{"gpu_slices", 4}, {"joined_to_call", 4}, {"joined_to_op", 4}});
  CHECK(json["devices"][0]["name"] == "NVIDIA H200");
  CHECK(json["devices"][0]["sms"] == 132);
  CHECK(json["report"].empty());
}

TEST_CASE("info has the promised keys in the promised order") {
  const auto json = nlohmann::ordered_json::parse(info_json(*document_from_text(test::kOneLaunch)));
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  CHECK(keys == std::vector<std::string>{"file", "bytes", "events", "phases", "slices", "instants", "counter_samples",
                                         "begin_ns", "end_ns", "lanes", "flows", "launches", "devices", "producer", "doubts",
                                         "report", "load"});
}

TEST_CASE("names that are not UTF-8 do not break the JSON") {
  const auto doc = document_from_text(
      "[{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"c\\u0007\xff\",\"pid\":\"p\xff\",\"tid\":\"t\xc3\",\"ts\":1,\"dur\":1}"
      "]");
  CHECK(nlohmann::json::parse(info_json(*doc))["slices"] == 1);
}

TEST_CASE("info for people holds no control character of the trace") {
  const auto doc =
      document_from_text(R"([{"ph":"X","name":"n","pid":"p\u001b[31m","tid":"t\u0007","ts":1,"dur":1},{"ph":"?\u001b"}])");
  const std::string text = info_text(*doc);
  for (const char c : text) {
    CAPTURE(static_cast<int>(c));
    CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
  }
}

TEST_CASE("info says how fast the load was, what each stage took and what an event costs") {
  const auto doc = document_from_text(test::kOneLaunch);
  const auto load = nlohmann::json::parse(info_json(*doc))["load"];
  for (const char* figure : {"seconds", "mb_per_s", "events_per_s", "bytes_per_event", "parse_seconds", "index_seconds"}) {
    CAPTURE(figure);
    CHECK(load[figure].get<double>() > 0);
  }
  CHECK(load["seconds"].get<double>() == doctest::Approx(doc->trace.figures.seconds + doc->index_seconds));
  const std::string text = info_text(*doc);
  for (const char* word : {" MB/s, ", " events a second", "\nstages ", " indexing ", " at peak, ", " bytes an event"}) {
    CAPTURE(word);
    CHECK(text.find(word) != std::string::npos);
  }
}
