#pragma once
// A page for a browser in one file: nothing is loaded from elsewhere, nothing runs but what opens a recording that is in it,
// and every name is escaped. Light on white, so that it prints.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/overview/overview_page.h"

namespace gapscope {

// Text as HTML text or attribute: what a name could break out with is replaced, control characters too.
std::string html_text(std::string_view text);
std::string html_color(Rgb colour);  // "#2bb3a3"

struct HtmlPicture {
  std::string title;
  std::string svg;
};

// A recording that the page holds; its script, which then is the only one, hands it to the window for browsers (app/web), where
// that is on the same site, and saves it. It is sent nowhere.
struct HtmlRecording {
  std::string name;      // of a file; any bytes
  std::string packed;    // what is in that
  std::string about;     // what it is of, a phrase: "All of it"
  std::string viewer;    // address of the window's folder, seen from where the page is
  bool is_whole = true;  // so that the places of this page's findings are places in it
};

struct HtmlReport {
  std::string title;
  std::vector<std::string> lead;       // paragraphs under the title; the first is the largest
  std::optional<PageSection> notes{};  // of the person, before the first section
  std::vector<PageSection> sections;
  std::vector<HtmlPicture> pictures;  // after the first section
  std::string foot;
  std::optional<HtmlRecording> recording{};
};

std::string html_report(const HtmlReport& report);

}  // namespace gapscope
