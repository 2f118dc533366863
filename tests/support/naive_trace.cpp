#include "tests/support/naive_trace.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "core/load/byte_source.h"

namespace gapscope::test {
namespace {

// Numbers keep their text, so that times can be read digit by digit.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  NaiveTrace out;

  bool null() override { return value("null"); }
  bool boolean(bool b) override { return value(b ? "true" : "false"); }
  bool number_integer(number_integer_t n) override { return value(std::to_string(n)); }
  bool number_unsigned(number_unsigned_t n) override { return value(std::to_string(n)); }
  bool number_float(number_float_t, const string_t& text) override { return value(text); }
  bool string(string_t& text) override { return value(text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    if (depth_ == event_depth_ && in_events_) {
      fields_.clear();
      ++out.events;
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (in_events_ && depth_ == event_depth_) take();
    return true;
  }
  bool key(string_t& text) override {
    key_ = text;
    return true;
  }
  bool start_array(std::size_t) override {
    if (!in_events_ && (depth_ == 0 || (depth_ == 1 && key_ == "traceEvents"))) {
      in_events_ = true;
      event_depth_ = depth_ + 1;
    }
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    if (in_events_ && depth_ + 1 == event_depth_) in_events_ = false;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool value(std::string text) {
    if (in_events_ && depth_ == event_depth_ + 1) fields_[key_] = std::move(text);
    return true;
  }
  static Ns ns(const std::string& text) {
    const bool negative = text.starts_with('-');
    const std::string digits = negative ? text.substr(1) : text;
    const std::size_t point = digits.find('.');
    Ns whole = std::stoll(digits.substr(0, point)) * 1000;
    if (point != std::string::npos) {
      std::string fraction = digits.substr(point + 1) + "0000";
      whole += std::stoll(fraction.substr(0, 3)) + (fraction[3] >= '5' ? 1 : 0);
    }
    return negative ? -whole : whole;
  }
  void take() {
    const std::string& ph = fields_["ph"];
    out.flow_starts += ph == "s" ? 1u : 0u;
    out.flow_ends += ph == "f" ? 1u : 0u;
    if (ph != "X" && ph != "B" && ph != "E") return;
    NaiveSlice s{fields_["pid"], fields_["tid"], fields_["name"], fields_["cat"], ns(fields_["ts"]), 0};
    if (ph == "X") {
      s.end = s.begin + std::max<Ns>(0, ns(fields_["dur"]));
      out.slices.push_back(s);
    } else if (ph == "B") {
      open_[s.process + "/" + s.thread].push_back(s);
    } else if (auto& stack = open_[s.process + "/" + s.thread]; !stack.empty()) {
      stack.back().end = s.begin;
      out.slices.push_back(stack.back());
      stack.pop_back();
    }
  }

  std::map<std::string, std::string> fields_;
  std::map<std::string, std::vector<NaiveSlice>> open_;
  std::string key_;
  std::size_t depth_ = 0;
  std::size_t event_depth_ = 0;
  bool in_events_ = false;
};

}  // namespace

std::string whole_text(const std::string& path) {
  auto source = open_source(path);
  std::string text;
  if (!source) return text;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t had = text.size();
    text.resize(had + (1 << 20));
    got = *(*source)->read(text.data() + had, 1 << 20);
    text.resize(had + got);
  }
  return text;
}

NaiveTrace read_naively(const std::string& json) {
  Reader reader;
  nlohmann::json::sax_parse(json, &reader, nlohmann::json::input_format_t::json, false);
  std::sort(reader.out.slices.begin(), reader.out.slices.end());
  return std::move(reader.out);
}

}  // namespace gapscope::test
