#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

struct Cut {
  double least_share;  // of the CPU time: a row that matters at all
  double most_self;    // of the row's time: the rest belongs to what it called
};
// A row beyond doubt is reported before a wider one with a quarter of its own.
constexpr Cut kClear = {0.20, 0.15};
constexpr Cut kEnough = {0.15, 0.25};

constexpr std::uint32_t kCounted = kIsOp | kIsAnnotation | kIsStep | kIsCall;
constexpr std::uint32_t kNone = SliceId::kNone;

// The CPU tree as the profiler table sees it: Python frames are left out, their children belong to the next counted slice
// above them.
struct TableTree {
  std::vector<std::uint32_t> parent;  // by slice: the nearest counted one above
  std::vector<Ns> total, self;        // by name; total of all instances, also of those within one of the same name
};

TableTree table_tree(const Facts& facts) {
  TableTree tree;
  const std::size_t count = facts.trace.slice_count();
  tree.parent.assign(count, kNone);
  tree.total.assign(facts.trace.strings.size(), 0);
  tree.self = tree.total;
  for (std::size_t i = 0; i < count; ++i) {
    const SliceId s(i);
    const SliceId above = facts.parent(s);
    if (above) tree.parent[i] = (facts.own(above) & kCounted) != 0 ? above.value : tree.parent[above.index()];
    if ((facts.own(s) & kCounted) == 0) continue;
    const std::size_t name = facts.trace.name_id(s).index();
    add_saturating(tree.total[name], facts.trace.duration(s));
    add_saturating(tree.self[name], facts.trace.duration(s));
    if (tree.parent[i] != kNone)
      subtract_saturating(tree.self[facts.trace.slices.name[tree.parent[i]].index()], facts.trace.duration(s));
  }
  return tree;
}

// The instances of a name that lie in no other of that name.
std::vector<SliceId> outermost(const Facts& facts, const TableTree& tree, StringId name) {
  std::vector<SliceId> out;
  for (const SliceId s : facts.names.slices_named(name)) {
    if ((facts.own(s) & kCounted) == 0) continue;
    std::uint32_t at = tree.parent[s.index()];
    while (at != kNone && facts.trace.slices.name[at] != name) at = tree.parent[at];
    if (at == kNone) out.push_back(s);
  }
  return out;
}

Ns total_of(const Facts& facts, const std::vector<SliceId>& slices) {
  Ns sum = 0;
  for (const SliceId s : slices) add_saturating(sum, facts.trace.duration(s));
  return sum;
}

struct Row {
  StringId name;
  std::vector<SliceId> slices;
  Ns total = 0, self = 0;
};

// Of the rows that fit the one with most time.
Row widest_row(const Facts& facts, const TableTree& tree, const Cut& cut) {
  const double least = cut.least_share * static_cast<double>(facts.cpu_total);
  Row best;
  for (std::size_t i = 0; i < tree.total.size(); ++i) {
    const Ns self = std::max<Ns>(0, tree.self[i]);  // overlaps that do not nest would make it negative
    if (static_cast<double>(tree.total[i]) < least || tree.total[i] <= best.total || tree.total[i] == 0) continue;
    const StringId name(i);
    if (facts.trace.strings[name].starts_with("ProfilerStep#")) continue;
    std::vector<SliceId> slices = outermost(facts, tree, name);
    const Ns total = total_of(facts, slices);
    if (static_cast<double>(total) < least || total <= best.total) continue;
    if (static_cast<double>(self) > cut.most_self * static_cast<double>(total)) continue;
    best = {name, std::move(slices), total, self};
  }
  return best;
}

// The two names with most time directly below the row's first instances.
std::string widest_children(const Facts& facts, const TableTree& tree, const Row& row) {
  constexpr std::size_t kLooked = 20;  // instances; they are alike
  std::map<StringId, Ns> below;
  for (std::size_t i = 0; i < std::min(kLooked, row.slices.size()); ++i) {
    const SliceId top = row.slices[i];
    for (SliceId child : facts.lanes.children(top))
      if (tree.parent[child.index()] == top.value && (facts.own(child) & kCounted) != 0)
        add_saturating(below[facts.trace.name_id(child)], facts.trace.duration(child));
  }
  std::vector<std::pair<Ns, StringId>> order;
  for (const auto& [name, time] : below) order.emplace_back(time, name);
  std::sort(order.rbegin(), order.rend());
  if (order.empty()) return {};
  std::string text = shown_name(facts.trace.strings[order[0].second]);
  if (order.size() > 1) text += " and " + shown_name(facts.trace.strings[order[1].second]);
  return text;
}

std::vector<Finding> check_cost_in_children(const Facts& facts) {
  if (facts.cpu_total == 0) return {};
  const TableTree tree = table_tree(facts);
  Row row = widest_row(facts, tree, kClear);
  if (row.slices.empty()) row = widest_row(facts, tree, kEnough);
  if (row.slices.empty()) return {};
  const std::string_view name = facts.trace.strings[row.name];
  const double share = static_cast<double>(row.total) / static_cast<double>(facts.cpu_total);
  const double self = static_cast<double>(row.self) / static_cast<double>(row.total);
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("{} has {} of the CPU time, but only {} of its {} is self time.", shown_name(name),
                                format_share(share), format_duration(row.self), format_duration(row.total));
  if (const std::string below = widest_children(facts, tree, row); !below.empty())
    finding.summary += fmt::format(" Longest below it: {}.", below);
  finding.evidence = Evidence({{"row", name}, {"cpu_total_share", share}, {"self_over_total", self}});
  mark_slices(finding, facts.trace, row.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cost_in_children = {
    .id = "cost_in_children",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "The time is in the rows below this one",
    .meaning = "This row has little self time. Almost all of its time is in what it calls.",
    .remedy = "Look at the rows below it, the longest one first.",
    .check = check_cost_in_children,
};

}  // namespace gapscope
