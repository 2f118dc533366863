// The functions of SQL that Perfetto's users know: see core/sql/README.md.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "core/base/demangle.h"
#include "core/base/have_memory.h"
#include "core/sql/scalar_function.h"
#include "core/sql/slice_table.h"
#include "core/sql/tables.h"
#include "core/sql/world.h"

namespace gapscope::sql {
namespace {

World& world_of(sqlite3_context* out) { return *static_cast<World*>(sqlite3_user_data(out)); }
void fail(sqlite3_context* out, const std::string& sentence) {
  sqlite3_result_error(out, sentence.c_str(), static_cast<int>(sentence.size()));
}

// A thing that is made of a constant argument once a statement.
template <class T, class Make>
T* cached(sqlite3_context* out, int argument, Make make) {
  auto* at = static_cast<T*>(sqlite3_get_auxdata(out, argument));
  if (at != nullptr) return at;
  sqlite3_set_auxdata(out, argument, new T(make()), [](void* made) { delete static_cast<T*>(made); });
  return static_cast<T*>(sqlite3_get_auxdata(out, argument));
}

// A slice's number, of those that there are.
std::optional<std::uint32_t> id_of(World& world, sqlite3_value* value) {
  const std::int64_t id = sqlite3_value_int64(value);
  return sqlite3_value_type(value) == SQLITE_INTEGER && id >= 0 && id < world.order().size()
             ? std::optional(static_cast<std::uint32_t>(id))
             : std::nullopt;
}

void extract_arg(sqlite3_context* out, int, Values values) {
  World& world = world_of(out);
  if (is_null(values[0]) || is_null(values[1])) return;
  const auto id = id_of(world, values[0]);
  if (!id) return;
  const ArgKey* key = cached<ArgKey>(out, 1, [&] { return ArgKey(text_of(values[1])); });
  const ArgKey made(key ? std::string_view() : text_of(values[1]));
  const auto value = world.args().value(world.order().row(*id), key ? *key : made);
  if (!value) return fail(out, value.error().message);
  if (*value) give_arg(out, **value);
}

template <int kWhat>
void bounds(sqlite3_context* out, int, Values) {
  const Span span = world_of(out).bounds();
  give(out, kWhat == 0 ? span.begin : kWhat == 1 ? span.end : span.end - span.begin);
}

void slice_is_ancestor(sqlite3_context* out, int, Values values) {
  World& world = world_of(out);
  const auto a = id_of(world, values[0]), b = id_of(world, values[1]);
  if (!a || !b) return;
  const SliceOrder& order = world.order();
  const SliceRow outer = order.row(*a), inner = order.row(*b);
  const bool same_track = world.tracks().of_row(order, outer) == world.tracks().of_row(order, inner);
  const bool around = order.begin(outer) <= order.begin(inner) && order.end(outer) >= order.end(inner);
  give(out, std::int64_t{same_track && around && world.tree().depth(outer) < world.tree().depth(inner)});
}

struct TimeUnit {
  const char* name;
  std::int64_t ns;
};
constexpr TimeUnit kUnits[] = {{"ns", 1},
                               {"us", kNsPerUs},
                               {"ms", kNsPerMs},
                               {"s", kNsPerS},
                               {"min", 60 * kNsPerS},
                               {"hours", 3600 * kNsPerS},
                               {"days", 86400 * kNsPerS}};

void time_to(sqlite3_context* out, int, Values values) {
  if (!is_null(values[0]))
    give(out, sqlite3_value_int64(values[0]) / *static_cast<const std::int64_t*>(sqlite3_user_data(out)));
}
void time_from(sqlite3_context* out, int, Values values) {
  if (is_null(values[0])) return;
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(sqlite3_value_int64(values[0]), *static_cast<const std::int64_t*>(sqlite3_user_data(out)), &ns))
    return fail(out, "That time does not fit into 64 bits of nanoseconds.");
  give(out, ns);
}

constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 29;  // of one match: some seconds at the slowest

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

// With memory that fails inside RE2 the destructors of its walkers continue with what is gone.
std::unique_ptr<re2::RE2> made_pattern(std::string_view text, const re2::RE2::Options& options) {
  have_memory(static_cast<std::size_t>(options.max_mem()));
  return std::make_unique<re2::RE2>(piece(text), options);
}

re2::RE2* pattern_of(sqlite3_context* out, int argument, Values values, bool ignore_case = false) {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_case_sensitive(!ignore_case);
  using Held = std::unique_ptr<re2::RE2>;
  Held* held = cached<Held>(out, argument, [&] { return made_pattern(text_of(values[argument]), options); });
  if (held == nullptr) {
    sqlite3_result_error_nomem(out);
    return nullptr;
  }
  if (!(*held)->ok()) {
    fail(out, "\"" + (*held)->pattern() + "\" is not a regular expression: " + (*held)->error() + ".");
    return nullptr;
  }
  return held->get();
}

// The pattern, unless holding it against the text may take long: RE2's time is that of the text times the pattern's length.
const re2::RE2* pattern_for(sqlite3_context* out, const re2::RE2* pattern, std::string_view text) {
  if (pattern == nullptr || static_cast<std::uint64_t>(pattern->ProgramSize()) * text.size() <= kMostSteps) return pattern;
  fail(out, "A text is too long for this regular expression: take a part of it with substr(), or a shorter expression.");
  return nullptr;
}

// regexp(pattern, input[, flags]), which is also `input REGEXP pattern`.
void regexp(sqlite3_context* out, int n, Values values) {
  if (is_null(values[0]) || is_null(values[1])) return;
  const std::string_view flags = n == 3 ? text_of(values[2]) : std::string_view();
  const std::size_t at = flags.find_last_of("ic");
  const bool ignore_case = at != std::string_view::npos && flags[at] == 'i';
  const std::string_view text = text_of(values[1]);
  if (const re2::RE2* pattern = pattern_for(out, pattern_of(out, 0, values, ignore_case), text))
    give(out, std::int64_t{re2::RE2::PartialMatch(piece(text), *pattern)});
}
void regexp_extract(sqlite3_context* out, int, Values values) {
  if (is_null(values[0]) || is_null(values[1])) return;
  const std::string_view text = text_of(values[0]);
  const re2::RE2* pattern = pattern_for(out, pattern_of(out, 1, values), text);
  if (pattern == nullptr) return;
  re2::StringPiece found[2];
  const int groups = std::min(pattern->NumberOfCapturingGroups(), 1) + 1;
  if (!pattern->Match(piece(text), 0, text.size(), re2::RE2::UNANCHORED, found, groups)) return;
  const re2::StringPiece& wanted = found[groups - 1];
  if (wanted.data() != nullptr) give_copy(out, {wanted.data(), wanted.size()});
}
// As RE2::GlobalReplace(), which may look at the rest of the text for each match, and does not ask whether to continue.
void regexp_replace_simple(sqlite3_context* out, int, Values values) {
  if (is_null(values[0]) || is_null(values[1]) || is_null(values[2])) return;
  const std::string_view text = text_of(values[0]), by = text_of(values[2]);
  const re2::RE2* pattern = pattern_for(out, pattern_of(out, 1, values), text);
  if (pattern == nullptr) return;
  const auto most = static_cast<std::size_t>(sqlite3_limit(sqlite3_context_db_handle(out), SQLITE_LIMIT_LENGTH, -1));
  std::string made;
  std::size_t at = 0, end_of_last = std::string_view::npos;
  re2::StringPiece found;
  while (at <= text.size() && pattern->Match(piece(text), at, text.size(), re2::RE2::UNANCHORED, &found, 1)) {
    if (world_of(out).is_over()) return sqlite3_result_error_code(out, SQLITE_INTERRUPT);
    const auto begin = static_cast<std::size_t>(found.data() - text.data());
    made.append(text, at, begin - at);
    at = begin + found.size();
    if (found.empty() && begin == end_of_last) {  // no empty match right behind another: a character stays
      do made.append(text.substr(std::min(at, text.size()), 1));
      while (++at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
      continue;
    }
    end_of_last = at;
    if (made.append(by).size() > most) return sqlite3_result_error_toobig(out);
  }
  give_copy(out, made.append(text.substr(std::min(at, text.size()))));
}

void demangled(sqlite3_context* out, int, Values values) {
  if (!is_null(values[0])) give_copy(out, demangle(text_of(values[0])));
}
void reversed(sqlite3_context* out, int, Values values) {
  if (is_null(values[0])) return;
  std::string text(text_of(values[0]));
  std::reverse(text.begin(), text.end());
  give_copy(out, text);
}

// percentile(x, p): linear between the two nearest, as SQLite's extension of that name. median(x) is that of 50.
struct Numbers {
  double* values;  // of SQLite's memory, which has a limit
  std::uint64_t count, room;
  double p;
};
void percentile_step(sqlite3_context* out, int n, Values values) {
  auto* numbers = static_cast<Numbers*>(sqlite3_aggregate_context(out, sizeof(Numbers)));
  if (numbers == nullptr) return sqlite3_result_error_nomem(out);
  numbers->p = n == 2 ? sqlite3_value_double(values[1]) : 50;
  if (!(numbers->p >= 0 && numbers->p <= 100)) return fail(out, "percentile(x, p) wants p from 0 to 100.");
  if (is_null(values[0])) return;
  if (numbers->count == numbers->room) {
    const std::uint64_t room = std::max<std::uint64_t>(4, 2 * numbers->room);
    void* const more = sqlite3_realloc64(numbers->values, room * sizeof(double));
    if (more == nullptr) return sqlite3_result_error_nomem(out);
    numbers->values = static_cast<double*>(more);
    numbers->room = room;
  }
  numbers->values[numbers->count++] = sqlite3_value_double(values[0]);
}
void percentile_final(sqlite3_context* out) {
  auto* numbers = static_cast<Numbers*>(sqlite3_aggregate_context(out, 0));
  if (numbers == nullptr || numbers->count == 0) return;
  const std::unique_ptr<double, void (*)(void*)> values(numbers->values, sqlite3_free);
  double *const begin = values.get(), *const end = begin + numbers->count;
  const double at = numbers->p * static_cast<double>(numbers->count - 1) / 100;
  double* const below = begin + static_cast<std::ptrdiff_t>(at);
  std::nth_element(begin, below, end);
  const double high = below + 1 < end ? *std::min_element(below + 1, end) : *below;
  sqlite3_result_double(out, *below + (high - *below) * (at - std::floor(at)));
}

template <void (*kBody)(sqlite3_context*, int, Values)>
void add(sqlite3* db, const char* name, int arguments, void* data, int flags = kPure) {
  sqlite3_create_function_v2(db, name, arguments, flags, data, guarded<kBody>, nullptr, nullptr, nullptr);
}

}  // namespace

void add_functions(sqlite3* db, World& world) {
  add<extract_arg>(db, "extract_arg", 2, &world);
  add<bounds<0>>(db, "trace_start", 0, &world);
  add<bounds<1>>(db, "trace_end", 0, &world);
  add<bounds<2>>(db, "trace_dur", 0, &world);
  add<slice_is_ancestor>(db, "slice_is_ancestor", 2, &world);
  for (const TimeUnit& unit : kUnits) {
    auto* ns = const_cast<std::int64_t*>(&unit.ns);
    add<time_to>(db, (std::string("time_to_") + unit.name).c_str(), 1, ns);
    add<time_from>(db, (std::string("time_from_") + unit.name).c_str(), 1, ns);
  }
  add<regexp>(db, "regexp", 2, nullptr);
  add<regexp>(db, "regexp", 3, nullptr);
  add<regexp_extract>(db, "regexp_extract", 2, nullptr);
  add<regexp_replace_simple>(db, "regexp_replace_simple", 3, &world);
  add<demangled>(db, "demangle", 1, nullptr);
  add<reversed>(db, "reverse", 1, nullptr);
  sqlite3_create_function_v2(db, "percentile", 2, kPure, nullptr, nullptr, percentile_step, percentile_final, nullptr);
  sqlite3_create_function_v2(db, "median", 1, kPure, nullptr, nullptr, percentile_step, percentile_final, nullptr);
  add_whatif_function(db, world);
  add_text_functions(db);
}

}  // namespace gapscope::sql
