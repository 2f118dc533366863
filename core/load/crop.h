#pragma once
// A part of a trace's file as a file of its own: the file is read once more as a stream, and the bytes of every event
// that is wanted are copied as they are. What a reader stricter than ours would not take is mended, and counted.
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_stamp.h"
#include "core/base/output_file.h"
#include "core/base/result.h"
#include "core/trace/crop_choice.h"
#include "core/trace/trace.h"

namespace gapscope {

// How it is written, and who watches.
struct CropOutput {
  std::optional<FileStamp> stamp;  // of the trace's file just before it was loaded; none: it is not known
  IfTaken if_taken = IfTaken::replace;
  std::atomic<bool>* cancel = nullptr;
  std::atomic<std::uint64_t>* bytes_done = nullptr;  // of the trace's file
  // Gives further events, JSON each, until it is false; they follow the file's own.
  std::function<bool(std::string&)> more{};
  std::string also_read{};  // another file that may not be written over; empty: none
};

struct CropFigures {
  std::uint64_t events = 0;      // written
  std::uint64_t mended = 0;      // of those, not as they were in the file
  std::uint64_t left_out = 0;    // wanted, but damaged beyond mending
  std::uint64_t unreadable = 0;  // of the whole file: not even the load could read them, so they are in no part of it
  bool header_lost = false;      // the text around the events was no JSON
  std::uint64_t text_bytes = 0;  // before packing
  std::string path;              // where it is

  // What of the file is not in the crop as it was: "3 events were damaged and are repaired", ...
  std::vector<std::string> remarks() const;
};

// Besides the slices of `choice`: flows both of whose ends are saved (those that join nothing, where their slice or time is),
// halves with their slices, instants and counters within the window on the chosen lanes (of each counter also the event that is
// in force where the window begins), names and other events without a time, and everything outside the events, where it says
// that it is a part (core/trace/crop_mark.h; an array without an object around it has no place for that). `out` is packed where
// it ends in .gz, and written as core/base/output_file.h says. An Error when the file is another one than when it was loaded.
Result<CropFigures> write_crop(const Trace& trace, const CropChoice& choice, const std::string& out,
                               const CropOutput& output = {});

}  // namespace gapscope
