#pragma once
// The events of a file one after the other, on one thread and with little memory, found exactly as a load finds them:
// for those who want events' own text. Besides them the text before and after the events.
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/load/batch_parser.h"
#include "core/load/blocks.h"
#include "core/load/byte_source.h"
#include "core/load/top_level.h"

namespace gapscope {

class EventWalk {
 public:
  // A stretch of events: their rows, and where their texts are in `text`, which begins at `chunk.base_offset`.
  struct Stretch {
    std::string_view text;
    const RawChunk& chunk;  // flows and halves, and lanes of `events`, under the ids of tables()
    const std::vector<TakenEvent>& events;
  };

  // `cancel` and `bytes_done` (of the file) may be null; all must outlive the walk.
  EventWalk(ByteSource& source, std::atomic<bool>* cancel, std::atomic<std::uint64_t>* bytes_done)
      : source_(source), cancel_(cancel), bytes_done_(bytes_done) {}

  // Walks all of it, once. An Error when it is cancelled or holds no array of events.
  std::optional<Error> run(const std::function<void(const Stretch&)>& take);

  // The error that ended it before the file's end, if one did.
  const std::optional<Error>& read_error() const { return read_error_; }

  // The text up to and with the '[' of the events, and what follows their ']' (as much of it as can matter).
  const std::string& head() const { return head_; }
  const std::string& tail() const { return tail_; }
  bool is_object() const { return top_.is_object(); }
  const LocalTables& tables() const { return tables_; }

 private:
  std::optional<Error> find_events();
  void use_table_ids();
  void parse(std::string_view text, std::uint64_t offset, bool is_last, bool after_comma,
             const std::function<void(const Stretch&)>& take);
  void take_block(const Block& block, const std::function<void(const Stretch&)>& take);
  bool cancelled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed); }

  ByteSource& source_;
  std::atomic<bool>* cancel_;
  std::atomic<std::uint64_t>* bytes_done_;
  TopLevel top_;
  std::optional<LineSource> lines_;  // where it is JSON lines
  LocalTables tables_;
  std::vector<TakenEvent> taken_;
  BatchParser parser_{tables_};
  std::string head_, tail_;
  std::string first_;         // text read behind the head
  std::uint64_t offset_ = 0;  // of it
  std::string carry_;         // text of an event that did not end in its block
  std::uint64_t carry_offset_ = 0;
  bool after_comma_ = true;
  bool array_closed_ = false;
  std::optional<Error> read_error_;
};

}  // namespace gapscope
