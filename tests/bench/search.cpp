// search FILE...: how long finding takes over all slices, in milliseconds of one core: rare, common and all names, a pattern,
// filters. Best read on a trace of millions of slices (make_big).
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/load/load_trace.h"
#include "core/view/search/slice_search.h"

int main(int argc, char** argv) {
  using namespace gapscope;
  std::vector<std::string> files;
  CLI::App app("Search over all slices");
  app.add_option("files", files)->required();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& path : files) {
    const auto loaded = load_trace(path);
    if (!loaded) {
      std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
      return 1;
    }
    const Trace& trace = **loaded;
    const NameIndex names(trace);
    std::printf("%s: %zu slices, %zu texts\n", path.c_str(), trace.slice_count(), trace.strings.size());
    for (const char* text : {"gemm", "aten", "e", "/g.*m[0-9]/", "dur>1ms", "nowhere at all", "lane:stream cat:kernel"}) {
      double best = 1e9;
      std::size_t hits = 0;
      for (int round = 0; round < 3; ++round) {
        const std::clock_t start = std::clock();  // of this process: other work on the machine does not count
        hits = find_slices(trace, names, {text, false}, nullptr).hits.size();
        best = std::min(best, 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
      }
      std::printf("  %-24s %8.1f ms, %zu hits\n", text, best, hits);
    }
  }
}
