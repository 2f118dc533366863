// Arrows between slices, and what can be reached along them.
#include <algorithm>
#include <queue>
#include <unordered_set>

#include "core/sql/column_table.h"
#include "core/sql/function_table.h"
#include "core/sql/slice_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

using enum Quantity;
using Id = std::uint32_t;

const Flow& flow(const InWorld& in, Id id) { return in.trace().flows[in.world.flows().order[id]]; }

constexpr ColumnOf<Id, InWorld> kFlow[] = {
    {"id", id, "number of the arrow, by the start of the slice where it ends",
     [](const InWorld&, const Id& f) -> CellValue { return f; }},
    {"slice_out", id, "slice.id that it leaves: the launch",
     [](const InWorld& in, const Id& f) { return in.id(flow(in, f).from); }},
    {"slice_in", id, "slice.id that it arrives at: the kernel",
     [](const InWorld& in, const Id& f) { return in.id(flow(in, f).to); }},
    {"category", text, "ac2g (launches), fwdbwd (forward to backward), ...",
     [](const InWorld& in, const Id& f) -> CellValue { return in.trace().strings[flow(in, f).category]; }},
};

class FlowRows final : public ColumnRows {
 public:
  explicit FlowRows(World& world)
      : ColumnRows(
            std::span<const ColumnOf<Id, InWorld>>(kFlow), [&world] { return make(world); },
            static_cast<double>(world.trace().flows.size() + 1)),
        world_(world) {}
  double rows_with_value(int column) const override {
    const std::string_view name = id_of(column);
    return name == "id" ? 1 : name.starts_with("slice_") ? 1.5 : 0;
  }
  std::vector<std::uint32_t> find(int column, std::int64_t value) override {
    if (value < 0) return {};
    if (id_of(column) == "id")
      return value < rows() ? std::vector{static_cast<std::uint32_t>(value)} : std::vector<std::uint32_t>{};
    const auto found =
        (id_of(column) == "slice_out" ? world_.flows().by_out : world_.flows().by_in)->of(static_cast<std::uint64_t>(value));
    return {found.begin(), found.end()};
  }

 private:
  static std::unique_ptr<TableRows> make(World& world) {
    const auto at = [](std::size_t row) { return static_cast<Id>(row); };
    return std::make_unique<RowsOf<Id, InWorld, decltype(at)>>(kFlow, InWorld{world}, world.trace().flows.size(), at);
  }
  World& world_;
};

enum class Reach : std::uint8_t { direct, following, preceding };

// Flows that are reached from a slice, breadth first, as Perfetto walks: also from what is in it (following), or from what it
// is in (preceding); never back along the way that led to a slice.
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

template <Reach How>
std::vector<std::uint32_t> reached(World& world, std::uint32_t slice) {
  return Walk(world, How).from(slice);
}
void give_flow(World& world, sqlite3_context* out, std::uint32_t flow, int column) {
  give_cell(out, kFlow[column].value(InWorld{world}, flow));
}

}  // namespace

void add_flow_tables(World& world, TableList& out) {
  out.push_back(column_table("flow", "arrows from slice to slice", std::make_unique<FlowRows>(world)));
  const auto add = [&](const char* name, const char* meaning, auto rows) {
    SliceFunction function{name, meaning, {}, rows, give_flow};
    for (const ColumnHead& head : kFlow) function.columns.push_back(info_of(head));
    out.push_back(function_table(world, std::move(function)));
  };
  add("following_flow", "function of a slice id: flows reached forwards from it and from what it encloses",
      reached<Reach::following>);
  add("preceding_flow", "function of a slice id: flows reached backwards from it and from what encloses it",
      reached<Reach::preceding>);
  add("directly_connected_flow", "function of a slice id: flows reached along flows alone", reached<Reach::direct>);
}

}  // namespace gapscope::sql
