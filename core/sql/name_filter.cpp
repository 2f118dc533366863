#include "core/sql/name_filter.h"

#include <re2/re2.h>
#include <sqlite3.h>

#include <string>

namespace gapscope::sql {
namespace {

template <class Matches>
std::vector<bool> each(const StringTable& strings, Matches matches) {
  std::vector<bool> out(strings.size());
  std::string text;
  for (std::size_t s = 0; s < strings.size(); ++s) {
    text = s == 0 ? std::string_view("[No name]") : strings[StringId(s)];
    out[s] = matches(text);
  }
  return out;
}

}  // namespace

Result<std::vector<bool>> names_that_match(const StringTable& strings, char op, std::string_view pattern) {
  const std::string p(pattern);
  if (op == 'l')
    return each(strings, [&](const std::string& text) { return sqlite3_strlike(p.c_str(), text.c_str(), 0) == 0; });
  if (op == 'g') return each(strings, [&](const std::string& text) { return sqlite3_strglob(p.c_str(), text.c_str()) == 0; });
  const re2::RE2 regex(p, re2::RE2::Quiet);
  if (!regex.ok()) return Error{"\"" + p + "\" is no regular expression: " + regex.error() + "."};
  return each(strings, [&](const std::string& text) { return re2::RE2::PartialMatch(text, regex); });
}

}  // namespace gapscope::sql
