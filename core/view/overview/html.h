#pragma once
// A page for a browser in one file: nothing is loaded from elsewhere, nothing runs, and every name is escaped. Light on white,
// so that it prints.
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

struct HtmlReport {
  std::string title;
  std::vector<std::string> lead;  // paragraphs under the title; the first is the largest
  std::vector<PageSection> sections;
  std::vector<HtmlPicture> pictures;  // after the first section
  std::string foot;
};

std::string html_report(const HtmlReport& report);

}  // namespace gapscope
