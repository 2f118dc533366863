#include "core/replay/plain_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "core/base/gallop.h"
#include "core/replay/host_clock.h"

namespace gapscope {
namespace {

// What a record costs, and how much of a stretch remains (ns, shares). Fitted on the recordings that tests/gpu/PLAIN.md lists,
// to what steps took in processes in which no profiler had been loaded (H100, 16 cores, PyTorch 2.11, CUPTI 13); on other
// machines they are a guess, which the range says.
constexpr Ns kLongStretch = kNsPerMs;  // without records for so long the host does something of its own: that stays
constexpr double kOpBegins = 2650, kShapes = 2300, kEnds = 1150, kAnnotation = 300;
constexpr double kFrameBegins = 540, kFrameEnds = 400, kBuiltinBegins = 480, kBuiltinEnds = 300, kModule = 300;
constexpr double kCallInside = 5700, kCallBefore = 200, kCallAfter = 400;
// Code of torch.compile: under PyTorch's tracer its frames cost more (compiled_train, by_hand after: 3.3 us a frame, others
// 1.3), and while a profiler is on, Inductor describes each Triton kernel before its launch.
constexpr double kCompiledFrames = 3.5, kTritonKernel = 15'000;
// CUPTI records the kernels of a graph one by one before its launch begins (decode after: 293 kernels, 0.31 ms).
constexpr double kGraphKernel = 1000, kGraphLeast = 0.05;
// What is slower while it is recorded, at no record of its own: this part of a stretch, at most this long.
constexpr double kSlower = 0.043, kSlowerWithStacks = 0.155, kMostSlower = 3000;
// What remains of a stretch in any case: between Python frames, else with and without stacks.
constexpr double kLeastOfFrames = 0.66, kLeastWithStacks = 0.245, kLeast = 0.185, kLeastOfTriton = 0.05;
// Launches take 7.3 us in the median of a recording; where they take longer the host was slow while it was recorded.
constexpr double kUsualLaunch = 7300, kSlowness = 0.87, kLeastSpeed = 0.61;
constexpr Ns kSlowStretch = 200 * kNsPerUs;  // longer ones are not the host's pace
constexpr std::size_t kLeastLaunches = 20;
constexpr double kReturned = 0.72;  // of what a wait took to return

enum class Record : std::uint8_t { op, triton, annotation, frame, builtin, module, call, profiler, none };
constexpr std::size_t kRecords = 9;
constexpr bool is_frame(Record r) { return r == Record::frame || r == Record::builtin || r == Record::module; }

struct Edge {
  Ns time;
  Record record;
  bool begins;
  SliceId slice;
};

// The begins and ends of the records of a lane, in the order of time.
class LaneEdges {
 public:
  LaneEdges(const Trace& trace, LaneId lane, const std::vector<Record>& of_name, const std::vector<Record>& of_category)
      : trace_(trace), of_name_(of_name), of_category_(of_category), first_row_(trace.lane(lane).first_row) {
    for (std::uint32_t d = 0; d < trace.lane(lane).depth_count; ++d) next_.push_back(trace.rows[first_row_ + d].first);
    advance();
  }
  bool done() const { return done_; }
  const Edge& edge() const { return edge_; }

  void advance() {
    for (;;) {
      const std::size_t depth = open_.size();
      if (depth < next_.size()) {
        const Row& row = trace_.rows[first_row_ + depth];
        if (std::uint32_t& at = next_[depth]; at < row.first + row.count) {
          const SliceId s{at};
          if (open_.empty() || trace_.begin(s) < trace_.end(open_.back())) {
            ++at;
            open_.push_back(s);
            if (set(s, trace_.begin(s), true)) return;
            continue;
          }
        }
      }
      if (open_.empty()) return void(done_ = true);
      const SliceId s = open_.back();
      open_.pop_back();
      if (set(s, trace_.end(s), false)) return;
    }
  }

 private:
  bool set(SliceId s, Ns time, bool begins) {
    Record record = of_category_[trace_.slices.category[s.index()]];
    if (record == Record::none) return false;
    const Record named = of_name_[trace_.name_id(s).index()];
    if (named != Record::none && (is_frame(record) == (named != Record::triton))) record = named;
    edge_ = {time, record, begins, s};
    return true;
  }

