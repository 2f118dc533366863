// make_big IN OUT --mb N [--style pretty|compact|single-line]: multiplies a real trace in time to any size.
// Copy k is shifted by k times the length of the recording; ids (External id, correlation, flow ids, Sequence number,
// Record function id, Ev Idx, Python ids) are shifted by k times their largest value, so that every join stays inside its copy.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/load/byte_source.h"
#include "core/load/number_text.h"

namespace {

using Json = nlohmann::ordered_json;

std::string read_all(const std::string& path) {
  auto source = gapscope::open_source(path);
  if (!source) {
    std::fprintf(stderr, "%s\n", source.error().message.c_str());
    std::exit(1);
  }
  std::string text;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t had = text.size();
    text.resize(had + (1 << 22));
    got = *(*source)->read(text.data() + had, 1 << 22);
    text.resize(had + got);
  }
  return text;
}

constexpr std::string_view kIdKeys[] = {"External id",      "correlation",    "id", "Record function id", "Ev Idx", "Python id",
                                        "Python parent id", "Sequence number"};

// An event as pieces of text with numbers to be moved between them.
struct Piece {
  std::string text;
  std::int64_t value = 0;
  enum class What { text, time, id } what = What::text;
};

// Doubles cannot hold the times, so `ts` travels through the text: the parser is set to keep it as a string.
struct Event {
  std::vector<Piece> pieces;
};

class Splitter {
 public:
  Splitter(std::string_view style) : pretty_(style == "pretty") {}

  Event split(const Json& event, gapscope::Ns ts) {
    pieces_.clear();
    put(pretty_ ? "\n  {\n    " : "{");
    bool first = true;
    for (const auto& [key, value] : event.items()) {
      if (!first) put(pretty_ ? (key == "ts" || key == "args" ? ",\n    " : ", ") : ",");
      first = false;
      put(Json(key).dump() + (pretty_ ? ": " : ":"));
      if (key == "ts")
        number(ts, Piece::What::time);
      else if (key == "args")
        object(value);
      else if (is_id(key) && value.is_number_integer())
        number(value.get<std::int64_t>(), Piece::What::id);
      else
        scalar(value);
    }
    put(pretty_ ? "\n  }" : "}");
    return {std::move(pieces_)};
  }

 private:
  static bool is_id(const std::string& key) {
    for (const std::string_view k : kIdKeys) {
      if (key == k) return true;
    }
    return false;
  }
  void object(const Json& args) {
    put(pretty_ ? "{\n      " : "{");
    bool first = true;
    for (const auto& [key, value] : args.items()) {
      if (!first) put(pretty_ ? ",\n      " : ",");
      first = false;
      put(Json(key).dump() + (pretty_ ? ": " : ":"));
      if (is_id(key) && value.is_number_integer() && value.get<std::int64_t>() > 0)
        number(value.get<std::int64_t>(), Piece::What::id);
      else
        scalar(value);
    }
    put(pretty_ ? "\n    }" : "}");
  }
  void scalar(const Json& value) {
    // Durations were read as doubles: three decimals hold them exactly again.
    put(value.is_number_float() ? fmt::format("{:.3f}", value.get<double>())
                                : value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  void put(std::string_view text) {
    if (pieces_.empty() || pieces_.back().what != Piece::What::text) pieces_.push_back({});
    pieces_.back().text += text;
  }
  void number(std::int64_t value, Piece::What what) { pieces_.push_back({{}, value, what}); }

  bool pretty_;
  std::vector<Piece> pieces_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string in, out, style = "pretty";
  std::uint64_t megabytes = 1000;
  CLI::App app("Multiplies a real trace in time");
  app.add_option("in", in)->required();
  app.add_option("out", out)->required();
  app.add_option("--mb", megabytes);
  app.add_option("--style", style)->check(CLI::IsMember({"pretty", "compact", "single-line"}));
  CLI11_PARSE(app, argc, argv);

  std::string text = read_all(in);
  // ts as a string, so that its digits survive.
  std::string quoted;
  quoted.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0;;) {
    const std::size_t key = text.find("\"ts\":", at);
    if (key == std::string::npos) {
      quoted.append(text, at);
      break;
    }
    std::size_t begin = key + 5;
    while (text[begin] == ' ') ++begin;
    std::size_t end = begin;
    while (std::string_view("0123456789.-").find(text[end]) != std::string_view::npos) ++end;
    quoted.append(text, at, begin - at);
    quoted += '"' + text.substr(begin, end - begin) + '"';
    at = end;
  }
  Json trace = Json::parse(quoted, nullptr, false);
  if (trace.is_discarded()) {
    std::fprintf(stderr, "%s is not valid JSON.\n", in.c_str());
    return 1;
  }
  Splitter splitter(style);
  std::vector<Event> events;
  std::vector<Event> names;
  gapscope::Ns first = INT64_MAX, last = INT64_MIN;
  std::int64_t largest_id = 0;
  Json list = trace.is_array() ? trace : trace["traceEvents"];
  for (const Json& e : list) {
    const gapscope::Ns ts = e.contains("ts") && e["ts"].is_string() ? gapscope::parse_us(e["ts"].get<std::string>()).ns : 0;
    const bool is_name = e.value("ph", "") == "M";
    const double dur = e.contains("dur") && e["dur"].is_number() ? e["dur"].get<double>() : 0;
    if (e.value("ph", "") == "X") {
      first = std::min(first, ts);
      last = std::max(last, ts + static_cast<gapscope::Ns>(dur * 1000));
    }
    (is_name ? names : events).push_back(splitter.split(e, ts));
    for (const Piece& p : events.empty() ? std::vector<Piece>{} : events.back().pieces) {
      if (p.what == Piece::What::id) largest_id = std::max(largest_id, p.value);
    }
  }
  const gapscope::Ns length = last - first + 1'000'000;

  std::ofstream file(out, std::ios::binary);
  std::string buffer = "{\n  \"schemaVersion\": 1,\n";
  if (trace.is_object() && trace.contains("deviceProperties"))
    buffer += "\"deviceProperties\": " + trace["deviceProperties"].dump() + ",";
  for (const char* key : {"record_shapes", "profile_memory", "with_stack"}) {
    if (trace.is_object() && trace.contains(key)) buffer += fmt::format("\"{}\": 1,", key);
  }
  buffer += "\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  if (style == "single-line") std::erase(buffer, '\n');
  std::uint64_t written = 0;
  bool is_first = true;
  const std::uint64_t want = megabytes * 1'000'000;
  const auto emit = [&](const Event& e, std::int64_t copy) {
    if (!is_first) buffer += style == "compact" ? ",\n" : ",";
    is_first = false;
    for (const Piece& p : e.pieces) {
      if (p.what == Piece::What::text)
        buffer += p.text;
      else if (p.what == Piece::What::id)
        buffer += std::to_string(p.value + copy * largest_id);
      else {
        const gapscope::Ns t = p.value + copy * length;
        fmt::format_to(std::back_inserter(buffer), "{}.{:03}", t / 1000, t % 1000);
      }
    }
    if (buffer.size() > (1 << 20)) {
      file << buffer;
      written += buffer.size();
      buffer.clear();
    }
  };
  for (const Event& e : names) emit(e, 0);
  for (std::int64_t copy = 0; written + buffer.size() < want; ++copy) {
    for (const Event& e : events) {
      emit(e, copy);
      if (written + buffer.size() >= want) break;
    }
  }
  buffer += style == "single-line" ? "], \"traceName\": \"big\"}" : "\n  ],\n  \"traceName\": \"big\"\n}\n";
  file << buffer;
  return file.good() ? 0 : 1;
}
