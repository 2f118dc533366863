#pragma once
// The pages of `gapscope serve`: HTML and CSS, nothing that runs, every name escaped.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/serve/listing.h"
#include "app/serve/summaries.h"

namespace gapscope {

struct ListedRow {
  ListedItem item;
  std::optional<ItemSummary> summary{};  // none: it is being read
};

// The recordings of the folder that is called `folder`.
std::string list_page(const std::string& folder, const std::vector<ListedRow>& rows, bool is_cut, bool has_window);
// What a recording's own page (`gapscope overview --html`) becomes here: the same, with links to the rest; light and dark.
std::string recording_page(std::string html, const std::string& path, bool has_window);
std::string diff_page(std::string html);
// What `gapscope ranks` prints of a folder; `files`: those it was asked of, below the folder that is served.
std::string ranks_page(const std::string& path, const std::string& text, const std::vector<std::string>& files);
std::string notice_page(std::string_view title, std::string_view sentence);
// For whoever comes with the address that was printed: goes on to `target`, now that the cookie is there. A redirection would
// not do: browsers send no strict cookie along when the address was clicked on somebody else's page.
std::string entrance_page(std::string_view target);

}  // namespace gapscope
