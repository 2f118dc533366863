// Over 400 lines: one pass over the values of one format, whose bounds are shared.
#include "core/snapshot/snapshot.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/failure.h"
#include "core/base/hash.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/load/byte_source.h"
#include "core/snapshot/pickle.h"

namespace gapscope {
namespace {

using Value = PickleValue;
using Action = SnapshotEvent::Action;

// The keys of the records; each kind of record has some.
enum Key : std::size_t {
  kAction,
  kAddr,
  kAddress,
  kSize,
  kTime,
  kStream,
  kFrames,
  kDeviceFree,
  kState,
  kRequested,
  kHistory,
  kRealSize,
  kDevice,
  kTotal,
  kAllocated,
  kActive,
  kType,
  kPool,
  kExpandable,
  kBlocks,
  kName,
  kFile,
  kLine,
  kStage,
  kKeys,
};
constexpr std::array<std::string_view, kKeys> kNames = {
    "action",        "addr",        "address",        "size",           "time_us",      "stream",
    "frames",        "device_free", "state",          "requested_size", "history",      "real_size",
    "device",        "total_size",  "allocated_size", "active_size",    "segment_type", "segment_pool_id",
    "is_expandable", "blocks",      "name",           "filename",       "line",         "stage",
};

constexpr std::pair<std::string_view, Action> kActions[] = {
    {"alloc", Action::alloc},
    {"free_requested", Action::free_requested},
    {"free_completed", Action::free_completed},
    {"segment_alloc", Action::segment_alloc},
    {"segment_free", Action::segment_free},
    {"segment_map", Action::segment_map},
    {"segment_unmap", Action::segment_unmap},
    {"snapshot", Action::snapshot},
    {"oom", Action::oom},
};

// A dictionary by the keys that are known: the place of each is looked up once for each list of keys.
class Record {
 public:
  Record() = default;
  Record(std::span<const Value> values, const std::array<std::int16_t, kKeys>& places) : values_(values), places_(&places) {}
  bool has(Key key) const { return places_ && (*places_)[key] >= 0; }
  Value operator[](Key key) const { return has(key) ? values_[static_cast<std::size_t>((*places_)[key])] : Value(); }

 private:
  std::span<const Value> values_;
  const std::array<std::int16_t, kKeys>* places_ = nullptr;
};

// Turns the values into the tables of a Snapshot. The file may refer to the same list or text a thousand times: values that are
// looked at are bounded by the bytes that were read, and a text is cut where it is used.
class Reading {
 public:
  Reading(PickleValues values, Snapshot& out)
      : values_(std::move(values)), out_(out), most_rows_(values_.bytes_read() / 4 + 1000) {}

  // False: no snapshot.
  bool read() {
    out_.file_bytes = values_.bytes_read();
    out_.stack_begins = {0, 0};
    const Value root = values_.root();
    const Value segments = values_.is_list(root) ? root : values_.at(root, "segments");  // memory_snapshot() gives a list
    const Value traces = values_.at(root, "device_traces");
    if (!values_.is_list(segments)) return false;
    for (const Value v : rows_of(segments)) segment(v);
    if (values_.is_list(root) && out_.segments.empty()) return false;
    std::sort(out_.segments.begin(), out_.segments.end(), [](const SnapshotSegment& a, const SnapshotSegment& b) {
      return std::pair(a.device, a.address) < std::pair(b.device, b.address);
    });
    std::int64_t id = 0;
    for (const Value v : rows_of(traces)) events(id++, rows_of(v));
    for (const SnapshotSegment& s : out_.segments) add(s, device(s.device)->totals);
    std::ranges::sort(out_.devices, {}, &SnapshotDevice::id);
    annotations(rows_of(values_.at(root, "external_annotations")));
    settings(values_.at(root, "allocator_settings"));
    out_.texts = values_.take_texts();
    return true;
  }

 private:
  Record record(Value v) {
    if (!values_.is_dict(v)) return {};
    const PickleValues::Shape shape = values_.shape(v);
    if (shape >= places_.size()) places_.resize(values_.shapes());
    if (!places_[shape]) places_[shape] = places_of(shape);
    return {values_.values(v), *places_[shape]};
  }
  std::unique_ptr<std::array<std::int16_t, kKeys>> places_of(PickleValues::Shape shape) {
    auto places = std::make_unique<std::array<std::int16_t, kKeys>>();
    places->fill(-1);
    const auto keys = values_.keys(shape);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!values_.is_text(keys[i])) continue;
      const auto at = std::find(kNames.begin(), kNames.end(), values_.text(keys[i]));
      if (at != kNames.end()) (*places)[static_cast<std::size_t>(at - kNames.begin())] = static_cast<std::int16_t>(i);
    }
    return places;
  }

