// Arrows between slices, and what can be reached along them.
#include <algorithm>
#include <queue>
#include <unordered_set>

#include "core/sql/list_table.h"
#include "core/sql/slice_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

enum : int { kId, kSliceOut, kSliceIn, kCategory, kStart };
constexpr ColumnInfo kFlow[] = {
    {"id", Type::integer, "", "number of the arrow, by the begin of the slice it ends in"},
    {"slice_out", Type::integer, "", "slice.id that it leaves: the launch"},
    {"slice_in", Type::integer, "", "slice.id that it arrives at: the kernel"},
    {"category", Type::text, "", "ac2g (launches), fwdbwd (forward to backward), ..."},
    {"start_id", Type::integer, "", "the argument", true},
};

void give_flow(World& world, sqlite3_context* out, std::uint32_t id, int column) {
  const Flow& flow = world.trace().flows[world.flows().order[id]];
  switch (column) {
    case kId: return give(out, std::int64_t{id});
    case kSliceOut: return give(out, std::int64_t{world.order().id(flow.from)});
    case kSliceIn: return give(out, std::int64_t{world.order().id(flow.to)});
    case kCategory: return give(out, world.trace().strings[flow.category]);
    default: return;
  }
}

class FlowRows final : public RowList {
 public:
  explicit FlowRows(World& world) : world_(world) {}
  std::uint32_t rows() override { return static_cast<std::uint32_t>(world_.trace().flows.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override { give_flow(world_, out, row, column); }
  double rows_with_value(int column) const override {
    return column == kId ? 1 : column == kSliceOut || column == kSliceIn ? 1.5 : 0;
  }
  std::vector<std::uint32_t> find(int column, std::int64_t value) override {
    if (column == kId)
      return value >= 0 && value < rows() ? std::vector{static_cast<std::uint32_t>(value)} : std::vector<std::uint32_t>{};
    if (value < 0) return {};
    const auto found =
        (column == kSliceOut ? world_.flows().by_out : world_.flows().by_in)->of(static_cast<std::uint64_t>(value));
    return {found.begin(), found.end()};
  }
  double about_rows() const override { return static_cast<double>(world_.trace().flows.size() + 1); }

 private:
  World& world_;
};

enum class Reach : std::uint8_t { direct, following, preceding };

// Flows that are reached from a slice, breadth first, as Perfetto walks: also from what lies in it (following), or from what it
// lies in (preceding); never back along the way that led to a slice.
class Walk {
 public:
  Walk(World& world, Reach reach) : world_(world), reach_(reach) {}
  std::vector<std::uint32_t> from(std::uint32_t start) {
    visit(start, Came::start);
    for (; !next_.empty(); next_.pop()) {
      const auto [id, came] = next_.front();
      if (came != Came::as_relative) add_relatives(id);
      if (reach_ != Reach::following && came != Came::out) go(id, *world_.flows().by_in, Came::in);
      if (reach_ != Reach::preceding && came != Came::in) go(id, *world_.flows().by_out, Came::out);
    }
    return std::move(flows_);
  }

 private:
  enum class Came : std::uint8_t { start, in, out, as_relative };
  void visit(std::uint32_t id, Came came) {
    if (known_.insert(id).second) next_.emplace(id, came);
  }
  void add_relatives(std::uint32_t id) {
    if (reach_ == Reach::direct) return;
    for (const std::uint32_t relative : reach_ == Reach::following ? descendants_of(world_, id) : ancestors_of(world_, id))
      visit(relative, Came::as_relative);
  }
  void go(std::uint32_t id, const DenseIndex& flows, Came came) {
    for (const std::uint32_t flow : flows.of(id)) {
      flows_.push_back(flow);
      const Flow& f = world_.trace().flows[world_.flows().order[flow]];
      visit(world_.order().id(came == Came::out ? f.to : f.from), came);
    }
  }

  World& world_;
  Reach reach_;
  std::queue<std::pair<std::uint32_t, Came>> next_;
  std::unordered_set<std::uint32_t> known_;
  std::vector<std::uint32_t> flows_;
};

class ReachCursor final : public Cursor {
 public:
  ReachCursor(World& world, Reach reach) : world_(world), reach_(reach) {}
  std::optional<Error> filter(std::string_view plan, int, std::span<sqlite3_value*> values) override {
    flows_.clear();
    at_ = 0;
    if (plan.empty()) return Error{"This table is a function: write its argument, as in following_flow(12)."};
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return std::nullopt;
    start_ = sqlite3_value_int64(values[0]);
    if (sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER && start_ >= 0 && start_ < world_.order().size())
      flows_ = Walk(world_, reach_).from(static_cast<std::uint32_t>(start_));
    return std::nullopt;
  }
  void next() override { ++at_; }
  bool done() const override { return at_ >= flows_.size(); }
  void column(sqlite3_context* out, int column) override {
    column == kStart ? give(out, start_) : give_flow(world_, out, flows_[at_], column);
  }
  std::int64_t rowid() const override { return static_cast<std::int64_t>(at_); }

 private:
  World& world_;
  Reach reach_;
  std::vector<std::uint32_t> flows_;
  std::size_t at_ = 0;
  std::int64_t start_ = 0;
};

class ReachTable final : public Table {
 public:
  ReachTable(World& world, const char* name, const char* meaning, Reach reach)
      : Table(name, meaning, kFlow), world_(world), reach_(reach) {}
  void plan(sqlite3_index_info& info) const override {
    PlanText plan(info);
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& c = info.aConstraint[i];
      if (c.iColumn == kStart && c.op == SQLITE_INDEX_CONSTRAINT_EQ && c.usable && plan.empty()) plan.use(i, "=");
    }
    plan.empty() ? plan.finish(1e9, 1e12) : plan.finish(10, 100);
  }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<ReachCursor>(world_, reach_); }

 private:
  World& world_;
  Reach reach_;
};

}  // namespace

void add_flow_tables(World& world, TableList& out) {
  out.push_back(
      list_table("flow", "arrows from slice to slice", std::span(kFlow).first(kStart), std::make_unique<FlowRows>(world)));
  const auto add = [&](const char* name, const char* meaning, Reach reach) {
    out.push_back(std::make_unique<ReachTable>(world, name, meaning, reach));
  };
  add("following_flow", "function of a slice id: flows reached forwards from it and from what it encloses", Reach::following);
  add("preceding_flow", "function of a slice id: flows reached backwards from it and from what encloses it", Reach::preceding);
  add("directly_connected_flow", "function of a slice id: flows reached along flows alone", Reach::direct);
}

}  // namespace gapscope::sql
