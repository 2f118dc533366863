#include "core/view/search/search_query.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <regex>

#include "core/base/text.h"
#include "core/base/time_text.h"

namespace gapscope {

// Not RE2, which SQL and what-ifs use: it ends the program where memory runs out while it reads an expression.
struct SearchPattern {
  // libstdc++'s other matcher takes exponential time on some patterns and much stack on long names.
  static constexpr auto kFlags = std::regex::ECMAScript | std::regex::icase
#ifdef __GLIBCXX__
                                 | std::regex_constants::__polynomial
#endif
      ;
  explicit SearchPattern(const std::string& text) : regex(text, kFlags) {}
  std::regex regex;
};

namespace {

constexpr Ns kEver = std::numeric_limits<Ns>::max();

std::optional<Error> add_pattern(SearchQuery& query, const std::string& text) {
  try {
    query.patterns.push_back(std::make_shared<const SearchPattern>(text));
    return std::nullopt;
  } catch (const std::regex_error&) {
    return Error{
        "/" + text +
        "/ is not a regular expression: is a bracket or parenthesis left open? Put \\ before a sign to match the sign itself."};
  }
}

// The end of a /pattern/ that begins at `at`: behind a slash that a space or nothing follows. npos where there is none.
std::size_t pattern_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 2; i < text.size(); ++i) {
    if (text[i] == '/' && text[i - 1] != '\\' && (i + 1 == text.size() || text[i + 1] == ' ')) return i + 1;
  }
  return std::string_view::npos;
}

// The next word from `at` on, its quotes taken off; a quote left open goes to the end, as while typing.
std::string next_word(std::string_view text, std::size_t& at) {
  std::string word;
  bool quoted = false;
  for (; at < text.size() && (quoted || text[at] != ' '); ++at) {
    if (text[at] == '"')
      quoted = !quoted;
    else
      word += text[at];
  }
  return word;
}

// `text` is what follows "dur".
std::optional<Error> add_duration(SearchQuery& query, std::string_view text) {
  const std::size_t signs = std::min(text.find_first_not_of("<>=:"), text.size());
  const std::string_view sign = text.substr(0, signs);
  const std::optional<Ns> value = parse_duration(text.substr(signs));
  if (!value || (sign != ">" && sign != ">=" && sign != "<" && sign != "<=" && sign != "=" && sign != ":")) {
    return Error{"dur" + std::string(text) + " cannot be read: write dur>1ms, >=, <, <= or =, with ns, us, ms or s."};
  }
  if (query.any_duration) query.most = kEver;
  query.any_duration = false;
  const bool equal = sign == "=" || sign == ":";
  if (sign.front() == '>' || equal) query.least = std::max(query.least, sign == ">" && *value < kEver ? *value + 1 : *value);
  if (sign.front() == '<' || equal) query.most = std::min(query.most, sign == "<" ? *value - 1 : *value);
  return std::nullopt;
}

bool begins(std::string_view word, std::string_view with) {
  return word.size() >= with.size() && contains_ignore_case(word.substr(0, with.size()), with);
}

bool is_duration(std::string_view word) {
  return begins(word, "dur") && word.size() > 3 && std::string_view("<>=:").find(word[3]) != std::string_view::npos &&
         !begins(word, "dur::");
}

std::optional<Error> add_word(SearchQuery& query, const std::string& word) {
  if (is_duration(word)) return add_duration(query, std::string_view(word).substr(3));
  for (const std::string_view key : {"lane:", "cat:"}) {
    if (!begins(word, key) || begins(word.substr(key.size()), ":")) continue;
    if (word.size() == key.size()) return Error{std::string(key) + " needs a name after it: lane:\"stream 7\" or cat:kernel."};
    (key == "lane:" ? query.lanes : query.categories).push_back(word.substr(key.size()));
    return std::nullopt;
  }
  if (!word.empty()) query.words.push_back(word);
  return std::nullopt;
}

}  // namespace

Result<SearchQuery> parse_query(std::string_view text, bool all_regex) {
  SearchQuery query;
  std::optional<Error> trouble;
  if (all_regex) {
    // In slashes, as where it is one of several words, it is the same expression.
    if (text.starts_with('/') && pattern_end(text, 0) == text.size()) text = text.substr(1, text.size() - 2);
    if (!text.empty()) trouble = add_pattern(query, std::string(text));
    return trouble ? Result<SearchQuery>(*trouble) : Result<SearchQuery>(std::move(query));
  }
  for (std::size_t at = 0; at < text.size() && !trouble;) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    const std::size_t end = text[at] == '/' ? pattern_end(text, at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      trouble = add_word(query, next_word(text, at));
    } else {
      trouble = add_pattern(query, std::string(text.substr(at + 1, end - at - 2)));
      at = end;
    }
  }
  if (trouble) return *trouble;
  return query;
}

bool holds_all(std::string_view text, const std::vector<std::string>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) { return contains_ignore_case(text, part); });
}

bool name_matches(const SearchQuery& query, std::string_view name) {
  return holds_all(name, query.words) && std::all_of(query.patterns.begin(), query.patterns.end(), [&](const auto& pattern) {
           return std::regex_search(name.begin(), name.end(), pattern->regex);
         });
}

}  // namespace gapscope
