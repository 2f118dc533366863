#include "core/load/producers/producers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastIterations = 3;  // of a name that states no number: fewer say nothing of a step

// The words that Kineto has for a kind, so that a query is the same for every producer.
std::string_view category_of(Kind kind) {
  switch (kind) {
    case Kind::op: return "cpu_op";
    case Kind::annotation: return "user_annotation";
    case Kind::python: return "python_function";
    case Kind::runtime: return "runtime";
    case Kind::driver: return "driver";
    case Kind::kernel: return "kernel";
    case Kind::memcpy: return "gpu_memcpy";
    case Kind::memset: return "gpu_memset";
    case Kind::sync: return "device_wait";
    case Kind::gpu_annotation: return "gpu_user_annotation";
    case Kind::overhead: return "overhead";
    case Kind::profiler: return "Trace";
    case Kind::other: return "other";
  }
  return "other";
}

std::int32_t number_of(std::string_view text) {
  std::int32_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : -1;
}

// Adopts the rows of one file.
class Adopter {
 public:
  Adopter(const ProducerRow& producer, const Clues& clues, RowStore& rows) : producer_(producer), clues_(clues), rows_(rows) {}

  Adopted run() {
    Adopted out;
    find_roles();
    const bool any_role = std::any_of(roles_.begin(), roles_.end(),
                                      [](const LaneRole& role) { return role.holds != LaneRole::Holds::as_written; });
    is_call_.assign(rows_.slices.size(), false);
    renames_ = any_role || producer_.kind_of != nullptr;
    if (any_role) find_calls();
    if (renames_) name_kinds(out);
    keep_outermost();
    put_gpu_rows(out);
    return out;
  }

 private:
  void find_roles() {
    for (const LaneClue& lane : clues_.lanes) {
      const bool is_async = rows_.lanes[static_cast<std::size_t>(&lane - clues_.lanes.data())].is_async;
      const LaneRole role = producer_.role_of != nullptr && !is_async ? producer_.role_of(clues_, lane) : LaneRole{};
      roles_.push_back(role);
      if (role.holds == LaneRole::Holds::device_work && role.device >= 0)
        rows_.process_marks[std::string(clues_.process(lane).key)].device = role.device;
    }
  }

  // What has a correlation id on a host's lane is a call.
  void find_calls() {
    rows_.gpu.each([&](const StoredGpu& row, std::size_t) {
      if (row.correlation != 0 && role_of(row.slice).holds == LaneRole::Holds::host) is_call_[row.slice] = true;
    });
  }

  const LaneRole& role_of(std::uint32_t slice) const {
    constexpr static LaneRole kAsWritten{};
    const std::uint32_t lane = rows_.slices[slice].lane;
    return lane < roles_.size() ? roles_[lane] : kAsWritten;
  }

  // A name is looked at once for each role and category.
  void name_kinds(Adopted& out) {
    const StringId step = rows_.step_name;
    std::unordered_map<std::uint64_t, Kind> known;
    rows_.slices.each([&](StoredSlice& s, std::size_t position) {
      if (rows_.lanes[s.lane].is_async) return;
      const LaneRole& role = roles_[s.lane];
      const bool call = is_call_[position];
      const std::uint64_t key = (std::uint64_t{s.name} << 20) | (std::uint64_t{s.category & 0xFFFFu} << 4) |
                                (static_cast<std::uint64_t>(role.holds) << 1) | (call ? 1u : 0u);
      const auto [at, is_new] = known.try_emplace(key, Kind::other);
      const Category& category = rows_.categories[s.category];
      if (is_new) {
        const SliceClue slice{rows_.strings[StringId(s.name)], rows_.strings[category.name], category.kind, role.holds, call,
                              step && step.value == s.name};
        at->second = producer_.kind_of != nullptr ? producer_.kind_of(slice) : kind_by_role(slice);
      }
      if (at->second == category.kind) return;
      if (at->second == Kind::sync) ++out.device_waits;
      s.category = category_for(at->second);
    });
  }

  std::uint16_t category_for(Kind kind) {
    std::uint16_t& made = category_of_kind_[static_cast<std::size_t>(kind)];
    if (made != 0) return static_cast<std::uint16_t>(made - 1);
    const StringId name = rows_.strings.intern(category_of(kind));
    std::uint32_t at = rows_.category(name);
    if (rows_.categories[at].kind != kind && rows_.categories.size() < 0xFFFE) {
      at = static_cast<std::uint32_t>(rows_.categories.size());
      rows_.categories.push_back({name, kind});
    }
    made = static_cast<std::uint16_t>(at + 1);
    return static_cast<std::uint16_t>(at);
  }

