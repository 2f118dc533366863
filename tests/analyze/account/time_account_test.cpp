// The time account against a second way: every nanosecond of small random traces is looked at by itself.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/account/time_account.h"
#include "core/analyze/gpu/gpu_activity.h"
#include "core/load/load_trace.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Event {
  std::string cat, name;
  int pid = 0, tid = 0;
  Ns begin = 0, end = 0;
  int correlation = 0;  // none: 0
  int device = -1;

  bool covers(Ns t) const { return begin <= t && t < end; }
  bool is_call() const { return cat == "cuda_runtime" || cat == "cuda_driver"; }
  bool is_gpu() const { return device >= 0; }
  bool is_cpu() const { return is_call() || cat == "cpu_op" || cat == "user_annotation" || cat == "python_function"; }
};
using Events = std::vector<Event>;

std::string text_of(const Events& list) {
  const auto us = [](Ns ns) { return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000); };
  std::string inside;
  for (const Event& e : list) {
    std::string args;
    if (e.correlation != 0) args += fmt::format("\"correlation\": {}", e.correlation);
    if (e.is_gpu()) args += fmt::format("{}\"device\": {}, \"stream\": {}", args.empty() ? "" : ", ", e.device, e.tid);
    inside += fmt::format(
        "{}{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, \"dur\": {}, \"args\": "
        "{{{}}}}}",
        inside.empty() ? "" : ",\n", e.cat, e.name, e.pid, e.tid, us(e.begin), us(e.end - e.begin), args);
  }
  return events(inside);
}

// --- The second way.

struct NaiveGap {
  Span span;
  std::string ended_by;
  std::map<std::string, Ns> causes;
  friend bool operator==(const NaiveGap&, const NaiveGap&) = default;
};
struct NaiveAccount {
  Span window;
  Ns compute = 0, communication = 0, copies = 0;
  std::map<std::string, Ns> idle;
  std::vector<NaiveGap> gaps;
};

bool holds(const std::string& name, std::string_view part) { return name.find(part) != std::string::npos; }

const Event* launch_of(const Events& list, const Event& work) {
  for (const Event& e : list)
    if (e.is_call() && e.correlation != 0 && e.correlation == work.correlation) return &e;
  return nullptr;
}

std::optional<Span> naive_window(const Events& list) {
  std::optional<Span> window;
  const auto add = [&](const Event& e) { window = window ? hull(*window, {e.begin, e.end}) : Span{e.begin, e.end}; };
  for (const Event& e : list)
    if (e.name.starts_with("ProfilerStep#")) add(e);
  if (!window) {
    const Event* last = nullptr;
    for (const Event& e : list)
      if (e.is_cpu() && (!last || e.end > last->end)) last = &e;
    if (!last) return std::nullopt;
    const bool closes = last->is_call() && last->name.ends_with("DeviceSynchronize");
    Ns begin = last->begin;
    std::optional<Ns> end;
    for (const Event& e : list) {
      if (!e.is_cpu()) continue;
      begin = std::min(begin, e.begin);
      if (!closes || &e != last) end = std::max(end.value_or(e.end), e.end);
    }
    window = Span{begin, end.value_or(begin)};
  }
  for (const Event& e : list)
    if (e.is_gpu() && launch_of(list, e)) window->end = std::max(window->end, e.end);
  return window;
}

std::string class_on_thread(const Events& list, std::pair<int, int> thread, Ns t) {
  const Event* innermost = nullptr;
  bool compiles = false, loads = false;
  for (const Event& e : list) {
    if (!e.is_cpu() || std::pair(e.pid, e.tid) != thread || !e.covers(t)) continue;
    compiles |= holds(e.name, "(dynamo_timed)") || holds(e.name, "compile_fx");
    loads |= e.name.starts_with("enumerate(DataLoader)");
    if (!innermost || std::tuple(e.begin, -e.end) >= std::tuple(innermost->begin, -innermost->end)) innermost = &e;
  }
  if (!innermost) return "";
  if (compiles) return "compiling";
  if (loads) return "data_loading";
  if (innermost->is_call()) {
    if (innermost->name.ends_with("Synchronize") || innermost->name == "cudaMemcpy") return "synchronizing";
    return innermost->name == "cudaMalloc" ? "allocating" : "cuda_call";
  }
  return innermost->cat == "cpu_op" && !innermost->name.starts_with("ProfilerStep#") ? "operator" : "python";
}

