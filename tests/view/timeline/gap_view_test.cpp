#include "core/view/timeline/gap_view.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::shared_ptr<const Document> open_recording(const std::string& name) {
  auto document = std::make_shared<const Document>(load_once(recording_or_none(name)));
  document->analyze();
  return document;
}

}  // namespace

TEST_CASE("the gaps painted are those that cover a column of pixels, at every zoom") {
  const auto document = open_recording("transformer_baseline");
  const DeviceAccount& device = *account_of(*document)->busiest();
  const Span trace = document->trace.span;
  for (const double zoom : {1.0, 0.3, 0.05, 0.002}) {
    const Ns length = static_cast<Ns>(static_cast<double>(trace.length()) * zoom);
    const Ns begin = trace.begin + (trace.length() - length) / 3;
    const PixelGrid grid(TimeView{{begin, begin + length}, 0, 0}, 700, trace.begin);
    std::vector<GapRect> painted;
    paint_gaps(device, grid, painted);
    std::vector<GapRect> expected;
    for (std::size_t i = 0; i < device.gaps.size(); ++i) {
      const int x0 = std::max(0, grid.column(device.gaps[i].span.begin)),
                x1 = std::min(700, grid.column(device.gaps[i].span.end));
      if (x0 < x1) expected.push_back({x0, x1, i});
    }
    REQUIRE(painted.size() == expected.size());
    CHECK(painted.size() <= 700);
    for (std::size_t i = 0; i < painted.size(); ++i) {
      CHECK(painted[i].gap == expected[i].gap);
      CHECK(painted[i].x0 == expected[i].x0);
      CHECK(painted[i].x1 == expected[i].x1);
    }
  }
}

TEST_CASE("going from gap to gap of a cause meets each once, the longest first, and begins again") {
  const auto document = open_recording("mlp_geglu_eager");
  const DeviceAccount& device = *account_of(*document)->busiest();
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    const auto cause = static_cast<IdleCause>(c);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < device.gaps.size(); ++i)
      if (device.gaps[i].main == cause) all.push_back(i);
    std::stable_sort(all.begin(), all.end(),
                     [&](std::size_t a, std::size_t b) { return device.gaps[a].span.length() > device.gaps[b].span.length(); });
    std::optional<std::size_t> gap;
    for (std::size_t i = 0; i < 2 * all.size(); ++i) {
      gap = next_gap(device, cause, device.window, gap);
      REQUIRE(gap);
      CHECK(*gap == all[i % all.size()]);
    }
    if (all.empty() && device.times.of(cause) == 0) CHECK_FALSE(next_gap(device, cause, device.window));
    if (all.empty() && device.times.of(cause) > 0) CHECK(next_gap(device, cause, device.window));
  }
}

TEST_CASE("the slices that the host was in during a gap add up to no more than it, and a label shows how much its cause has") {
  for (const char* name : {"transformer_baseline", "matmul_add_64_cold_eager", "mlp_geglu_eager"}) {
    const auto document = open_recording(name);
    const TimeAccount& account = *account_of(*document);
    const DeviceAccount& device = *account.busiest();
    for (std::size_t i = 0; i < device.gaps.size(); ++i) {
      const DeviceGap& gap = device.gaps[i];
      const auto slices = host_slices(account, gap, 1000);
      Ns sum = 0;
      for (const GapSlice& slice : slices) sum += slice.time;
      CHECK(sum <= gap.span.length());
      const GapLabel label = gap_label(*document, device, i);
      Ns main = 0, host = 0;
      for (const HostPiece& piece : account.pieces(gap)) {
        main += piece.cause == gap.main ? piece.span.length() : 0;
        host += is_host_part(piece.cause) ? piece.span.length() : 0;
      }
      CHECK(label.time_of_word == (is_host_part(gap.main) ? host : main));
      CHECK((idle_label(gap.main) == "host") == is_host_part(gap.main));  // the word for that time
      const bool of_slice =
          !slices.empty() && label.words == "host: " + std::string(document->trace.name(slices.front().slice));
      CHECK(label.time == (of_slice ? slices.front().time : main));
      if (of_slice) CHECK(slices.front().time * 2 >= gap.span.length());
      if (!of_slice && !is_host_part(gap.main)) CHECK(label.words == idle_label(gap.main));
      // Whole parts fall away, the duration before the kind of its cause.
      const std::vector<std::string> texts = gap_texts(device, i, label);
      CHECK(texts.front() == label.words + " " + gap_time_words(label.time, gap.span.length()));
      CHECK(texts[1].starts_with(idle_label(gap.main)));
      CHECK((texts.size() == 4) == (2 * label.time_of_word > gap.span.length()));
      if (texts.size() == 4) CHECK(texts[2] == idle_label(gap.main));
      CHECK(texts.back() == format_duration(gap.span.length()));
      if (!of_slice && is_host_part(gap.main))
        CHECK(label.words == part_words({AccountPart::Kind::idle, gap.main, 0}, ProgramKind::python));
    }
  }
}