  // Of work within other work of its lane only the outer one is counted: where the lane is such, and of begins with their ends,
  // which say so themselves.
  void keep_outermost() {
    const bool any = std::any_of(roles_.begin(), roles_.end(), [](const LaneRole& role) { return role.nests; });
    if (!any && rows_.halves_as_slices == 0) return;
    const std::size_t first_half = rows_.slices.size() - rows_.halves_as_slices;
    struct Work {
      std::uint32_t lane, slice;
      Ns begin, end;
    };
    std::vector<Work> work;
    rows_.slices.each([&](const StoredSlice& s, std::size_t position) {
      if ((roles_[s.lane].nests || position >= first_half) && is_gpu_work(rows_.categories[s.category].kind))
        work.push_back({s.lane, static_cast<std::uint32_t>(position), s.begin, end_of(s, *rows_.side)});
    });
    std::sort(work.begin(), work.end(), [](const Work& a, const Work& b) {
      return std::tuple(a.lane, a.begin, -a.end, a.slice) < std::tuple(b.lane, b.begin, -b.end, b.slice);
    });
    const Work* outer = nullptr;
    for (const Work& w : work)
      if (outer != nullptr && outer->lane == w.lane && w.end <= outer->end)
        rows_.slices[w.slice].category = category_for(Kind::other);
      else
        outer = &w;
  }

  // Rows of GPU work and waits stay, of hosts become calls; work without a row gets one.
  void put_gpu_rows(Adopted& out) {
    std::vector<bool> has_row(rows_.slices.size(), false);
    SideTables::Writer side(*rows_.side);
    PagedRows<StoredGpu> gpu;
    const auto number = [&](GpuRow& row, std::uint32_t slice) {
      const LaneRole& role = role_of(slice);
      const bool named = row.device >= 0 || row.stream >= 0;
      if (named && role.holds != LaneRole::Holds::device_work) return;
      if (row.device < 0) row.device = role.device;
      if (row.stream < 0) row.stream = role.stream >= 0 ? role.stream : number_of(clues_.lanes[rows_.slices[slice].lane].key);
      if (!named && is_gpu_work(kind_of(slice))) ++out.bare_work;
    };
    rows_.gpu.each([&](const StoredGpu& stored, std::size_t) {
      const Kind kind = kind_of(stored.slice);
      if (is_call_[stored.slice] && is_call(kind)) {
        rows_.calls.push_back({stored.slice, stored.correlation});
      } else if (is_on_gpu(kind)) {
        GpuRow row = unpack(stored, *rows_.side);
        number(row, stored.slice);
        gpu.push_back(pack(row, side));
        has_row[stored.slice] = true;
      }
    });
    if (!renames_) return void(rows_.gpu = std::move(gpu));
    rows_.slices.each([&](const StoredSlice& s, std::size_t position) {
      const Kind kind = rows_.categories[s.category].kind;
      if (has_row[position] || (!is_gpu_work(kind) && kind != Kind::sync)) return;
      GpuRow row;
      row.slice = SliceId(position);
      number(row, static_cast<std::uint32_t>(position));
      gpu.push_back(pack(row, side));
    });
    rows_.gpu = std::move(gpu);
  }

  Kind kind_of(std::uint32_t slice) const { return rows_.categories[rows_.slices[slice].category].kind; }

  const ProducerRow& producer_;
  const Clues& clues_;
  RowStore& rows_;
  std::vector<LaneRole> roles_;
  std::vector<bool> is_call_;
  bool renames_ = false;                              // some slice may be of another kind than its category says
  std::array<std::uint16_t, 16> category_of_kind_{};  // one more than its position; 0: not made
};

}  // namespace

Clues::Clues(const Header& file_header, const RowStore& file_rows) : header(file_header), rows(file_rows) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  lanes.reserve(rows.lanes.size());
  for (const StoredLane& lane : rows.lanes) {
    const auto [at, is_new] = known.try_emplace(lane.process, static_cast<std::uint32_t>(processes.size()));
    if (is_new) processes.push_back({lane.process, {}, {}});
    lanes.push_back({at->second, lane.thread, {}});
  }
  for (const RawName& n : rows.names) {
    const std::string_view text = rows.strings[StringId(n.text)];
    if (n.what == RawName::What::process_name) processes[lanes[n.lane].process].name = text;
    if (n.what == RawName::What::process_labels) processes[lanes[n.lane].process].labels = text;
    if (n.what == RawName::What::thread_name) lanes[n.lane].name = text;
  }
  // Writers without metadata put names where others have ids: pid "Device 0", tid "Stream 7".
  const auto is_id = [](std::string_view key) { return std::all_of(key.begin(), key.end(), is_digit) || key.starts_with('-'); };
  for (ProcessClue& process : processes)
    if (process.name.empty() && !is_id(process.key)) process.name = process.key;
  for (std::size_t l = 0; l < lanes.size(); ++l)
    if (lanes[l].name.empty() && !is_id(lanes[l].key) && !rows.lanes[l].is_async) lanes[l].name = lanes[l].key;
}

