#include "core/diagnose/facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "core/analyze/account/gap_pieces.h"
#include "core/analyze/gpu/launches.h"
#include "core/analyze/operators/host_stalls.h"
#include "core/analyze/practices/practices.h"
#include "core/analyze/steps.h"
#include "core/base/parallel.h"
#include "core/base/saturating.h"

namespace gapscope {
namespace {

template <class... Parts>
bool starts_with_any(std::string_view name, Parts... parts) {
  return (name.starts_with(parts) || ...);
}

bool is_compile_frame(std::string_view name) {
  return name.find("(dynamo_timed)") != name.npos || name.find("_compile.compile_inner") != name.npos || name == "dynamo" ||
         name == "entire_frame_compile" || name == "backend_compile" ||
         starts_with_any(name, "_compile.", "compile_attempt_", "compile_fx", "create_aot_dispatcher");
}

// Operators whose work is a copy that the program asked for.
bool is_copy_op(std::string_view name) {
  constexpr std::array<std::string_view, 11> kCopies = {"aten::copy_",
                                                        "aten::_to_copy",
                                                        "aten::to",
                                                        "aten::clone",
                                                        "aten::contiguous",
                                                        "aten::item",
                                                        "aten::_local_scalar_dense",
                                                        "aten::cpu",
                                                        "aten::cuda",
                                                        "aten::lift_fresh",
                                                        "aten::_foreach_copy_"};
  return std::find(kCopies.begin(), kCopies.end(), name) != kCopies.end();
}

std::uint32_t bits_of(std::string_view name) {
  std::uint32_t bits = 0;
  const auto add = [&](bool is, std::uint32_t bit) { bits |= is ? bit : 0; };
  add(name.starts_with("aten::"), kIsAten);
  add(name.starts_with("ProfilerStep#"), kIsStep);
  add(launches_graph(name), kIsGraphLaunch);
  add(is_synchronization_name(name), kIsSync);
  add(name == "cudaDeviceSynchronize" || name == "hipDeviceSynchronize", kIsDeviceSync);
  add(name.starts_with("cudaOccupancy"), kIsOccupancyQuery);
  add(is_compile_frame(name), kIsCompileFrame);
  add(name.starts_with("Torch-Compiled Region"), kIsRegion);
  add(name.starts_with("## Call CompiledFxGraph"), kIsCompiledGraph);
  add(is_copy_op(name), kIsCopyOp);
  add(is_data_loader_name(name), kIsDataLoader);
  return bits;
}

constexpr std::uint32_t kCallBits = kIsGraphLaunch | kIsSync | kIsDeviceSync | kIsOccupancyQuery;
constexpr std::uint32_t kNotedBits = kIsStep | kIsCompileFrame | kIsRegion | kIsCompiledGraph | kIsDataLoader;

}  // namespace

Facts::Facts(const TraceSession& s)
    : trace(s.trace()),
      lanes(s.lanes()),
      links(s.links()),
      names(s.names()),
      session(s),
      steps(profiler_steps(trace)),
      ops(s.ops()) {
  const DeviceAccount* const busiest = session.account().busiest();
  if (busiest != nullptr) gap_pieces_ = std::make_unique<const GapPieces>(session.account(), *busiest);
  // First what rests on nothing else.
  parallel_for(hardware_threads(), 2, [&](std::size_t part) {
    if (part == 0) read_names(), link_parents();
    if (part == 1) practices_ = std::make_unique<const Practices>(trace);
  });
  parallel_for(hardware_threads(), 2, [&](std::size_t part) {
    if (part == 0) gather_gpu(), spread_bits(), gather_cpu();
    if (part == 1) stalls_ = std::make_unique<const HostStalls>(find_host_stalls(trace));
  });
}

Facts::~Facts() = default;

// What slices are by category and name; a name is looked at once.
void Facts::read_names() {
  bits_of_name_.resize(trace.strings.size());
  for (std::size_t i = 0; i < bits_of_name_.size(); ++i) bits_of_name_[i] = bits_of(trace.strings[StringId(i)]);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of_category;  // bits it has, bits of names that count in it
  for (const Category& category : trace.categories) {
    switch (category.kind) {
      case Kind::op: of_category.emplace_back(kIsOp, kNotedBits | kIsAten | kIsCopyOp); break;
      case Kind::annotation: of_category.emplace_back(kIsAnnotation, kNotedBits); break;
      case Kind::python: of_category.emplace_back(kIsPython, 0); break;
      case Kind::runtime:
      case Kind::driver: of_category.emplace_back(kIsCall, kCallBits); break;
      default: of_category.emplace_back(0, 0);
    }
  }
  own_.resize(trace.slice_count());
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const auto& [kind, counted] = of_category[trace.slices.category[i]];
    std::uint32_t bits = kind | (bits_of_name_[trace.slices.name[i].index()] & counted);
    if (bits & kIsStep) bits &= ~(kIsOp | kIsAnnotation);
    own_[i] = bits;
  }
}

// The parent is nearly always the slice of the row above that began last; where that one ended too early (slices that
// overlap without nesting) the index knows.
void Facts::link_parents() {
  parent_.assign(trace.slice_count(), SliceId::kNone);
  for (const Lane& lane : trace.lanes) {
    if (lane.kind == LaneKind::gpu_stream) continue;
    for (std::uint32_t depth = 1; depth < lane.depth_count; ++depth) {
      const Row& row = trace.rows[lane.first_row + depth];
      const Row& over = trace.rows[lane.first_row + depth - 1];
      const std::uint32_t stop = over.first + over.count;
      std::uint32_t at = over.first;
      for (std::uint32_t i = row.first; i < row.first + row.count; ++i) {
        while (at + 1 < stop && trace.slices.begin[at + 1] <= trace.slices.begin[i]) ++at;
        const bool holds =
            at < stop && trace.slices.begin[at] <= trace.slices.begin[i] && trace.slices.end[i] <= trace.slices.end[at];
        parent_[i] = holds ? at : lanes.parent(SliceId(std::size_t{i})).value;
      }
    }
  }
}

