#include "core/analyze/compiled/graph_breaks.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "core/analyze/compiled/compile_id.h"
#include "core/analyze/modules/nested_slices.h"

namespace gapscope {
namespace {

class Finder {
 public:
  Finder(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const std::vector<SliceId>& regions,
         const std::vector<SliceId>& graphs, bool has_resume)
      : t_(trace), lanes_(lanes), links_(links), regions_(regions), graphs_(graphs), has_resume_(has_resume) {}

  std::vector<GraphBreak> find() {
    if (!has_several_frames()) return {};
    find_regions_around();
    std::vector<GraphBreak> breaks;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      const SliceId around = around_.at(regions_[i].value);
      if (around && differ(around, regions_[i]))
        breaks.push_back({around, regions_[i], {end_of_work(around, regions_[i]), t_.begin(regions_[i])}});
      if (!around) add_if_successor(i, breaks);
    }
    return breaks;
  }

 private:
  bool has_several_frames() const {
    return std::any_of(regions_.begin(), regions_.end(), [&](SliceId s) { return differ(regions_.front(), s); });
  }

  bool differ(SliceId a, SliceId b) const {
    if (t_.name_id(a) == t_.name_id(b)) return false;
    const auto x = compile_id_of(t_.name(a)), y = compile_id_of(t_.name(b));
    return x && y && x->frame != y->frame;
  }

  void find_regions_around() {
    const NestedSlices nested(t_, regions_);
    const std::vector<std::uint32_t> parents = nested.parents();
    for (std::size_t i = 0; i < nested.size(); ++i)
      around_[nested[i].value] = parents[i] == NestedSlices::kNone ? SliceId{} : nested[parents[i]];
  }

  // The end of the last compiled graph in it before the other region.
  Ns end_of_work(SliceId around, SliceId inner) const {
    const Ns until = t_.begin(inner);
    const auto after =
        std::lower_bound(graphs_.begin(), graphs_.end(), until, [&](SliceId s, Ns time) { return t_.begin(s) < time; });
    for (auto at = after; at != graphs_.begin() && t_.begin(*(at - 1)) >= t_.begin(around);) {
      --at;
      if (t_.end(*at) <= until && t_.lane_id(*at) == t_.lane_id(inner)) return t_.end(*at);
    }
    return t_.begin(around);
  }

  void add_if_successor(std::size_t i, std::vector<GraphBreak>& breaks) {
    const SliceId to = regions_[i], caller = lanes_.parent(to);
    if (!caller || (t_.kind(caller) != Kind::annotation && t_.kind(caller) != Kind::python)) return;
    for (std::size_t k = i; k-- > 0;) {
      const SliceId from = regions_[k];
      if (t_.end(from) > t_.begin(to) || t_.lane_id(from) != t_.lane_id(to)) continue;
      if (lanes_.parent(from) != caller || !differ(from, to)) return;
      const Span between{t_.end(from), t_.begin(to)};
      if (has_resume_ || !launches_in(t_.lane_id(to), between)) breaks.push_back({from, to, between});
      return;
    }
  }

  bool launches_in(LaneId lane, Span span) {
    if (launches_.empty())
      for (const GpuRow& row : t_.gpu)
        if (const SliceId call = links_.call_of(row)) launches_.emplace_back(t_.lane_id(call), t_.begin(call));
    if (!sorted_) std::sort(launches_.begin(), launches_.end());
    sorted_ = true;
    const auto first = std::lower_bound(launches_.begin(), launches_.end(), std::pair(lane, span.begin));
    return first != launches_.end() && first->first == lane && first->second < span.end;
  }

  const Trace& t_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  const std::vector<SliceId>&regions_, &graphs_;
  const bool has_resume_;
  std::unordered_map<std::uint32_t, SliceId> around_;  // by region: the innermost one around it
  std::vector<std::pair<LaneId, Ns>> launches_;
  bool sorted_ = false;
};

}  // namespace

std::vector<GraphBreak> graph_breaks_of(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                        const std::vector<SliceId>& regions, const std::vector<SliceId>& graphs,
                                        bool has_resume) {
  return regions.empty() ? std::vector<GraphBreak>{} : Finder(trace, lanes, links, regions, graphs, has_resume).find();
}

}  // namespace gapscope
