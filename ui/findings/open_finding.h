#pragma once
// A finding that is open in the panel: what it means, what to do, what that gives, its places and its proof.
#include <cstdint>

#include "core/diagnose/diagnose.h"
#include "core/view/search/result_list.h"
#include "core/view/view_state.h"
#include "ui/requests.h"
#include "ui/widgets/theme.h"

namespace gapscope {

struct Document;

struct FindingsPanel {
  const Document& document;
  const Diagnosis& diagnosis;
  TraceView& view;
  WindowState& window;
  Requests& out;
  const Theme& theme;
  float px(float size) const { return size * window.frame.scale; }
  std::int32_t position_of(const RankedFinding& ranked) const {
    return static_cast<std::int32_t>(&ranked - diagnosis.findings.data());
  }
};

constexpr float kFindingIndent = 20;  // px at scale 1: what is below a line, to its title
constexpr const char* kMuteRule = "Mute this rule";
constexpr const char* kMuteRuleHelp = "Hide the findings of this rule, in every trace, until you unmute it.";

// Which place is shown is said of the `chosen` one alone.
void draw_open_finding(FindingsPanel& panel, const RankedFinding& ranked, bool chosen);
ResultList list_of_finding(const Diagnosis& diagnosis, const Finding& finding);
void mute_rule(FindingsPanel& panel, const Finding& finding);

}  // namespace gapscope
