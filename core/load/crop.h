#pragma once
// A part of a trace's file as a file of its own: the file is read once more as a stream, and the bytes of every event
// that is wanted are copied as they are. What a reader stricter than ours would not take is mended, and counted.
#include <atomic>
#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/trace/crop_choice.h"
#include "core/trace/trace.h"

namespace gapscope {

struct CropFigures {
  std::uint64_t events = 0;     // written
  std::uint64_t mended = 0;     // of those, not as they were in the file
  std::uint64_t left_out = 0;   // beyond mending
  bool header_lost = false;     // what stood around the events was no JSON
  std::uint64_t text_bytes = 0; // before packing
};

// Beside the slices of `choice`: flows both of whose ends are kept (those that join nothing, where their slice or time is),
// halves with their slices, instants and counters within the window on the chosen lanes, names and other events without a
// time, and everything outside the events. `out` is packed where it ends in .gz; a file there is replaced in the end.
Result<CropFigures> write_crop(const Trace& trace, const CropChoice& choice, const std::string& out, std::atomic<bool>* cancel = nullptr,
                               std::atomic<std::uint64_t>* bytes_done = nullptr);

}  // namespace gapscope
