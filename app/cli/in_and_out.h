#pragma once
// What every subcommand does first and last: load its trace, print its text.
#include <memory>
#include <string>

#include "core/trace/trace.h"

namespace gapscope {

// Null when it does not open; the reason is then a sentence on stderr.
std::shared_ptr<const Trace> load_or_say_why(const std::string& path);

// To stdout, whole. The exit code: kBadInput when it could not be written (a closed pipe, a full disk).
int print(const std::string& text);

}  // namespace gapscope
