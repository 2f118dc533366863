#pragma once
// `gapscope info TRACE [--json] [--stages]`: what is in a trace.
#include <string>

#include "core/view/document.h"

namespace gapscope {

struct InfoOptions {
  std::string trace;  // "-" is standard input
  bool json = false;
  bool stages = false;  // the timeline of loading it, instead of what is in it
};

// Prints on stdout. The exit code; an error is one sentence on stderr.
int info(const InfoOptions& options);

// Aligned, in units, safe to print to a terminal whatever the trace's names hold.
std::string info_text(const Document& doc);
// Indented JSON with a line break at the end; always valid UTF-8, whatever bytes the names in the trace hold.
std::string info_json(const Document& doc);

}  // namespace gapscope
