#pragma once
// `gapscope overview TRACE [--json | --html FILE]`: how a run is, on one page.
#include <string>

#include "core/view/overview/overview_page.h"

namespace gapscope {

std::string overview_json(const Trace& trace, const RunOverview& overview, const Diagnosis& diagnosis);
std::string overview_text(const OverviewPage& page);
// Sections as `overview_text` has them.
std::string sections_text(const std::vector<PageSection>& sections);

}  // namespace gapscope
