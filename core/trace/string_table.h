#pragma once
// Every distinct text of a trace once. Ids are given in order of first appearance in the file, so they do not
// depend on the number of threads. Id 0 is the empty string. Views stay valid as long as the table lives.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/text_arena.h"

namespace gapscope {

class StringTable {
 public:
  StringTable();

  StringId intern(std::string_view text);
  // The id of `text`, or none. Never adds.
  StringId find(std::string_view text) const;

  std::string_view operator[](StringId id) const { return id.valid() ? texts_[id.index()] : std::string_view{}; }
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes() const;

 private:
  static constexpr std::size_t kRecent = 4096;  // more than most traces have names, small enough for a core's cache
  static std::size_t recent_slot(std::string_view text);
  std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();

  TextArena arena_;
  std::vector<std::string_view> texts_;
  std::vector<std::uint32_t> hashes_;  // high half of each text's hash, so that growing does not read the texts again
  std::vector<std::uint32_t> recent_;  // the last text met with each recent_slot(): a look that reads no more than it compares
  std::vector<std::uint32_t> slots_;   // open addressing; kEmpty or an index into texts_
};

}  // namespace gapscope
