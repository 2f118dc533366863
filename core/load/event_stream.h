#pragma once
// The events array by all cores: blocks are parsed as they come and committed in file order. A block was cut by a guess;
// a commit knows where events really begin, so a block whose guess was wrong is parsed again from the right place.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/build/row_store.h"
#include "core/load/batch_parser.h"
#include "core/load/blocks.h"
#include "core/load/load_trace.h"
#include "core/load/top_level.h"

namespace gapscope {

class EventStream {
 public:
  // `timeline` may be null.
  EventStream(TopLevel& top, int threads, LoadProgress& progress, LoadTimeline* timeline = nullptr);

  // Parses the blocks of `reader`: all, or those up to about `until_bytes` of the file, and all of these are then committed.
  // False when cancelled.
  bool run(BlockReader& reader, std::uint64_t until_bytes = ~std::uint64_t{0});
  // Whether the last block was parsed. Between two runs.
  bool at_end() const { return at_end_; }
  // What was parsed so far, once more. Between two runs.
  RowStore copy_rows() const { return store_.copy(); }
  RowStore take_rows() { return std::move(store_); }
  bool array_closed() const { return array_closed_; }
  bool object_closed() const { return object_closed_; }
  bool was_truncated() const { return truncated_; }

 private:
  struct Parsed {
    std::unique_ptr<Block> block;
    RawChunk chunk;
    BatchEnd end;
  };
  // A chunk that has its place in the store but has not been put there.
  struct Claimed {
    RawChunk own;                     // where no other owner has the chunk
    const RawChunk* chunk = nullptr;  // null: `own`
    RowStore::Claim claim;
  };
  using ClaimedChunks = std::vector<Claimed>;
  void work(BlockReader& reader, int worker);
  void parse_blocks(BlockReader& reader, int worker);
  void add(Parsed parsed, RawChunk& chunk, BlockReader& reader);
  RawChunk take_spare();
  void commit_ready(BlockReader& reader, ClaimedChunks& claimed);
  void commit(const Block& block, const BatchEnd& end, RawChunk own, const RawChunk* chunk, ClaimedChunks& claimed);
  void commit_again(const Block& block, ClaimedChunks& claimed);
  void take_end(const BatchEnd& end, std::string_view text, std::uint64_t file_offset, bool is_last);
  void feed_rest(std::string_view text, std::uint64_t file_offset, bool is_last);
  void keep(RawChunk own, const RawChunk* chunk, ClaimedChunks& claimed);

  TopLevel& top_;
  int threads_;
  LoadProgress& progress_;
  LoadTimeline* timeline_;
  std::vector<std::unique_ptr<LocalTables>> tables_;  // one a worker, and one more for what is parsed again
  std::uint64_t until_bytes_ = 0;
  std::atomic<bool> at_end_{false};

  std::mutex mutex_;                       // guards everything below
  std::map<std::size_t, Parsed> waiting_;  // parsed, but a block before them is not
  std::size_t next_ = 0;                   // number of the next block to commit
  std::vector<RawChunk> spare_;            // with room from earlier blocks
  RowStore store_;
  std::string carry_;  // text of an event that did not end in its block
  std::uint64_t carry_offset_ = 0;
  bool after_comma_ = true;  // as the last block committed said of what follows
  std::string rest_;         // text after the events that the top level could not take yet
  std::uint64_t rest_offset_ = 0;
  bool array_closed_ = false;
  bool object_closed_ = false;
  bool truncated_ = false;
};

}  // namespace gapscope
