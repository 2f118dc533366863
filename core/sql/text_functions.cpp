// Functions of texts, in time that grows with the sum of two lengths. SQLite's own take their product; these have its words and
// its answers. SQLite looks at cancelling and at the time limit between its steps only, and a function is one step.
// What LIKE and GLOB would compare for too long is refused.
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/base/text.h"
#include "core/sql/scalar_function.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

constexpr std::uint64_t kMostComparisons = std::uint64_t{1} << 28;  // of bytes in one LIKE: a fraction of a second

void fail(sqlite3_context* out, const char* sentence) { sqlite3_result_error(out, sentence, -1); }
bool is_blob(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_BLOB; }
bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // within a character of UTF-8

// Where `what` is found from `from` on, in time that grows with the length, which std::string_view::find() does not promise.
std::size_t place_in(std::string_view text, std::string_view what, std::size_t from) {
  const void* at = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return at == nullptr ? std::string_view::npos : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
}

std::string_view bytes_of(sqlite3_value* value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  return bytes ? std::string_view(bytes, static_cast<std::size_t>(sqlite3_value_bytes(value))) : std::string_view();
}

// instr(text, what): the place from 1, in characters; in bytes where both are blobs.
void instr(sqlite3_context* out, int, Values values) {
  if (is_null(values[0]) || is_null(values[1])) return;
  const bool in_bytes = is_blob(values[0]) && is_blob(values[1]);
  const std::string_view text = in_bytes ? bytes_of(values[0]) : text_of(values[0]),
                         what = in_bytes ? bytes_of(values[1]) : text_of(values[1]);
  if (what.empty()) return give(out, std::int64_t{1});
  std::size_t at = place_in(text, what, 0);
  if (!in_bytes && at > 0 && goes_on(what.front())) at = std::string_view::npos;  // no character begins there
  if (at == std::string_view::npos) return give(out, std::int64_t{0});
  give(out, static_cast<std::int64_t>(in_bytes ? at : utf8_length(text.substr(0, at))) + 1);
}

void replace(sqlite3_context* out, int, Values values) {
  if (is_null(values[0]) || is_null(values[1]) || is_null(values[2])) return;
  const std::string_view text = text_of(values[0]), what = text_of(values[1]), by = text_of(values[2]);
  if (what.empty()) return sqlite3_result_value(out, values[0]);
  const auto most = static_cast<std::size_t>(sqlite3_limit(sqlite3_context_db_handle(out), SQLITE_LIMIT_LENGTH, -1));
  std::string made;
  std::size_t from = 0;
  for (std::size_t at = place_in(text, what, 0); at != std::string_view::npos; at = place_in(text, what, from)) {
    made.append(text, from, at - from).append(by);
    if (made.size() > most) return sqlite3_result_error_toobig(out);
    from = at + what.size();
  }
  give_copy(out, made.append(text.substr(from)));
}

// The part of a text between two separators, counted from 0.
void str_split(sqlite3_context* out, int, Values values) {
  if (is_null(values[0]) || is_null(values[1]) || is_null(values[2])) return;
  std::string_view text = text_of(values[0]);
  const std::string_view separator = text_of(values[1]);
  std::int64_t wanted = sqlite3_value_int64(values[2]);
  if (wanted < 0 || separator.empty()) return fail(out, "str_split(text, separator, n) wants a separator, and n from 0.");
  for (; wanted > 0; --wanted) {
    const std::size_t at = place_in(text, separator, 0);
    if (at == std::string_view::npos) return;
    text.remove_prefix(at + separator.size());
  }
  give_copy(out, text.substr(0, place_in(text, separator, 0)));
}

std::size_t first_character(std::string_view text) {
  std::size_t size = 1;
  if (static_cast<unsigned char>(text.front()) >= 0xC0)
    while (size < text.size() && goes_on(text[size])) ++size;
  return size;
}

std::size_t last_character(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && goes_on(text[text.size() - size])) ++size;
  return size;
}

// trim(text, characters), which takes away as many of them as stand at its ends.
template <bool kLeft, bool kRight>
void trim(sqlite3_context* out, int, Values values) {
  if (is_null(values[0]) || is_null(values[1])) return;
  std::string_view text = text_of(values[0]), rest = text_of(values[1]);
  std::unordered_set<std::string_view> characters;
  for (; !rest.empty(); rest.remove_prefix(first_character(rest))) characters.insert(rest.substr(0, first_character(rest)));
  while (kLeft && !text.empty() && characters.contains(text.substr(0, first_character(text))))
    text.remove_prefix(first_character(text));
  while (kRight && !text.empty() && characters.contains(text.substr(text.size() - last_character(text))))
    text.remove_suffix(last_character(text));
  give_copy(out, text);
}

// Whether a pattern may be matched with a text; says why not.
bool may_compare(sqlite3_context* out, std::string_view pattern, std::string_view text) {
  const int most = sqlite3_limit(sqlite3_context_db_handle(out), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  if (pattern.size() > static_cast<std::size_t>(most)) return fail(out, "LIKE or GLOB pattern too complex"), false;
  if (pattern.size() * text.size() <= kMostComparisons) return true;
  return fail(out, "A text is too long for LIKE or GLOB with this pattern: take a part of it with substr(), or use instr()."),
         false;
}

// like(pattern, text[, escape]), which is `text LIKE pattern [ESCAPE escape]`.
void like(sqlite3_context* out, int n, Values values) {
  if (is_null(values[0]) || is_null(values[1]) || (n == 3 && is_null(values[2]))) return;
  const std::string_view pattern = text_of(values[0]), text = text_of(values[1]);
  if (!may_compare(out, pattern, text)) return;
  unsigned escape = 0;
  if (n == 3) {
    const std::string_view given = text_of(values[2]);
    if (given.size() != 1) return fail(out, "ESCAPE expression must be a single character");
    escape = static_cast<unsigned char>(given.front());
  }
  give(out, std::int64_t{sqlite3_strlike(pattern.data(), text.data(), escape) == 0});
}

void glob(sqlite3_context* out, int, Values values) {
  if (is_null(values[0]) || is_null(values[1])) return;
  const std::string_view pattern = text_of(values[0]), text = text_of(values[1]);
  if (may_compare(out, pattern, text)) give(out, std::int64_t{sqlite3_strglob(pattern.data(), text.data()) == 0});
}

template <void (*kBody)(sqlite3_context*, int, Values)>
void add(sqlite3* db, const char* name, int arguments) {
  sqlite3_create_function_v2(db, name, arguments, kPure, nullptr, guarded<kBody>, nullptr, nullptr, nullptr);
}

}  // namespace

void add_text_functions(sqlite3* db) {
  add<instr>(db, "instr", 2);
  add<replace>(db, "replace", 3);
  add<str_split>(db, "str_split", 3);
  add<trim<true, true>>(db, "trim", 2);
  add<trim<true, false>>(db, "ltrim", 2);
  add<trim<false, true>>(db, "rtrim", 2);
  add<like>(db, "like", 2);
  add<like>(db, "like", 3);
  add<glob>(db, "glob", 2);
}

}  // namespace gapscope::sql
