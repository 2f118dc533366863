// Over 400 lines: the plan of one table and the cursor that follows it.
#include "core/sql/slice_table.h"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "core/base/result.h"
#include "core/trace/string_table.h"

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

// By string id. `op`: 'l' LIKE, 'g' GLOB, 'r' REGEXP, as SQLite and regexp() compare. An Error where a pattern cannot be read.
Result<std::vector<bool>> names_that_match(const StringTable& strings, char op, std::string_view pattern) {
  const std::string p(pattern);
  if (op == 'l')
    return each(strings, [&](const std::string& text) { return sqlite3_strlike(p.c_str(), text.c_str(), 0) == 0; });
  if (op == 'g') return each(strings, [&](const std::string& text) { return sqlite3_strglob(p.c_str(), text.c_str()) == 0; });
  const re2::RE2 regex(p, re2::RE2::Quiet);
  if (!regex.ok()) return Error{"\"" + p + "\" is not a regular expression: " + regex.error() + "."};
  return each(strings, [&](const std::string& text) { return re2::RE2::PartialMatch(text, regex); });
}

// Besides by id rows come group by group, in the order of their bytes or ids; kBackwards is added where the last comes first.
enum RowOrder : int { kById, kByName, kByTrack, kByCategory, kBackwards };

// What a plan asks for: a letter for the column and one for the comparison.
char column_letter(int column) {
  switch (column) {
    case kSliceId:
    case kSliceSliceId: return 'i';
    case kSliceTs: return 't';
    case kSliceName: return 'n';
    case kSliceCategory:
    case kSliceCat: return 'c';
    case kSliceTrack: return 'k';
    case kSliceParent: return 'p';
    case kSliceArgSet: return 'a';
    case kSliceCorrelation: return 'r';
    case kSliceExternalId: return 'x';
    default: return 0;
  }
}

bool is_range_column(char letter) { return letter == 'i' || letter == 't' || letter == 'a'; }

// 0 where that comparison of that column is of no use.
char operator_letter(char column, int op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE: return is_range_column(column) ? '>' : 0;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE: return is_range_column(column) ? '<' : 0;
    case SQLITE_INDEX_CONSTRAINT_LIKE: return column == 'n' ? 'l' : 0;
    case SQLITE_INDEX_CONSTRAINT_GLOB: return column == 'n' ? 'g' : 0;
    case SQLITE_INDEX_CONSTRAINT_REGEXP: return column == 'n' ? 'r' : 0;
    default: return 0;
  }
}

