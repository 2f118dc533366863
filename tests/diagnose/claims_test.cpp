// Whose time it is: on every recording findings share out the account, and say so in sentences that read well.
#include <regex>

#include <doctest/doctest.h>

#include "core/analyze/account/time_account.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/trust.h"
#include "core/diagnose/verdict.h"
#include "core/load/load_trace.h"
#include "tests/support/diagnosed.h"
#include "tests/support/diagnosis_truths.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

template <class Check>
void on_each_recording(Check check) {
  for (const auto& path : real_traces()) {
    CAPTURE(path.filename().string());
    const Diagnosed& d = diagnosed_once(path);
    check(d);
  }
}

const char* const kTwoWaits = R"([
  {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":10000},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":1}},
  {"ph":"X","cat":"kernel","name":"volta_sgemm_64x64_nt","pid":0,"tid":7,"ts":20,"dur":100,"args":{"device":0,"stream":7,"correlation":1}},
  {"ph":"X","cat":"cpu_op","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__","pid":1,"tid":1,"ts":200,"dur":7000},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":9000,"dur":5,"args":{"correlation":2}},
  {"ph":"X","cat":"kernel","name":"volta_sgemm_64x64_nt","pid":0,"tid":7,"ts":9010,"dur":990,"args":{"device":0,"stream":7,"correlation":2}}])";

}  // namespace

TEST_CASE("a data loader owns the time that it takes, and an idle GPU is part of that finding") {
  const auto trace = load_trace_from_text(kTwoWaits, "text");
  REQUIRE(trace.ok());
  const Diagnosed d(*trace);
  const auto of = [&](std::string_view rule) -> const RankedFinding& {
    const auto at = std::find_if(d.diagnosis.findings.begin(), d.diagnosis.findings.end(),
                                 [&](const RankedFinding& f) { return f.finding.rule->id == rule; });
    REQUIRE(at != d.diagnosis.findings.end());
    return *at;
  };
  const RankedFinding& loader = of("dataloader_wait");
  CHECK(loader.finding.cost == 7'000'000);
  CHECK(loader.finding.severity == Severity::costly);
  CHECK(loader.led_by < 0);
  const RankedFinding& idle = of("low_gpu_utilization");
  CHECK(idle.merged);
  CHECK(idle.finding.cost == 0);
  CHECK(idle.overlap == 7'000'000);
  REQUIRE(idle.led_by >= 0);
  CHECK(&d.diagnosis.findings[static_cast<std::size_t>(idle.led_by)] == &loader);
}

TEST_CASE("findings share out the time account, lie in the trace, and a plan adds up") {
  on_each_recording([](const Diagnosed& d) {
    const DeviceAccount* device = d.analysis->account().busiest();
    CHECK(cost_complaint(device, d.diagnosis) == "");
    CHECK(place_complaint(d.facts.trace, d.facts.window, d.diagnosis) == "");
    CHECK(plan_complaint(d.diagnosis) == "");
    if (device == nullptr) return;
    const auto busy = static_cast<double>(device->window.length() - device->times.idle_total());
    if (busy < 0.95 * static_cast<double>(device->window.length())) return;
    for (const Finding* wait : d.findings("long_sync_wait")) CHECK(wait->severity != Severity::costly);
  });
}

TEST_CASE("the most costly finding is about what the verdict names") {
  on_each_recording([](const Diagnosed& d) {
    const TimeAccount& account = d.analysis->account();
    const Bound bound = verdict_of(d.facts.trace, account, trust_of(d.facts.trace, d.facts.ops, account)).bound;
    if (d.diagnosis.findings.empty()) return;
    const RankedFinding& first = d.diagnosis.findings.front();
    const Claim claim = first.finding.rule->claim.value_or(Claim{});
    CAPTURE(std::string(bound_name(bound)));
    CAPTURE(std::string(first.finding.rule->id));
    const auto claims = [&](CauseSet causes) { return claim.time == ClaimedTime::idle && (claim.causes & causes) != 0; };
    if (bound == Bound::host) CHECK((claims(kHostCauses) && first.finding.severity == Severity::costly));
    if (bound == Bound::communication) CHECK(claim.time == ClaimedTime::communication);
    if (bound == Bound::transfer) CHECK((claim.time == ClaimedTime::copies || claim.time == ClaimedTime::work));
    if (bound == Bound::input) CHECK(claims(cause_set({IdleCause::data_loading})));
    if (bound == Bound::compiling) CHECK(claims(cause_set({IdleCause::compiling})));
    if (bound == Bound::start_up) CHECK(claim.time == ClaimedTime::idle);
    if (bound == Bound::compute && first.finding.cost > 0) CHECK(claim.time != ClaimedTime::idle);
  });
}

TEST_CASE("where findings report idle time by what held it up, the times are those of the account") {
  std::size_t told = 0;
  on_each_recording([&](const Diagnosed& d) {
    const AccountTimes* times = account_times(d.facts);
    for (const char* rule : {"overhead_bound", "host_gaps", "low_gpu_utilization"})
      for (const Finding* f : d.findings(rule)) {
        if (times == nullptr) continue;
        CAPTURE(f->summary);
        for (std::size_t c = 0; c < kIdleCauses; ++c) {
          const auto cause = static_cast<IdleCause>(c);
          const std::size_t at = f->summary.find(" " + std::string(idle_cause_words(cause, program_kind(d.facts.trace))));
          if (at == std::string::npos) continue;
          const std::string time = format_duration(times->of(cause));
          CHECK(f->summary.substr(0, at).ends_with(time));
          ++told;
        }
      }
  });
  CHECK(told > 60);
}

