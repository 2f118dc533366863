// Tables that give slices for an argument, and the table of instants.
#include <algorithm>

#include "core/sql/list_table.h"
#include "core/sql/slice_columns.h"
#include "core/sql/slice_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

using SlicesOf = std::vector<std::uint32_t> (*)(World& world, std::uint32_t id);

class FunctionCursor final : public Cursor {
 public:
  FunctionCursor(World& world, SlicesOf slices_of) : world_(world), slices_of_(slices_of) {}
  std::optional<Error> filter(std::string_view plan, int, std::span<sqlite3_value*> values) override {
    ids_.clear();
    at_ = 0;
    if (plan.empty()) return Error{"This table is a function: write its argument, as in ancestor_slice(12)."};
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return std::nullopt;
    start_ = sqlite3_value_int64(values[0]);
    if (sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER && start_ >= 0 && start_ < world_.order().size())
      ids_ = slices_of_(world_, static_cast<std::uint32_t>(start_));
    return std::nullopt;
  }
  void next() override { ++at_; }
  bool done() const override { return at_ >= ids_.size(); }
  void column(sqlite3_context* out, int column) override {
    column == kSliceStart ? give(out, start_) : give_slice_column(world_, out, ids_[at_], column);
  }
  std::int64_t rowid() const override { return ids_[at_]; }

 private:
  World& world_;
  SlicesOf slices_of_;
  std::vector<std::uint32_t> ids_;
  std::size_t at_ = 0;
  std::int64_t start_ = 0;
};

class FunctionTable final : public Table {
 public:
  FunctionTable(World& world, const char* name, const char* meaning, SlicesOf slices_of)
      : Table(name, meaning, slice_columns_with_start()), world_(world), slices_of_(slices_of) {}
  void plan(sqlite3_index_info& info) const override {
    PlanText plan(info);
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& c = info.aConstraint[i];
      if (c.iColumn == kSliceStart && c.op == SQLITE_INDEX_CONSTRAINT_EQ && c.usable && plan.empty()) plan.use(i, "=");
    }
    plan.empty() ? plan.finish(1e9, 1e12) : plan.finish(10, 50);
  }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<FunctionCursor>(world_, slices_of_); }

 private:
  World& world_;
  SlicesOf slices_of_;
};

enum : int { kInstantId, kInstantTs, kInstantTrack, kInstantName, kInstantCategory, kInstantArgSet };
constexpr ColumnInfo kInstant[] = {
    {"id", Type::integer, "", "slice.id"},
    {"ts", Type::integer, "ns", "when"},
    {"track_id", Type::integer, "", "track.id"},
    {"name", Type::text, "", "the event's name"},
    {"category", Type::text, "", "the event's \"cat\""},
    {"arg_set_id", Type::integer, "", "args.arg_set_id; NULL where the event has no args"},
};

class InstantRows final : public RowList {
 public:
  explicit InstantRows(World& world) : world_(world) {}
  std::optional<Error> prepare() override {
    if (!ids_.empty()) return std::nullopt;
    for (std::size_t i = 0; i < world_.trace().instants.size(); ++i)
      ids_.push_back(world_.order().id(world_.order().row_of_instant(i)));
    std::sort(ids_.begin(), ids_.end());
    return std::nullopt;
  }
  std::uint32_t rows() override { return static_cast<std::uint32_t>(ids_.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    constexpr int kSame[] = {kSliceId, kSliceTs, kSliceTrack, kSliceName, kSliceCategory, kSliceArgSet};
    give_slice_column(world_, out, ids_[row], kSame[column]);
  }
  double about_rows() const override { return static_cast<double>(world_.trace().instants.size() + 1); }

 private:
  World& world_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace

std::vector<std::uint32_t> ancestors_of(World& world, std::uint32_t id) {
  std::vector<std::uint32_t> out;
  const SliceTree& tree = world.tree();
  for (SliceId up = tree.parent(world.order().row(id)); up; up = tree.parent(up.value)) out.push_back(world.order().id(up));
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::uint32_t> descendants_of(World& world, std::uint32_t id) {
  std::vector<std::uint32_t> out{id};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto children = world.by_parent().of(out[i]);
    out.insert(out.end(), children.begin(), children.end());
  }
  out.erase(out.begin());
  std::sort(out.begin(), out.end());
  return out;
}

void add_slice_tables(World& world, TableList& out) {
  out.push_back(slice_table(world));
  out.push_back(list_table("instant", "the instants among slice", kInstant, std::make_unique<InstantRows>(world)));
  out.push_back(std::make_unique<FunctionTable>(world, "ancestor_slice",
                                                "function of a slice id: what encloses it, outermost first", ancestors_of));
  out.push_back(
      std::make_unique<FunctionTable>(world, "descendant_slice", "function of a slice id: what it encloses", descendants_of));
}

}  // namespace gapscope::sql