std::string host_class(const Events& list, std::optional<std::pair<int, int>> thread, Ns t) {
  for (const bool loading : {true, false})
    for (const Event& e : list)
      if (e.cat == "overhead" && e.covers(t) && holds(e.name, "Loading") == loading) return loading ? "loading" : "profiler";
  std::map<std::pair<int, int>, int> counts;
  for (const Event& e : list)
    if (e.is_cpu()) ++counts[{e.pid, e.tid}];
  std::vector<std::pair<int, int>> threads;
  for (const auto& [key, count] : counts) threads.push_back(key);
  const auto text = [](std::pair<int, int> key) { return std::pair(std::to_string(key.first), std::to_string(key.second)); };
  std::sort(threads.begin(), threads.end(),
            [&](auto a, auto b) { return counts[a] != counts[b] ? counts[a] > counts[b] : text(a) < text(b); });
  if (thread) threads.insert(threads.begin(), *thread);
  for (const auto& key : threads)
    if (const std::string found = class_on_thread(list, key, t); !found.empty()) return found;
  return "unrecorded";
}

NaiveAccount naive_account(const Events& list, int device, Span window) {
  NaiveAccount out;
  out.window = window;
  const auto runs = [&](Ns t, auto is) {
    return std::any_of(list.begin(), list.end(), [&](const Event& e) { return e.device == device && e.covers(t) && is(e); });
  };
  const auto is_nccl = [](const Event& e) { return e.cat == "kernel" && holds(e.name, "nccl"); };
  const auto is_compute = [&](const Event& e) { return e.cat == "kernel" && !is_nccl(e); };
  for (Ns t = window.begin; t < window.end;) {
    if (runs(t, [](const Event&) { return true; })) {
      ++(runs(t, is_compute) ? out.compute : runs(t, is_nccl) ? out.communication : out.copies);
      ++t;
      continue;
    }
    NaiveGap gap{{t, t}, "", {}};
    while (gap.span.end < window.end && !runs(gap.span.end, [](const Event&) { return true; })) ++gap.span.end;
    const Event* by = nullptr;
    for (const Event& e : list) {
      if (e.device != device || e.begin != gap.span.end || gap.span.end == window.end) continue;
      const auto order = [&](const Event& work) {
        return std::pair(launch_of(list, work) == nullptr, launch_of(list, work) ? launch_of(list, work)->begin : 0);
      };
      if (!by || order(e) < order(*by)) by = &e;
    }
    const Event* launch = by ? launch_of(list, *by) : nullptr;
    if (by) gap.ended_by = by->name;
    for (; t < gap.span.end; ++t) {
      const std::string cause =
          by && !launch ? "unlinked"
          : launch && t >= launch->begin
              ? (t < launch->end ? "launching" : "starting")
              : host_class(list, launch ? std::optional(std::pair(launch->pid, launch->tid)) : std::nullopt, t);
      ++gap.causes[cause];
      ++out.idle[cause];
    }
    out.gaps.push_back(gap);
  }
  return out;
}

// --- What it is compared with.

std::map<std::string, Ns> named(const CauseTimes& times) {
  std::map<std::string, Ns> out;
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    if (times[c] != 0) out[std::string(idle_cause_key(static_cast<IdleCause>(c)))] = times[c];
  return out;
}

struct Accounted {
  explicit Accounted(const Events& list)
      : trace(load_text(text_of(list))), lanes(*trace), links(*trace, lanes), account(*trace, links, gpu_ops(*trace, links)) {}
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  TimeAccount account;
};

std::set<int> linked_devices(const Events& list) {
  std::set<int> out;
  for (const Event& e : list)
    if (e.is_gpu() && launch_of(list, e)) out.insert(e.device);
  return out;
}

Ns sum(const AccountTimes& t) { return t.compute + t.exposed_communication + t.exposed_copies + t.idle_total(); }

