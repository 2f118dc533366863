#pragma once
// Pickles as Python writes them, for tests: each value as its opcodes, without a memo.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gapscope::test {

inline std::string pickled(std::string_view text) {
  return "\x8c" + std::string(1, static_cast<char>(text.size())) + std::string(text);
}
inline std::string pickled(std::int64_t number) {
  std::string out = "\x8a\x08";
  for (unsigned i = 0; i < 8; ++i) out += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
  return out;
}
inline std::string pickled_list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}
inline std::string pickled_dict(const std::vector<std::pair<std::string_view, std::string>>& pairs) {
  std::string out = "}(";
  for (const auto& [key, value] : pairs) out += pickled(key) + value;
  return out + "u";
}
inline std::string whole_pickle(const std::string& value) { return "\x80\x04" + value + "."; }

// One GPU: a segment with a block that is held and a hole; its history allocates two blocks, frees one and runs out of memory.
inline std::string tiny_snapshot() {
  const std::string frames =
      pickled_list({pickled_dict({{"name", pickled("step")}, {"filename", pickled("a.py")}, {"line", pickled(7)}})});
  const auto event = [&](std::string_view action, std::int64_t address, std::int64_t size) {
    return pickled_dict({{"action", pickled(action)},
                         {action == "oom" ? "device_free" : "addr", pickled(address)},
                         {"size", pickled(size)},
                         {"stream", pickled(0)},
                         {"time_us", pickled(1'700'000'000'000'000 + address)},
                         {"frames", frames}});
  };
  const auto block = [&](std::int64_t address, std::int64_t size, std::string_view state) {
    return pickled_dict({{"address", pickled(address)},
                         {"size", pickled(size)},
                         {"requested_size", pickled(size)},
                         {"state", pickled(state)},
                         {"frames", state == "inactive" ? std::string("]") : frames}});
  };
  const std::string segment =
      pickled_dict({{"device", "K" + std::string(1, '\0')},
                    {"address", pickled(4096)},
                    {"total_size", pickled(8192)},
                    {"allocated_size", pickled(1024)},
                    {"active_size", pickled(1024)},
                    {"requested_size", pickled(1024)},
                    {"stream", pickled(0)},
                    {"segment_type", pickled("small")},
                    {"is_expandable", "\x89"},
                    {"blocks", pickled_list({block(4096, 1024, "active_allocated"), block(5120, 7168, "inactive")})}});
  const std::string trace =
      pickled_list({event("segment_alloc", 4096, 8192), event("alloc", 4096, 1024), event("alloc", 5120, 2048),
                    event("free_requested", 5120, 2048), event("free_completed", 5120, 2048), event("oom", 100, 1 << 20)});
  return whole_pickle(pickled_dict({{"segments", pickled_list({segment})},
                                    {"device_traces", pickled_list({trace})},
                                    {"allocator_settings", pickled_dict({{"expandable_segments", "\x88"}})}}));
}

}  // namespace gapscope::test