// Slices are ordered by (lane, depth, begin): every parent comes before its children.
void Facts::spread_bits() {
  above_.assign(own_.size(), 0);
  below_ = own_;
  for (std::size_t i = 0; i < own_.size(); ++i)
    if (parent_[i] != SliceId::kNone) above_[i] = above_[parent_[i]] | own_[parent_[i]];
  for (std::size_t i = own_.size(); i-- > 0;)
    if (parent_[i] != SliceId::kNone) below_[parent_[i]] |= below_[i];
}

void Facts::gather_gpu() {
  gpu.resize(ops.size());
  std::unordered_map<std::uint32_t, std::size_t> place;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const GpuOp& op = ops[i];
    append(busy, op.span);
    const StringId name = trace.name_id(op.slice);
    const auto [entry, first_time] = decoded_.try_emplace(name.value);
    if (first_time) entry->second = decode(trace.strings[name]);
    gpu[i].family = op.is_kernel() ? rule_family(entry->second) : RuleFamily::other;
    if (!op.linked()) continue;
    own_[op.launch.index()] |= kIsLaunch;
    gpu[i].owner = links.owner_op(row(op));
    if (const auto step = step_at(op.launch_span.begin)) gpu[i].step = static_cast<std::int32_t>(*step);
    ++linked;
    add_saturating(gpu_sum, op.span.length());
    if (op.is_kernel()) add_saturating(kernel_sum, op.span.length());
    const auto [at, is_new] = place.try_emplace(name.value, by_name.size());
    if (is_new) by_name.push_back({name, 0, 0, 0});
    NameTotal& total = by_name[at->second];
    ++total.count;
    add_saturating(total.total, op.span.length());
    total.longest = std::max(total.longest, op.span.length());
  }
  std::stable_sort(by_name.begin(), by_name.end(), [](const NameTotal& a, const NameTotal& b) { return a.total > b.total; });
}

void Facts::gather_cpu() {
  const GpuUse use = gpu_use(trace, ops);
  window = use.window;
  window_length = use.length;
  busy_in_window = use.busy;
  gpu_util = use.gpu_util;
  gpu_window_util = use.gpu_window_util;

  constexpr std::uint32_t kCounted = kIsOp | kIsAnnotation | kIsStep | kIsCall;
  std::vector<Span> outer;
  LaneId lane;
  const auto close_lane = [&] { add_saturating(cpu_total, length(span_set(std::move(outer)))), outer.clear(); };
  std::vector<Span> compile;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const std::uint32_t bits = own_[i];
    const SliceId s(i);
    if (bits == 0) {
      if (trace.kind(s) == Kind::overhead) overheads.push_back(s);
      continue;
    }
    if ((bits & kCounted) != 0 && (above_[i] & kCounted) == 0) {
      if (const LaneId at = trace.lane_id(s); at != lane) close_lane(), lane = at;
      outer.push_back(trace.span_of(s));
    }
    if (bits & kIsCall) has_launches = true;
    if (bits & kIsSync) add_saturating(sync_time, trace.duration(s));
    if (bits & kIsCompileFrame) {
      compile_frames.push_back(s);
      compile.push_back(trace.span_of(s));
    }
  }
  close_lane();
  cpu_active = difference_saturating(cpu_total, sync_time);
  if (gpu_sum > 0) cpu_to_gpu = static_cast<double>(cpu_active) / static_cast<double>(gpu_sum);
  compile_time = span_set(std::move(compile));
  if (!window.empty())
    compile_share = static_cast<double>(length_within(compile_time, window)) / static_cast<double>(window.length());
  const auto earlier = [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); };
  std::stable_sort(overheads.begin(), overheads.end(), earlier);
  std::stable_sort(compile_frames.begin(), compile_frames.end(), earlier);
}

SliceId Facts::ancestor(SliceId s, std::uint32_t bits) const {
  if ((above(s) & bits) == 0) return {};
  SliceId at = parent(s);
  while (at && (own(at) & bits) == 0) at = parent(at);
  return at;
}

SliceId Facts::outermost(SliceId s, std::uint32_t bits) const {
  SliceId found;
  for (SliceId at = ancestor(s, bits); at; at = ancestor(at, bits)) found = at;
  return found;
}

std::vector<SliceId> Facts::slices_with(std::uint32_t bits) const {
  constexpr std::size_t kTogether = 16;  // most bits are rare: so many slices are looked at by a few instructions
  std::vector<SliceId> out;
  for (std::size_t first = 0; first < own_.size(); first += kTogether) {
    const std::size_t stop = std::min(first + kTogether, own_.size());
    std::uint32_t any = 0;
    for (std::size_t i = first; i < stop; ++i) any |= own_[i];
    for (std::size_t i = first; (any & bits) != 0 && i < stop; ++i)
      if (own_[i] & bits) out.push_back(SliceId(i));
  }
  return out;
}

std::optional<std::size_t> Facts::step_at(Ns t) const {
  const auto after = std::upper_bound(steps.begin(), steps.end(), t, [&](Ns time, SliceId s) { return time < trace.begin(s); });
  if (after == steps.begin()) return std::nullopt;
  const SliceId step = *(after - 1);
  if (t > trace.end(step)) return std::nullopt;
  return static_cast<std::size_t>(after - 1 - steps.begin());
}

}  // namespace gapscope
