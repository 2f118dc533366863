#pragma once
// The args of slices by their rows and keys: from the trace's columns where those hold them, else from the file, one event at a
// time for a few and then all in one pass.
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/base/text_arena.h"
#include "core/load/args_pass.h"
#include "core/sql/arg_columns.h"
#include "core/sql/flat_args.h"
#include "core/sql/slice_order.h"

namespace gapscope::sql {

// What one pass over the file found of one member of the args ("Python id"), by row: 16 bytes a value, texts and keys once.
class ColdMember {
 public:
  // First all rows, then seal().
  void add(SliceRow row, const std::vector<FlatArg>& leaves);
  void seal();
  std::optional<ArgValue> value(SliceRow row, std::string_view key) const;
  std::vector<FlatArg> leaves(SliceRow row) const;

 private:
  enum class Type : std::uint32_t { integer, real, flag, text };
  struct Leaf {
    SliceRow row;
    std::uint32_t key_and_type;  // four times the position in keys_, and the type
    std::uint64_t bits;          // the value, or of a text its position in texts_
    std::uint32_t key() const { return key_and_type / 4; }
    Type type() const { return static_cast<Type>(key_and_type % 4); }
  };
  std::span<const Leaf> of(SliceRow row) const;
  ArgValue value_of(const Leaf& leaf) const;
  static std::uint32_t number_of(std::vector<std::string>& all, std::unordered_map<std::string, std::uint32_t>& numbers,
                                 const std::string& text);

  std::vector<Leaf> rows_;
  std::vector<std::string> keys_, flat_keys_, texts_;
  std::unordered_map<std::string, std::uint32_t> key_numbers_, text_numbers_;  // emptied by seal()
};

class ArgStore {
 public:
  // `spill_folder`: see read_again.h; empty: nothing is written anywhere.
  ArgStore(const Trace& trace, const SliceOrder& order, std::string spill_folder, const std::atomic<bool>& cancel);

  // Whether the event has any args: what makes arg_set_id not NULL.
  Result<bool> has_args(SliceRow row);
  // The value of one key; nothing where the event has no such arg.
  Result<std::optional<ArgValue>> value(SliceRow row, const ArgKey& key);
  // All leaves of an event, or those of one member of its args.
  Result<std::vector<FlatArg>> all(SliceRow row);
  Result<std::vector<FlatArg>> of_member(SliceRow row, std::string_view member);

  // Rows that have args, in the order of the file, with their leaves: up to `most` from position `from` on; `from` becomes what
  // follows.
  Result<std::vector<std::pair<SliceRow, std::vector<FlatArg>>>> next_in_file(std::size_t& from, std::size_t most);

  // Keys that a statement is about to ask for: read together. Forgets what the file gave for the statement before.
  void begin_statement(std::vector<std::string> keys);

  // How often the file was read: for tests.
  std::size_t passes() const { return passes_; }

 private:
  struct AtOffset {
    std::uint64_t offset;
    SliceRow row;
  };
  Result<std::vector<FlatArg>> read_one(SliceRow row);
  Result<const ColdMember*> cold(std::string_view member);
  std::optional<Error> read_file(std::set<std::string> members);
  const std::vector<AtOffset>& file_order();
  bool may_read_one() { return single_reads_here_ < kSingleReads; }
  ArgColumns::ReadEvent reader();

  static constexpr std::size_t kSingleReads = 24;  // events read by themselves before a pass is made

  const SliceOrder& order_;
  const std::string spill_folder_;
  const std::atomic<bool>& cancel_;
  TextAccess text_;
  ArgColumns columns_;
  std::map<std::string, ColdMember, std::less<>> cold_;
  std::vector<std::string> hinted_;
  std::vector<bool> has_args_;  // by row; empty until a pass was made
  std::vector<AtOffset> file_order_;
  std::size_t single_reads_here_ = 0, passes_ = 0;
};

}  // namespace gapscope::sql
