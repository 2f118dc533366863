#pragma once
// The parts of a page that holds its recording (html.h).
#include <string>

#include "core/view/overview/html.h"

namespace gapscope {

// Opens it at a place (core/view/link.h).
std::string place_button(const std::string& place);
// Its buttons, and what they need.
std::string recording_line(const HtmlRecording& recording);
// The recording and the script, for the end of the page: what is read comes first.
std::string recording_html(const HtmlRecording& recording);

}  // namespace gapscope
