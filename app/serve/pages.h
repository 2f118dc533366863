#pragma once
// The pages of `gapscope serve`: HTML and CSS, every name escaped. One script runs: it sorts and filters tables, and keeps the
// list as the folder is. Without it all is there, in the order in which it was sent.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/serve/listing.h"
#include "app/serve/summaries.h"
#include "app/serve/tables.h"

namespace gapscope {

struct ListedRow {
  ListedItem item;
  std::optional<ItemSummary> summary{};  // none: it is being read
};

inline constexpr std::string_view kListScriptAddress = "/list.js";
// It asks for the list again and again; what is ticked, sorted and filtered stays so.
extern const std::string_view kListScript;
inline constexpr std::string_view kTablePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri "
    "'none'; "
    "frame-ancestors 'none'";

// The recordings of the folder that is called `folder`.
std::string list_page(const std::string& folder, const std::vector<ListedRow>& rows, bool is_cut, bool has_window);
// What a recording's own page (`gapscope overview --html`) becomes here: the same, with links to the rest; light and dark.
std::string recording_page(std::string html, const std::string& path, bool has_window);
std::string diff_page(std::string html);
// `html`: of table_html().
std::string table_page(const TableKind& kind, std::string_view html, const std::string& path);
// `html`: of ranks_html() of a folder; `files`: those it was asked of, below the folder that is served.
std::string ranks_page(const std::string& path, std::string_view html, const std::vector<std::string>& files, bool has_window);
std::string notice_page(std::string_view title, std::string_view sentence);
// For a browser that opens the printed address: continues to `target`, now that the cookie is set. A redirection would not do:
// browsers send no strict cookie along when the address was clicked on another site's page.
std::string entrance_page(std::string_view target);

}  // namespace gapscope
