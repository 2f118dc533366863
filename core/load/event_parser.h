#pragma once
// One trace event from its place in the structural index into rows of a RawChunk. Keys may come in any order, so
// everything is picked first and put down when the closing brace is reached: an event is taken whole or not at all.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/build/raw_rows.h"
#include "core/load/args_cache.h"
#include "core/load/event_fields.h"
#include "core/load/json_text.h"
#include "core/load/key_orders.h"
#include "core/load/number_text.h"

namespace gapscope {

class EventParser {
 public:
  static constexpr std::size_t kFailed = ~std::size_t{0};

  EventParser(LocalTables& tables, RawChunk& out) : tables_(tables), out_(out) {}

  // Rows go to the beginning of an empty chunk from now on.
  void begin_chunk() { ++chunk_number_; }
  // The text that the next events lie in. `at`: structural positions (StructuralIndex). `text_offset`: file offset of text[0].
  void set_text(std::string_view text, std::span<const std::uint32_t> at, std::uint64_t text_offset);

  // Parses the object whose '{' is at structural position `i`. Returns the structural position after its '}', or kFailed,
  // and then nothing was put down and nothing reported.
  std::size_t parse(std::size_t i);

  // The JSON text of the value at i that ends before structural position `after`.
  std::string_view value_text(std::size_t i, std::size_t after) const {
    return trimmed(at_[i], after < at_.size() ? at_[after] : text_.size());
  }
  // Overrides the offset that rows get: a repaired event is elsewhere than its text.
  void set_event_offset(std::uint64_t offset) { forced_offset_ = offset; }
  void clear_event_offset() { forced_offset_ = kNoOffset; }

 private:
  using Position = const std::uint32_t*;  // in at_; null: failed

  // A key and the value after it.
  struct Member {
    std::string_view key;  // without quotes
    Position value = nullptr;
    Position after = nullptr;  // of the value: a ',' or a '}'
    std::string_view token;    // the value's text where it is no object or array
    bool is_scalar = false;
  };
  bool read_member(Position at, Member& m) const;
  bool read_nested(Member& m) const;
  bool escapes_are_sound(const Member& m);
  Position parse_known(Position at);
  void learn_shape(Position at);
  Position parse_fields(Position at);
  Position parse_args(Position at);
  Position skip_args(Position at) const;
  Position skip_nested(Position at) const;
  void take_arg(ArgKey key, const Member& m);
  template <class Value>
  void take_value(const Member& m, Value& into);
  // Members that may come again, while they are walked.
  struct ArgStretch {
    Position begin = nullptr;   // null: none
    std::uint64_t present = 0;  // bit an ArgKey
    std::uint64_t present_before = 0;
    std::uint32_t non_finite = 0;  // of the event before it
  };
  const CachedArgs* find_run(Position at);
  void take_run(const CachedArgs& run);
  void learn_run(const ArgStretch& stretch, Position end);

  void put();
  void put_slice(Ns begin);
  void put_flow(Ns time, char phase);
  void put_flow_of_slice(Ns begin, std::uint32_t slice);
  template <class Row>
  void keep_texts(Row& row);  // of the worker's table: the chunk uses them
  void put_gpu(std::uint32_t slice);
  void put_gpu_of_half();
  void put_op(std::uint32_t slice);
  void put_collective(std::uint32_t slice);
  void put_instant(Ns time);
  void put_counter(Ns time);
  void put_names();
  ParsedTime time_of(EventKey key) const;
  template <class Integer>
  void take(std::string_view token, Integer& into) const;

  // The text without the space at its end.
  static std::string_view trimmed(const char* begin, const char* end) {
    // Nearly always there is none.
    while (end > begin && static_cast<unsigned char>(end[-1]) <= ' ' && is_json_space(end[-1])) --end;
    return {begin, static_cast<std::size_t>(end - begin)};
  }
  std::string_view trimmed(std::size_t begin, std::size_t end) const {
    return trimmed(text_.data() + begin, text_.data() + end);
  }
  const char* limit() const { return text_.data() + text_.size(); }
  // Few texts hold a backslash: the next one is looked for once, not in every string.
  bool has_escape(std::string_view t) const;
  void look_for_backslash(const char* from) const;
  // The content of a string token, escapes resolved (into scratch_); other tokens as they are.
  std::string_view text_of(std::string_view token);
  void note(ImportIssue kind);

  // What the chunk uses of the worker's texts, categories and lanes: by their id the position in the chunk's own list.
  struct Use {
    std::uint32_t chunk = 0;  // the number of the chunk that this is about; 0: none yet
    std::uint32_t position = 0;
  };
  class Uses {
   public:
    Use& of(std::uint32_t id) {
      if (id >= uses_.size()) uses_.resize(std::size_t{id} * 2 + 64);
      return uses_[id];
    }

   private:
    std::vector<Use> uses_;
  };
  std::uint32_t use(Uses& uses, std::uint32_t id) {
    const Use& known = uses.of(id);
    return known.chunk == chunk_number_ ? known.position : first_use(uses, id);
  }
  std::uint32_t first_use(Uses& uses, std::uint32_t id);
  std::uint32_t text_use(std::string_view token);
  std::uint32_t name_use();

  struct KnownCategory {
    std::string token;
    std::uint32_t text = kUnbound;  // none yet
    Kind kind = Kind::other;
    std::uint32_t chunk = 0, use = 0;
  };
  struct KnownLane {
    std::string pid, tid;
    std::uint64_t pid_word = 0, tid_word = 0;  // their first eight characters
    std::uint32_t id = kUnbound;
    std::uint32_t chunk = 0, use = 0;
  };
  const KnownCategory& category(std::string_view token);
  std::uint32_t lane_use(std::string_view pid, std::string_view tid);

  LocalTables& tables_;
  RawChunk& out_;
  std::string_view text_;
  std::span<const std::uint32_t> at_;
  mutable const char* looked_from_ = nullptr;     // where the next backslash was looked for, and
  mutable const char* next_backslash_ = nullptr;  // where it is: limit() when there is none
  std::uint64_t text_offset_ = 0;
  std::uint64_t forced_offset_ = kNoOffset;
  std::size_t event_begin_ = 0, event_after_ = 0;  // structural positions of the event being put down
  std::uint64_t event_offset_ = 0;
  EventFields fields_;
  bool without_escapes_ = false;  // no backslash before the event's args
  KeyOrders shapes_;
  ArgsCache runs_;
  std::string scratch_;
  std::uint32_t chunk_number_ = 1;
  Uses text_uses_, category_uses_, lane_uses_;

  // Categories and lanes met before, by a mix of their tokens: most events share them with one of a few before.
  static constexpr unsigned kKnownBits = 6;
  static constexpr std::size_t kKnown = std::size_t{1} << kKnownBits;
  std::array<KnownCategory, kKnown> categories_;
  std::array<KnownLane, kKnown> lanes_;
};

}  // namespace gapscope
