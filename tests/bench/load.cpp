// load FILE...: in one run on one file, MB/s of the read alone (page cache; a packed file is inflated and thrown away), of
// a simdjson On-Demand walk on as many threads over the same bytes touching name, cat, ph, ts, dur, pid, tid (the floor,
// plain files only), and of our whole load to a queryable document; the ratios, peak memory and bytes an event above the
// empty program. With a plain file before packed ones in the list, their times are compared with the plain file's. "in parts"
// is the load as the window does it, which shows the beginning of a large file meanwhile. Alongside each the processor seconds,
// which a busy machine disturbs far less than the clock.
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "core/base/parallel.h"
#include "core/load/byte_source.h"
#include "core/load/inflate_gzip.h"
#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "tests/bench/ondemand_floor.h"

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

double peak_mb() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_maxrss) / 1024;
}

struct Figures {
  double seconds = 0;
  double bytes = 0;
  double events = 0;
  double peak = 0;  // MB
  double cpu = 0;   // user and system seconds of all threads
  double stages[4] = {};
  std::size_t part_count = 0;
  std::array<double, 2> parts{};  // seconds until each was there
};

// Runs `body` in a child, so that every measurement has its own peak memory.
template <class Body>
Figures in_child(Body body) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    Figures f = body();
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
    f.cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
    if (write(ends[1], &f, sizeof f) != static_cast<ssize_t>(sizeof f)) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  Figures f;
  if (read(ends[0], &f, sizeof f) != static_cast<ssize_t>(sizeof f)) f = {};
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return f;
}

// `zlib`: a .gz file by zlib, whatever else there is.
Figures read_alone(const std::string& path, bool zlib = false) {
  Figures f;
  std::vector<char> buffer(1 << 20);
  const auto start = Clock::now();
  auto source = zlib ? gapscope::open_packed(path, 0) : gapscope::open_source(path);
  if (!source) return f;
  if (zlib) *source = gapscope::make_zlib_source(std::move(*source), std::make_shared<gapscope::RestartPoints>());
  for (std::size_t got = 1; got > 0; f.bytes += static_cast<double>(got)) got = *(*source)->read(buffer.data(), buffer.size());
  f.seconds = since(start);
  return f;
}

// With parts, as the window loads: documents of the beginning are made meanwhile.
Figures load(const std::string& path, int threads, bool parts = false) {
  Figures f;
  const double before = peak_mb();
  const auto start = Clock::now();
  gapscope::LoadOptions options;
  options.threads = threads;
  if (parts) {
    options.on_part = [&](std::shared_ptr<const gapscope::Trace> part, const std::atomic<bool>& cancel) {
      if (gapscope::Document::make(std::move(part), &cancel)) f.parts.at(f.part_count++) = since(start);
    };
  }
  auto trace = gapscope::load_trace(path, options);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return f;
  }
  const auto indexing = Clock::now();
  const gapscope::Document document(*trace);
  f.stages[3] = since(indexing);
  f.seconds = since(start);
  f.bytes = static_cast<double>((*trace)->figures.text_bytes);
  f.events = static_cast<double>((*trace)->figures.events);
  f.peak = peak_mb() - before;
  f.stages[0] = (*trace)->figures.read_seconds;
  f.stages[1] = (*trace)->figures.parse_seconds;
  f.stages[2] = (*trace)->figures.build_seconds;
  return f;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  int threads = gapscope::hardware_threads();
  int rounds = 3;
  CLI::App app("Loading against its floor");
  app.add_option("files", files)->required();
  app.add_option("--threads", threads);
  app.add_option("--rounds", rounds, "the best of so many is printed");
  CLI11_PARSE(app, argc, argv);
  Figures plain;
  for (const std::string& path : files) {
    Figures read{1e9}, by_zlib{1e9}, floor{1e9}, ours{1e9}, in_parts{1e9};
    const auto source = gapscope::open_source(path);
    const bool is_packed = source && !(*source)->is_plain();
    const bool is_gzip = is_packed && (*source)->restart_points();
    for (int i = 0; i < rounds; ++i) {
      const auto better = [](Figures& best, const Figures& f) {
        if (f.seconds > 0 && f.seconds < best.seconds) best = f;
      };
      better(read, in_child([&] { return read_alone(path); }));
      if (is_gzip) better(by_zlib, in_child([&] { return read_alone(path, true); }));
      if (!is_packed)
        better(floor, in_child([&] {
                 Figures f;
                 const auto start = Clock::now();
                 f.bytes = static_cast<double>(gapscope::bench::walk_on_demand(path, threads));
                 f.seconds = since(start);
                 return f;
               }));
      // Twice each, in turn: a virtual machine's host takes back memory that nothing used while the floor was walked, and the
      // first load pays for having it again.
      for (int turn = 0; turn < 2; ++turn) {
        better(ours, in_child([&] { return load(path, threads); }));
        better(in_parts, in_child([&] { return load(path, threads, true); }));
      }
    }
    const auto rate = [](const Figures& f) { return f.bytes / 1e6 / f.seconds; };
    std::printf("%s: %.0f MB, %.2f M events, %d threads\n", path.c_str(), ours.bytes / 1e6, ours.events / 1e6, threads);
    const auto line = [&](const char* what, const Figures& f) {
      std::printf("  %-11s %6.0f MB/s   %.2f s, %.2f s of processors\n", what, rate(f), f.seconds, f.cpu);
    };
    line(is_packed ? "inflate" : "read alone", read);
    if (is_gzip) line("by zlib", by_zlib);
    if (!is_packed) line("floor", floor);
    line("load", ours);
    line("in parts", in_parts);
    for (std::size_t i = 0; i < in_parts.part_count; ++i) std::printf("  part %zu after %.2f s\n", i + 1, in_parts.parts.at(i));
    if (is_packed) {
      std::printf("  ratio to inflating alone %.2f\n", rate(ours) / rate(read));
      if (plain.seconds > 0)
        std::printf("  %.2f times the plain file's time, %.2f times its processor seconds\n", ours.seconds / plain.seconds,
                    ours.cpu / plain.cpu);
    } else {
      std::printf("  ratio to floor %.2f by the clock, %.2f by processor seconds\n", rate(ours) / rate(floor),
                  floor.cpu / ours.cpu);
      plain = ours;
    }
    std::printf("  read %.2f s (all threads together, while parsing), parse %.2f s, build %.2f s, index %.2f s\n",
                ours.stages[0], ours.stages[1], ours.stages[2], ours.stages[3]);
    std::printf("  peak %.0f MB, %.1f bytes an event (%.1f without the allowance of 100 MB)\n", ours.peak,
                ours.peak * 1048576 / ours.events, (ours.peak * 1048576 - 100e6) / ours.events);
  }
}