bool Clues::has_category(std::string_view name) const {
  return std::any_of(rows.categories.begin(), rows.categories.end(),
                     [&](const Category& c) { return rows.strings[c.name] == name; });
}

bool Clues::has_kind(Kind kind) const {
  return std::any_of(rows.categories.begin(), rows.categories.end(), [&](const Category& c) { return c.kind == kind; });
}

bool Clues::has_process(std::string_view beginning) const {
  return std::any_of(processes.begin(), processes.end(), [&](const ProcessClue& p) { return p.name.starts_with(beginning); });
}

bool Clues::has_lane(std::string_view part) const {
  return std::any_of(lanes.begin(), lanes.end(), [&](const LaneClue& l) { return contains_ignore_case(l.name, part); });
}

std::int32_t Clues::place_among(std::string_view beginning, std::uint32_t process) const {
  const auto end = processes.begin() + process;
  return static_cast<std::int32_t>(
      std::count_if(processes.begin(), end, [&](const ProcessClue& p) { return p.name.starts_with(beginning); }));
}

std::int32_t number_behind(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; at + word.size() <= text.size(); ++at) {
    if (!contains_ignore_case(text.substr(at, word.size()), word)) continue;
    std::size_t first = at + word.size();
    while (first < text.size() && !is_digit(text[first]) &&
           (text[first] == ' ' || text[first] == '#' || text[first] == ':' || text[first] == '_' || text[first] == '-'))
      ++first;
    std::size_t last = first;
    while (last < text.size() && is_digit(text[last])) ++last;
    if (last > first) return number_of(text.substr(first, last - first));
  }
  return -1;
}

Kind kind_of_device_slice(std::string_view name) {
  const auto has = [&](std::string_view part) { return contains_ignore_case(name, part); };
  if (has("event_wait") || has("event wait") || has("event_record") || has("event record") || has("notify_wait") ||
      has("notify wait") || has("stream_wait") || has("stream wait") || has("barrier_wait") || has("wait_event") ||
      has("BarrierAnd") || has("BarrierOr") || has("AppendBarrier") || has("WaitWithBarrier") || name == "Marker")
    return Kind::sync;
  if (has("memset")) return Kind::memset;
  if (has("memcpy") || has("memory copy") || has("dma_request") || has("CopyHostToDevice") || has("CopyDeviceToHost") ||
      has("MEMORY_COPY"))
    return Kind::memcpy;
  return Kind::kernel;
}

Kind kind_by_role(const SliceClue& slice) {
  switch (slice.holds) {
    case LaneRole::Holds::as_written:
      return slice.kind == Kind::other && slice.name.starts_with("ProfilerStep#") ? Kind::annotation : slice.kind;
    case LaneRole::Holds::annotations: return slice.kind == Kind::other ? Kind::annotation : slice.kind;
    case LaneRole::Holds::derived: return Kind::other;
    case LaneRole::Holds::device_work:
      return slice.kind == Kind::other || is_gpu_work(slice.kind) ? kind_of_device_slice(slice.name) : slice.kind;
    case LaneRole::Holds::host:
      if (slice.kind != Kind::other) return slice.kind;
      return slice.is_call ? Kind::runtime : slice.is_step ? Kind::annotation : Kind::op;
  }
  return slice.kind;
}

Adopted adopt(const Header& header, RowStore& rows) {
  const Clues clues(header, rows);
  const std::vector<const ProducerRow*>& table = producer_rows();
  const ProducerRow& producer =
      **std::find_if(table.begin(), table.end(), [&](const ProducerRow* row) { return row->wrote(clues); });
  Adopted out;
  if (producer.role_of != nullptr || producer.kind_of != nullptr || rows.bare_work > 0 || rows.foreign_gpu > 0 ||
      rows.work_in_halves > 0)
    out = Adopter(producer, clues, rows).run();
  out.producer = &producer.words;
  out.joins_by_arrows = !producer.words.is_pytorch || rows.bare_work > 0;
  if (!producer.words.is_pytorch) out.step_name = rows.step_name;
  if (const StringId name = rows.strings.find(producer.step_name); name && !out.step_name) {
    std::size_t iterations = 0;
    rows.slices.each([&](const StoredSlice& s, std::size_t) { iterations += s.name == name.value ? 1 : 0; });
    if (iterations >= kLeastIterations) out.step_name = name;
  }
  return out;
}

}  // namespace gapscope
