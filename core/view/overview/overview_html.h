#pragma once
// The overview of a run as one HTML file: the page, two pictures of the timeline, and the notes in it.
#include <optional>
#include <string>
#include <vector>

#include "core/view/notes/notes_model.h"
#include "core/view/overview/html.h"
#include "core/view/overview/overview_page.h"

namespace gapscope {

struct Document;

std::string overview_html(const Document& document, const RunOverview& overview, OverviewPage page,
                          const std::vector<Note>& notes, std::optional<HtmlRecording> recording = {});
// The same where nothing of it is worked out yet; diagnoses the document first.
std::string overview_html(const Document& document, const std::vector<Note>& notes);

}  // namespace gapscope