void check_same(const Events& list, std::mt19937& random) {
  CAPTURE(text_of(list));
  const Accounted mine(list);
  const std::set<int> devices = linked_devices(list);
  REQUIRE(mine.account.devices().size() == devices.size());
  for (const DeviceAccount& d : mine.account.devices()) {
    REQUIRE(devices.contains(d.device));
    const NaiveAccount naive = naive_account(list, d.device, naive_window(list).value());
    REQUIRE(d.window == naive.window);
    CHECK(analysis_window(*mine.trace, gpu_ops(*mine.trace, mine.links)) == d.window);
    CHECK(d.times.compute == naive.compute);
    CHECK(d.times.exposed_communication == naive.communication);
    CHECK(d.times.exposed_copies == naive.copies);
    CHECK(named(d.times.idle) == naive.idle);
    CHECK(sum(d.times) == d.window.length());
    REQUIRE(d.gaps.size() == naive.gaps.size());
    for (std::size_t i = 0; i < d.gaps.size(); ++i) {
      CauseTimes causes{};
      for (const auto& [cause, time] : d.causes(i)) causes[index_of(cause)] = time;
      const std::string ended_by(d.gaps[i].ended_by ? mine.trace->name(d.gaps[i].ended_by) : "");
      CHECK(NaiveGap{d.gaps[i].span, ended_by, named(causes)} == naive.gaps[i]);
      Ns at = d.gaps[i].span.begin;
      for (const HostPiece& piece : mine.account.pieces(d.gaps[i])) {
        CHECK(piece.span.begin == at);
        CHECK(!piece.span.empty());
        at = piece.span.end;
      }
      CHECK(at == d.gaps[i].span.end);
    }
    mine.account.each_gap(d, [&](std::size_t gap, std::span<const HostPiece> pieces) {
      const std::vector<HostPiece> alone = mine.account.pieces(d.gaps[gap]);
      CHECK(std::equal(pieces.begin(), pieces.end(), alone.begin(), alone.end(), [](const HostPiece& a, const HostPiece& b) {
        return a.span == b.span && a.cause == b.cause && a.slice == b.slice;
      }));
    });
    for (int round = 0; round < 4; ++round) {
      std::uniform_int_distribution<Ns> anywhere(naive.window.begin - 5, naive.window.end + 5);
      Span range{anywhere(random), anywhere(random)};
      if (range.end < range.begin) std::swap(range.begin, range.end);
      const AccountTimes part = mine.account.times_in(d, range);
      CHECK(part.window == intersect(range, d.window).length());
      CHECK(sum(part) == part.window);
      AccountTimes parts = mine.account.times_in(d, {range.begin, (range.begin + range.end) / 2});
      parts += mine.account.times_in(d, {(range.begin + range.end) / 2, range.end});
      CHECK(parts == part);
    }
    AccountTimes of_steps;
    for (const TimeAccount::StepWindow& step : mine.account.steps()) of_steps += mine.account.times_in(d, step.span);
    CHECK(of_steps == (mine.account.steps().empty() ? AccountTimes{} : d.times));
  }
}

Events random_events(std::mt19937& random) {
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n + 1)); };
  const Ns origin = upto(2) == 0 ? -30 : 1000;
  const bool steps = upto(2) == 0;
  const auto place = [&](Event& e, int longest) {
    e.begin = origin + upto(70);
    e.end = e.begin + (upto(5) == 0 ? 0 : upto(longest));
  };
  const std::vector<std::pair<std::string, std::string>> kinds = {{"cpu_op", "aten::mm"},
                                                                  {"cpu_op", "aten::add"},
                                                                  {"user_annotation", "mark"},
                                                                  {"python_function", "a.py(1): f"},
                                                                  {"cpu_op", "aten::relu"},
                                                                  {"cuda_runtime", "cudaMalloc"},
                                                                  {"cuda_runtime", "cudaMemcpy"},
                                                                  {"cuda_runtime", "cudaStreamSynchronize"},
                                                                  {"cuda_driver", "cuX"},
                                                                  {"cuda_runtime", "cudaEventNew"},
                                                                  {"user_annotation", "enumerate(DataLoader)#A.__next__"},
                                                                  {"user_annotation", "backend_compile (dynamo_timed)"},
                                                                  {"python_function", "torch/_inductor/compile_fx.py(7): g"}};
  Events list;
  for (int i = upto(12); i >= 0; --i) {
    Event e;
    std::tie(e.cat, e.name) = kinds[static_cast<std::size_t>(upto(static_cast<int>(kinds.size()) - 1))];
    e.pid = upto(4) == 0 ? 11 : 9;
    e.tid = 1 + upto(1);
    place(e, 40);
    list.push_back(e);
  }
  for (int i = 0; steps && i < 3; ++i) {
    Event e{upto(1) == 0 ? "cpu_op" : "user_annotation", fmt::format("ProfilerStep#{}", i), 9, 1};
    place(e, 30);
    list.push_back(e);
  }
  for (int i = upto(6); i > 0; --i) {
    Event e{upto(1) == 0 ? "cuda_runtime" : "cuda_driver", "cudaLaunchKernel", 9, 1 + upto(1)};
    e.correlation = 1 + upto(4);
    place(e, 8);
    list.push_back(e);
  }
  for (int i = upto(7); i > 0; --i) {
    Event e;
    e.cat = upto(3) == 0 ? "gpu_memcpy" : upto(5) == 0 ? "gpu_memset" : "kernel";
    e.name = fmt::format("{}_{}", e.cat == "kernel" && upto(2) == 0 ? "ncclDevKernel" : "gemm", i);
    e.device = upto(3) == 0 ? 1 : 0;
    e.pid = e.device;
    e.tid = 7 + upto(1);
    e.correlation = 1 + upto(5);
    place(e, 12);
    list.push_back(e);
  }
  for (int i = upto(2); i > 0; --i) {
    Event e{"overhead", upto(1) == 0 ? "Lazy Function Loading" : "Buffer Flush", -1, 0};
    place(e, 15);
    list.push_back(e);
  }
  if (upto(3) == 0) {
    Event e{"cuda_runtime", "cudaDeviceSynchronize", 9, 1};
    place(e, 60);
    list.push_back(e);
  }
  std::shuffle(list.begin(), list.end(), random);
  return list;
}

}  // namespace

