#include "core/sql/perfetto_statement.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/sql/tokens.h"

namespace gapscope::sql {
namespace {

using Tokens = std::vector<Token>;

struct Module {
  std::string_view name;
  const char* text;
};

constexpr const char* kWithContext = R"(
create or replace perfetto view thread_slice as
select slice.id, slice.ts, slice.dur, slice.category, slice.name, slice.track_id, thread_track.name as track_name, thread.name as thread_name,
       thread.utid, thread.tid, thread.is_main_thread, process.name as process_name, process.upid, process.pid, slice.depth, slice.parent_id,
       slice.arg_set_id, slice.thread_ts, slice.thread_dur
from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) left join process using (upid);
create or replace perfetto view process_slice as
select slice.id, slice.ts, slice.dur, slice.category, slice.name, slice.track_id, process_track.name as track_name, process.name as process_name,
       process.upid, process.pid, slice.depth, slice.parent_id, slice.arg_set_id, slice.thread_ts, slice.thread_dur
from slice join process_track on slice.track_id = process_track.id join process using (upid);
create or replace perfetto view thread_or_process_slice as
select id, ts, dur, category, name, track_id, track_name, thread_name, utid, tid, process_name, upid, pid, depth, parent_id, arg_set_id from thread_slice
union all
select id, ts, dur, category, name, track_id, track_name, null, null, null, process_name, upid, pid, depth, parent_id, arg_set_id from process_slice)";

constexpr const char* kSelfDur = R"(
create or replace perfetto view slice_self_dur as
select slice.id, slice.dur - ifnull((select sum(child.dur) from slice child where child.parent_id = slice.id), 0) as self_dur from slice)";

constexpr std::array<Module, 7> kModules = {{
    {"slices.with_context", kWithContext},
    {"slices.slices", kWithContext},
    {"slices.self_dur", kSelfDur},
    {"slices.hierarchy", ""},  // what these hold is always there
    {"slices.flow", ""},
    {"time.conversion", ""},
    {"prelude", ""},
}};

bool words_at(const Tokens& tokens, std::size_t at, std::initializer_list<std::string_view> words) {
  if (at + words.size() > tokens.size()) return false;
  return std::all_of(words.begin(), words.end(),
                     [&, i = at](std::string_view word) mutable { return is_word(tokens[i++], word); });
}

Error untranslated(std::string_view what) {
  return Error{std::string("CREATE PERFETTO ") + printable(what) +
               " has no translation here: write its body where it is used, as a subquery, or as CREATE PERFETTO VIEW name AS "
               "SELECT ..."};
}

Result<std::optional<PerfettoStatement>> read_include(const Tokens& tokens) {
  PerfettoStatement out;
  out.what = PerfettoStatement::What::include;
  for (std::size_t i = 3; i < tokens.size(); ++i) out.name += tokens[i].text;
  if (out.name.empty()) return Error{"INCLUDE PERFETTO MODULE wants the name of a module, as in slices.with_context."};
  return std::optional(std::move(out));
}

Result<std::optional<PerfettoStatement>> read_create(std::string_view text, const Tokens& tokens, std::size_t at,
                                                     bool replaces) {
  PerfettoStatement out;
  out.replaces = replaces;
  if (at >= tokens.size()) return Error{"CREATE PERFETTO wants TABLE or VIEW, a name, AS and a SELECT."};
  if (!is_word(tokens[at], "table") && !is_word(tokens[at], "view")) return untranslated(tokens[at].text);
  out.what = is_word(tokens[at], "table") ? PerfettoStatement::What::table : PerfettoStatement::What::view;
  if (++at >= tokens.size()) return Error{"CREATE PERFETTO TABLE wants a name, AS and a SELECT."};
  out.name = unquoted(tokens[at++].text);
  const auto as = std::find_if(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens.end(),
                               [](const Token& t) { return is_word(t, "as"); });
  if (as == tokens.end() || as + 1 == tokens.end())
    return Error{"CREATE PERFETTO TABLE " + printable(out.name) + " wants AS and a SELECT."};
  out.select = text.substr((as + 1)->offset);
  if (!is_word(*(as + 1), "select") && !is_word(*(as + 1), "with") && !is_word(*(as + 1), "values"))
    return Error{"After AS follows a SELECT."};
  return std::optional(std::move(out));
}

}  // namespace

Result<std::optional<PerfettoStatement>> read_perfetto_statement(std::string_view text) {
  const Tokens tokens = tokens_of(text.substr(0, std::min<std::size_t>(text.size(), 65536)));
  if (words_at(tokens, 0, {"include", "perfetto", "module"})) return read_include(tokens);
  if (words_at(tokens, 0, {"create", "perfetto"})) return read_create(text, tokens, 2, false);
  if (words_at(tokens, 0, {"create", "or", "replace", "perfetto"})) return read_create(text, tokens, 4, true);
  if (words_at(tokens, 0, {"drop", "perfetto"}))
    return Error{"DROP PERFETTO has no translation: CREATE OR REPLACE PERFETTO replaces a table or view."};
  if (words_at(tokens, 0, {"drop", "table"}) || words_at(tokens, 0, {"drop", "view"})) {
    PerfettoStatement out;
    out.what = PerfettoStatement::What::drop;
    out.select = text;
    return std::optional(std::move(out));
  }
  if (words_at(tokens, 0, {"create", "virtual"}))
    return Error{
        "CREATE VIRTUAL TABLE is refused; for span_join write a join on overlapping times: a.ts < b.ts + b.dur and b.ts < a.ts "
        "+ a.dur."};
  return std::optional<PerfettoStatement>();
}

const char* module_text(std::string_view module) {
  if (module.starts_with("prelude")) module = "prelude";
  const auto found = std::find_if(kModules.begin(), kModules.end(), [&](const Module& m) { return m.name == module; });
  return found != kModules.end() ? found->text : nullptr;
}

std::string unknown_module_sentence(std::string_view module) {
  std::string out = "There is no module " + printable(module) + " here. There are ";
  for (const Module& m : kModules) out += std::string(&m == kModules.data() ? "" : ", ").append(m.name);
  return out + ".";
}

}  // namespace gapscope::sql
