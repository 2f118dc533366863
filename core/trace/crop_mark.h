#pragma once
// What core/load/crop writes into a trace that it makes: that it is a part, and of what. Such a file says it on its own.
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"
#include "core/trace/trace.h"

namespace gapscope {

struct CropMark {
  Span window;  // that was kept: what is outside is there for the sake of what is inside, and is not all that was
  Span whole;   // of the recording; both on its axis, which is the crop's, too
  friend bool operator==(const CropMark&, const CropMark&) = default;
};

constexpr std::string_view kCropKey = "gapscopeCrop";  // outside the events

// Of a crop that is no part of its recording's time, but of its lanes, the window is the whole. None of other traces.
std::optional<CropMark> crop_mark(const Trace& trace);
// As JSON.
std::string crop_mark_text(const CropMark& mark);
// "12.0 ms of a recording of 35.1 ms"; "a part of a recording of 35.1 ms" where it is one of its lanes.
std::string crop_words(const CropMark& mark);
// What is said of a crop before its verdict is believed, with `trust` behind it; that alone of other traces.
std::string with_crop_sentence(const Trace& trace, const std::string& trust);

}  // namespace gapscope
