#pragma once
// What an event says, picked but not yet put into rows. Tokens are views into the text. Private to the event parser.
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "core/build/raw_rows.h"
#include "core/load/event_keys.h"

namespace gapscope {

inline bool is_quoted(std::string_view token) { return token.size() >= 2 && token.front() == '"'; }
inline std::string_view bare(std::string_view token) { return is_quoted(token) ? token.substr(1, token.size() - 2) : token; }

// What the args say. Nothing here is cleared before it is needed: most events say little, and there are millions of them.
struct ArgFields {
  bool has_gpu = false;  // says something a GpuRow holds; else `gpu` is of an event before
  bool has_op = false;   // the same of `op`
  GpuRow gpu;
  OpRow op;                      // its texts are of the worker's own table
  bool has_step_number = false;  // a JAX annotation of a step
  std::string_view collective, annotated_stream;
  const char* collective_begin = nullptr;  // its key, and where the args end
  const char* end = nullptr;
  std::uint64_t external_id = 0;
  // [memory] instants
  std::int64_t bytes = 0, total_allocated = -1, total_reserved = -1, device_type = 0, device_id = -1;
  std::uint64_t address = 0;
  // ph:M
  std::string_view meta_name, meta_labels, meta_sort;

  // One by one: what `a = b = {}` stores in two halves it reads back as a whole, which waits for both.
  void clear() {
    has_gpu = has_op = has_step_number = false;
    collective = {};
    collective_begin = nullptr;
    annotated_stream = {};
    external_id = address = 0;
    bytes = device_type = 0;
    total_allocated = total_reserved = device_id = -1;
    meta_name = {};
    meta_labels = {};
    meta_sort = {};
  }
  GpuRow& gpu_row() {
    if (!has_gpu) gpu = {};
    has_gpu = true;
    return gpu;
  }
  OpRow& op_row() {
    if (!has_op) op = {};
    has_op = true;
    return op;
  }
};

struct EventFields {
  std::array<std::string_view, kEventKeys> tokens{};  // scalars and strings by EventKey, as they are in the text
  std::uint32_t seen = 0;                             // bit a key that is there
  std::uint32_t present = 0;                          // bit a key whose token is there; else the token is of an event before
  bool duplicate = false;                             // a key comes twice
  bool has_args = false;
  std::uint32_t non_finite = 0;
  ArgFields args;
  // ph:C, and whatever may turn out to be one: key and value tokens
  std::vector<std::pair<std::string_view, std::string_view>> series;

  static constexpr std::uint32_t bit(EventKey key) { return std::uint32_t{1} << static_cast<unsigned>(key); }
  std::string_view operator[](EventKey key) const {
    return (present & bit(key)) != 0 ? tokens[static_cast<std::size_t>(key)] : std::string_view{};
  }
  void begin_event() {
    seen = present = 0;
    duplicate = false;
    non_finite = 0;
    forget_args();
  }
  void forget_args() {
    if (!has_args) return;
    has_args = false;
    args.clear();
    series.clear();
  }
};

}  // namespace gapscope