// A whole number that `value` equals, for a look-up; nothing where there is none that it could equal.
std::optional<std::int64_t> whole(sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
  if (type != SQLITE_FLOAT) return std::nullopt;
  const double number = sqlite3_value_double(value);
  if (number != number || number < -9.2e18 || number > 9.2e18) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

// Ids of slices that a filter has to look at: a list, or all from first to last.
struct Candidates {
  std::uint32_t first = 0, last = 0;
  std::optional<std::span<const std::uint32_t>> list;
  std::size_t size() const { return list ? list->size() : last - first; }
};

class SliceCursor final : public Cursor {
 public:
  explicit SliceCursor(World& world) : world_(world), order_(world.order()) {}

  std::optional<Error> filter(std::string_view plan, int order, std::span<sqlite3_value*> values) override {
    candidates_ = {0, world_.order().size(), std::nullopt};
    names_.clear();
    categories_.clear();
    groups_ = static_cast<RowOrder>(order % kBackwards);
    backwards_ = order >= kBackwards;
    correlation_.reset();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (auto error = narrow(plan[2 * i], plan[2 * i + 1], values[i])) return error;
    }
    take_correlated();
    is_filtered_ = !names_.empty() || !categories_.empty();
    if (candidates_.list) cut_list();
    next_group_ = 0;
    groups_ != kById ? start_group() : start();
    return std::nullopt;
  }
  void next() override {
    ++at_;
    if (groups_ != kById || is_filtered_) skip();
  }
  bool done() const override { return at_ >= stop_; }
  // What most queries ask for of every row without a detour.
  void column(sqlite3_context* out, int column) override {
    switch (column) {
      case kSliceId: return give(out, std::int64_t{id()});
      case kSliceTs: return give(out, order_.begin(order_.row(id())));
      case kSliceDur: return give(out, order_.duration(order_.row(id())));
      case kSliceName:
        if (const std::string_view name = world_.trace().strings[order_.name(order_.row(id()))]; !name.empty())
          return give(out, name);
        return give_slice_column(world_, out, id(), column);
      default: return give_slice_column(world_, out, id(), column);
    }
  }
  std::int64_t rowid() const override { return id(); }

 private:
  std::uint32_t id() const { return list_ ? list_[at_] : static_cast<std::uint32_t>(at_); }

  void nothing() { candidates_ = {0, 0, std::nullopt}; }
  void take_if_shorter(std::span<const std::uint32_t> list) {
    if (!candidates_.list || list.size() < candidates_.list->size()) candidates_.list = list;
  }

  std::optional<Error> narrow(char column, char op, sqlite3_value* value) {
    if (sqlite3_value_type(value) == SQLITE_NULL) {
      nothing();  // no comparison with NULL holds
      return std::nullopt;
    }
    if (column == 'n') return narrow_name(op, value);
    if (column == 'c') {
      narrow_category(text_of(value));
    } else if (const auto number = whole(value)) {
      op == '=' ? narrow_equal(column, *number) : narrow_range(column, op, *number);
    } else if (op == '=' && sqlite3_value_type(value) != SQLITE_FLOAT) {
      nothing();  // a text or blob that is no number
    }
    return std::nullopt;
  }

  void cut(std::uint32_t first, std::uint32_t last) {
    candidates_.first = std::max(candidates_.first, first);
    candidates_.last = std::max(candidates_.first, std::min(candidates_.last, last));
  }
  void cut_to_ids(std::int64_t first, std::int64_t last) {
    const auto n = static_cast<std::int64_t>(world_.order().size());
    cut(static_cast<std::uint32_t>(std::clamp<std::int64_t>(first, 0, n)),
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(last, 0, n)));
  }

  void narrow_equal(char column, std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    switch (column) {
      case 'i':
      case 'a':
        if (number < 0 || number >= static_cast<std::int64_t>(world_.order().size())) return nothing();
        return cut_to_ids(number, number + 1);
      case 't':
        return cut(world_.order().first_at_or_after(number), number == std::numeric_limits<Ns>::max()
                                                                 ? world_.order().size()
                                                                 : world_.order().first_at_or_after(number + 1));
      case 'k': return take_if_shorter(world_.by_track().of(bits));
      case 'p': return take_if_shorter(world_.by_parent().of(bits));
      case 'r': correlation_ = bits; return;
      case 'x':
        if (bits != 0) take_if_shorter(world_.by_external_id().of(bits));
        return;
      default: return;
    }
  }
  // A correlation of 0 is one that no column knows, and of other kinds than these none does.
  void take_correlated() {
    if (!correlation_ || *correlation_ == 0 || categories_.empty()) return;
    for (std::size_t c = 0; c < categories_.size(); ++c) {
      const Kind kind = world_.trace().categories[c].kind;
      if (categories_[c] && !is_gpu_work(kind) && !is_call(kind)) return;
    }
    take_if_shorter(world_.by_correlation().of(*correlation_));
  }
  // Bounds are rounded outwards: SQLite compares again.
  void narrow_range(char column, char op, std::int64_t number) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (column == 't') {
      if (op == '>') return cut(world_.order().first_at_or_after(number), world_.order().size());
      return cut(0, number >= kMost - 1 ? world_.order().size() : world_.order().first_at_or_after(number + 2));
    }
    op == '>' ? cut_to_ids(number, kMost) : cut_to_ids(0, number >= kMost - 1 ? kMost : number + 2);
  }

  std::optional<Error> narrow_name(char op, sqlite3_value* value) {
    if (op == '=') {
      const std::string_view text = text_of(value);
      if (text == "[No name]") return std::nullopt;
      const StringId name = world_.trace().strings.find(text);
      if (!name || text.empty() || sqlite3_value_type(value) != SQLITE_TEXT)
        nothing();
      else
        take_if_shorter(world_.by_name().of(name.value));
      return std::nullopt;
    }
    Result<std::vector<bool>> matching = names_that_match(world_.trace().strings, op, text_of(value));
    if (!matching) return matching.error();
    if (names_.empty())
      names_ = std::move(*matching);
    else
      for (std::size_t i = 0; i < names_.size(); ++i) names_[i] = names_[i] && (*matching)[i];
    return std::nullopt;
  }
  void narrow_category(std::string_view name) {
    const auto& all = world_.trace().categories;
    if (categories_.empty()) categories_.assign(all.size(), true);
    bool any = false;
    for (std::size_t c = 0; c < all.size(); ++c) {
      categories_[c] = categories_[c] && world_.trace().strings[all[c].name] == name;
      any |= categories_[c];
    }
    if (!any) nothing();
  }

  // The list's part within the range of ids.
  void cut_list() {
    const auto list = *candidates_.list;
    const auto begin = std::lower_bound(list.begin(), list.end(), candidates_.first);
    candidates_.list = std::span(begin, std::lower_bound(begin, list.end(), candidates_.last));
  }

  void start() {
    list_ = candidates_.list ? candidates_.list->data() : nullptr;
    at_ = candidates_.list ? 0 : candidates_.first;
    stop_ = candidates_.list ? candidates_.list->size() : candidates_.last;
    if (candidates_.list && candidates_.list->empty()) stop_ = at_ = 0;
    skip();
  }
  std::size_t group_count() {
    switch (groups_) {
      case kByName: return world_.names_in_order().size();
      case kByTrack: return world_.by_track().values();
      default: return world_.by_category().values();
    }
  }
  std::span<const std::uint32_t> group(std::size_t at) {
    switch (groups_) {
      case kByName: {
        const StringId name = world_.names_in_order()[at];
        if (!names_.empty() && !names_[name.index()]) return {};
        return world_.by_name().of(name.value);
      }
      case kByTrack: return world_.by_track().of(at);
      default: return world_.by_category().of(at);
    }
  }
  // The next group with a slice within the candidates' range.
  void start_group() {
    at_ = stop_ = 0;
    while (at_ >= stop_ && next_group_ < group_count()) {
      const std::size_t nth = next_group_++;
      const auto list = group(backwards_ ? group_count() - 1 - nth : nth);
      const auto begin = std::lower_bound(list.begin(), list.end(), candidates_.first);
      list_ = list.data();
      at_ = static_cast<std::size_t>(begin - list.begin());
      stop_ = static_cast<std::size_t>(std::lower_bound(begin, list.end(), candidates_.last) - list.begin());
      skip_unwanted();
    }
  }
  void skip() {
    skip_unwanted();
    if (groups_ != kById && at_ >= stop_) start_group();
  }
  void skip_unwanted() {
    if (!is_filtered_) return;
    for (; at_ < stop_; ++at_) {
      const SliceRow row = order_.row(id());
      if ((categories_.empty() || categories_[order_.category(row)]) && (names_.empty() || names_[order_.name(row).index()]))
        return;
      if (at_ % 65536 == 0 && world_.cancel()) at_ = stop_ - 1;
    }
  }

  World& world_;
  const SliceOrder& order_;
  Candidates candidates_;
  std::vector<bool> names_, categories_;  // wanted; empty: all
  bool is_filtered_ = false;              // by either
  const std::uint32_t* list_ = nullptr;
  std::size_t at_ = 0, stop_ = 0;
  RowOrder groups_ = kById;
  bool backwards_ = false;
  std::optional<std::uint64_t> correlation_;
  std::size_t next_group_ = 0;
};

