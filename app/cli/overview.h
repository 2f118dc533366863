#pragma once
// `gapscope overview TRACE [--json | --html FILE]`: how a run is, on one page.
#include <string>

#include "core/view/overview/overview_page.h"

namespace gapscope {

struct OverviewOptions {
  std::string trace;  // "-" is standard input
  std::string html;   // the file to write; empty: text on stdout
  bool json = false;
};

// Loads, gathers, prints or writes. The exit code; an error is one sentence on stderr.
int overview(const OverviewOptions& options);

std::string overview_json(const Trace& trace, const RunOverview& overview, const Diagnosis& diagnosis);
std::string overview_text(const OverviewPage& page);
// Sections as `overview_text` has them.
std::string sections_text(const std::vector<PageSection>& sections);

}  // namespace gapscope