TEST_CASE("the account of small random traces is that of looking at every nanosecond") {
  std::mt19937 random(20);
  for (int round = 0; round < 1500; ++round) check_same(random_events(random), random);
}

TEST_CASE("a gap is explained by what ended it") {
  const Events list = {{"cpu_op", "aten::mm", 9, 1, 0, 100},
                       {"cuda_runtime", "cudaLaunchKernel", 9, 1, 40, 50, 1},
                       {"kernel", "gemm", 0, 7, 60, 80, 1, 0}};
  const Accounted mine(list);
  REQUIRE(mine.account.devices().size() == 1);
  const DeviceAccount& d = mine.account.devices()[0];
  CHECK(named(d.times.idle) == std::map<std::string, Ns>{{"operator", 40 + 20}, {"launching", 10}, {"starting", 10}});
  REQUIRE(d.gaps.size() == 2);
  CHECK(d.gaps[0].span == Span{0, 60});
  CHECK(d.gaps[0].main == IdleCause::op);
  CHECK(mine.trace->name(d.gaps[0].ended_by) == "gemm");
  CHECK(!d.gaps[1].ended_by);
  const std::vector<HostPiece> pieces = mine.account.pieces(d.gaps[0], {30, 55});
  REQUIRE(pieces.size() == 3);
  CHECK(mine.trace->name(pieces[0].slice) == "aten::mm");
  CHECK(pieces[0].span == Span{30, 40});
  CHECK(mine.trace->name(pieces[1].slice) == "cudaLaunchKernel");
  CHECK(pieces[2].span == Span{50, 55});
}

TEST_CASE("the frame around each run of compiled code with CUDA graphs is not the compiler") {
  CHECK(is_compile_frame_name("torch/_inductor/compile_fx.py(700): compile_fx_inner"));
  CHECK_FALSE(is_compile_frame_name("torch/_inductor/compile_fx.py(1870): run"));
}

TEST_CASE("without linked GPU work there is no account") {
  const Event unlinked{"kernel", "gemm", 0, 7, 60, 80, 1, 0};
  const Event op{"cpu_op", "aten::mm", 9, 1, 0, 100};
  for (const Events& list : {Events{unlinked}, Events{op}, Events{op, unlinked}}) {
    const Accounted mine(list);
    CHECK(mine.account.devices().empty());
    CHECK(mine.account.busiest() == nullptr);
  }
}

TEST_CASE("a window that is longer than time can be counted gives no account instead of a wrong one") {
  const auto trace =
      load_text(events(slice("early", "-9000000000000000", "1") + "," + slice("late", "9000000000000000", "1") + "," +
                       slice("cudaLaunchKernel", "0", "1", ", \"args\": {\"correlation\": 3}", "cuda_runtime") + "," +
                       slice("gemm", "2", "1", ", \"args\": {\"correlation\": 3, \"device\": 0, \"stream\": 7}", "kernel")));
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const TimeAccount account(*trace, links, gpu_ops(*trace, links));
  for (const DeviceAccount& d : account.devices()) CHECK(sum(d.times) == d.window.length());
}

TEST_CASE("a kernel communicates by its own name or its own args, not by those of the operator around it") {
  const auto kernel = [](const char* name, const char* ts, int n, const char* more) {
    return slice(
        name, ts, "10",
        fmt::format(", \"args\": {{\"correlation\": {}, \"External id\": 5, \"device\": 0, \"stream\": 7{}}}", n, more),
        "kernel", "70");
  };
  const auto launch = [](int n) {
    return slice("cudaLaunchKernel", "1", "1", fmt::format(", \"args\": {{\"correlation\": {}}}", n), "cuda_runtime");
  };
  const auto trace = load_text(
      events(slice("record_param_comms", "0", "100", ", \"args\": {\"External id\": 5, \"Collective name\": \"allreduce\"}") +
             "," + launch(1) + "," + launch(2) + "," + launch(3) + "," + kernel("copy_into_bucket", "10", 1, "") + "," +
             kernel("one_shot_all_reduce", "30", 2, ", \"Collective name\": \"allreduce\"") + "," +
             kernel("ncclDevKernel", "50", 3, "")));
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const TimeAccount account(*trace, links, gpu_ops(*trace, links));
  REQUIRE(account.devices().size() == 1);
  CHECK(account.devices()[0].times.compute == 10 * kNsPerUs);
  CHECK(account.devices()[0].times.exposed_communication == 20 * kNsPerUs);
}
