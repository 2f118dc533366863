// Tables that give slices for an argument, and the table of instants.
#include <algorithm>

#include "core/sql/column_table.h"
#include "core/sql/function_table.h"
#include "core/sql/slice_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

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
  const auto add = [&](const char* name, const char* meaning, auto slices_of) {
    const auto visible = slice_columns().first(kSliceSliceId + 1);
    out.push_back(function_table(world, {name, meaning, {visible.begin(), visible.end()}, slices_of, give_slice_column}));
  };
  add("ancestor_slice", "function of a slice id: what encloses it, outermost first", ancestors_of);
  add("descendant_slice", "function of a slice id: what it encloses", descendants_of);
}

}  // namespace gapscope::sql
