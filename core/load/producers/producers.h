#pragma once
// Who wrote a file, and what its lanes and slices are where its categories do not say so as PyTorch's do. One row and one file
// for each producer; tests/README.md, "Read another producer's files", says how to add one.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/build/row_store.h"
#include "core/trace/producer.h"

namespace gapscope {

// What a lane holds. `device` and `stream` number GPU work whose args do not.
struct LaneRole {
  enum class Holds : std::uint8_t {
    as_written,   // what the categories of its slices say
    device_work,  // GPU work, copies and waits of a device, by their names
    host,         // what a thread of the program did: operators, calls, annotations
    annotations,  // of the program: ranges
    derived,      // repeats what other lanes hold: nothing is counted
  };
  Holds holds = Holds::as_written;
  std::int32_t device = -1;
  std::int32_t stream = -1;
  bool nests = false;  // work holds the work that it is made of, and only the outermost counts
};

// The names of a file, before its slices are looked at.
struct LaneClue {
  std::uint32_t process = 0;  // position in Clues::processes
  std::string_view key;       // tid
  std::string_view name;      // thread_name
};
struct ProcessClue {
  std::string_view key;  // pid
  std::string_view name, labels;
};
struct Clues {
  const Header& header;
  const RowStore& rows;
  std::vector<ProcessClue> processes;
  std::vector<LaneClue> lanes;  // by position in RowStore::lanes

  Clues(const Header& file_header, const RowStore& file_rows);
  const ProcessClue& process(const LaneClue& lane) const { return processes[lane.process]; }
  bool has_category(std::string_view name) const;
  bool has_kind(Kind kind) const;
  bool has_process(std::string_view beginning_of_name) const;
  bool has_lane(std::string_view part_of_name) const;
  // Of devices that no name numbers: how many processes so named come before this one.
  std::int32_t place_among(std::string_view beginning_of_name, std::uint32_t process) const;
};

struct SliceClue {
  std::string_view name;
  std::string_view category;
  Kind kind = Kind::other;  // by its category
  LaneRole::Holds holds = LaneRole::Holds::as_written;
  bool is_call = false;  // on a host's lane with a correlation id
  bool is_step = false;  // its name is that of the annotations that state a step's number
};

struct ProducerRow {
  Producer words;
  bool (*wrote)(const Clues&);
  // Null where the categories say it all.
  LaneRole (*role_of)(const Clues&, const LaneClue&) = nullptr;
  // Of a slice; asked once for each name, category and role. Null: kind_by_role().
  Kind (*kind_of)(const SliceClue&) = nullptr;
  std::string_view step_name = {};  // of the slice around each iteration, where no annotation states steps
};

// The table: a file is of the first that says so; the last says so of any.
const std::vector<const ProducerRow*>& producer_rows();

// As of a writer that is not known: lanes and processes named as streams, engines and devices are.
LaneRole role_by_names(const Clues& clues, const LaneClue& lane);
// By the lane's role and the slice's name: GPU work, its waits; operators, calls and Python frames of a host.
Kind kind_by_role(const SliceClue& slice);
// Of a device's lane: "Memcpy...", "event_wait" and the like are copies and waits, all else is a kernel.
Kind kind_of_device_slice(std::string_view name);
// "14" of "Stream #14(Compute)": the first number behind `word`, whatever its case; -1 where there is none.
std::int32_t number_behind(std::string_view text, std::string_view word);

struct Adopted {
  const Producer* producer = nullptr;
  StringId step_name;              // of the rows' strings
  std::uint64_t bare_work = 0;     // GPU work that was given a device and a stream by its lane
  bool joins_by_arrows = false;    // launches may have no correlation id
  std::uint64_t device_waits = 0;  // waits that the file has as work of a device
};
// Gives rows the kinds, devices, streams and calls that their producer means. Rows of PyTorch stay as they are.
Adopted adopt(const Header& header, RowStore& rows);

}  // namespace gapscope