TEST_CASE("at most five notes stand under a diagnosis unasked, and none of them teaches") {
  on_each_recording([](const Diagnosed& d) {
    std::size_t notes = 0;
    for (const RankedFinding& f : d.diagnosis.findings) {
      CAPTURE(std::string(f.finding.rule->id));
      if (f.finding.severity != Severity::informational) {
        CHECK(f.brief);
        continue;
      }
      notes += f.brief ? 1 : 0;
      if (is_teaching(f.finding.rule->rule_class)) CHECK_FALSE(f.brief);
    }
    CHECK(notes <= kBriefNotes);
  });
}

TEST_CASE("sentences count as people do, in one system of units, and hold what the account says") {
  const std::regex one_of_many(
      R"((^|[^0-9.,])1 (kernels|calls|copies|times|pieces|operators|launches|steps|blocks|chains|waits|products|graphs|runs|buffers)\b)");
  const std::regex old_units(R"([0-9] (us|KB)\b)");
  on_each_recording([&](const Diagnosed& d) {
    for (const RankedFinding& f : d.diagnosis.findings) {
      const std::string& text = f.finding.summary;
      CAPTURE(text);
      CHECK_FALSE(std::regex_search(text, one_of_many));
      CHECK_FALSE(std::regex_search(text, old_units));
      CHECK(text.find("100.0 %") == std::string::npos);
      CHECK(text.ends_with('.'));
    }
    const AccountTimes* times = account_times(d.facts);
    if (times == nullptr) return;
    for (const Finding* bound : d.findings("overhead_bound")) {
      CAPTURE(bound->summary);
      CHECK(bound->summary.find("For " + format_duration(times->host()) + " it waited for the host") != std::string::npos);
    }
  });
}

TEST_CASE("findings say what the account and the trust line say: communication, short kernels, launches that blocked") {
  std::size_t communicating = 0;
  on_each_recording([&](const Diagnosed& d) {
    const AccountTimes* times = account_times(d.facts);
    CHECK(d.fires("exposed_communication") ==
          (times != nullptr && times->window > 0 && times->exposed_communication * 10 >= times->window));
    for (const Finding* f : d.findings("exposed_communication")) {
      ++communicating;
      CAPTURE(f->summary);
      CHECK(f->cost == times->exposed_communication);
      CHECK(f->severity == Severity::costly);
      CHECK(f->summary.find("communicated for " + format_duration(times->exposed_communication) + ", ") != std::string::npos);
    }
    for (const RankedFinding& f : d.diagnosis.findings) {
      if (f.finding.rule->id != "many_small_kernels" || f.led_by >= 0) continue;
      CAPTURE(f.finding.summary);
      CHECK(f.finding.cost <= times->host() + times->of(IdleCause::starting));
      CHECK(f.finding.summary.find("the GPU was idle for " + format_duration(f.finding.cost) + " until") != std::string::npos);
    }
    CHECK(d.fires("launch_blocking") == trust_of(d.facts.trace, d.facts.ops, d.analysis->account()).launch_blocked);
  });
  CHECK(communicating == 5);  // ddp_rank1, ddp_delayed_rank0, fsdp_rank0, both of tp
}

TEST_CASE("a pause with the profiler's buffers in it is theirs only as long as they took") {
  const Diagnosed& d = diagnosed_once(recording("pp_rank0"));
  REQUIRE(d.fires("gpu_gap_in_step"));
  const DeviceAccount& device = *d.analysis->account().busiest();
  const std::size_t longest = device.longest_gaps(1).front();
  Ns profiler = 0;
  device.each_cause(longest, [&](IdleCause cause, Ns time) { profiler += cause == IdleCause::profiler ? time : 0; });
  const std::string& text = d.findings("gpu_gap_in_step").front()->summary;
  CAPTURE(text);
  CHECK(text.find(format_duration(device.gaps[longest].span.length())) != std::string::npos);
  CHECK(profiler < device.gaps[longest].span.length());
}

TEST_CASE("counts and shares as people write them") {
  CHECK(counted(1, "kernel") == "1 kernel");
  CHECK(counted(1'110, "kernel") == "1,110 kernels");
  CHECK(counted(2, "copy") == "2 copies");
  CHECK(counted(2, "launch") == "2 launches");
  CHECK(counted_of(24, 1'110, "kernel") == "24 of 1,110 kernels, 2.2 %");
  CHECK(counted_of(3, 3, "kernel") == "all 3 kernels");
  CHECK(counted_of(2, 2, "copy") == "both copies");
  CHECK(counted_of(2, 8, "call of aten::mm") == "2 of 8 calls of aten::mm, 25 %");
  CHECK(sentence_start(counted_of(3, 3, "kernel")) == "All 3 kernels");
  CHECK(sentence_start(counted_of(2, 8, "call")) == "2 of 8 calls, 25 %,");
  CHECK(often(1) == "once");
  CHECK(often(2) == "twice");
  CHECK(often(30) == "30 times");
  CHECK(counted_of(1, 1, "kernel") == "the only kernel");
  CHECK(format_share(1) == "100 %");
  CHECK(format_share(0.99999) == "99.9 %");
  CHECK(format_share(0.031) == "3.1 %");
  CHECK(format_share(0.03) == "3 %");
  CHECK(format_share(0.424) == "42 %");
  CHECK(format_share(0.000082) == "0.0082 %");
  CHECK(format_share(0) == "0.0 %");
  CHECK(format_share(7.782) == "778 %");
  CHECK(format_share(932.97) == "93,297 %");
  CHECK(format_share(1e300) != "");
}
