#pragma once
// What a person types into the search field, understood: `gemm 128x128 dur>1ms lane:"stream 7" cat:kernel /regex/`.
//
// Words match anywhere in a slice's name whatever the case, and all of them must; "two words" in quotes are one. /text/ is a
// regular expression (ECMAScript), matched the same way. Filters: dur with > >= < <= or =, lane: (part of
// the title of a lane or its process), cat: (a category's whole name). What looks like none of these is a word.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace gapscope {

struct SearchPattern;  // of search_query.cpp: <regex> is as large as all else that most files include

struct SearchQuery {
  std::vector<std::string> words;
  std::vector<std::shared_ptr<const SearchPattern>> patterns;
  Ns least = 0;  // duration, both included
  Ns most = 0;
  bool any_duration = true;
  std::vector<std::string> lanes;
  std::vector<std::string> categories;  // any of them
  bool empty() const { return words.empty() && patterns.empty() && any_duration && lanes.empty() && categories.empty(); }
};

// `all_regex`: the whole text is one regular expression. An error says what is allowed.
Result<SearchQuery> parse_query(std::string_view text, bool all_regex = false);
bool name_matches(const SearchQuery& query, std::string_view name);
// Of `text`, a title or a name, whatever the case.
bool holds_all(std::string_view text, const std::vector<std::string>& parts);

}  // namespace gapscope
