// Memory snapshots: totals, replay, out-of-memory events; and any bytes at all.
#include "core/snapshot/snapshot.h"

#include <ctime>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "core/load/byte_source.h"
#include "core/snapshot/block_history.h"
#include "core/snapshot/holder_tree.h"
#include "core/snapshot/out_of_memory.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/flips.h"
#include "tests/support/pickle_bytes.h"
#include "ui/snapshot/memory_areas.h"
#include "ui/snapshot/snapshot_layouts.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

Result<Snapshot> read(const std::string& pickle) {
  const auto source = open_memory(pickle);
  if (!source) return source.error();
  return read_snapshot(**source, "a.pickle");
}

// What the window draws of it: in no column more or less than the sum, no box outside.
void walk_window(const Snapshot& snapshot, const SnapshotDevice& device) {
  const auto history = BlockHistory::make(snapshot, device);
  REQUIRE(history);
  for (const bool by_time : {false, true}) {
    const MemoryAxis axis(device, by_time);
    const MemoryAreas areas = memory_areas(*history, axis, fit(axis.reach()), 7, 100);
    REQUIRE(areas.moments.size() == 7);
    for (const AreaRun& run : areas.runs)
      REQUIRE((run.first < run.last && run.last <= 7 && run.band < history->bands().size()));
  }
  const SnapshotState state = state_at(snapshot, device);
  const HolderTree tree = holder_tree(snapshot, holders_of(snapshot, state.held).stacks);
  for (const HolderBox& box : holder_boxes(tree, 0, 100)) REQUIRE((box.node < tree.nodes.size() && box.x1 <= 100.01f));
  for (const MapBox& box : segment_map(state, 100).boxes) REQUIRE((box.begin < box.end && box.x0 <= box.x1));
}

// Asks everything of it, and checks what holds of any file.
void walk(const Snapshot& snapshot) {
  for (const SnapshotDevice& device : snapshot.devices) {
    const SnapshotPeak peak = peak_of(device);
    REQUIRE(peak.bytes >= device.totals.active);
    if (peak.event) REQUIRE(*peak.event < device.events.size());
    std::vector<std::optional<std::uint32_t>> moments = {{}};
    if (!device.events.empty()) moments = {{}, 0U, static_cast<std::uint32_t>(device.events.size() - 1)};
    for (const auto& event : moments) {
      const SnapshotState state = state_at(snapshot, device, event);
      const MemoryHolders holders = holders_of(snapshot, state.held);
      std::uint64_t blocks = 0;
      for (const StackHolder& h : holders.stacks) blocks += h.blocks;
      REQUIRE(blocks == state.held.size());
    }
    walk_window(snapshot, device);
    for (const std::uint32_t oom : device.ooms) {
      const OutOfMemory why = explain_oom(snapshot, device, oom);
      REQUIRE(oom_sentence(snapshot, why).starts_with("Out of memory: "));
      REQUIRE(oom_remedies(snapshot, why).size() < 7);
    }
  }
}

}  // namespace

TEST_CASE("the tiny snapshot") {
  const auto read_it = read(tiny_snapshot());
  REQUIRE(read_it.ok());
  const Snapshot& s = *read_it;
  REQUIRE(s.devices.size() == 1);
  const SnapshotDevice& d = s.devices[0];
  CHECK(d.totals.reserved == 8192);
  CHECK(d.totals.active == 1024);
  CHECK(d.totals.blocks == 2);
  CHECK(d.totals.split_free == 7168);
  CHECK(d.events.size() == 6);
  CHECK(s.stacks() == 2);  // the empty one and one
  CHECK(s.setting("expandable_segments") == "True");
  CHECK(peak_of(d).bytes == 3072);
  CHECK(peak_of(d).event == 2U);
  const SnapshotState before = state_at(s, d, 0U);
  CHECK(before.totals.reserved == 8192);
  CHECK(before.totals.active == 0);
  CHECK(before.held.empty());
  const SnapshotState peak = state_at(s, d, 2U);
  REQUIRE(peak.held.size() == 2);
  CHECK(peak.held[1].allocated_by == 2U);
  CHECK(peak.totals.largest_free == 8192 - 3072);
  walk(s);
}

