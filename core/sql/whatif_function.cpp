// whatif('no-wait; kernel .*gemm.*=0.5'): how long the run takes with these changes, in ns; of the program without its profiler
// where that is known (table plain_step), as `gapscope whatif` says it. Besides those of read_changes()
// there are "roofline" and "roofline 0.8": kernels reach their floor, or that share of it.
#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "core/replay/at_roofline.h"
#include "core/replay/changes.h"
#include "core/replay/plain_program.h"
#include "core/session/trace_session.h"
#include "core/sql/tables.h"
#include "core/sql/world.h"

namespace gapscope::sql {
namespace {

constexpr double kLeastReached = 0.01;
constexpr const char* kNoShare = "roofline takes a share from 0.01 to 1: roofline 0.8.";

// What replays need, made when a query first asks.
struct Replays {
  explicit Replays(const TraceSession& session)
      : trace(session.trace()), names(session.names()), plain(headline_of(session).plain), model(session.model()) {}
  const Trace& trace;
  const NameIndex& names;
  std::shared_ptr<const PlainProgram> plain;
  std::shared_ptr<const ReplayModel> model;
};
struct Asked {
  World& world;
  std::unique_ptr<const Replays> replays;
};

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::string_view item = text.substr(0, end);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) out.emplace_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// "roofline", "roofline 0.8": takes them out of the list. 0: none is there, less: one that is no share.
double take_roofline(std::vector<std::string>& list) {
  constexpr std::string_view kWord = "roofline";
  double reached = 0;
  std::erase_if(list, [&](std::string_view item) {
    if (item.substr(0, item.find(' ')) != kWord) return false;
    item.remove_prefix(std::min(kWord.size() + 1, item.size()));
    reached = 1;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), reached);
    const bool read = item.empty() || (error == std::errc() && end == item.data() + item.size());
    if (!read || !(reached >= kLeastReached && reached <= 1)) reached = -1;
    return true;
  });
  return reached;
}

void answer(sqlite3_context* out, sqlite3_value* value) {
  auto& asked = *static_cast<Asked*>(sqlite3_user_data(out));
  if (!asked.replays) asked.replays = std::make_unique<const Replays>(asked.world.session());
  const Replays& r = *asked.replays;
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr || r.model->empty()) return;
  std::vector<std::string> list = list_of(text);
  const double reached = take_roofline(list);
  if (reached < 0) return sqlite3_result_error(out, kNoShare, -1);
  Result<Change> change = read_changes(r.trace, r.names, *r.model, list);
  if (!change.ok()) {
    const std::string& why = change.error().message;
    return sqlite3_result_error(out, why.c_str(), static_cast<int>(why.size()));
  }
  if (reached > 0) *change = both(std::move(*change), at_roofline(*r.model, r.trace, asked.world.session().work(), reached));
  if (r.plain) change->pace = r.plain->pace;
  const ReplayResult result = replay(*r.model, *change, &asked.world.cancel());
  if (!result.cancelled) sqlite3_result_int64(out, result.after);
}

void whatif(sqlite3_context* out, int, sqlite3_value** values) noexcept {
  try {
    answer(out, values[0]);
  } catch (...) {
    sqlite3_result_error_nomem(out);
  }
}

}  // namespace

void add_whatif_function(sqlite3* db, World& world) {
  auto asked = std::make_unique<Asked>(Asked{world, nullptr});
  sqlite3_create_function_v2(db, "whatif", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, asked.release(), whatif,
                             nullptr, nullptr, [](void* made) { delete static_cast<Asked*>(made); });
}

}  // namespace gapscope::sql
