// The life of blocks and the sums by holder, against a replay of every event; the layouts over them.
#include "core/snapshot/block_history.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/load/byte_source.h"
#include "core/snapshot/opened_snapshot.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/real_traces.h"
#include "ui/snapshot/memory_areas.h"
#include "ui/snapshot/snapshot_layouts.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Three steps: each allocates a large block that stays and a small one that goes; two lines of the program.
std::string growing_snapshot(int steps) {
  const auto frames = [](std::int64_t line) {
    return pickled_list({pickled_dict({{"name", pickled("step")}, {"filename", pickled("a.py")}, {"line", pickled(line)}})});
  };
  std::vector<std::string> events;
  std::int64_t time = 1'700'000'000'000'000;
  const auto event = [&](std::string_view action, std::int64_t address, std::int64_t size, std::int64_t line) {
    events.push_back(pickled_dict({{"action", pickled(action)},
                                   {"addr", pickled(address)},
                                   {"size", pickled(size)},
                                   {"stream", pickled(0)},
                                   {"time_us", pickled(time += 10)},
                                   {"frames", frames(line)}}));
  };
  event("segment_alloc", 1 << 20, 1 << 20, 1);
  std::vector<std::string> blocks;
  const auto block = [&](std::int64_t address, std::int64_t size, std::string_view state) {
    blocks.push_back(pickled_dict({{"address", pickled(address)},
                                   {"size", pickled(size)},
                                   {"requested_size", pickled(size)},
                                   {"state", pickled(state)},
                                   {"frames", "]"}}));
  };
  std::int64_t at = 1 << 20;
  for (int i = 0; i < steps; ++i, at += 1024) {
    event("alloc", at, 1024, 7);
    event("alloc", (1 << 20) + 512 * 1024, 512, 9);
    event("free_requested", (1 << 20) + 512 * 1024, 512, 9);
    event("free_completed", (1 << 20) + 512 * 1024, 512, 9);
    block(at, 1024, "active_allocated");
  }
  block(at, (1 << 21) - at, "inactive");
  const std::string segment = pickled_dict({{"device", "K" + std::string(1, '\0')},
                                            {"address", pickled(1 << 20)},
                                            {"total_size", pickled(1 << 20)},
                                            {"allocated_size", pickled(1024 * steps)},
                                            {"active_size", pickled(1024 * steps)},
                                            {"requested_size", pickled(1024 * steps)},
                                            {"stream", pickled(0)},
                                            {"segment_type", pickled("small")},
                                            {"blocks", pickled_list(blocks)}});
  return whole_pickle(
      pickled_dict({{"segments", pickled_list({segment})}, {"device_traces", pickled_list({pickled_list(events)})}}));
}

Snapshot read(const std::string& pickle) {
  const auto source = open_memory(pickle);
  Result<Snapshot> snapshot = read_snapshot(**source, "a.pickle");
  REQUIRE(snapshot.ok());
  return std::move(*snapshot);
}

