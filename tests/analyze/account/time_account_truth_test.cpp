// The time account of every recording at hand: equal to that of a naive program where there is one, and always a partition.
#include <fstream>
#include <memory>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/analyze/account/time_account.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;
using nlohmann::json;

namespace {

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

struct Accounted {
  explicit Accounted(const std::filesystem::path& path) {
    trace = load_once(path);
    lanes = std::make_unique<const LaneIndex>(*trace);
    links = std::make_unique<const LinkIndex>(*trace, *lanes);
    account = std::make_unique<const TimeAccount>(*trace, *links, gpu_ops(*trace, *links));
  }
  std::shared_ptr<const Trace> trace;
  std::unique_ptr<const LaneIndex> lanes;
  std::unique_ptr<const LinkIndex> links;
  std::unique_ptr<const TimeAccount> account;
};

}  // namespace

TEST_CASE("the account of each recording is that of the truth file to the nanosecond") {
  std::ifstream file(recordings_folder() / "truth_account.json");
  const json truth = json::parse(file);
  CHECK(truth.size() == 49);
  for (const auto& item : truth.items()) {
    const std::string& name = item.key();
    const json& expected = item.value();
    CAPTURE(std::string(name));
    const auto path = recording_or_none(name);
    if (path.empty()) {
      REQUIRE(!has_shared("the truth about time accounts of others' recordings"));
      continue;
    }
    const Accounted mine(path);
    json found = json::object();
    for (const DeviceAccount& d : mine.account->devices()) found[std::to_string(d.device)] = account_json(*mine.trace, d);
    CHECK(found == expected);
    if (found != expected) MESSAGE(json::diff(expected, found).dump().substr(0, 1500));
  }
}

TEST_CASE("the parts of each recording add up to its window, as do those of its steps and of each gap") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Accounted mine(path);
    for (const DeviceAccount& d : mine.account->devices()) {
      const auto sum = [](const AccountTimes& t) {
        return t.compute + t.exposed_communication + t.exposed_copies + t.idle_total();
      };
      CHECK(sum(d.times) == d.window.length());
      CHECK(d.times.window == d.window.length());
      AccountTimes of_steps;
      for (const TimeAccount::StepWindow& step : mine.account->steps()) {
        const AccountTimes times = mine.account->times_in(d, step.span);
        CHECK(sum(times) == step.span.length());
        of_steps += times;
      }
      if (!mine.account->steps().empty()) CHECK(of_steps == d.times);
      Ns idle = 0, last = d.window.begin;
      for (std::size_t i = 0; i < d.gaps.size(); ++i) {
        Ns causes = 0;
        for (const auto& [cause, time] : d.causes(i)) causes += time;
        idle += causes;
        if (causes != d.gaps[i].span.length() || d.gaps[i].span.begin < last) FAIL("gap ", i);
        last = d.gaps[i].span.end;
      }
      CHECK(idle == d.times.idle_total());
    }
  }
}
