#pragma once
// A place in a trace as a text to send: "gapscope:///data/t.json?from=120&to=4500&slice=17&marked=200..900&lanes=0,3". Times
// are ns since the trace's begin; a slice and a lane are their positions in the trace, which are the same wherever the file is
// read.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace gapscope {

struct ViewLink {
  std::string path;
  std::optional<Span> time;  // since the trace's begin
  SliceId slice;
  std::optional<Span> marked;  // time, likewise
  std::vector<LaneId> lanes;   // that it is marked on, ascending; empty: all
  friend bool operator==(const ViewLink&, const ViewLink&) = default;
};

std::string link_text(const ViewLink& link);
// What is behind its "?"; empty where it names no place.
std::string place_in_link(const ViewLink& link);
// None where it is no such text, or a part of it cannot be read.
std::optional<ViewLink> parse_link(std::string_view text);

}  // namespace gapscope
