#pragma once
// The args of one slice, read again from the file when it is looked at.
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace gapscope {

struct Arg {
  std::string key;
  std::string value;  // text of a string without quotes; JSON text of everything else
  bool is_text = false;
};

// The event at `offset` of the trace's file: its args in file order. A file that shrank, changed or vanished gives an Error.
Result<std::vector<Arg>> read_args(const Trace& trace, std::uint64_t offset);
// The whole JSON text of that event.
Result<std::string> read_event_text(const Trace& trace, std::uint64_t offset);

}  // namespace gapscope
