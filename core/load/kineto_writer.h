#pragma once
// Kineto's JSON, written of what the files of other profilers hold, for the ordinary loader.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"

namespace gapscope {

// In quotes; what is no UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);
void append_number(std::string& out, std::int64_t number);
// Microseconds with three decimals, exactly.
void append_us(std::string& out, Ns ns);

struct KinetoPlace {
  std::string_view pid, tid;  // JSON: a number, or a text in quotes
};

// Appends events to `out`, each with a comma before it but the first.
class KinetoWriter {
 public:
  explicit KinetoWriter(std::string& out) : out_(out) {}

  // Without a `begin` the event has no "ts", which the loader counts. `length` of a slice; none leaves it open (phase 'B').
  void slice(std::string_view category, std::string_view name, KinetoPlace at, std::optional<Ns> begin,
             std::optional<Ns> length);
  void instant(std::string_view category, std::string_view name, KinetoPlace at, std::optional<Ns> time);
  void counter(std::string_view name, KinetoPlace at, std::optional<Ns> time, double value);
  // "process_name", "thread_name", "process_labels"; sort indexes.
  void name(std::string_view what, KinetoPlace at, std::string_view key, std::string_view text);
  void sort_index(std::string_view what, KinetoPlace at, std::int64_t index);

  // Of the event begun last; end() closes it.
  void arg(std::string_view key, std::int64_t number);
  void arg(std::string_view key, double number);
  void arg(std::string_view key, std::string_view text);
  void arg(std::string_view key, const char* text) { arg(key, std::string_view(text)); }
  void arg(std::string_view key, std::initializer_list<std::int64_t> numbers);
  template <std::integral Int>
  void arg(std::string_view key, Int number) {
    arg(key, static_cast<std::int64_t>(number));
  }
  void json_arg(std::string_view key, std::string_view json);
  void end();

  std::uint64_t events() const { return events_; }  // names aside

 private:
  void begin(char phase, std::string_view category, std::string_view name, KinetoPlace at, std::optional<Ns> time);
  void key(std::string_view key);

  std::string& out_;
  std::uint64_t events_ = 0;
  bool is_first_ = true, has_args_ = false;
};

}  // namespace gapscope
