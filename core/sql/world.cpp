#include "core/sql/world.h"

#include <algorithm>
#include <numeric>

#include "core/base/parallel.h"
#include "core/ranks/read_rank.h"
#include "core/ranks/run_report.h"
#include "core/session/trace_session.h"

namespace gapscope::sql {

namespace {

// File by file, since one trace is there in full already; that one is not read again. What late ranks did is not asked.
class RunReader : public RankReader {
 public:
  RunReader(std::shared_ptr<const Trace> own, const std::atomic<bool>& cancel) : own_(std::move(own)), cancel_(cancel) {}

  std::vector<ReadFile> read(const std::vector<std::string>& files) override {
    std::vector<ReadFile> out;
    for (const std::string& file : files) {
      if (cancel_)
        out.push_back({{}, file + " was not read."});
      else if (file == own_->path)
        out.push_back({reduce_rank(full_rank(own_)), {}});
      else
        out.push_back(std::move(LocalReader({.at_once = 1, .stated = own_->stated}).read({file}).front()));
    }
    return out;
  }
  std::vector<DoingAnswer> answer(const std::vector<DoingQuestion>& questions) override {
    return std::vector<DoingAnswer>(questions.size());
  }

 private:
  std::shared_ptr<const Trace> own_;
  const std::atomic<bool>& cancel_;
};

// A trace alone is a run of one, whether it says which rank it is or not.
RunReport run_of_one(const std::shared_ptr<const Trace>& trace) {
  RunReport report;
  report.run.ranks.push_back(reduce_rank(full_rank(trace)));
  if (report.run.ranks[0].rank < 0) report.run.ranks[0].rank = rank_from_name(trace->path);
  report.run.world_size = report.run.ranks[0].world_size;
  report.matches = match_collectives(report.run.ranks);
  report.clocks = align_clocks(report.run.ranks, report.matches, ClockAlignment::collectives);
  report.waits = count_waits(report.run.ranks, report.matches, report.clocks);
  return report;
}

}  // namespace

World::World(std::shared_ptr<const TraceSession> session, std::string spill_folder, RunSource run)
    : spill_folder_(std::move(spill_folder)), run_source_(std::move(run)), session_(std::move(session)) {}
World::World(std::shared_ptr<const Trace> trace, std::string spill_folder, RunSource run)
    : spill_folder_(std::move(spill_folder)),
      run_source_(std::move(run)),
      session_(std::make_shared<const TraceSession>(std::move(trace), TraceSession::Options{.cancel = &cancel_})) {}
World::~World() = default;

const SliceOrder& World::order() {
  return made(order_, [&] { return std::make_unique<SliceOrder>(trace()); });
}
const SliceTree& World::tree() {
  return made(tree_, [&] { return std::make_unique<SliceTree>(trace(), order(), session().lanes()); });
}
const Tracks& World::tracks() {
  return made(tracks_, [&] { return std::make_unique<Tracks>(trace(), order()); });
}
ArgStore& World::args() {
  if (!args_) args_ = std::make_unique<ArgStore>(trace(), order(), spill_folder_, cancel_);
  return *args_;
}
const Diagnosis& World::diagnosis() { return *diagnosis_of(session()); }

const RunReport& World::run() {
  if (run_) return *run_;
  if (run_source_.known) {
    run_ = run_source_.known;
  } else if (run_source_.files.empty()) {
    run_ = std::make_shared<const RunReport>(run_of_one(session().owner()));
  } else {
    RunReader reader(session().owner(), cancel_);
    auto made = std::make_shared<const RunReport>(analyze_run(run_source_.files, reader, ClockAlignment::collectives));
    if (cancel_) return *(cancelled_run_ = std::make_shared<const RunReport>());
    run_ = std::move(made);
  }
  for (std::uint32_t r = 0; r < run_->run.ranks.size(); ++r)
    if (run_->run.ranks[r].file == trace().path) own_rank_ = r;
  return *run_;
}
std::uint32_t World::own_rank() { return run(), own_rank_; }

const DenseIndex& World::by_name() {
  return made(by_name_, [&] {
    const SliceOrder& o = order();
    return std::make_unique<DenseIndex>(o.size(), trace().strings.size(),
                                        [&](std::uint32_t id) { return o.name(o.row(id)).value; });
  });
}
const DenseIndex& World::by_track() {
  return made(by_track_, [&] {
    const SliceOrder& o = order();
    const Tracks& t = tracks();
    return std::make_unique<DenseIndex>(o.size(), t.tracks().size(), [&](std::uint32_t id) { return t.of_row(o, o.row(id)); });
  });
}
const DenseIndex& World::by_category() {
  return made(by_category_, [&] {
    const SliceOrder& o = order();
    std::vector<std::string_view> names;
    for (const Category& category : trace().categories) names.push_back(trace().strings[category.name]);
    std::sort(names.begin(), names.end());
    std::vector<std::uint32_t> place;
    for (const Category& category : trace().categories)
      place.push_back(static_cast<std::uint32_t>(std::lower_bound(names.begin(), names.end(), trace().strings[category.name]) -
                                                 names.begin()));
    return std::make_unique<DenseIndex>(o.size(), names.size(), [&](std::uint32_t id) { return place[o.category(o.row(id))]; });
  });
}
const DenseIndex& World::by_parent() {
  return made(by_parent_, [&] {
    const SliceOrder& o = order();
    const SliceTree& t = tree();
    return std::make_unique<DenseIndex>(o.size(), o.size(), [&](std::uint32_t id) {
      const SliceId parent = t.parent(o.row(id));
      return parent ? o.id(parent) : DenseIndex::kNone;
    });
  });
}
const SparseIndex& World::by_correlation() {
  return made(by_correlation_, [&] {
    auto index = std::make_unique<SparseIndex>();
    std::vector<std::pair<std::uint32_t, std::uint64_t>> all;
    for (const GpuRow& gpu : trace().gpu)
      if (gpu.correlation != 0) all.emplace_back(order().id(gpu.slice), gpu.correlation);
    for (const Call& call : trace().calls)
      if (call.correlation != 0) all.emplace_back(order().id(call.slice), call.correlation);
    std::sort(all.begin(), all.end());
    for (const auto& [id, correlation] : all) index->add(correlation, id);
    index->seal();
    return index;
  });
}
const SparseIndex& World::by_external_id() {
  return made(by_external_id_, [&] {
    auto index = std::make_unique<SparseIndex>();
    const SliceOrder& o = order();
    for (std::uint32_t id = 0; id < o.size(); ++id)
      if (const SliceRow row = o.row(id); !o.is_instant(row) && trace().slices.external_id[row] != 0)
        index->add(trace().slices.external_id[row], id);
    index->seal();
    return index;
  });
}

const std::vector<StringId>& World::names_in_order() {
  return made(names_in_order_, [&] {
    auto names = std::make_unique<std::vector<StringId>>();
    for (std::size_t s = 0; s < trace().strings.size(); ++s)
      if (!by_name().of(s).empty()) names->push_back(StringId(s));
    std::sort(names->begin(), names->end(), [&](StringId a, StringId b) { return trace().strings[a] < trace().strings[b]; });
    return names;
  });
}

bool World::has_nameless_slices() { return !by_name().of(0).empty(); }

const World::Flows& World::flows() {
  return made(flows_, [&] {
    auto flows = std::make_unique<Flows>();
    const auto& all = trace().flows;
    const SliceOrder& o = order();
    flows->order.resize(all.size());
    std::iota(flows->order.begin(), flows->order.end(), 0u);
    std::stable_sort(flows->order.begin(), flows->order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return o.id(all[a].to) < o.id(all[b].to); });
    const auto n = static_cast<std::uint32_t>(all.size());
    flows->by_out =
        std::make_unique<DenseIndex>(n, o.size(), [&](std::uint32_t id) { return o.id(all[flows->order[id]].from); });
    flows->by_in = std::make_unique<DenseIndex>(n, o.size(), [&](std::uint32_t id) { return o.id(all[flows->order[id]].to); });
    return flows;
  });
}

Span World::bounds() {
  if (bounds_) return *bounds_;
  const SliceOrder& o = order();
  Span all{};
  if (o.size() > 0) all = {o.begin(o.row(0)), o.end(o.row(o.size() - 1))};
  for (const Lane& lane : trace().lanes)
    if (lane.slice_count > 0) all.end = std::max(all.end, lane.span.end);
  bounds_ = all;
  return all;
}

std::string_view World::shown_name(SliceRow row) {
  const std::string_view name = trace().strings[order().name(row)];
  if (!name.empty()) return name;
  return order().is_instant(row) && !order().lane(row) ? std::string_view() : std::string_view("[No name]");
}

}  // namespace gapscope::sql
