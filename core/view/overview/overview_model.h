#pragma once
// The tab "Overview": the page of core/view/overview/overview_page.h, worked out by a thread.
#include <atomic>
#include <memory>

#include "core/view/overview/overview_page.h"

namespace gapscope {

struct Document;
struct OverviewQuestion {
  using Answer = OverviewPage;
  static constexpr const char* kToDo = "put the overview together";
  friend bool operator==(const OverviewQuestion&, const OverviewQuestion&) = default;
};
// Diagnoses the document first where that is not done.
std::shared_ptr<const OverviewPage> answer(const Document& document, const OverviewQuestion& question,
                                           const std::atomic<bool>* cancel);

// How many lines of text a section takes, about: to spread sections over columns.
std::size_t line_count(const PageSection& section);
// The column of each section: one after the other to the column that is shortest so far.
std::vector<std::size_t> columns_of(const std::vector<PageSection>& sections, std::size_t columns);

}  // namespace gapscope