class SliceTable final : public Table {
 public:
  explicit SliceTable(World& world)
      : Table("slice",
              "what was going on from when to when: operators, CUDA calls, kernels, copies, annotations, Python frames; and "
              "instants",
              slice_columns()),
        world_(world) {}

  void plan(sqlite3_index_info& info) const override {
    PlanText plan(info);
    const double n = std::max(1.0, static_cast<double>(world_.trace().slice_count() + world_.trace().instants.size()));
    double looked_at = n, rows = n;
    bool other_order = false;
    const bool has_category = asks_for_category(info);
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& c = info.aConstraint[i];
      const char column = c.usable ? column_letter(c.iColumn) : '\0';
      const char op = column ? operator_letter(column, c.op) : '\0';
      if (!op || (column == 'a' && op != '=') || (column == 'r' && !has_category)) continue;
      const char letters[] = {column, op};
      plan.use(i, {letters, 2});
      const double share = share_of(info, i, column, op, n);
      rows *= share;
      if (op == '=' && column != 'c') {
        looked_at = std::min(looked_at, n * share);
        other_order |= column == 'k' || column == 'p' || column == 'r' || column == 'x' || column == 'n';
      } else if (column == 'i' || column == 't') {
        looked_at *= share;
      }
      if ((column == 'i' || column == 'a') && op == '=') info.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    }
    take_order(info, other_order);
    plan.finish(rows, 8 + looked_at + rows * 4);
  }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<SliceCursor>(world_); }

 private:
  // Only of GPU work and of calls the columns hold every correlation, so those have to be asked for.
  bool asks_for_category(const sqlite3_index_info& info) const {
    bool asks = false;
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& c = info.aConstraint[i];
      asks |= c.usable && c.op == SQLITE_INDEX_CONSTRAINT_EQ && column_letter(c.iColumn) == 'c';
    }
    return asks;
  }
  // About what part of all slices a comparison leaves.
  double share_of(sqlite3_index_info& info, int i, char column, char op, double n) const {
    const Trace& t = world_.trace();
    if (op != '=') return column == 'n' ? 0.1 : 0.3;
    switch (column) {
      case 'i':
      case 'a': return 1 / n;
      case 't':
      case 'r': return std::min(1.0, 2 / n);
      case 'x': return std::min(1.0, 3 / n);
      case 'p': return std::min(1.0, 4 / n);
      case 'k': return 1 / std::max(1.0, static_cast<double>(t.lanes.size()));
      case 'n': return 1 / std::max(2.0, static_cast<double>(t.strings.size()) / 4);
      default: return share_of_category(info, i);
    }
  }
  double share_of_category(sqlite3_index_info& info, int i) const {
    const Trace& t = world_.trace();
    sqlite3_value* value = nullptr;
    const double all = std::max<double>(1, static_cast<double>(t.slice_count()));
    if (sqlite3_vtab_rhs_value(&info, i, &value) != SQLITE_OK || value == nullptr)
      return 1 / std::max(1.0, static_cast<double>(t.categories.size()));
    const Kind kind = kind_from_category(text_of(value));
    if (is_gpu_work(kind)) return std::min(1.0, (1 + static_cast<double>(t.gpu.size())) / all);
    if (is_call(kind)) return std::min(1.0, (1 + static_cast<double>(t.calls.size())) / all);
    return 0.5;
  }
  // Rows come by id, and so by ts; or group by group.
  void take_order(sqlite3_index_info& info, bool has_list) const {
    if (info.nOrderBy == 0) return;
    const auto is = [&](int i, int column) { return info.aOrderBy[i].iColumn == column && !info.aOrderBy[i].desc; };
    const auto is_id = [&](int i) { return is(i, kSliceId) || is(i, kSliceSliceId) || is(i, -1); };
    const bool by_time = is_id(0) || (is(0, kSliceTs) && (info.nOrderBy == 1 || (info.nOrderBy == 2 && is_id(1))));
    if (by_time) info.orderByConsumed = 1;
    if (info.nOrderBy != 1 || has_list || by_time) return;
    const auto take = [&](RowOrder order) {
      info.orderByConsumed = 1;
      info.idxNum = order + (info.aOrderBy[0].desc ? kBackwards : 0);
    };
    switch (info.aOrderBy[0].iColumn) {
      case kSliceName: return world_.has_nameless_slices() ? void() : take(kByName);
      case kSliceTrack: return take(kByTrack);
      case kSliceCategory:
      case kSliceCat: return take(kByCategory);
      default: return;
    }
  }

  World& world_;
};

}  // namespace

std::unique_ptr<Table> slice_table(World& world) { return std::make_unique<SliceTable>(world); }

}  // namespace gapscope::sql
