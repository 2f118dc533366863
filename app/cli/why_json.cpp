#include <nlohmann/json.hpp>

#include "app/cli/in_and_out.h"
#include "app/cli/why_report.h"
#include "core/analyze/account/host_work.h"
#include "core/analyze/counters/counter_words.h"
#include "core/analyze/cpu_samples.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kHostShown = 8;

Json causes_json(const CauseTimes& times) {
  Json out = Json::object();
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    if (times[c] > 0) out[std::string(idle_cause_key(static_cast<IdleCause>(c)))] = times[c];
  return out;
}

Json host_json(const Trace& trace, const HostWork& work) {
  Json out = {{"cause", idle_cause_key(work.cause)}, {"ns", work.time}};
  const auto add = [&](const char* key, SliceId slice) {
    if (slice) out[key] = trace.name(slice);
  };
  add("name", work.slice);
  add("operator", work.cause == IdleCause::op ? work.slice : work.op);
  add("python", work.python);
  return out;
}

Json gap_json(const WhyReport& r, const CutGap& cut) {
  CauseTimes causes{};
  Json host = Json::array();
  for (const HostWork& work : host_work(r.trace, r.lanes, r.account, *cut.gap, cut.span)) {
    causes[index_of(work.cause)] += work.time;
    if (host.size() < kHostShown) host.push_back(host_json(r.trace, work));
  }
  Json out = {{"begin_ns", cut.span.begin},
              {"end_ns", cut.span.end},
              {"ended_by", cut.gap->ended_by ? Json(r.trace.name(cut.gap->ended_by)) : Json(nullptr)},
              {"causes", causes_json(causes)},
              {"host", std::move(host)}};
  if (const auto sampled = most_sampled(r.trace, cut.gap->launch, cut.span))
    out["sampled"] = {{"function", sampled->name}, {"ns", sampled->time}, {"of_ns", sampled->sampled}};
  return out;
}

void add_times(Json& out, const AccountTimes& t, Span window) {
  out["window"] = {window.begin, window.end};
  out["compute"] = t.compute;
  out["exposed_communication"] = t.exposed_communication;
  out["exposed_copies"] = t.exposed_copies;
  out["idle"] = causes_json(t.idle);
}

Json steps_json(const WhyReport& r, const DeviceAccount& device) {
  Json steps = Json::array();
  for (const TimeAccount::StepWindow& step : r.account.steps()) {
    const Span part = intersect(step.span, r.range);
    if (part.empty()) continue;
    Json out = {{"step", r.trace.name(step.step)}};
    add_times(out, r.account.times_in(device, part), part);
    const auto [first, last] = device.gaps_in(part);
    out["gaps"] = last - first;
    steps.push_back(std::move(out));
  }
  return steps;
}

// Means over the time in which the GPU worked; null without counters.
Json use_json(const WhyReport& r, std::int32_t device) {
  const DeviceCounters* counters = r.counters.device(device);
  const CounterMeans means = counters ? r.counters.while_busy(*counters, r.range) : CounterMeans();
  if (!means.measured()) return nullptr;
  Json out = {{"samples", means.samples}};
  for (const CounterWord& word : counter_words())
    if (means.knows(word.kind)) out[word.key] = means[word.kind];
  return out;
}

Json device_json(const WhyReport& r, const DeviceAccount& device, bool with_gaps) {
  Json out = {{"device", device.device}};
  add_times(out, r.account.times_in(device, r.range), r.range);
  const auto [first, last] = device.gaps_in(r.range);
  out["gaps"] = last - first;
  out["longest"] = with_gaps ? Json::array() : Json(nullptr);
  for (const CutGap& cut : longest_in(device, r.range, with_gaps ? kGapsShown : 0)) out["longest"].push_back(gap_json(r, cut));
  if (!r.counters.empty()) out["while_it_works"] = use_json(r, device.device);
  if (r.by_step) out["steps"] = steps_json(r, device);
  return out;
}

}  // namespace

std::string why_json(const WhyReport& r) {
  Json json = {{"devices", Json::array()}};
  for (const DeviceAccount* device : r.devices)
    json["devices"].push_back(device_json(r, *device, json["devices"].size() < kDevicesWithGaps));
  if (const std::string trust = trust_text(r.trust); !trust.empty()) json["trust"] = trust;
  return json_text(json);
}

}  // namespace gapscope