// Every stride-th moment: what holds, by band, and what the replay of the same history finds.
void compare(const Snapshot& s, std::uint32_t stride) {
  for (const SnapshotDevice& device : s.devices) {
    const auto made = BlockHistory::make(s, device);
    REQUIRE(made);
    const BlockHistory& history = *made;
    for (std::uint32_t event = 0; event < device.events.size(); event += stride) {
      const SnapshotState state = state_at(s, device, event);
      std::int64_t held = 0;
      for (const HeldBlock& block : state.held) held += block.size;
      const std::size_t changes = history.changes_before(event + 1);
      REQUIRE(history.total(changes) == held);
      std::int64_t sum = 0;
      for (const std::int64_t bytes : history.bytes_at(changes)) sum += bytes;
      REQUIRE(sum == held);
      std::vector<std::uint64_t> alive, expected;
      for (const std::uint32_t b : history.blocks_in(event, event + 1, 0, 0, 100'000))
        alive.push_back(history.blocks()[b].address);
      for (const HeldBlock& block : state.held) expected.push_back(block.address);
      std::ranges::sort(alive);
      REQUIRE(alive == expected);
    }
    for (std::size_t first = 0; first < history.changes(); first += 7 * stride)
      for (std::size_t last = first; last < history.changes(); last += 13 * stride + first / 3) {
        std::size_t best = first;
        for (std::size_t i = first; i <= last; ++i)
          if (history.total(i) > history.total(best)) best = i;
        REQUIRE(history.highest(first, last) == best);
      }
    CHECK(history.peak() == history.total(history.highest(0, history.changes())));
  }
}

}  // namespace

TEST_CASE("sums by holder and lives of blocks are those of the replay") {
  compare(read(tiny_snapshot()), 1);
  compare(read(growing_snapshot(90)), 1);
  const std::filesystem::path folder = shared_folder() / "snapshots";
  for (const char* name : {"plain", "leak", "oom"}) {
    const std::string path = (folder / (std::string(name) + ".pickle")).string();
    if (!std::filesystem::exists(path)) continue;
    const Result<Snapshot> snapshot = load_snapshot(path);
    REQUIRE(snapshot.ok());
    compare(*snapshot, 17);
  }
}

TEST_CASE("columns stack the holders without a hole, and no block twice") {
  const Snapshot s = read(growing_snapshot(200));
  const auto history = BlockHistory::make(s, s.devices[0]);
  const MemoryAxis axis(s.devices[0], false);
  for (const std::int64_t pixel : {std::int64_t{1}, std::int64_t{300}, std::int64_t{100'000}})
    for (const Span span : {axis.reach(), Span{100'000, 140'000}}) {
      const MemoryAreas areas = memory_areas(*history, axis, TimeView{span, 0, 0}, 97, pixel);
      REQUIRE(areas.moments.size() == 97);
      for (std::uint32_t c = 0; c < 97; ++c) {
        std::vector<std::pair<std::int64_t, std::int64_t>> parts;
        for (const AreaRun& run : areas.runs)
          if (run.first <= c && c < run.last) parts.emplace_back(run.low, run.high);
        std::ranges::sort(parts);
        std::int64_t top = 0;
        for (const auto& [low, high] : parts) {
          REQUIRE(low == top);
          top = high;
        }
        REQUIRE(top == history->total(areas.moments[c]));
      }
    }
}

TEST_CASE("the axis leads from events to positions and back, by time too") {
  const Snapshot s = read(growing_snapshot(50));
  for (const bool by_time : {false, true}) {
    const MemoryAxis axis(s.devices[0], by_time);
    for (std::uint32_t event = 0; event < s.devices[0].events.size(); ++event)
      REQUIRE(axis.event_at(axis.position_of(event)) == event);
    CHECK(axis.event_at(axis.reach().end + 1) == s.devices[0].events.size());
  }
}

TEST_CASE("the flame graph and the map have all that is held, and the holes between") {
  const Snapshot s = read(growing_snapshot(40));
  const SnapshotState state = state_at(s, s.devices[0]);
  const HolderTree tree = holder_tree(s, holders_of(s, state.held).stacks);
  CHECK(tree.nodes[0].bytes == 40 * 1024);
  REQUIRE(tree.nodes[0].children == 1);  // a.py:7 alone is held
  CHECK(node_words(s, tree.nodes[1]) == "a.py:7 (step)");
  const std::vector<HolderBox> boxes = holder_boxes(tree, 0, 300);
  REQUIRE(boxes.size() == 2);
  CHECK(boxes[1].x1 == doctest::Approx(300));
  const SegmentMap map = segment_map(state, 1000);
  REQUIRE(map.pools.size() == 1);
  std::uint64_t at = 1 << 20, holes = 0;
  for (const MapBox& box : map.boxes) {
    CHECK(box.begin == at);
    at = box.end;
    if (box.held == MapBox::kHole) holes += box.end - box.begin;
  }
  CHECK(at == 1 << 21);
  CHECK(holes == (1 << 20) - 40 * 1024);
}