  std::int64_t bytes(Value v) const { return std::max<std::int64_t>(0, std::min(values_.integer(v), kMostBytes)); }
  std::int64_t time(Value v) const { return std::clamp<std::int64_t>(values_.integer(v), 0, kMostTime); }
  std::uint64_t address(Value v) const { return static_cast<std::uint64_t>(values_.integer(v)); }
  // Counted where it is no row, or one too many.
  bool is_row(bool fits) {
    const bool is_one = fits && rows_ < most_rows_;
    if (rows_ < most_rows_) ++rows_;
    if (!is_one) ++out_.unreadable;
    return is_one;
  }
  // Of a list of rows: as many as may be looked at.
  std::span<const Value> rows_of(Value list) {
    const auto items = values_.items(list);
    const auto seen = items.first(static_cast<std::size_t>(std::min<std::uint64_t>(items.size(), most_rows_ - rows_)));
    out_.unreadable += items.size() - seen.size();
    return seen;
  }

  // Null: one too many.
  SnapshotDevice* device(std::int64_t id) {
    const auto known = device_rows_.find(id);
    if (known != device_rows_.end()) return &out_.devices[known->second];
    if (out_.devices.size() >= kMostDevices) return nullptr;
    device_rows_.emplace(id, out_.devices.size());
    SnapshotDevice& added = out_.devices.emplace_back();
    added.id = id;
    return &added;
  }

  StringId name(Value v) {
    const std::string_view text = values_.text(v);
    return text.size() <= kLongestName ? values_.text_id(v) : values_.add_text(std::string(text.substr(0, kLongestName)));
  }

  StackId stack(Value list) {
    if (!values_.is_list(list)) return 0;
    const auto items = values_.items(list);
    if (items.empty()) return 0;
    // Equal lists lie at one place.
    const auto [known, is_new] = stack_of_.try_emplace(items.data());
    if (!is_new && known->second.count == items.size()) return known->second.id;
    frames_.clear();
    for (const Value v : items) {
      const std::uint32_t f = frame(v);
      if (f != kNoFrame) frames_.push_back(f);
    }
    return (known->second = {distinct_stack(), static_cast<std::uint32_t>(items.size())}).id;
  }
  StackId distinct_stack() {
    if (frames_.empty()) return 0;
    const std::string_view key(reinterpret_cast<const char*>(frames_.data()), frames_.size() * sizeof(std::uint32_t));
    auto& alike = stacks_by_hash_[hash_text(key)];
    for (const StackId id : alike)
      if (std::ranges::equal(out_.stack(id), frames_)) return id;
    const auto id = static_cast<StackId>(out_.stacks());
    out_.stack_frames.insert(out_.stack_frames.end(), frames_.begin(), frames_.end());
    out_.stack_begins.push_back(static_cast<std::uint32_t>(out_.stack_frames.size()));
    if (alike.size() < 16) alike.push_back(id);
    return id;
  }
  std::uint32_t frame(Value v) {
    if (!values_.is_dict(v)) return kNoFrame;
    const auto [known, is_new] = frame_of_.try_emplace(v.content(), kNoFrame);
    if (!is_new) return known->second;
    const Record r = record(v);
    const SnapshotFrame f{name(r[kName]), name(r[kFile]), std::max<std::int64_t>(0, values_.integer(r[kLine]))};
    const std::uint64_t hash =
        mix64(mix64(std::uint64_t{f.name.value} << 32 | f.file.value) ^ static_cast<std::uint64_t>(f.line));
    auto& alike = frames_by_hash_[hash];
    for (const std::uint32_t at : alike)
      if (out_.frames[at] == f) return known->second = at;
    const auto at = static_cast<std::uint32_t>(out_.frames.size());
    out_.frames.push_back(f);
    alike.push_back(at);
    return known->second = at;
  }

  std::uint16_t stream(Value v) {
    const std::uint64_t id = address(v);
    if (last_stream_ < out_.streams.size() && out_.streams[last_stream_] == id) return last_stream_;
    const auto [at, is_new] =
        stream_of_.try_emplace(id, static_cast<std::uint16_t>(std::min<std::size_t>(out_.streams.size(), 0xffff)));
    if (is_new && out_.streams.size() < 0xffff) out_.streams.push_back(id);
    return last_stream_ = std::min<std::uint16_t>(at->second, 0xfffe);
  }

