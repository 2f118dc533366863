// The time account of every recording at hand: equal to that of a naive program where there is one, and always a partition.
#include <fstream>
#include <map>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/analyze/time_account.h"
#include "core/load/load_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;
using nlohmann::json;

namespace {

std::filesystem::path recording(const std::string& name) {
  for (const char* folder : {"traces", "traces/public", "traces/ranks"})
    if (const auto path = shared_folder() / folder / name; std::filesystem::exists(path)) return path;
  return {};
}

json causes_json(const CauseTimes& times) {
  json out = json::object();
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    if (times[c] != 0) out[std::string(idle_cause_key(static_cast<IdleCause>(c)))] = times[c];
  return out;
}

json account_json(const Trace& trace, const DeviceAccount& d) {
  json longest = json::array();
  for (const std::size_t i : d.longest_gaps(8)) {
    const DeviceGap& gap = d.gaps[i];
    CauseTimes causes{};
    for (const auto& [cause, time] : d.causes(i)) causes[index_of(cause)] = time;
    longest.push_back({{"begin_ns", gap.span.begin},
                       {"end_ns", gap.span.end},
                       {"ended_by", gap.ended_by ? json(trace.name(gap.ended_by)) : json(nullptr)},
                       {"causes", causes_json(causes)}});
  }
  return {{"window", {d.window.begin, d.window.end}},
          {"compute", d.times.compute},
          {"exposed_communication", d.times.exposed_communication},
          {"exposed_copies", d.times.exposed_copies},
          {"idle", causes_json(d.times.idle)},
          {"gaps", d.gaps.size()},
          {"longest", longest}};
}

}  // namespace

TEST_CASE("the account of each recording is that of the truth file to the nanosecond") {
  if (!has_shared("the truth about time accounts")) return;
  std::ifstream file(shared_folder() / "truth_account.json");
  const json truth = json::parse(file);
  CHECK(truth.size() == 49);
  for (const auto& [name, expected] : truth.items()) {
    CAPTURE(std::string(name));
    const auto path = recording(name);
    REQUIRE(!path.empty());
    const auto loaded = load_trace(path.string());
    REQUIRE(loaded.ok());
    const Trace& trace = **loaded;
    const LaneIndex lanes(trace);
    const LinkIndex links(trace, lanes);
    const TimeAccount account(trace, links, gpu_ops(trace, links));
    json mine = json::object();
    for (const DeviceAccount& d : account.devices()) mine[std::to_string(d.device)] = account_json(trace, d);
    CHECK(mine == expected);
    if (mine != expected) MESSAGE(json::diff(expected, mine).dump().substr(0, 1500));
  }
}