  const Trace& trace_;
  const std::vector<Record>& of_name_;
  const std::vector<Record>& of_category_;
  const std::size_t first_row_;
  std::vector<std::uint32_t> next_;
  std::vector<SliceId> open_;
  Edge edge_{};
  bool done_ = false;
};

Record record_of(Kind kind) {
  switch (kind) {
    case Kind::op: return Record::op;
    case Kind::annotation: return Record::annotation;
    case Kind::python: return Record::frame;
    case Kind::runtime:
    case Kind::driver: return Record::call;
    case Kind::overhead: return Record::profiler;
    default: return Record::none;
  }
}

// What a name says beyond the kind; of frames, and of operators.
Record record_of(std::string_view name) {
  if (name.starts_with("<built-in")) return Record::builtin;
  if (name.starts_with("nn.Module: ")) return Record::module;
  if (name.ends_with("get_profiler_kwargs")) return Record::profiler;
  return name.starts_with("triton_") ? Record::triton : Record::none;
}

bool is_compiled(std::string_view name) {
  return name.starts_with("## Call CompiledFxGraph") || name.starts_with("Torch-Compiled Region");
}

// By how much the host was slower than hosts are while they are recorded: 1, or less.
double speed_of(const Trace& trace, const ReplayModel& model) {
  std::vector<Ns> lengths;
  for (const ReplayModel::HostCall& call : model.calls())
    if (call.launches && trace.name(call.slice).find("LaunchKernel") != std::string_view::npos)
      lengths.push_back(call.span.length());
  if (lengths.size() < kLeastLaunches) return 1;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return std::clamp(std::pow(static_cast<double>(std::max<Ns>(*middle, 1)) / kUsualLaunch, -kSlowness), kLeastSpeed, 1.0);
}

// Costs before and after an edge, by Record.
struct Costs {
  std::array<double, kRecords> begin{}, end{};
  Costs(bool shapes, bool compiled) {
    const auto at = [](Record r) { return static_cast<std::size_t>(r); };
    begin[at(Record::op)] = kOpBegins + (shapes ? kShapes : 0);
    begin[at(Record::triton)] = begin[at(Record::op)] + kTritonKernel;
    begin[at(Record::annotation)] = kAnnotation;
    begin[at(Record::call)] = kCallBefore;
    for (const Record r : {Record::op, Record::triton, Record::annotation}) end[at(r)] = kEnds;
    const double frames = compiled ? kCompiledFrames : 1;
    begin[at(Record::frame)] = frames * kFrameBegins;
    begin[at(Record::builtin)] = frames * kBuiltinBegins;
    begin[at(Record::module)] = frames * (kFrameBegins + kModule);
    for (const Record r : {Record::frame, Record::module}) end[at(r)] = frames * kFrameEnds;
    end[at(Record::builtin)] = frames * kBuiltinEnds;
  }
  double before(const Edge& e) const { return (e.begins ? begin : end)[static_cast<std::size_t>(e.record)]; }
};

}  // namespace

PlainTime::PlainTime(const Trace& trace, const ReplayModel& model) {
  has_shapes_ = trace.header.flag("record_shapes");
  if (!model.empty()) walk(trace, model);
}

void PlainTime::walk(const Trace& trace, const ReplayModel& model) {
  std::vector<Record> of_category, of_name(trace.strings.size(), Record::none);
  for (const Category& c : trace.categories) of_category.push_back(record_of(c.kind));
  bool compiled = false;
  for (std::size_t i = 0; i < trace.strings.size(); ++i) {
    const std::string_view name = trace.strings[StringId{static_cast<std::uint32_t>(i)}];
    of_name[i] = record_of(name);
    compiled |= is_compiled(name);
  }
  std::vector<bool> launching(trace.lanes.size());
  for (const ReplayModel::HostCall& call : model.calls()) launching[trace.lane_id(call.slice).index()] = true;
  for (const ReplayModel::StepSpan& step : model.steps()) launching[trace.lane_id(step.slice).index()] = true;
  std::vector<LaneEdges> lanes;
  for (std::size_t l = 0; l < launching.size(); ++l)
    if (launching[l]) lanes.emplace_back(trace, LaneId{static_cast<std::uint32_t>(l)}, of_name, of_category);
  std::unordered_map<std::uint32_t, double> graphs;  // kernels by launch
  for (const ReplayModel::Operation& op : model.ops())
    if (op.call != ReplayModel::kNone) ++graphs[model.calls()[op.call].slice.value];
  std::erase_if(graphs, [](const auto& g) { return g.second < 2; });
  if (!graphs.empty()) {
    std::vector<bool> seen(model.calls().size());
    for (const std::uint32_t o : model.order()) {
      gaps_.resize(model.ops().size());
      const ReplayModel::Operation& op = model.ops()[o];
      gaps_[o] = op.gap;
      if (op.call == ReplayModel::kNone || seen[op.call]) continue;
      seen[op.call] = true;
      if (const auto at = graphs.find(model.calls()[op.call].slice.value); at != graphs.end())
        gaps_[o] = std::max(Ns{0}, op.gap - static_cast<Ns>(kGraphKernel * (at->second - 1)));
    }
  }
  for (const Category& c : trace.categories) has_operators_ |= c.kind == Kind::op, has_stacks_ |= c.kind == Kind::python;
  has_operators_ &= trace.header.find("recorder") != "\"gapscope\"";  // which costs the host next to nothing
  const Costs costs(has_shapes_, compiled);
  const double speed = speed_of(trace, model);
  const double slower = has_stacks_ ? kSlowerWithStacks : kSlower, least = has_stacks_ ? kLeastWithStacks : kLeast;
  const double least_of_frames = kLeastOfFrames / (compiled ? kCompiledFrames : 1);

  double shrinks = 0, stays = 0;
  Edge last{};
  std::uint32_t in_profiler = 0;
  bool is_first = true;
  const auto mark = [&](Ns old) {
    const Knot knot{old, static_cast<Ns>(shrinks), static_cast<Ns>(stays)};
    if (knots_.empty() || knots_.back().old < old)
      knots_.push_back(knot);
    else
      knots_.back() = knot;
  };
  for (;;) {
    LaneEdges* next = nullptr;
    for (LaneEdges& lane : lanes)
      if (!lane.done() && (next == nullptr || lane.edge().time < next->edge().time)) next = &lane;
    if (next == nullptr) break;
    Edge edge = next->edge();
    next->advance();
    edge.time = std::max(edge.time, last.time);
    if (!is_first) {
      const Ns length = edge.time - last.time;
      double time = static_cast<double>(length);
      if (length >= kLongStretch) {
        mark(last.time);
        stays += in_profiler > 0 ? 0 : time;
      } else if (in_profiler == 0) {
        if (length < kSlowStretch) time *= speed;
        double cost = costs.before(edge), remains = least;
        if (last.record == Record::call && !last.begins) cost += kCallAfter;
        if (has_stacks_ && is_frame(last.record) && is_frame(edge.record)) remains = least_of_frames;
        if (edge.record == Record::triton && edge.begins) remains = kLeastOfTriton;
        if (last.record == Record::call && last.begins && edge.slice == last.slice) {
          cost += kCallInside;
          if (const auto at = graphs.empty() ? graphs.end() : graphs.find(last.slice.value); at != graphs.end()) {
            cost += kGraphKernel * (at->second - 1);
            remains = kGraphLeast;
          }
        }
        shrinks += std::max(remains * time, time - std::min(slower * time, kMostSlower) - cost);
      }
    }
    if (is_first || last.record == Record::call || edge.record == Record::call || edge.record == Record::annotation ||
        edge.time - last.time >= kLongStretch)
      mark(edge.time);
    if (edge.record == Record::profiler) in_profiler += edge.begins ? 1u : in_profiler > 0 ? ~0u : 0u;
    last = edge;
    is_first = false;
  }
  if (!is_first) mark(last.time);
}

Ns PlainPace::at(Ns t, std::size_t& hint) const {
  const std::vector<PlainTime::Knot>& knots = time_->knots();
  if (knots.empty()) return t;
  const auto plain = [&](const PlainTime::Knot& k) { return knots.front().old + scaled(k.shrinks, share_) + k.stays; };
  if (t <= knots.front().old) return t;
  if (t >= knots.back().old) return plain(knots.back()) + (t - knots.back().old);
  if (hint >= knots.size() || knots[hint].old > t) hint = 0;
  const std::size_t next = first_where(hint, knots.size(), [&](std::size_t i) { return knots[i].old > t; });
  hint = next - 1;
  const PlainTime::Knot &a = knots[next - 1], &b = knots[next];
  const Ns from = plain(a), to = plain(b);
  const double part = static_cast<double>(t - a.old) / static_cast<double>(b.old - a.old);
  return from + static_cast<Ns>(part * static_cast<double>(to - from));
}

Ns PlainPace::returned(Ns recorded) const { return recorded > 0 ? scaled(recorded, kReturned) : recorded; }

}  // namespace gapscope