TEST_CASE("why an allocation did not fit") {
  Snapshot s;
  s.stack_begins = {0, 0};
  s.streams = {0, 5};
  constexpr std::int64_t kMiB = 1 << 20;
  SnapshotDevice d;
  const auto segment = [&](std::uint64_t address, std::int64_t total, std::int64_t held, std::uint64_t stream) {
    SnapshotSegment made;
    made.address = address;
    made.total = total;
    made.active = made.allocated = held;
    made.stream = stream;
    made.is_large = true;
    made.first_block = static_cast<std::uint32_t>(s.blocks.size());
    made.block_count = held > 0 ? 1 : 0;
    if (held > 0) s.blocks.push_back({address, held, held, 0, SnapshotBlock::State::allocated});
    s.segments.push_back(made);
    d.totals.reserved += total;
    d.totals.active += held;
  };
  segment(0x1000'0000, 40 * kMiB, 20 * kMiB, 0);
  segment(0x2000'0000, 40 * kMiB, 20 * kMiB, 0);
  segment(0x3000'0000, 40 * kMiB, 10 * kMiB, 5);
  const auto why = [&](std::int64_t asked, std::uint64_t device_free) {
    d.events.assign(1, SnapshotEvent{});
    d.events[0].action = SnapshotEvent::Action::oom;
    d.events[0].size = asked;
    d.events[0].address = device_free;
    return explain_oom(s, d, 0);
  };
  using Why = OutOfMemory::Why;
  CHECK(why(100 * kMiB, 2 * kMiB).why == Why::full);
  CHECK(why(60 * kMiB, 2 * kMiB).why == Why::fragmented);
  CHECK(why(60 * kMiB, 2 * kMiB).largest_large == 20 * kMiB);
  CHECK(why(60 * kMiB, 2 * kMiB).free == 70 * kMiB);
  CHECK(why(25 * kMiB, 2 * kMiB).why == Why::elsewhere);
  CHECK(why(25 * kMiB, 30 * kMiB).why == Why::limited);
  CHECK(why(5 * kMiB, 15 * kMiB).segment == 20 * kMiB);  // PyTorch asks for more than it was asked for
  CHECK(why(1000, 0).segment == 2 * kMiB);
  CHECK(why(1000, 0).is_large == false);
}

TEST_CASE("the line of a stack is the program's own") {
  Snapshot s;
  s.stack_begins = {0, 0};
  const auto stack = [&](std::initializer_list<std::pair<std::string_view, std::string_view>> frames) {
    for (const auto& [file, name] : frames) {
      s.stack_frames.push_back(static_cast<std::uint32_t>(s.frames.size()));
      s.frames.push_back({s.texts.intern(name), s.texts.intern(file), 3});
    }
    s.stack_begins.push_back(static_cast<std::uint32_t>(s.stack_frames.size()));
    return static_cast<StackId>(s.stacks() - 1);
  };
  constexpr std::string_view kLinear = "/env/lib/python3.12/site-packages/torch/nn/modules/linear.py";
  const StackId forward =
      stack({{"??", "c10::alloc"}, {kLinear, "forward"}, {"/home/me/model.py", "forward"}, {"train.py", "main"}});
  CHECK(place_words(s, own_frame(s, forward)) == "model.py:3 (forward)");
  CHECK(place_words(s, inner_frame(s, forward)) == "linear.py:3 (forward)");
  CHECK(use_kind(s, forward, false) == MemoryUseKind::activations);
  const StackId cell = stack({{kLinear, "__init__"}, {"<ipython-input-3-ab>", "<module>"}, {"<frozen runpy>", "run"}});
  CHECK(place_words(s, own_frame(s, cell)) == "<ipython-input-3-ab>:3 (<module>)");
  CHECK(use_kind(s, cell, false) == MemoryUseKind::parameters);
  const StackId compiled = stack({{"/tmp/torchinductor_me/ab/cab.py", "call"}, {"/home/me/train.py", "step"}});
  CHECK(place_words(s, own_frame(s, compiled)) == "train.py:3 (step)");
  const StackId backward = stack({{"", "c10::alloc"}, {"", "MmBackward0::apply"}, {"", "torch::autograd::Engine::evaluate"}});
  CHECK(place_words(s, own_frame(s, backward)) == "MmBackward0::apply");
  CHECK(use_kind(s, backward, false) == MemoryUseKind::gradients);
  CHECK(use_kind(s, 0, false) == MemoryUseKind::gradients);  // autograd's thread has no Python stack
  CHECK(use_kind(s, 0, true) == MemoryUseKind::before_history);
}

TEST_CASE("a segment that was freed before the end is there again at its time, in pieces that grow together") {
  Snapshot s;
  s.stack_begins = {0, 0};
  s.streams = {0};
  SnapshotDevice d;
  const auto event = [&](SnapshotEvent::Action action, std::uint64_t address, std::int64_t size) {
    SnapshotEvent e;
    e.action = action;
    e.address = address;
    e.size = size;
    d.events.push_back(e);
  };
  using Action = SnapshotEvent::Action;
  constexpr std::int64_t kPiece = 20 << 20;
  event(Action::segment_map, 0x4000'0000, kPiece);
  event(Action::segment_map, 0x4000'0000 + kPiece, kPiece);
  event(Action::segment_unmap, 0x4000'0000 + kPiece, kPiece);
  event(Action::segment_unmap, 0x4000'0000, kPiece);
  const auto at = [&](std::uint32_t n) { return state_at(s, d, n); };
  CHECK(at(3).totals.reserved == 0);
  CHECK(at(2).totals.largest_free == kPiece);
  CHECK(at(1).totals.largest_free == 2 * kPiece);
  CHECK(at(1).totals.segments == 1);
  CHECK(at(0).totals.reserved == kPiece);
}

TEST_CASE("a file that refers to one list a thousand times is no larger than its bytes") {
  std::string blocks = "](";
  for (int i = 0; i < 2000; ++i) blocks += pickled_dict({{"size", "K\1"}, {"state", pickled("inactive")}});
  const std::string segment = pickled_dict({{"total_size", "K\1"}, {"blocks", blocks + "e"}});
  std::string many = segment + "\x94";
  for (int i = 0; i < 20'000; ++i) many += std::string("h\0", 2);
  const auto s = read(whole_pickle(pickled_dict({{"segments", "](" + many + "e"}})));
  REQUIRE(s.ok());
  CHECK(s->blocks.size() < 50'000);
  CHECK(s->unreadable > 0);
}

TEST_CASE("a list that a snapshot names again and again is looked at as often as its bytes explain, whatever is in it") {
  constexpr int kTimes = 30'000;
  const std::string nothing = "](" + std::string(kTimes, 'N') + "e";
  std::string segments = pickled_dict({{"total_size", "K\1"}, {"blocks", nothing}}) + "\x94", traces = nothing + "\x94";
  for (int i = 0; i < kTimes; ++i) segments += std::string("h\0", 2), traces += std::string("h\0", 2);
  const auto begin = std::clock();
  CHECK(read(whole_pickle(pickled_dict({{"segments", "](" + segments + "e"}}))).ok());
  const auto traced = read(whole_pickle(pickled_dict({{"device_traces", "](" + traces + "e"}, {"segments", "]"}})));
  CHECK(traced.ok());
  // 0.02 s; it was over 2 s, and four times that for twice as many.
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 1);
}

TEST_CASE("a snapshot has as many GPUs as a process can have, and its names are cut where they are used") {
  std::string segments;
  for (std::int64_t id = 0; id < 200; ++id)
    segments += pickled_dict({{"device", pickled(id)}, {"total_size", "K\1"}, {"blocks", "]"}});
  const std::string length("\x00\x00\x10\x00", 4);
  const std::string text = "X" + length + std::string(1 << 20, 'a') + "\x94";
  const auto s =
      read(whole_pickle(pickled_dict({{"allocator_settings", pickled_dict({{"a", text}, {"b", std::string("h\0", 2)}})},
                                      {"segments", "](" + segments + "e"}})));
  REQUIRE(s.ok());
  CHECK(s->devices.size() == 128);
  CHECK(s->unreadable == 72);
  REQUIRE(s->settings.size() == 2);
  CHECK(s->settings[1].value.size() == 1024);
}

TEST_CASE("damaged snapshots end in a sentence or in a snapshot") {
  const std::string whole = tiny_snapshot();
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return random() % n; };
  std::size_t read_anyway = 0;
  for (int i = 0; i < flips(10'000); ++i) {
    std::string text = whole;
    for (std::size_t flips = 1 + below(3); flips-- > 0;) {
      switch (below(4)) {
        case 0: text[below(text.size())] = static_cast<char>(random()); break;
        case 1: text.erase(below(text.size()), 1 + below(8)); break;
        case 2: text.insert(below(text.size()), text.substr(below(text.size()), 1 + below(40))); break;
        default: text[below(text.size())] = "()]}aeust.0\x94h\x85\x88N"[below(17)]; break;
      }
    }
    const auto s = read(text);
    if (!s) {
      REQUIRE(s.error().message.starts_with("a.pickle "));
      continue;
    }
    ++read_anyway;
    walk(*s);
  }
  CHECK(read_anyway > 0);
}