TEST_CASE("the parts of a gap tile it, and each is named after what has most of its own stretch") {
  std::size_t with_parts = 0;
  for (const char* name : {"transformer_baseline", "matmul_add_64_cold_eager", "needless_sync"}) {
    const auto document = open_recording(name);
    const TimeAccount& account = *account_of(*document);
    const DeviceAccount& device = *account.busiest();
    for (std::size_t i = 0; i < device.gaps.size(); ++i) {
      const std::vector<GapPart> parts = gap_parts(*document, device, i);
      if (parts.empty()) continue;
      ++with_parts;
      REQUIRE(parts.size() > 1);
      Ns at = device.gaps[i].span.begin;
      for (const GapPart& part : parts) {
        CHECK(part.span.begin == at);
        at = part.span.end;
        const AccountTimes times = account.times_in(device, part.span);
        CHECK(times.of(part.cause) == *std::max_element(std::begin(times.idle), std::end(times.idle)));
        CHECK(part.texts.back() == idle_label(part.cause));
      }
      CHECK(at == device.gaps[i].span.end);
    }
  }
  CHECK(with_parts > 10);
}

TEST_CASE("a label's time is the gap's where the cause has nearly all of it, and else both") {
  CHECK(gap_time_words(8'610 * kNsPerMs, 13'300 * kNsPerMs) == "8.61 s of 13.3 s");
  CHECK(gap_time_words(960, 1000) == "1.00 \xC2\xB5s");
  CHECK(gap_time_words(940, 1000) == "940 ns of 1.00 \xC2\xB5s");
}

TEST_CASE("the account is about the marked time, else the selected step, else the window") {
  const auto document = open_recording("transformer_baseline");
  const TimeAccount& account = *account_of(*document);
  const DeviceAccount& device = *account.busiest();
  TraceView view;
  CHECK(account_stretch(*document, view).of == AccountStretch::Of::window);
  CHECK(account_sums(*document, device, view).times == device.times);
  REQUIRE(account.steps().size() == 3);
  AccountTimes steps;
  for (const AccountTimes& step : account_sums(*document, device, view).steps) steps += step;
  CHECK(steps == device.times);
  view.selection = account.steps()[1].step;
  CHECK(account_stretch(*document, view).of == AccountStretch::Of::step);
  CHECK(account_sums(*document, device, view).times == account.times_in(device, account.steps()[1].span));
  view.range = Span{account.window().begin + 100, account.window().begin + 1'000'100};
  CHECK(account_stretch(*document, view).of == AccountStretch::Of::range);
  CHECK(account_sums(*document, device, view).times.window == 1'000'000);
}

TEST_CASE("what helps against a part is what the trace and the stretch ask for, and not the general words") {
  const auto document = open_recording("muladd_eager");
  const TimeAccount& account = *account_of(*document);
  const DeviceAccount& device = *account.busiest();
  TraceView view;
  const auto advice = [&](AccountPart::Kind kind, IdleCause cause, Span stretch) {
    return part_advice(*document, device, stretch, {kind, cause, 0}, view);
  };
  using enum AccountPart::Kind;
  // The first of its two launches took 392 us of the first gap; the second one none worth naming.
  const std::string slow = advice(idle, IdleCause::launching, device.window);
  CHECK(slow.find("a single launch took 392") != std::string::npos);
  CHECK(advice(idle, IdleCause::launching, device.gaps[1].span).starts_with("Make fewer launches"));
  CHECK(advice(idle, IdleCause::launching, device.window) == slow);
  // Of one gap: what helps against its main cause there, as Details asks.
  CHECK(device.gaps[0].main == IdleCause::profiler);
  CHECK(device.gaps[1].main == IdleCause::op);
  const Practices practices(document->trace);
  for (const DeviceGap& gap : device.gaps)
    CHECK(
        advice(idle, gap.main, gap.span) ==
        said(practices, idle_advice({document->trace, account, practices, document->lanes}, device, gap.span, gap.main)).text);
  CHECK(advice(compute, {}, device.window).empty());
  CHECK_FALSE(advice(copies, {}, device.window).empty());
  if (!has_shared("advice on a part")) return;
  const auto other = open_recording("kineto_2021_resnet50");
  const DeviceAccount& loads = *account_of(*other)->busiest();
  const std::string& workers = part_advice(*other, loads, loads.window, {idle, IdleCause::data_loading, 0}, view);
  CHECK(workers.find("set num_workers above 0") != std::string::npos);
}

TEST_CASE("every part of an account has words, and the largest are reported first") {
  AccountTimes times;
  times.window = 1000;
  times.compute = 86;
  times.idle[index_of(IdleCause::op)] = 500;
  times.idle[index_of(IdleCause::python)] = 300;
  times.idle[index_of(IdleCause::starting)] = 114;
  CHECK(parts_of(times).size() == 4);
  CHECK(largest_words(times, ProgramKind::python) == "host 80.0 %, latency 11.4 %, compute 8.6 %");
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    CHECK_FALSE(part_words({AccountPart::Kind::idle, static_cast<IdleCause>(c), 1}, ProgramKind::python).empty());
    for (std::size_t d = 0; d < c; ++d) {
      const IdleLook a = look_of(static_cast<IdleCause>(c), false), b = look_of(static_cast<IdleCause>(d), false);
      CHECK((a.hatch != b.hatch || !(a.rgb == b.rgb)));
    }
  }
}