  Action action(Value v) {
    if (v == last_action_text_) return last_action_;
    const std::string_view name = values_.text(v);
    last_action_text_ = v;
    last_action_ = Action::other;
    for (const auto& [text, action] : kActions)
      if (text == name) last_action_ = action;
    return last_action_;
  }

  void events(std::int64_t id, std::span<const Value> items) {
    if (items.empty()) return;
    SnapshotDevice* const into = device(id);
    if (into == nullptr) {
      out_.unreadable += items.size();
      return;
    }
    SnapshotDevice& d = *into;
    d.events.reserve(items.size());
    for (const Value v : items) {
      const Record r = record(v);
      if (!is_row(r.has(kAction) && d.events.size() < 0xffff'ffff)) continue;
      SnapshotEvent e;
      e.action = action(r[kAction]);
      e.address = address(r.has(kAddr) ? r[kAddr] : r.has(kDeviceFree) ? r[kDeviceFree] : r[kAddress]);
      if (e.action == Action::oom) d.ooms.push_back(static_cast<std::uint32_t>(d.events.size()));
      e.size = bytes(r[kSize]);
      e.time_us = time(r[kTime]);
      e.stack = stack(r[kFrames]);
      e.stream = stream(r[kStream]);
      d.events.push_back(e);
    }
  }

  void segment(Value v) {
    const Record r = record(v);
    SnapshotSegment s;
    s.device = values_.integer(r[kDevice]);
    if (!is_row(r.has(kTotal) && values_.is_list(r[kBlocks]) && device(s.device) != nullptr)) return;
    s.address = address(r[kAddress]);
    s.total = bytes(r[kTotal]);
    s.stream = address(r[kStream]);
    s.is_large = values_.text(r[kType]) == "large";
    s.is_expandable = values_.integer(r[kExpandable]) != 0;
    s.pool = pool(r[kPool]);
    s.first_block = static_cast<std::uint32_t>(out_.blocks.size());
    std::uint64_t at = s.address;
    std::int64_t requested = 0, allocated = 0, active = 0;
    for (const Value b : rows_of(r[kBlocks])) {
      if (out_.blocks.size() >= 0xffff'fffe) break;
      if (!block(record(b), at)) continue;
      const SnapshotBlock& added = out_.blocks.back();
      at = added.address + static_cast<std::uint64_t>(added.size);
      if (!added.is_active()) continue;
      add_saturating(active, added.size);
      add_saturating(requested, added.requested);
      if (added.state == SnapshotBlock::State::allocated) add_saturating(allocated, added.size);
    }
    s.block_count = static_cast<std::uint32_t>(out_.blocks.size()) - s.first_block;
    s.allocated = r.has(kAllocated) ? bytes(r[kAllocated]) : allocated;
    s.active = r.has(kActive) ? bytes(r[kActive]) : active;
    s.requested = r.has(kRequested) ? bytes(r[kRequested]) : requested;
    out_.segments.push_back(s);
  }
  bool block(const Record& r, std::uint64_t at) {
    if (!is_row(r.has(kSize) && r.has(kState))) return false;
    SnapshotBlock b;
    b.address = r.has(kAddress) ? address(r[kAddress]) : at;
    b.size = bytes(r[kSize]);
    const std::string_view state = values_.text(r[kState]);
    b.state = state == "active_allocated"   ? SnapshotBlock::State::allocated
              : state.starts_with("active") ? SnapshotBlock::State::pending_free
                                            : SnapshotBlock::State::inactive;
    Value frames = r[kFrames];
    b.requested = r.has(kRequested) ? bytes(r[kRequested]) : b.size;
    if (const auto history = values_.items(r[kHistory]); !history.empty()) {  // PyTorch 1.13 and 2.0
      const Record newest = record(history.front());
      frames = newest[kFrames];
      if (newest.has(kRealSize)) b.requested = bytes(newest[kRealSize]);
    }
    b.stack = stack(frames);
    out_.blocks.push_back(b);
    return true;
  }
  StringId pool(Value v) {
    const auto ids = values_.items(v);
    if (ids.size() != 2 || (values_.integer(ids[0]) == 0 && values_.integer(ids[1]) == 0)) return StringId(0);
    return values_.add_text(fmt::format("({}, {})", values_.integer(ids[0]), values_.integer(ids[1])));
  }
  void add(const SnapshotSegment& s, SnapshotTotals& t) const {
    add_saturating(t.reserved, s.total);
    add_saturating(t.allocated, s.allocated);
    add_saturating(t.active, s.active);
    add_saturating(t.requested, s.requested);
    ++t.segments;
    t.blocks += s.block_count;
    for (const SnapshotBlock& b : out_.blocks_of(s)) {
      if (b.is_active()) continue;
      t.largest_free = std::max(t.largest_free, b.size);
      add_saturating(t.free, b.size);
      if (s.block_count > 1) add_saturating(t.split_free, b.size);
    }
  }

  void annotations(std::span<const Value> items) {
    for (const Value v : items) {
      const Record r = record(v);
      if (!is_row(r.has(kName) && r.has(kStage))) continue;
      out_.annotations.push_back(
          {name(r[kName]), values_.integer(r[kDevice]), time(r[kTime]), values_.text(r[kStage]) == "START"});
    }
  }
  void settings(Value dict) {
    if (!values_.is_dict(dict)) return;
    const auto keys = values_.keys(values_.shape(dict));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Value v = values_.values(dict)[i];
      std::string text;
      switch (v.kind()) {
        case Value::Kind::boolean: text = v.content() ? "True" : "False"; break;
        case Value::Kind::integer:
        case Value::Kind::wide: text = fmt::format("{}", values_.integer(v)); break;
        case Value::Kind::real: text = fmt::format("{}", values_.real(v)); break;
        case Value::Kind::text: text = values_.text(v).substr(0, kLongestName); break;
        default: continue;  // nested: sizes by which are rounded
      }
      out_.settings.push_back({name(keys[i]), std::move(text)});
    }
  }

  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 56;  // 72 PB
  static constexpr std::int64_t kMostTime = std::int64_t{1} << 52;   // microseconds: 140 years, and nanoseconds of it fit
  static constexpr std::uint32_t kNoFrame = 0xffff'ffff;
  static constexpr std::size_t kMostDevices = 128;   // PyTorch is built for 120 GPUs at most
  static constexpr std::size_t kLongestName = 1024;  // bytes of a frame's name or file, of a setting
  struct KnownStack {
    StackId id = 0;
    std::uint32_t count = 0;
  };

  PickleValues values_;
  Snapshot& out_;
  std::uint64_t most_rows_, rows_ = 0;
  std::vector<std::unique_ptr<std::array<std::int16_t, kKeys>>> places_;
  std::map<std::int64_t, std::size_t> device_rows_;
  std::unordered_map<const Value*, KnownStack> stack_of_;
  std::unordered_map<std::uint64_t, std::vector<StackId>> stacks_by_hash_;
  std::unordered_map<std::uint64_t, std::uint32_t> frame_of_;  // by dictionary
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> frames_by_hash_;
  std::unordered_map<std::uint64_t, std::uint16_t> stream_of_;
  std::vector<std::uint32_t> frames_;
  std::uint16_t last_stream_ = 0;
  Value last_action_text_;
  Action last_action_ = Action::other;
};

// "The file ..." with its name; where the name is asked for again, too.
Error named(std::string message, const std::string& shown) {
  if (message.starts_with("The file ")) message.replace(0, 8, shown);
  for (std::size_t at = 0; (at = message.find(kFileAgain, at)) != message.npos; at += shown.size())
    message.replace(at, 1, shown);
  return Error{std::move(message)};
}

}  // namespace

std::string_view Snapshot::setting(std::string_view name) const {
  for (const SnapshotSetting& s : settings)
    if (texts[s.name] == name) return s.value;
  return {};
}

Result<Snapshot> read_snapshot(ByteSource& source, const std::string& shown) {
  Result<PickleValues> values = read_pickle(source);
  if (!values) return named(values.error().message, shown);
  Snapshot out;
  if (!Reading(std::move(*values), out).read())
    return named("The file is a pickle, but not a memory snapshot: write one with torch.cuda.memory._dump_snapshot(FILE).",
                 shown);
  return out;
}

bool is_pickle(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe is read once
  const Result<std::unique_ptr<ByteSource>> source = open_source(path);
  char first[2] = {};
  if (!source) return false;
  const Result<std::size_t> got = (*source)->read(first, sizeof(first));
  return got && *got == 2 && first[0] == '\x80' && first[1] >= 2 && first[1] <= 5;
}

Result<Snapshot> load_snapshot(const std::string& path) {
  const std::string shown = path == "-" ? "Standard input" : printable(path);
  try {
    Result<std::unique_ptr<ByteSource>> source = open_source(path);
    if (!source) return named(source.error().message, shown);
    return read_snapshot(**source, shown);
  } catch (...) {
    return current_failure("open", path);
  }
}

}  // namespace gapscope
